// What waits and what may block, beside the main loop: one call after a while, and work in a thread of its own.
#pragma once
#include <glib.h>

#include <functional>

namespace monitor {

// One call on the main loop after a while, unless the timer is set anew, cancelled or destroyed before.
class Timer {
 public:
  Timer() = default;
  Timer(const Timer &) = delete;
  Timer &operator=(const Timer &) = delete;
  ~Timer() { cancel(); }
  void set(double seconds, std::function<void()> call);
  void cancel();

 private:
  static gboolean on_time(gpointer self);

  std::function<void()> call_;
  guint source_ = 0;
};

// `work` in a thread of its own, then `then` on the main loop.
void in_background(
    std::function<void()> work, std::function<void()> then = [] {});

// Whether all of that is done, once what has come to the main loop is dealt with.
bool background_is_idle();

}  // namespace monitor
