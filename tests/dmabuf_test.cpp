// Kernel objects by their descriptors, on memfds. The linker leads calls of the kernel that matter to functions of this
// file (--wrap), so that they can fail as they do now and then, and be counted.
#include "engine/dmabuf.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/dma-buf.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

// What DMA_BUF_IOCTL_SYNC, poll() and mmap() of shared memory answer instead of the kernel: errors, or 0 for success, in
// this order.
std::deque<int> ioctl_answers, poll_answers, mmap_answers;
std::vector<uint64_t> syncs;  // flags of DMA_BUF_IOCTL_SYNC
std::vector<int> waits;       // of poll()

bool answered(std::deque<int> &answers, int &result) {
  if (answers.empty()) return false;
  errno = answers.front();
  answers.pop_front();
  result = errno == 0 ? 0 : -1;
  return true;
}

}  // namespace

extern "C" {
int __real_ioctl(int fd, unsigned long request, void *argument) noexcept;
int __real_poll(pollfd *fds, nfds_t count, int wait);
void *__real_mmap64(void *at, size_t bytes, int protection, int flags, int fd, off_t offset) noexcept;
}

extern "C" int __wrap_ioctl(int fd, unsigned long request, void *argument) noexcept {
  int result;
  if (request == DMA_BUF_IOCTL_SYNC) {
    syncs.push_back(static_cast<dma_buf_sync *>(argument)->flags);
    if (answered(ioctl_answers, result)) return result;
  }
  return __real_ioctl(fd, request, argument);
}

extern "C" int __wrap_poll(pollfd *fds, nfds_t count, int wait) {
  int result;
  waits.push_back(wait);
  if (answered(poll_answers, result)) {
    const int error = errno;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    errno = error;
    return result;
  }
  return __real_poll(fds, count, wait);
}

extern "C" void *__wrap_mmap64(void *at, size_t bytes, int protection, int flags, int fd,
                               off_t offset) noexcept {
  int result;
  if (fd >= 0 && (flags & MAP_SHARED) && answered(mmap_answers, result)) return MAP_FAILED;
  return __real_mmap64(at, bytes, protection, flags, fd, offset);
}

namespace vmafhip {
namespace {

constexpr uint64_t kBytes = 3 * 4096 + 100;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { close(); }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  operator int() const { return fd_; }

 private:
  int fd_;
};

Descriptor memfd(uint64_t bytes = kBytes, unsigned flags = 0) {
  Descriptor fd(::memfd_create("test", MFD_CLOEXEC | flags));
  EXPECT_GE(fd, 0);
  EXPECT_EQ(::ftruncate(fd, off_t(bytes)), 0);
  return fd;
}

void write_at(int fd, uint64_t at, const std::string &text) {
  ASSERT_EQ(::pwrite(fd, text.data(), text.size(), off_t(at)), ssize_t(text.size()));
}

std::string read_at(const DmaBuf &object, uint64_t at, size_t bytes) {
  return {reinterpret_cast<const char *>(object.data()) + at, bytes};
}

// Of this process.
size_t open_descriptors() {
  using Files = std::filesystem::directory_iterator;
  return size_t(std::distance(Files("/proc/self/fd"), Files()));
}
size_t mappings() {
  std::ifstream maps("/proc/self/maps");
  size_t count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find("memfd:test") != line.npos;
  return count;
}

// Of the mapping at an address, as the kernel writes it.
std::string protection(const void *data) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (std::stoull(line, nullptr, 16) == reinterpret_cast<uint64_t>(data))
      return line.substr(line.find(' ') + 1, 4);
  return {};
}

// A GPU that takes what it is told to take, and remembers.
struct FakeImporter : Importer {
  bool imports = true, pins = true;
  mutable std::vector<std::pair<int, uint64_t>> imported;
  mutable std::vector<std::pair<void *, uint64_t>> pinned;
  mutable std::atomic<int> live{0};
  mutable bool was_mapped_when_let_go = true, inherited = false;

