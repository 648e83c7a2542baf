#include "gst/vmafhip/fence_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "engine/dmabuf.h"
#include "gst/vmafhip/buffer_memory.h"

namespace vmafhip {
namespace {

constexpr std::chrono::milliseconds kBlindly{5};

}  // namespace

FenceWatch::FenceWatch(std::function<void()> wake, FencePatience patience)
    : wake_(std::move(wake)), patience_(patience) {}

FenceWatch::~FenceWatch() { stop(); }

std::optional<size_t> FenceWatch::unwritten(std::span<GstBuffer *const> buffers) {
  std::optional<size_t> first;
  std::vector<Identity> unwritten;
  std::vector<int> fds;
  for (size_t i = 0; i < buffers.size(); ++i)
    for (const int fd : dmabuf_descriptors(buffers[i])) {
      struct stat status;
      if (is_written(fd, 0) || ::fstat(fd, &status) != 0) continue;
      if (!first) first = i;
      unwritten.emplace_back(status.st_dev, status.st_ino);
      fds.push_back(fd);
    }
  if (!first) {
    if (!std::exchange(watched_, {}).empty()) give({});  // nor is anything kept that was left out
    return {};
  }
  // What is left of them is no new wait.
  const bool same = std::all_of(unwritten.begin(), unwritten.end(), [this](const Identity &i) {
    return std::find(watched_.begin(), watched_.end(), i) != watched_.end();
  });
  if (!same) since_ = Clock::now();
  {
    std::lock_guard lock(mutex_);
    if (unwritten == watched_ && !rung_) return first;
  }
  watched_ = std::move(unwritten);
  Order order{{}, since_};
  for (const int fd : fds) {
    // The object is the one that was asked about, whatever becomes of the buffer.
    order.fds.push_back(Descriptor::duplicate(fd));
    order.blind |= order.fds.back().get() < 0;
  }
  give(std::move(order));
  return first;
}

FenceWatch::Clock::duration FenceWatch::waited() const {
  return watched_.empty() ? Clock::duration() : Clock::now() - since_;
}

void FenceWatch::give(Order order) {
  {
    std::lock_guard lock(mutex_);
    std::swap(order_, order);
    ordered_ = true;
    rung_ = false;
  }
  if (!thread_.joinable()) {
    event_ = ::eventfd(0, EFD_CLOEXEC);
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error &) {  // too many threads
      std::this_thread::sleep_for(kBlindly);
      return wake_();
    }
  }
  ::eventfd_write(event_, 1);
}

void FenceWatch::stop() {
  watched_.clear();
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ::eventfd_write(event_, 1);
  thread_.join();
  if (event_ >= 0) ::close(event_);
  order_ = {};
  ordered_ = ending_ = rung_ = false;
}

void FenceWatch::run() {
  Order order;
  std::vector<pollfd> waits;
  for (;;) {
    {
      std::lock_guard lock(mutex_);
      if (ending_) return;
      if (std::exchange(ordered_, false)) order = std::exchange(order_, {});
    }
    waits.assign(1, {event_, POLLIN, 0});
    for (const Descriptor &fd : order.fds) waits.push_back({fd.get(), POLLIN, 0});
    const int ready = ::poll(waits.data(), waits.size(), patience_left(order));
    if (ready < 0) continue;  // a signal
    if (waits[0].revents) {
      eventfd_t count;
      ::eventfd_read(event_, &count);
      continue;
    }
    if (order.fds.empty()) continue;
    order = {};
    {
      std::lock_guard lock(mutex_);
      rung_ = !ordered_;
    }
    wake_();
  }
}

// For poll(): ms, -1 = for ever.
int FenceWatch::patience_left(const Order &order) const {
  if (order.blind || event_ < 0) return int(kBlindly.count());
  if (order.fds.empty()) return -1;
  const auto now = Clock::now();
  for (const auto limit : {order.since + patience_.warn, order.since + patience_.fail})
    if (now < limit) return int(std::chrono::ceil<std::chrono::milliseconds>(limit - now).count());
  return -1;
}

}  // namespace vmafhip
