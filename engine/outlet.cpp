#include "engine/outlet.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

namespace vmafhip {
namespace {

constexpr std::chrono::milliseconds kTick{20};  // between two looks at what cannot be waited for
constexpr size_t kFirstRoom = 64 * 1024;

bool is_fifo(const std::string &path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISFIFO(info.st_mode);
}

std::string text_of(int error_number) { return std::generic_category().message(error_number); }

}  // namespace

Result<std::unique_ptr<Outlet>> Outlet::open(const std::string &path, std::function<void()> on_change,
                                             const Options &options) {
  std::unique_ptr<Outlet> outlet(new Outlet(path, std::move(on_change), options));
  // Without O_NONBLOCK this would wait for the reader of a FIFO; regular files do not mind it.
  outlet->fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC, 0666);
  if (outlet->fd_ < 0 && !(errno == ENXIO && is_fifo(path)))
    return Status(Code::io, "cannot write \"" + path + "\": " + text_of(errno));
  struct stat info;
  outlet->regular_ = outlet->fd_ >= 0 && fstat(outlet->fd_, &info) == 0 && S_ISREG(info.st_mode);
  if (!outlet->start())
    return Status(Code::resource, "the system does not let a thread start that writes \"" + path + "\"");
  return outlet;
}

Outlet::Outlet(const std::string &path, std::function<void()> on_change, const Options &options)
    : path_(path), on_change_(std::move(on_change)), options_(options) {
  waiting_.reserve(kFirstRoom);
  writing_.reserve(kFirstRoom);
}

bool Outlet::start() {
  // The thread takes no signals: those of the process are not its affair, and SIGPIPE it gets as EPIPE.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool good = true;
  try {
    thread_ = std::thread(&Outlet::work, this);
  } catch (const std::system_error &) {
    good = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return good;
}

Outlet::~Outlet() {
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (fd_ >= 0) ::close(fd_);
}

// ---- Thread -----------------------------------------------------------------------------------------------

void Outlet::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return closing_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const bool was_full = waiting_.size() > options_.most_bytes;
    std::swap(waiting_, writing_);
    busy_ = true;
    moved_ = Clock::now();
    lock.unlock();
    if (was_full) on_change_();
    put(writing_);
    writing_.clear();
    lock.lock();
    busy_ = false;
    changed_.notify_all();
    if (status_.ok()) continue;
    lock.unlock();
    on_change_();
    lock.lock();
  }
}

void Outlet::put(std::string_view text) {
  while (!text.empty()) {
    if (fd_ < 0 && !connect()) return;
    const ssize_t written = ::write(fd_, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(size_t(written));
      std::lock_guard lock(mutex_);
      moved_ = Clock::now();
      if (!status_.ok()) return;
    } else if (written == 0 || errno == EAGAIN) {
      pollfd ready{fd_, POLLOUT, 0};
      if (poll(&ready, 1, int(kTick.count())) == 0 && !stay("its reader takes nothing any more")) return;
    } else if (errno != EINTR) {
      return fail(errno);
    }
  }
}

// Waits for the reader of a FIFO; there is no event for it.
bool Outlet::connect() {
  for (;;) {
    fd_ = ::open(path_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd_ >= 0) return true;
    if (errno != ENXIO && errno != EINTR) {
      fail(errno);
      return false;
    }
    if (!stay("nobody opens it for reading")) return false;
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, kTick, [&] { return closing_; });
  }
}

// Whether to go on trying. If somebody waits for it and nothing moves, not for ever.
bool Outlet::stay(const char *why_not) {
  std::unique_lock lock(mutex_);
  if (closing_ || !status_.ok()) return false;
  const bool full = waiting_.size() > options_.most_bytes;
  if (!draining_ && !full) return true;
  if (Clock::now() - moved_ < (draining_ ? drain_patience_ : options_.patience)) return true;
  lock.unlock();
  fail(why_not);
  return false;
}

void Outlet::fail(const std::string &reason) {
  std::lock_guard lock(mutex_);
  if (!status_.ok()) return;
  status_ = Status(Code::io, "writing \"" + path_ + "\": " + reason);
  waiting_.clear();
  changed_.notify_all();
}

void Outlet::fail(int error_number) {
  fail(error_number == EPIPE ? "its reader has gone" : text_of(error_number));
}

// ---- Owner ------------------------------------------------------------------------------------------------

void Outlet::write(std::string_view text) {
  std::lock_guard lock(mutex_);
  if (!status_.ok() || text.empty()) return;
  const bool was_full = waiting_.size() > options_.most_bytes;
  waiting_ += text;
  position_ += text.size();
  if (!was_full && waiting_.size() > options_.most_bytes) moved_ = Clock::now();
  wake_.notify_all();
}

bool Outlet::drain(std::chrono::milliseconds patience, const std::function<bool()> &cancelled) {
  std::unique_lock lock(mutex_);
  draining_ = true;
  drain_patience_ = patience;
  moved_ = Clock::now();
  const auto pending = [&] { return status_.ok() && (busy_ || !waiting_.empty()); };
  while (pending() && !cancelled()) changed_.wait_for(lock, kTick, [&] { return !pending(); });
  draining_ = false;
  return status_.ok() && !pending();
}

void Outlet::give_up(const std::string &reason) { fail(reason); }

void Outlet::overwrite(uint64_t at, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = pwrite(fd_, text.data(), text.size(), off_t(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail(written < 0 ? errno : EIO);
    text.remove_prefix(size_t(written));
    at += uint64_t(written);
  }
}

void Outlet::truncate(uint64_t size) {
  if (ftruncate(fd_, off_t(size)) != 0 || lseek(fd_, off_t(size), SEEK_SET) < 0) return fail(errno);
  position_ = size;
}

void Outlet::close() {
  const int fd = std::exchange(fd_, -1);
  if (fd >= 0 && ::close(fd) != 0 && errno != EINTR) fail(errno);
}

bool Outlet::full() const {
  std::lock_guard lock(mutex_);
  return waiting_.size() > options_.most_bytes;
}

Status Outlet::status() const {
  std::lock_guard lock(mutex_);
  return status_;
}

}  // namespace vmafhip