  Result<ExternalMemory> import(int fd, uint64_t bytes) const override {
    imported.emplace_back(fd, bytes);
    if ((::fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0) inherited = true;
    if (!imports) return Status(Code::unsupported, "not imported");
    return hold({MemoryKind::device, 0x1000 * imported.size(), nullptr}, nullptr);
  }
  Result<ExternalMemory> pin(void *data, uint64_t bytes) const override {
    pinned.emplace_back(data, bytes);
    if (!pins) return Status(Code::resource, "not pinned");
    static_cast<volatile char *>(data)[0] = static_cast<volatile char *>(data)[0];  // as drivers demand
    return hold({MemoryKind::pinned, 0, nullptr}, data);
  }

 private:
  Result<ExternalMemory> hold(ExternalMemory memory, void *data) const {
    ++live;
    memory.owner = std::shared_ptr<const void>(this, [this, data](const void *) {
      --live;
      unsigned char resident;
      if (data && ::mincore(data, 1, &resident) != 0) was_mapped_when_let_go = false;
    });
    return memory;
  }
};

class DmaBufTest : public testing::Test {
 protected:
  void SetUp() override {
    ioctl_answers.clear();
    poll_answers.clear();
    mmap_answers.clear();
    syncs.clear();
    waits.clear();
  }
  std::shared_ptr<const DmaBuf> find(int fd, uint64_t least_bytes = kBytes) {
    auto object = objects_.find(fd, least_bytes);
    EXPECT_TRUE(object.ok()) << object.status().message();
    return object.ok() ? *object : nullptr;
  }
  std::string error(int fd, uint64_t least_bytes = kBytes) {
    const auto object = objects_.find(fd, least_bytes);
    EXPECT_FALSE(object.ok());
    return object.status().message();
  }

  DmaBufs objects_;
};

TEST_F(DmaBufTest, IsMappedWholeAndReadInPlace) {
  const Descriptor fd = memfd();
  write_at(fd, kBytes - 5, "hello");
  const auto object = find(fd, 100);
  EXPECT_EQ(object->bytes(), kBytes) << "larger than asked for";
  EXPECT_EQ(read_at(*object, kBytes - 5, 5), "hello");
  write_at(fd, 0, "later");
  EXPECT_EQ(read_at(*object, 0, 5), "later") << "the memory itself, not a copy";
  EXPECT_EQ(object->device(), 0u);
  EXPECT_FALSE(object->pinned());
  EXPECT_EQ(objects_.counts().mapped, 1u);
  EXPECT_EQ(objects_.counts().imported + objects_.counts().pinned, 0u);
}

TEST_F(DmaBufTest, LeavesThePositionThatOthersWriteAt) {
  const Descriptor fd = memfd();
  ASSERT_EQ(::lseek(fd, 17, SEEK_SET), 17);
  (void)find(fd);
  EXPECT_EQ(::lseek(fd, 0, SEEK_CUR), 17);
}

TEST_F(DmaBufTest, ErrorsSayWhatIsWrong) {
  Descriptor fd = memfd();
  const int number = fd;
  EXPECT_NE(error(fd, kBytes + 1).find(std::to_string(kBytes + 1) + " bytes"), std::string::npos);
  EXPECT_NE(error(fd, kBytes + 1).find("has " + std::to_string(kBytes)), std::string::npos);
  fd.close();
  EXPECT_NE(error(number).find("descriptor " + std::to_string(number)), std::string::npos);
  EXPECT_NE(error(number).find("Bad file descriptor"), std::string::npos);
  EXPECT_NE(error(-1).find("Bad file descriptor"), std::string::npos);
  EXPECT_NE(error(memfd(0), 0).find("empty"), std::string::npos);

  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Descriptor in(ends[0]), out(ends[1]);
  EXPECT_NE(error(in).find("neither be mapped"), std::string::npos);
  const Descriptor node(::open("/dev/null", O_RDWR));
  EXPECT_NE(error(node).find("No such device"), std::string::npos);
  const Descriptor zeros(::open("/dev/zero", O_RDWR));
  EXPECT_NE(error(zeros).find("neither be mapped"), std::string::npos) << "and not black pictures";
  const Descriptor source = memfd(),
                   written(::open(("/proc/self/fd/" + std::to_string(source)).c_str(), O_WRONLY));
  EXPECT_NE(error(written).find("Permission denied"), std::string::npos);
  EXPECT_EQ(objects_.counts().mapped, 0u);
  EXPECT_EQ(objects_.size(), 0u);
}

TEST_F(DmaBufTest, OneObjectHasOneMappingHoweverItComes) {
  const Descriptor fd = memfd(), duplicate(::dup(fd));
  const Descriptor reopened(::open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_RDONLY));
  const auto importer = std::make_shared<FakeImporter>();
  objects_.set_importer(importer);
  const auto object = find(fd);
  EXPECT_EQ(find(fd, 1), object);
  EXPECT_EQ(find(duplicate, 4096), object);
  EXPECT_EQ(find(reopened, kBytes), object);
  EXPECT_EQ(objects_.size(), 1u);
  EXPECT_EQ(importer->imported.size(), 1u);
  EXPECT_EQ(importer->imported[0].second, kBytes) << "all of it";
  EXPECT_EQ(objects_.counts().imported, 1u);
  EXPECT_NE(importer->imported[0].first, fd) << "a duplicate";
  EXPECT_FALSE(importer->inherited) << "by programs that this one starts";

