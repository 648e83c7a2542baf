// While an offset is known: which reference frame each distorted frame shows, found as the cheapest path through all
// that are near the offset. Pure C++.
//
// A candidate costs what its picture and its change differ, and what the line (line.h) has against it; a step from one
// frame's choice to the next costs where it is not what the time between them says. The frames behind a distorted frame
// decide with it. Where frames were dropped, repeated or spliced, the path leaves the line; once it has clearly done so,
// the line moves there and counts for nothing for a while.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

#include "gst/vmafhip/content/features.h"
#include "gst/vmafhip/content/line.h"
#include "gst/vmafhip/content/search.h"

namespace vmafhip::content {

struct Choice {
  int64_t dist = 0, ref = -1;  // numbers in the histories; ref -1: the frame shows no reference frame
  int span = 0;                // reference frames that fit about as well; 1: this one only
};

// Streams that no frame follows of.
struct Ended {
  bool ref = false, dist = false;
};

class Tracker {
 public:
  Tracker(const History &ref, const History &dist) : ref_(ref), dist_(dist), line_(ref, dist) {}

  static constexpr double kBehind = 0.6, kAhead = 0.45;  // s around the offset that are looked at
  static constexpr int kLookAhead = 10;                  // distorted frames that decide with one

  // Follows that offset. Of the distorted frames from number `from` on it takes those that reach back from the newest
  // without a break; those before the break get no reference frame.
  void start(const Finding &finding, int64_t from, std::vector<Choice> &choices);
  // Decides what can be decided. False: the offset does not hold any more.
  bool advance(Ended ended, std::vector<Choice> &choices);

  double offset() const { return offset_; }            // of the path, smoothed; s
  double correlation() const { return correlation_; }  // of the changes along the path
  int64_t undecided() const;  // number of the first distorted frame that there was no choice for

 private:
  struct Cell {
    double cost;  // of the cheapest path to here
    double own;   // what picture and change differ
    int from;     // cell of the column before
  };
  struct Column {         // the candidates of one distorted frame
    int64_t dist, first;  // cell i stands for reference frame first + i
    View view;
    std::vector<Cell> cells;
  };
  int64_t reach_back(int64_t from) const;
  void estimate(double end);
  void open(int64_t number);
  bool decide_open(std::vector<Choice> &choices);
  void abandon_open();
  void give_up_doubtful(std::vector<Choice> &choices);
  bool decide(std::vector<Choice> &choices);
  bool judge(const Column &column, size_t chosen, std::vector<Choice> &choices);
  void compare_with_line(const Column &column, size_t chosen);
  void learn(const Frame &dist, const Frame &ref, View view);
  bool still_agrees(const Frame &dist, const Frame &ref, View view);
  double picture_distance(const Frame &dist, const Frame &ref, View view) const;
  static double change_distance(const Frame &dist, const Frame &ref, View view);

  const History &ref_, &dist_;
  Line line_;
  std::deque<Column> columns_;  // not decided yet
  int64_t next_ = 0;            // the distorted frame that is looked at next
  // Made while the changes did not agree: they count if these agree again.
  std::vector<Choice> doubtful_;
  double offset_ = 0;

  // What right pairs are like.
  double picture_scale_ = 1, change_scale_ = 1;  // their distances
  float gain_ = 1;
  std::array<Map, kViews> bias_ = {};  // what blocks differ all the time: a logo, lifted black

  // How the path lies to the line.
  int lag_ = 0, lag_frames_ = 0;  // frames beside it, and for how many frames
  double lag_gain_ = 0;           // what these would have cost more on the line
  static constexpr double kLongAgo = std::numeric_limits<double>::lowest();
  double restless_until_ = kLongAgo;  // the line counts for nothing until then
  bool restless_ = false;

  // Whether the changes along the path agree.
  double correlation_ = 0, cross_ = 0, dist_energy_ = 0, ref_energy_ = 0;
  double low_since_ = kLongAgo, alien_since_ = kLongAgo;  // kLongAgo: they do
};

}  // namespace vmafhip::content
