// Which pairs a live pipeline leaves out when scoring is slower than the frames: evenly spread ones, so that what is
// scored tells of the whole stream, and so many that the scores never fall far behind. Pure C++; it looks at how
// many pairs wait, at no clock.
//
// While at most `most` pairs wait, or the engine has room for them, all are scored: a burst of frames, or a moment without
// processor, passes. Beyond, the pairs that arrive for each one that is scored are measured, and as many less one are
// left out behind each, a little more or less to bring what waits to half of `most`. Fractions are carried over, so 5
// pairs for 2 scored leave out 1, 2, 1, 2 …
#pragma once
#include <algorithm>
#include <cstddef>

namespace vmafhip {

class Thinning {
 public:
  // The next pair, in order: whether it is left out.
  bool leave_out() {
    if (to_leave_out_ == 0) return false;
    --to_leave_out_;
    ++passed_;
    return true;
  }

  // That pair goes to the engine, and `waiting` pairs wait behind it. `had_to_wait`: for room in the engine.
  void scored(size_t waiting, size_t most, bool had_to_wait) {
    const double arrived = double(waiting) - double(waiting_) + double(passed_) + 1;
    ratio_ += (std::max(arrived, 0.0) - ratio_) / 4;
    waiting_ = waiting;
    passed_ = 0;
    at_once_ = had_to_wait ? 0 : at_once_ + 1;
    if (had_to_wait && waiting > most) active_ = true;
    if ((waiting <= most / 4 && ratio_ < 1.05) || at_once_ >= kKeepsUp) active_ = false;
    if (!active_) {
      carried_ = 0;
      return;
    }
    const double step = ratio_ + (double(waiting) - double(most) / 2) / 4;
    carried_ += std::max(step, 1.0) - 1;
    to_leave_out_ = std::min(size_t(carried_), waiting);
    carried_ = std::min(carried_ - double(to_leave_out_), 1.0);
  }

  // What waits has been dropped.
  void restart() { *this = Thinning(); }

 private:
  static constexpr int kKeepsUp = 8;  // pairs in a row for which the engine had room

  double ratio_ = 1;    // pairs that arrive for each one that is scored, smoothed
  double carried_ = 0;  // of a pair, still to leave out
  size_t waiting_ = 0;  // at the last score
  size_t passed_ = 0;   // left out since
  size_t to_leave_out_ = 0;
  int at_once_ = 0;  // pairs that did not have to wait, in a row
  bool active_ = false;
};

}  // namespace vmafhip
