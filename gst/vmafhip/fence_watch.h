// Dma-bufs may come before their producer has written them: a fence says when it has. A thread of its own waits for it,
// from the first such buffer on, so that threads that have other things to do need not.
#pragma once
#include <gst/gst.h>
#include <sys/stat.h>

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "engine/descriptor.h"

namespace vmafhip {

// Producers that have not finished after so long are slow beyond what is usual, or will never be: kernels give up on
// devices after ten seconds or so.
struct FencePatience {
  std::chrono::milliseconds warn{2'000}, fail{20'000};
};

// One thread asks, for the buffers that it needs next.
class FenceWatch {
 public:
  using Clock = std::chrono::steady_clock;
  // `wake` is called by the thread when one that was not written may be, or patience ends.
  explicit FenceWatch(std::function<void()> wake, FencePatience patience = {});
  ~FenceWatch();
  FenceWatch(const FenceWatch &) = delete;

  // The first of the buffers to whose dma-bufs devices still write. If there is one, wake() follows. Never blocks.
  std::optional<size_t> unwritten(std::span<GstBuffer *const> buffers);
  // How long some of the last call's have not been written; 0 if all are.
  Clock::duration waited() const;
  const FencePatience &patience() const { return patience_; }
  // Ends the thread. Another one starts when it is needed.
  void stop();

 private:
  using Identity = std::pair<dev_t, ino_t>;
  struct Order {  // what the thread is to wait for, in place of what it waits for now
    std::vector<Descriptor> fds;
    Clock::time_point since;
    bool blind = false;  // there are no descriptors to wait for: asks again and again
  };
  void give(Order order);
  void run();
  int patience_left(const Order &order) const;

  std::function<void()> wake_;
  FencePatience patience_;
  std::vector<Identity> watched_;  // objects that were not written
  Clock::time_point since_;
  std::thread thread_;
  int event_ = -1;  // tells the thread of an order, or to end

  std::mutex mutex_;
  Order order_;
  bool ordered_ = false, ending_ = false;
  bool rung_ = false;  // the thread has called wake() for the last order, and waits for the next
};

}  // namespace vmafhip