  const Descriptor other = memfd();
  EXPECT_NE(find(other), object);
  EXPECT_EQ(objects_.counts().imported, 2u);
}

// Device nodes have one inode for all that is opened by them, as CUDA's objects have.
TEST_F(DmaBufTest, ObjectsOfOneDeviceNodeAreToldApart) {
  const Descriptor one(::open("/dev/null", O_RDWR)), two(::open("/dev/null", O_RDWR)), again(::dup(one));
  const auto importer = std::make_shared<FakeImporter>();
  objects_.set_importer(importer);
  const auto object = find(one, 5000);
  EXPECT_EQ(object->data(), nullptr);
  EXPECT_EQ(object->bytes(), 5000u) << "it does not tell, so that it is as large as the caller says";
  EXPECT_EQ(object->device(), 0x1000u);
  EXPECT_FALSE(object->begin_read().ok()) << "the processor cannot read it";
  object->end_read();
  EXPECT_TRUE(syncs.empty());
  EXPECT_TRUE(is_written(one, 0));
  const auto second = find(two, 5000);
  EXPECT_NE(second, object);
  EXPECT_EQ(second->device(), 0x2000u);
  // Kernels may keep to themselves what is the same.
  if (::syscall(SYS_kcmp, ::getpid(), ::getpid(), KCMP_FILE, int(one), int(again)) == 0) {
    EXPECT_EQ(find(again, 5000), object);
    EXPECT_EQ(importer->imported.size(), 2u);
  }
  EXPECT_NE(find(one, 6000), object) << "it is larger than was known";
  importer->imports = false;
  const Descriptor third(::open("/dev/null", O_RDWR));
  EXPECT_NE(error(third).find("not imported"), std::string::npos);
  EXPECT_TRUE(importer->pinned.empty());
}

TEST_F(DmaBufTest, LivesOnWhenItsDescriptorIsClosed) {
  Descriptor fd = memfd();
  write_at(fd, 0, "alive");
  const auto object = find(fd);
  fd.close();
  EXPECT_EQ(read_at(*object, 0, 5), "alive");
  objects_.clear();
  EXPECT_EQ(objects_.size(), 0u);
  EXPECT_EQ(read_at(*object, 0, 5), "alive") << "in use";
}

// Numbers of descriptors come back, inodes may: an object that is kept has neither taken over by others.
TEST_F(DmaBufTest, NumbersThatComeBackAreOtherObjects) {
  for (int n = 0; n < 300; ++n) {
    const Descriptor fd = memfd();
    const std::string text = std::to_string(1000 + n);
    write_at(fd, 0, text);
    ASSERT_EQ(read_at(*find(fd), 0, 4), text);
  }
  EXPECT_EQ(objects_.counts().mapped, 300u);
}

TEST_F(DmaBufTest, AnotherSizeIsAnotherObject) {
  const Descriptor fd = memfd();
  const auto object = find(fd);
  ASSERT_EQ(::ftruncate(fd, 2 * kBytes), 0);
  const auto larger = find(fd, 2 * kBytes);
  EXPECT_NE(larger, object);
  EXPECT_EQ(larger->bytes(), 2 * kBytes);
  ASSERT_EQ(::ftruncate(fd, 4096), 0);
  EXPECT_EQ(find(fd, 4096)->bytes(), 4096u) << "what was mapped ends in nothing";
}

