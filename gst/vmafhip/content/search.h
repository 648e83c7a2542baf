// Looks for the time offset at which the changes of two streams agree. Pure C++.
//
// Windows of several lengths are laid over the other stream at every lag within the range: for a lag <= 0 the newest
// distorted frames over old reference frames, for a lag > 0 the newest reference frames over old distorted ones, so that
// nothing waits for frames to come.
#pragma once
#include <array>
#include <vector>

#include "gst/vmafhip/content/features.h"

namespace vmafhip::content {

// What stands against an offset.
enum class Reason {
  none,        // one was found
  collecting,  // too few frames so far
  still,       // nothing moves
  repeating,   // several offsets fit
  unlike,      // none fits
};

struct Finding {
  double offset = 0;  // s to add to distorted times
  double confidence =
      0;  // 0..1: share of the change that this offset explains, times its lead over all others
  double correlation = 0, second = 0;  // of the changes at the offset, and the highest elsewhere
  double seen = 0;                     // share of the range that there were frames for
  Reason reason = Reason::collecting;
};

class Search {
 public:
  explicit Search(double range) : range_(range) {}  // s

  static constexpr std::array<double, 3> kWindows = {0.8, 1.6, 3.2};  // s
  static constexpr double kLeastConfidence = 0.30;                    // below: not an offset
  static constexpr double kStill = 0.12;  // motion below which a window tells nothing, code values

  Finding find(const History &ref, const History &dist);

  // Correlation of the changes at one offset over the newest `window` seconds; NaN without enough frames.
  double correlation(const History &ref, const History &dist, double offset, double window) const;

 private:
  static constexpr size_t kWindowCount = kWindows.size();
  using PerWindow = std::array<double, kWindowCount>;
  PerWindow correlate(const History &ref, const History &dist, double lag, bool fine, View view) const;
  void look_at(const History &ref, const History &dist, View view, double step, int steps, Finding &best,
               double &motion, bool &twin);

  double range_;
  std::array<std::vector<double>, kWindowCount> curves_;  // correlation at each lag; kept for their memory
};

}  // namespace vmafhip::content
