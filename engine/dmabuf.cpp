#include "engine/dmabuf.h"

#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/descriptor.h"

namespace vmafhip {
namespace {

std::string reason(int error) { return std::string(" (") + std::strerror(error) + ")"; }

// What tells objects apart.
struct Identity {
  dev_t device = 0;
  ino_t inode = 0;
  uint64_t bytes = 0;  // 0: the object does not tell
  // Dma-bufs (since Linux 5.3) and files have inodes of their own. Objects of CUDA are all the same device node's.
  bool own_inode = false;

  bool operator==(const Identity &) const = default;
};

Result<Identity> identify(int fd) {
  constexpr auto kDmaBufFileSystem = 0x444d4142;
  struct stat status;
  if (::fstat(fd, &status) != 0)
    return Status(Code::io, "a buffer's file descriptor " + std::to_string(fd) + " cannot be used" +
                                reason(errno) + ": it must stay open as long as the buffer lives");
  Identity identity{status.st_dev, status.st_ino};
  if (S_ISREG(status.st_mode)) {
    // Not by lseek(), which moves the position that others write at.
    identity.bytes = uint64_t(status.st_size);
    identity.own_inode = true;
    if (identity.bytes == 0) return Status(Code::io, "a buffer's file descriptor leads to an empty file");
  } else if (!S_ISCHR(status.st_mode)) {
    struct statfs system;
    identity.own_inode = ::fstatfs(fd, &system) == 0 && system.f_type == kDmaBufFileSystem;
    if (const off_t end = ::lseek(fd, 0, SEEK_END); end > 0) identity.bytes = uint64_t(end);
  }
  return identity;
}

// Whether two descriptors are duplicates. No, where the kernel does not tell: then an object is taken for a new one.
bool same_file(int a, int b) {
  // Since Linux 6.10, and in containers that know no kcmp().
  constexpr int kQuery = 1024 + 3;  // F_DUPFD_QUERY
  if (const int same = ::fcntl(a, kQuery, b); same >= 0) return same == 1;
  const pid_t self = ::getpid();
  return ::syscall(SYS_kcmp, self, self, KCMP_FILE, a, b) == 0;
}

// A call that signals may interrupt; dma-bufs' ioctls ask for a repetition by EAGAIN, too.
int sync(int fd, uint64_t flags) {
  dma_buf_sync what{flags};
  int result;
  do result = ::ioctl(fd, DMA_BUF_IOCTL_SYNC, &what);
  while (result != 0 && (errno == EINTR || errno == EAGAIN));
  return result;
}

class Object final : public DmaBuf {
 public:
  Object(Descriptor descriptor, const Identity &identity, uint64_t bytes)
      : descriptor_(std::move(descriptor)), identity_(identity), bytes_(bytes) {
    // What does not tell its size may end anywhere, or be something else for each who maps it (/dev/zero).
    if (identity_.bytes == 0) {
      map_error_ = ENODEV;
      return;
    }
    void *at = ::mmap(nullptr, size_t(bytes_), PROT_READ, MAP_SHARED, descriptor_.get(), 0);
    // Before Linux 6.7 memfds that are sealed against writing are not to be shared. They do not change, either.
    if (at == MAP_FAILED && errno == EPERM) {
      at = ::mmap(nullptr, size_t(bytes_), PROT_READ, MAP_PRIVATE, descriptor_.get(), 0);
      sealed_ = true;
    }
    if (at == MAP_FAILED)
      map_error_ = errno;
    else
      data_ = at;
  }
  ~Object() override {
    memory_ = {};  // what the GPU has of it goes first
    if (data_) ::munmap(data_, size_t(bytes_));
  }

  // How the GPU gets at it; the error says why it does not.
  Status offer(const Importer &importer) {
    Result<ExternalMemory> imported = importer.import(descriptor_.get(), bytes_);
    if (imported.ok()) {
      memory_ = std::move(*imported);
      return {};
    }
    if (!data_) return imported.status();
    // AMD's driver pins no pages that may not be written to.
    const bool writable = !sealed_ && ::mprotect(data_, size_t(bytes_), PROT_READ | PROT_WRITE) == 0;
    Result<ExternalMemory> pinned = importer.pin(data_, bytes_);
    if (pinned.ok()) {
      memory_ = std::move(*pinned);
      return imported.status();
    }
    if (writable) ::mprotect(data_, size_t(bytes_), PROT_READ);
    return {imported.status().code(), imported.status().message() + "; " + pinned.status().message()};
  }