TEST_F(DmaBufTest, KeepsNoMoreThanItsBound) {
  const size_t descriptors = open_descriptors(), maps = mappings();
  std::vector<std::shared_ptr<const DmaBuf>> used;
  for (size_t n = 0; n < 3 * DmaBufs::kMostObjects; ++n) {
    auto object = find(memfd());
    if (n < 5) used.push_back(std::move(object));
  }
  EXPECT_EQ(objects_.size(), DmaBufs::kMostObjects + 5);
  EXPECT_LE(open_descriptors(), descriptors + DmaBufs::kMostObjects + 5);
  EXPECT_LE(mappings(), maps + DmaBufs::kMostObjects + 5);
  used.clear();
  (void)find(memfd());
  EXPECT_EQ(objects_.size(), DmaBufs::kMostObjects);
  objects_.clear();
  EXPECT_EQ(open_descriptors(), descriptors);
}

// Large ones that never come again: sources take them for freed.
TEST_F(DmaBufTest, KeepsNoMoreBytesThanItsBound) {
  constexpr uint64_t kLarge = DmaBufs::kMostBytes / 8;
  const size_t descriptors = open_descriptors();
  std::vector<std::shared_ptr<const DmaBuf>> used;
  for (int n = 0; n < 30; ++n) {
    auto object = find(memfd(kLarge), kLarge);
    if (n < 5) used.push_back(std::move(object));
    ASSERT_LE(objects_.size(), 5u + 8 + 1);
  }
  EXPECT_LE(open_descriptors(), descriptors + 5 + 8 + 1);
  EXPECT_GE(objects_.size(), 5u + 8);
  used.clear();
  (void)find(memfd());
  EXPECT_LE(objects_.size(), 8u + 1);
  (void)find(memfd(4 * DmaBufs::kMostBytes));
  (void)find(memfd());
  EXPECT_LE(objects_.size(), 2u) << "larger than all that is kept, it is let go at once";
}

// A pool that is larger than that: after two rounds none of it is mapped anew.
TEST_F(DmaBufTest, KeepsLargePools) {
  constexpr uint64_t kLarge = DmaBufs::kMostBytes / 8;
  std::vector<Descriptor> pool;
  for (int n = 0; n < 20; ++n) pool.push_back(memfd(kLarge));
  const auto round = [&] {
    for (const Descriptor &fd : pool) (void)find(fd, kLarge);
    return objects_.counts().mapped;
  };
  (void)round();
  const uint64_t twice = round();
  EXPECT_GT(twice, pool.size()) << "the first time they might never come again";
  for (int n = 0; n < 5; ++n) EXPECT_EQ(round(), twice);
  for (int n = 0; n < 20; ++n) (void)find(memfd(kLarge), kLarge);
  EXPECT_LE(objects_.size(), pool.size() + 8 + 1) << "others have their bound";
  objects_.clear();
  EXPECT_EQ(objects_.size(), 0u);
}

