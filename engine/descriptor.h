// A file descriptor that is closed when its owner goes.
#pragma once
#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace vmafhip {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  // One of our own for the same object; if there can be none it is -1, and errno says why.
  static Descriptor duplicate(int fd) { return Descriptor(::fcntl(fd, F_DUPFD_CLOEXEC, 0)); }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(Descriptor &&other) noexcept : fd_(other.release()) {}
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }  // it is another's now

 private:
  int fd_;
};

}  // namespace vmafhip
