// Cuts a stream's time into windows of one length. Pure C++.
//
// Windows begin at multiples of their length, so that two elements that watch one stream agree, whenever each of them
// started. The first window is the one in which the first frame lies.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

namespace vmafhip {

class WindowClock {
 public:
  struct Span {
    int64_t start, stop;  // ns, start <= t < stop
  };
  // What lies behind once a frame is reached.
  struct Passed {
    std::optional<Span> window;  // the one that was open
    std::optional<Span> empty;   // windows after that in which no frame lies, however many, as one
  };

  // `length` in ns, 0: there are no windows.
  explicit WindowClock(uint64_t length = 0)
      : length_(int64_t(std::min<uint64_t>(length, uint64_t(1) << 62))) {}

  // A frame at `time`, of `duration` (0 if unknown), is reached. Nothing happens if it lies before the open window.
  Passed reach(int64_t time, uint64_t duration) {
    Passed passed;
    if (length_ == 0) return passed;
    const int64_t start = begin_of(time);
    if (!start_) {
      start_ = start;
    } else if (start > *start_) {
      passed.window = Span{*start_, *start_ + length_};
      if (start > passed.window->stop) passed.empty = Span{passed.window->stop, start};
      start_ = start;
      end_.reset();
    }
    const int64_t end = time + int64_t(std::min<uint64_t>(duration, uint64_t(length_)));
    end_ = std::max(end_.value_or(end), end);
    return passed;
  }
  // Whether a frame lies before the open window.
  bool before(int64_t time) const { return length_ != 0 && start_ && time < *start_; }
  // Whether reach() would open a window, and pass the open one if there is one.
  bool opens(int64_t time) const { return length_ != 0 && (!start_ || begin_of(time) > *start_); }

  // The stream ends or begins anew: the open window, up to the end of its last frame.
  std::optional<Span> finish() {
    if (!start_) return {};
    const Span span{*start_, std::min(*end_, *start_ + length_)};
    start_.reset();
    end_.reset();
    return span;
  }

 private:
  int64_t begin_of(int64_t time) const {
    const int64_t rest = time % length_;
    return time - (rest < 0 ? rest + length_ : rest);
  }

  int64_t length_;
  std::optional<int64_t> start_, end_;  // of the open window; of its last frame
};

}  // namespace vmafhip
