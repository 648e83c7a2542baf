#include "examples/monitor/continuity.h"

#include <cstdlib>

namespace monitor {

std::optional<int64_t> Continuity::frame(size_t stream, int64_t time, int64_t wall) {
  std::lock_guard lock(mutex_);
  Stream &s = streams_[stream];
  std::optional<int64_t> offset;
  if (s.last) {
    const int64_t step = time - *s.last;
    // A source that was silent for an hour goes on an hour later: that is no jump.
    const int64_t silence = step > 0 ? wall - *s.wall : 0;
    if (step < -kSecond || (step > kJump && step - silence > kJump)) {
      int64_t correction = s.step - step;
      // The other stream's jump, to the frame, if this is the same one.
      const int64_t others = streams_[1 - stream].offset - s.offset;
      if (std::llabs(others - correction) < kSecond) correction = others;
      s.offset += correction;
      offset = s.offset;
    } else {
      s.step = step;
    }
  }
  s.last = time;
  s.wall = wall;
  return offset;
}

bool Continuity::jumps(size_t stream, int64_t time) {
  std::lock_guard lock(mutex_);
  const Stream &s = streams_[stream];
  return s.last && std::llabs(time - *s.last) > kJump;
}

}  // namespace monitor