  const Identity &identity() const { return identity_; }
  int fd() const { return descriptor_.get(); }
  int map_error() const { return map_error_; }

  const std::byte *data() const override { return static_cast<const std::byte *>(data_); }
  uint64_t bytes() const override { return bytes_; }
  uint64_t device() const override {
    return memory_.owner && memory_.memory == MemoryKind::device ? memory_.address : 0;
  }
  bool pinned() const override { return memory_.owner && memory_.memory == MemoryKind::pinned; }

  Status begin_read() const override {
    if (!data_)
      return {Code::unsupported,
              "a buffer's memory cannot be mapped" + reason(map_error_) + " and be read by the processor"};
    if (!syncs_.load(std::memory_order_relaxed)) return {};
    if (sync(descriptor_.get(), DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ) == 0) return {};
    if (errno != ENOTTY)
      return {Code::io, "a dma-buf cannot be prepared for reading" + reason(errno) +
                            ": the device that it belongs to may be gone"};
    syncs_.store(false, std::memory_order_relaxed);
    return {};
  }
  void end_read() const override {
    if (data_ && syncs_.load(std::memory_order_relaxed))
      (void)sync(descriptor_.get(), DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ);
  }

 private:
  Descriptor descriptor_;
  Identity identity_;
  uint64_t bytes_;
  void *data_ = nullptr;
  bool sealed_ = false;
  int map_error_ = 0;
  mutable std::atomic<bool> syncs_{true};
  ExternalMemory memory_;
};

}  // namespace

bool is_written(int fd, int wait_ms) {
  using namespace std::chrono;
  struct stat status;
  // Device nodes have other things to wait for than fences.
  if (::fstat(fd, &status) != 0 || S_ISCHR(status.st_mode)) return true;
  const auto until = steady_clock::now() + milliseconds(wait_ms);
  for (int wait = wait_ms;;) {
    pollfd what{fd, POLLIN, 0};
    const int result = ::poll(&what, 1, wait);
    if (result >= 0) return result > 0;
    if (errno != EINTR && errno != EAGAIN) return true;
    const auto left = ceil<milliseconds>(until - steady_clock::now());
    if (wait_ms >= 0) wait = int(std::max<int64_t>(left.count(), 0));
  }
}

struct DmaBufs::Impl {
  struct Entry {
    std::shared_ptr<Object> object;
    uint64_t last = 0;      // number of the find that gave it last
    bool returned = false;  // after it was let go for its bytes

    bool used() const { return object.use_count() > 1; }
  };

  mutable std::mutex mutex;
  std::shared_ptr<const Importer> importer;
  std::vector<Entry> entries;
  std::deque<Identity> dropped;  // the last objects that were let go for their bytes
  uint64_t finds = 0;
  Counts counts;
  std::string refusal;

  std::shared_ptr<Object> known(int fd, const Identity &identity, uint64_t least_bytes) {
    for (Entry &entry : entries) {
      const Identity &other = entry.object->identity();
      if (other != identity) continue;
      if (!identity.own_inode && !same_file(entry.object->fd(), fd)) continue;
      if (entry.object->bytes() < least_bytes) continue;
      entry.last = finds;
      return entry.object;
    }
    return nullptr;
  }

