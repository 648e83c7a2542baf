// The constant offset, to a part of a frame: which lag the changes of the last seconds speak for. What a single frame
// tells is often off by one (compression repeats what was there, a shifted picture looks like another moment); over
// seconds such errors cancel. Pure C++.
#pragma once
#include <array>
#include <cstdint>

#include "gst/vmafhip/content/features.h"

namespace vmafhip::content {

class Line {
 public:
  Line(const History &ref, const History &dist) : ref_(ref), dist_(dist) {}

  // Starts from that offset, with the evidence of all distorted frames up to time `end`.
  void aim(double offset, double end);
  // Adds the evidence of distorted frames up to `number`, if they are not in it already. Their reference frames, and some
  // on either side, are there.
  void gather(int64_t number);
  // The offset was found to be another.
  void move(double seconds) { offset_ += seconds; }

  double offset() const { return offset_; }  // s to add to distorted times
  // What the evidence has against a reference frame `lag` reference frames from the line, in the units of a path's cost.
  double cost(double lag) const;

 private:
  static constexpr int kSteps = 4, kReach = 6;  // lags a reference frame; reference frames to either side
  static constexpr int kLags = 2 * kReach * kSteps + 1;
  using PerLag = std::array<double, kLags>;

  void add(const Frame &dist);
  void weigh();
  void centre();

  const History &ref_, &dist_;
  double offset_ = 0;
  int64_t gathered_ = 0;  // distorted frames before this number are in the evidence
  // Decaying sums over distorted frames, at each lag.
  PerLag cross_ = {}, ref_energy_ = {};
  double dist_energy_ = 0;
  PerLag cost_ = {};
};

}  // namespace vmafhip::content