// Descriptors that are kept for objects that may come again are given up for one that is there.
TEST_F(DmaBufTest, MakesDoWithFewDescriptors) {
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = rlim_t(open_descriptors() + 10);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const Descriptor used = memfd();
  const auto object = find(used);
  for (int n = 0; n < 50; ++n) EXPECT_NE(find(memfd()), nullptr);
  EXPECT_EQ(find(used), object);
  objects_.clear();
  std::vector<Descriptor> others;
  for (int fd; (fd = ::dup(used)) >= 0;) others.emplace_back(fd);
  others.pop_back();
  const Descriptor last = memfd();
  EXPECT_NE(error(last).find("ulimit -n"), std::string::npos);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

// What is left of a pool that is gone: nothing, although no new object comes.
TEST_F(DmaBufTest, LetsGoOfWhatNoLongerComes) {
  for (int n = 0; n < 10; ++n) (void)find(memfd());
  const Descriptor stays = memfd(), comes_seldom = memfd();
  const auto seldom = find(comes_seldom).get();
  (void)find(stays);
  EXPECT_EQ(objects_.size(), 12u);
  for (size_t n = 0; n < DmaBufs::kMostObjects; ++n) {
    (void)find(stays);
    if (n == DmaBufs::kMostObjects / 2) {
      EXPECT_EQ(find(comes_seldom).get(), seldom);
    }
  }
  EXPECT_EQ(objects_.size(), 2u);
}

// A pool of ten buffers, whose descriptors are handed over anew each time.
TEST_F(DmaBufTest, IsFlatOverThousandsOfFinds) {
  std::vector<Descriptor> pool;
  for (int n = 0; n < 10; ++n) pool.push_back(memfd());
  const auto importer = std::make_shared<FakeImporter>();
  importer->imports = false;
  objects_.set_importer(importer);
  size_t descriptors = 0, maps = 0;
  for (int n = 0; n < 5000; ++n) {
    (void)find(Descriptor(::dup(pool[size_t(n % 10)])));
    if (n == 20) descriptors = open_descriptors(), maps = mappings();
  }
  EXPECT_EQ(open_descriptors(), descriptors);
  EXPECT_EQ(mappings(), maps);
  EXPECT_EQ(importer->imported.size(), 10u);
  EXPECT_EQ(importer->pinned.size(), 10u);
  EXPECT_EQ(objects_.counts().pinned, 10u);
  EXPECT_EQ(importer->live, 10);
}

TEST_F(DmaBufTest, WhatIsNotImportedIsPinnedAndElseMapped) {
  const auto importer = std::make_shared<FakeImporter>();
  const Descriptor one = memfd(), two = memfd(), three = memfd();
  EXPECT_EQ(objects_.refusal(), "");
  objects_.set_importer(importer);
  EXPECT_EQ(find(one)->device(), 0x1000u);
  EXPECT_TRUE(importer->pinned.empty());
  EXPECT_EQ(objects_.refusal(), "");

  importer->imports = false;
  const auto pinned = find(two);
  EXPECT_TRUE(pinned->pinned());
  EXPECT_EQ(pinned->device(), 0u);
  ASSERT_EQ(importer->pinned.size(), 1u);
  EXPECT_EQ(importer->pinned[0].first, pinned->data());
  EXPECT_EQ(importer->pinned[0].second, kBytes);
  EXPECT_EQ(objects_.refusal(), "not imported");

  importer->pins = false;
  const auto mapped = find(three);
  EXPECT_FALSE(mapped->pinned());
  EXPECT_EQ(mapped->device(), 0u);
  EXPECT_NE(mapped->data(), nullptr);
  EXPECT_EQ(objects_.refusal(), "not imported; not pinned");
  for (int n = 0; n < 3; ++n) (void)find(three);
  EXPECT_EQ(importer->imported.size(), 3u) << "each is tried once";
  EXPECT_EQ(importer->pinned.size(), 2u);

  const DmaBufs::Counts counts = objects_.counts();
  EXPECT_EQ(counts.imported, 1u);
  EXPECT_EQ(counts.pinned, 1u);
  EXPECT_EQ(counts.mapped, 1u);
}

TEST_F(DmaBufTest, OnlyPinnedMemoryIsWritable) {
  const auto importer = std::make_shared<FakeImporter>();
  objects_.set_importer(importer);
  const Descriptor imported = memfd(), pinned = memfd(), mapped = memfd();
  EXPECT_EQ(protection(find(imported)->data()), "r--s");
  importer->imports = false;
  EXPECT_EQ(protection(find(pinned)->data()), "rw-s");
  importer->pins = false;
  EXPECT_EQ(protection(find(mapped)->data()), "r--s");
}

TEST_F(DmaBufTest, SealedMemoryIsReadInPlace) {
  const auto importer = std::make_shared<FakeImporter>();
  importer->imports = importer->pins = false;
  objects_.set_importer(importer);
  const Descriptor fd = memfd(kBytes, MFD_ALLOW_SEALING);
  write_at(fd, 4096, "sealed");
  ASSERT_EQ(::fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW), 0);
  EXPECT_EQ(read_at(*find(fd), 4096, 6), "sealed");
  objects_.clear();
  mmap_answers = {EPERM};  // as Linux before 6.7
  const auto object = find(fd);
  EXPECT_EQ(read_at(*object, 4096, 6), "sealed");
  EXPECT_EQ(protection(object->data()), "r--p");
  mmap_answers = {ENOMEM};
  EXPECT_NE(error(memfd()).find("Cannot allocate memory"), std::string::npos);
}

TEST_F(DmaBufTest, AnotherGpuImportsAnew) {
  const Descriptor fd = memfd();
  const auto first = std::make_shared<FakeImporter>(), second = std::make_shared<FakeImporter>();
  const auto without = find(fd);
  EXPECT_EQ(without->device(), 0u);
  objects_.set_importer(first);
  const auto with = find(fd);
  EXPECT_EQ(with->device(), 0x1000u);
  objects_.set_importer(first);
  EXPECT_EQ(find(fd), with) << "the same GPU";
  objects_.set_importer(second);
  EXPECT_EQ(first->live, 1) << "in use";
  (void)find(fd);
  EXPECT_EQ(second->imported.size(), 1u);
  objects_.set_importer(nullptr);
  EXPECT_EQ(second->live, 0);
  EXPECT_EQ(find(fd)->device(), 0u);
  EXPECT_EQ(first->imported.size(), 1u);
}