  // Moves what is let go to `gone`.
  template <class Drop>
  void drop(const Drop &lets_go, std::vector<Entry> &gone) {
    const auto kept = std::partition(entries.begin(), entries.end(),
                                     [&](const Entry &entry) { return entry.used() || !lets_go(entry); });
    std::move(kept, entries.end(), std::back_inserter(gone));
    entries.erase(kept, entries.end());
  }
  void drop_old(std::vector<Entry> &gone) {
    drop([this](const Entry &entry) { return entry.last + kMostObjects <= finds; }, gone);
    uint64_t bytes = 0;
    std::vector<const Entry *> idle;
    for (const Entry &entry : entries) {
      if (entry.used() || entry.returned) continue;
      idle.push_back(&entry);
      bytes += entry.object->bytes();
    }
    if (bytes <= kMostBytes) return;
    std::sort(idle.begin(), idle.end(), [](const Entry *a, const Entry *b) { return a->last < b->last; });
    uint64_t last = 0;
    for (auto entry = idle.begin(); bytes > kMostBytes; ++entry) {
      last = (*entry)->last;
      bytes -= (*entry)->object->bytes();
      dropped.push_back((*entry)->object->identity());
    }
    while (dropped.size() > kMostObjects) dropped.pop_front();
    drop([last](const Entry &entry) { return !entry.returned && entry.last <= last; }, gone);
  }
  bool returns(const Identity &identity) {
    const auto found = std::find(dropped.begin(), dropped.end(), identity);
    if (found == dropped.end()) return false;
    dropped.erase(found);
    return true;
  }

  void count(const Object &object) {
    if (object.device())
      ++counts.imported;
    else if (object.pinned())
      ++counts.pinned;
    else
      ++counts.mapped;
  }
};

DmaBufs::DmaBufs() : impl_(new Impl) {}
DmaBufs::~DmaBufs() = default;

void DmaBufs::set_importer(std::shared_ptr<const Importer> importer) {
  std::vector<Impl::Entry> gone;  // let go without the lock: unmapping takes a while
  const std::lock_guard lock(impl_->mutex);
  if (importer == impl_->importer) return;
  impl_->importer.swap(importer);
  impl_->entries.swap(gone);
  impl_->dropped.clear();
  impl_->refusal.clear();
}

Result<std::shared_ptr<const DmaBuf>> DmaBufs::find(int fd, uint64_t least_bytes) {
  const Result<Identity> identity = identify(fd);
  if (!identity.ok()) return identity.status();
  if (identity->bytes != 0 && identity->bytes < least_bytes)
    return Status(Code::io, "a buffer says that it has " + std::to_string(least_bytes) +
                                " bytes, but the memory behind its file descriptor has " +
                                std::to_string(identity->bytes));
  std::vector<Impl::Entry> gone;
  const std::lock_guard lock(impl_->mutex);
  ++impl_->finds;
  impl_->drop_old(gone);
  if (auto object = impl_->known(fd, *identity, least_bytes)) return std::shared_ptr<const DmaBuf>(object);

  Descriptor own = Descriptor::duplicate(fd);
  if (own.get() < 0 && (errno == EMFILE || errno == ENFILE)) {  // what is kept is less worth than this one
    impl_->drop([](const Impl::Entry &) { return true; }, gone);
    gone.clear();
    own = Descriptor::duplicate(fd);
  }
  if (own.get() < 0)
    return Status(Code::resource, "a buffer's file descriptor cannot be kept" + reason(errno) +
                                      ": raise the limit of open files (ulimit -n)");
  const uint64_t bytes = identity->bytes != 0 ? identity->bytes : std::max<uint64_t>(least_bytes, 1);
  const auto object = std::make_shared<Object>(std::move(own), *identity, bytes);
  Status refused;
  if (impl_->importer) {
    refused = object->offer(*impl_->importer);
    impl_->refusal = refused.message();
  }
  if (!object->data() && !object->device())
    return Status(Code::io, "the memory behind a buffer's file descriptor can neither be mapped" +
                                reason(object->map_error()) +
                                (refused.ok() ? "" : " nor imported by the GPU (" + refused.message() + ")") +
                                ": it must be a dma-buf that processors may read");
  impl_->count(*object);
  impl_->entries.push_back({object, impl_->finds, impl_->returns(*identity)});
  return std::shared_ptr<const DmaBuf>(object);
}

void DmaBufs::clear() {
  std::vector<Impl::Entry> gone;
  const std::lock_guard lock(impl_->mutex);
  impl_->entries.swap(gone);
  impl_->dropped.clear();
}

DmaBufs::Counts DmaBufs::counts() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->counts;
}

size_t DmaBufs::size() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->entries.size();
}

std::string DmaBufs::refusal() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->refusal;
}

}  // namespace vmafhip
