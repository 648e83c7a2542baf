// What frames are compared by, and the recent past of a stream. A frame's signature becomes 16x9 block means without
// their spatial mean (picture) and the change of these over a fixed time (change), which knows no logos, no lifted black
// and no frame rate. Pure C++.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gst/vmafhip/content/signature.h"

namespace vmafhip::content {

constexpr int kFeatureWidth = kGridWidth / 2, kFeatureHeight = kGridHeight / 2;
constexpr int kFeature = kFeatureWidth * kFeatureHeight;

using Map = std::array<float, kFeature>;

float dot(const Map &a, const Map &b);
// Of a - gain * b - bias.
float squared_distance(const Map &a, const Map &b, float gain, const Map &bias);

struct Feature {
  alignas(64) Map picture;  // block means in 8-bit code values, spatial mean removed
  alignas(64) Map change;   // of picture over kChangeSpan, compressed: a cut counts by its root, noise hardly
  float energy = 0;         // squared norm of change
  float motion = 0;         // RMS of the change before compression, code values
};

// The whole picture, and the picture between black bars: dark content looks like bars in one stream and not in the
// other, so both are kept where either stream has bars.
enum View : int { kFull, kActive, kViews };

struct Frame {
  int64_t id = 0;
  double time = 0;       // s
  bool changed = false;  // change is known: there is a frame kChangeSpan ago
  bool bars = false;
  std::array<Feature, kViews> views;  // alike without bars
};

constexpr double kChangeSpan = 0.12;  // s

// How alike two pictures are: correlation of their maps, the better of the views; 1 where there is no contrast to
// compare.
double likeness(const Frame &a, const Frame &b, View view);
double likeness(const Frame &a, const Frame &b);
View better_view(const Frame &a, const Frame &b);

// The newest frames of a stream, oldest first. Frames keep their numbers when older ones go.
class History {
 public:
  // Frames older than `span` seconds go. However many come in that time, at most kMostFrames are kept.
  explicit History(double span) : span_(span) {}
  static constexpr size_t kMostFrames = 4096;

  // False if the time does not rise; the frame is left out then.
  bool add(int64_t id, double time, const Signature &signature);

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  const Frame &operator[](size_t i) const { return frames_[(first_ + i) & (frames_.size() - 1)]; }
  const Frame &front() const { return (*this)[0]; }
  const Frame &back() const { return (*this)[size_ - 1]; }
  int64_t base() const { return base_; }  // number of front()
  int64_t end() const { return base_ + int64_t(size_); }
  const Frame &numbered(int64_t number) const { return (*this)[size_t(number - base_)]; }
  bool holds(int64_t number) const { return number >= base_ && number < end(); }

  // Index of the frame nearest in time; walks from `guess`. Not while empty.
  size_t nearest(double time, size_t guess) const;
  double period() const { return period_; }  // s between frames, smoothed; single gaps count little
  size_t bytes() const { return frames_.size() * sizeof(Frame); }

 private:
  Frame &append();

  double span_;
  std::vector<Frame> frames_;  // a ring; its size is a power of two
  size_t first_ = 0, size_ = 0;
  int64_t base_ = 0;
  double period_ = 0.04;
};

}  // namespace vmafhip::content
