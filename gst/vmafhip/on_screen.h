// What a viewer of the distorted stream sees when a frame is missing: the last one that was shown. For
// on-missing=repeat. Pure C++; F is any copyable handle of a frame with a running time `time` in ns.
#pragma once
#include <cstdint>
#include <optional>

namespace vmafhip {

template <class F>
class OnScreen {
 public:
  // A distorted frame that was paired or left out: in its order, and from now on the one that is seen.
  void show(const F &frame) { frame_ = frame; }
  void clear() { frame_.reset(); }

  // The frame that is seen at a time: none before the first. A stream that has ended shows its last frame for
  // `last_duration` ns and nothing afterwards; negative = it goes on, and its last frame stands.
  std::optional<F> at(int64_t time, int64_t last_duration = -1) const {
    if (!frame_ || time < frame_->time) return {};
    if (last_duration >= 0 && time - frame_->time >= last_duration) return {};
    return frame_;
  }

 private:
  std::optional<F> frame_;
};

}  // namespace vmafhip
