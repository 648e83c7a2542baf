// Motion over frames, as all motion extractors have it: motion2 and motion3 of a frame depend on later frames and are
// given out as soon as these are known. Three values of the past are all that is kept.
#pragma once
#include <cstdint>

#include "engine/arith/hd.h"

namespace vmafhip {

class MotionWindow {
 public:
  // `lag`: frames between the two that are compared.
  explicit MotionWindow(int lag) : lag_(static_cast<uint64_t>(lag)) {}

  // Motion of the next frame; 0 before frame `lag`. Calls
  //   first(count, motion)   once: frames 0 to count - 1 come before any comparison; their motion3 is that of `motion`
  //   later(frame, motion)   for each frame after them: the smaller of its motion and that of the next comparison
  template <class First, class Later>
  void add(uint64_t frame, double motion, const First &first, const Later &later) {
    past_[2] = past_[1];
    past_[1] = past_[0];
    past_[0] = motion;
    frames_ = frame + 1;
    if (frame == lag_) first(lag_, motion);
    // Frame f-1 has the neighbours f and f-lag; the latter counts from frame `lag` on.
    if (frame > lag_) later(frame - 1, frame - lag_ >= lag_ ? smaller(past_[lag_], past_[0]) : past_[0]);
  }

  template <class First, class Later>
  void flush(const First &first, const Later &later) const {
    if (frames_ > lag_)
      later(frames_ - 1, past_[0]);
    else if (frames_ > 0)
      first(frames_, 0.0);
  }

  void reset() {
    frames_ = 0;
    past_[0] = past_[1] = past_[2] = 0;
  }

 private:
  const uint64_t lag_;
  uint64_t frames_ = 0;
  double past_[3] = {};  // motion of the latest frame, of the one before, …
};

}  // namespace vmafhip
