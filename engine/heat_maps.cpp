#include "engine/heat_maps.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <filesystem>
#include <set>
#include <system_error>

namespace vmafhip {
namespace {

// Files that somebody in this process writes.
template <class FileId>
struct Claims {
  std::mutex mutex;
  std::set<FileId> files;

  static Claims &all() {
    static Claims claims;
    return claims;
  }
};

}  // namespace

HeatMaps::HeatMaps(const std::string &folder, const std::vector<std::string> &names) {
  namespace fs = std::filesystem;
  for (const std::string &name : names) paths_.push_back((fs::path(folder) / name).string());
  std::error_code error;
  if (const fs::path parent = fs::path(folder).parent_path(); !parent.empty())
    fs::create_directories(parent, error);
  if (!error && ::mkdir(folder.c_str(), 0770) != 0 && errno != EEXIST)
    error.assign(errno, std::generic_category());
  if (error) fail(folder, error.value());
  for (size_t i = 0; i < paths_.size() && status_.ok(); ++i) create(paths_[i]);
}

HeatMaps::~HeatMaps() {
  auto &claims = Claims<FileId>::all();
  std::lock_guard lock(claims.mutex);
  for (const FileId &file : claimed_) claims.files.erase(file);
}

void HeatMaps::create(const std::string &path) {
  // Without O_NONBLOCK this would wait for the reader of a FIFO. Emptied only when nobody else writes it.
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0666);
  struct stat info;
  if (fd < 0 || fstat(fd, &info) != 0) {
    fail(path, errno);
    if (fd >= 0) ::close(fd);
    return;
  }
  if (S_ISREG(info.st_mode)) {
    const FileId id(info.st_dev, info.st_ino);
    auto &claims = Claims<FileId>::all();
    std::lock_guard lock(claims.mutex);
    if (!claims.files.insert(id).second)
      fail(path, "it is being written already; give each measurement a folder of its own");
    else
      claimed_.push_back(id);
  }
  if (status_.ok() && S_ISREG(info.st_mode) && ftruncate(fd, 0) != 0) fail(path, errno);
  if (::close(fd) != 0) fail(path, errno);
}

void HeatMaps::write(size_t file, uint64_t frame, const uint16_t *pixels, size_t count) {
  static_assert(std::endian::native == std::endian::little);
  if (!status().ok()) return;
  const std::string &path = paths_[file];
  const int fd = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return fail(path, errno);
  const auto *data = reinterpret_cast<const char *>(pixels);
  const size_t bytes = count * sizeof *pixels;
  int error = 0;
  for (size_t done = 0; done < bytes && !error;) {
    const ssize_t written = ::pwrite(fd, data + done, bytes - done, off_t(frame * bytes + done));
    if (written > 0)
      done += size_t(written);
    else if (written == 0)
      error = EIO;
    else if (errno != EINTR)
      error = errno;
  }
  if (::close(fd) != 0 && !error && errno != EINTR) error = errno;
  if (error) fail(path, error);
}

Status HeatMaps::status() const {
  std::lock_guard lock(mutex_);
  return status_;
}

void HeatMaps::fail(const std::string &path, int error_number) {
  // Of a FIFO that somebody reads.
  fail(path,
       error_number == ESPIPE ? "it is not a regular file" : std::generic_category().message(error_number));
}

void HeatMaps::fail(const std::string &path, const std::string &reason) {
  std::lock_guard lock(mutex_);
  if (!status_.ok()) return;
  status_ = Status(Code::io, "cannot write heat maps to \"" + path + "\": " + reason);
}

}  // namespace vmafhip
