// Tells whether the two streams show the same moments: 30 against 25 frames/s pairs well by nearest time
// and still compares different moments. Looks at the pairs in lots of 100; a constant offset is fine.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

namespace vmafhip {

class DistanceWatch {
 public:
  static constexpr size_t kLot = 100, kFewest = 20;
  static constexpr int64_t kTolerance = 2'000'000;  // ns; above container rounding of 1 ms

  // Distance of a pair in ns, distorted minus reference. True: now say that frames are not simultaneous (once).
  bool add(int64_t distance) {
    if (said_) return false;
    distances_[count_++] = distance;
    return count_ == kLot && judge();
  }
  // No further pair follows: judges what an incomplete lot tells.
  bool finish() { return !said_ && count_ >= kFewest && judge(); }

 private:
  bool judge() {
    const auto end = distances_.begin() + count_;
    const auto middle = distances_.begin() + count_ / 2;
    std::nth_element(distances_.begin(), middle, end);
    const int64_t offset = *middle;
    const auto far =
        std::count_if(distances_.begin(), end, [&](int64_t d) { return std::abs(d - offset) > kTolerance; });
    said_ = size_t(far) * 20 > count_;  // more than 5 %
    count_ = 0;
    return said_;
  }
  std::array<int64_t, kLot> distances_;
  size_t count_ = 0;
  bool said_ = false;
};

}  // namespace vmafhip