TEST_F(DmaBufTest, TheGpuLetsGoBeforeTheMappingGoes) {
  const auto importer = std::make_shared<FakeImporter>();
  importer->imports = false;
  objects_.set_importer(importer);
  (void)find(memfd());
  EXPECT_EQ(importer->live, 1);
  objects_.clear();
  EXPECT_EQ(importer->live, 0);
  EXPECT_TRUE(importer->was_mapped_when_let_go);
}

TEST_F(DmaBufTest, MemfdsNeedNoSync) {
  const Descriptor fd = memfd();
  const auto object = find(fd);
  for (int n = 0; n < 3; ++n) {
    EXPECT_TRUE(object->begin_read().ok());
    object->end_read();
  }
  EXPECT_EQ(syncs.size(), 1u) << "asked once, then known";
}

TEST_F(DmaBufTest, ReadsAreBracketedAndRepeatedWhenInterrupted) {
  const Descriptor fd = memfd();
  const auto object = find(fd);
  ioctl_answers = {EINTR, EAGAIN, EINTR, 0, EAGAIN, 0};
  EXPECT_TRUE(object->begin_read().ok());
  EXPECT_EQ(syncs, std::vector<uint64_t>(4, DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ));
  syncs.clear();
  object->end_read();
  EXPECT_EQ(syncs, std::vector<uint64_t>(2, DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ));
  EXPECT_TRUE(ioctl_answers.empty());
}

TEST_F(DmaBufTest, WhatCannotBeReadSaysWhy) {
  const Descriptor fd = memfd();
  const auto object = find(fd);
  ioctl_answers = {EIO, 0};
  const Status status = object->begin_read();
  EXPECT_EQ(status.code(), Code::io);
  EXPECT_NE(status.message().find("Input/output error"), std::string::npos);
  EXPECT_TRUE(object->begin_read().ok()) << "tried anew";
}

// A pipe is readable when it is written to, as a dma-buf is when its writer's fence has signalled.
TEST_F(DmaBufTest, IsWrittenWhenItsFenceIsDone) {
  EXPECT_TRUE(is_written(memfd(), 0)) << "has no fences";
  EXPECT_TRUE(is_written(-1, 0));
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Descriptor fence(ends[0]), writer(ends[1]);
  EXPECT_FALSE(is_written(fence, 0));
  EXPECT_FALSE(is_written(fence, 1));
  poll_answers = {EINTR, EAGAIN, EINTR};
  EXPECT_FALSE(is_written(fence, 1)) << "interrupted, and still not done";
  EXPECT_TRUE(poll_answers.empty());
  waits.clear();
  poll_answers = {EINTR, 0};
  EXPECT_FALSE(is_written(fence, 60'000));
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_LT(waits[1], waits[0]) << "interrupted, it waits for the rest of the time";
  std::thread device([&] { EXPECT_EQ(::write(writer, "", 1), 1); });
  EXPECT_TRUE(is_written(fence, 60'000));
  device.join();
  poll_answers = {EINTR, EAGAIN};
  EXPECT_TRUE(is_written(fence, -1));
  EXPECT_TRUE(is_written(fence, 0));
}

TEST_F(DmaBufTest, IsFoundFromManyThreads) {
  std::vector<Descriptor> pool;
  for (int n = 0; n < 4; ++n) pool.push_back(memfd());
  const auto importer = std::make_shared<FakeImporter>();
  objects_.set_importer(importer);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int n = 0; n < 500; ++n) {
        const auto object = objects_.find(pool[size_t((n + t) % 4)], kBytes);
        ASSERT_TRUE(object.ok());
        ASSERT_EQ((*object)->data()[1], std::byte{});
        if (t == 0 && n % 100 == 99) objects_.clear();
      }
    });
  for (std::thread &thread : threads) thread.join();
  objects_.clear();
  EXPECT_EQ(importer->live, 0);
}

}  // namespace
}  // namespace vmafhip
