#include "gst/vmafhip/content/features.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace vmafhip::content {
namespace {

constexpr int kLanes = 16;  // sums in flight: any vector unit keeps busy, and the order is the same on all
static_assert(kFeature % kLanes == 0);

float sum_of(const std::array<float, kLanes> &lanes) {
  float sum = 0;
  for (float lane : lanes) sum += lane;
  return sum;
}

// 32x18 to 16x9, and the mean off.
void reduce(const std::array<float, kGrid> &grid, Map &map) {
  float sum = 0;
  for (int y = 0; y < kFeatureHeight; ++y)
    for (int x = 0; x < kFeatureWidth; ++x) {
      const float *block = &grid[size_t(2 * y * kGridWidth + 2 * x)];
      const float mean = (block[0] + block[1] + block[kGridWidth] + block[kGridWidth + 1]) / 4;
      map[size_t(y * kFeatureWidth + x)] = mean;
      sum += mean;
    }
  for (float &value : map) value -= sum / kFeature;
}

// Change of `now` against the picture `share` of the way from `before` to `after`.
void measure_change(const Map &before, const Map &after, float share, Feature &now) {
  float squares = 0;
  for (size_t i = 0; i < kFeature; ++i) {
    now.change[i] = now.picture[i] - (before[i] + share * (after[i] - before[i]));
    squares += now.change[i] * now.change[i];
  }
  now.motion = std::sqrt(squares / kFeature);
  const float weight = std::sqrt(now.motion) / (now.motion + 0.25f);
  for (float &value : now.change) value *= weight;
  now.energy = dot(now.change, now.change);
}

constexpr float kLeastContrast = 4;  // variance of a map, below which likeness means nothing

}  // namespace

float dot(const Map &a, const Map &b) {
  std::array<float, kLanes> lanes = {};
  for (size_t i = 0; i < kFeature; i += kLanes)
    for (size_t k = 0; k < kLanes; ++k) lanes[k] += a[i + k] * b[i + k];
  return sum_of(lanes);
}

float squared_distance(const Map &a, const Map &b, float gain, const Map &bias) {
  std::array<float, kLanes> lanes = {};
  for (size_t i = 0; i < kFeature; i += kLanes)
    for (size_t k = 0; k < kLanes; ++k) {
      const float off = a[i + k] - gain * b[i + k] - bias[i + k];
      lanes[k] += off * off;
    }
  return sum_of(lanes);
}

double likeness(const Frame &a, const Frame &b, View view) {
  const Map &p = a.views[view].picture, &q = b.views[view].picture;
  const double pp = dot(p, p), qq = dot(q, q);
  if (std::max(pp, qq) < kLeastContrast * kFeature) return 1;
  return dot(p, q) / std::sqrt(pp * qq + 1e-9);
}

double likeness(const Frame &a, const Frame &b) {
  const double full = likeness(a, b, kFull);
  return a.bars || b.bars ? std::max(full, likeness(a, b, kActive)) : full;
}

View better_view(const Frame &a, const Frame &b) {
  return (a.bars || b.bars) && likeness(a, b, kActive) > likeness(a, b, kFull) ? kActive : kFull;
}

Frame &History::append() {
  if (size_ == frames_.size()) {
    if (size_ < kMostFrames) {
      std::vector<Frame> larger(std::max<size_t>(64, 2 * size_));
      for (size_t i = 0; i < size_; ++i) larger[i] = std::move(frames_[(first_ + i) % size_]);
      frames_ = std::move(larger);
      first_ = 0;
    } else {
      first_ = (first_ + 1) & (frames_.size() - 1);
      --size_;
      ++base_;
    }
  }
  return frames_[(first_ + size_++) & (frames_.size() - 1)];
}

bool History::add(int64_t id, double time, const Signature &signature) {
  if (!empty() && time <= back().time) return false;
  if (!empty()) {
    const double interval = time - back().time;
    period_ =
        size_ == 1 ? interval : period_ + 0.05 * (std::clamp(interval, 0.5 * period_, 2 * period_) - period_);
  }
  Frame &frame = append();
  frame.id = id;
  frame.time = time;
  frame.bars = signature.bars;
  // The change since kChangeSpan ago, linear between the neighbours of that moment.
  const double then = time - kChangeSpan;
  size_t before = size_ - 1;
  while (before > 0 && (*this)[before].time > then) --before;
  frame.changed = before + 1 < size_ && (*this)[before].time <= then &&
                  (*this)[before + 1].time - (*this)[before].time < 0.5;
  const auto at = [&](size_t i) -> const Frame & { return (*this)[i]; };
  const float share =
      frame.changed ? float((then - at(before).time) / (at(before + 1).time - at(before).time)) : 0;
  const bool bars = frame.bars || (frame.changed && (at(before).bars || at(before + 1).bars));
  for (const View view : {kFull, kActive}) {
    Feature &feature = frame.views[view];
    if (view == kActive && !bars) {
      feature = frame.views[kFull];
      break;
    }
    reduce(view == kActive && frame.bars ? signature.active : signature.full, feature.picture);
    feature.energy = feature.motion = 0;
    feature.change.fill(0);
    if (!frame.changed) continue;
    if (view == kActive && (at(before).bars != frame.bars || at(before + 1).bars != frame.bars)) {
      // Bars have come or gone: that is no change of the picture.
      feature.change = frame.views[kFull].change;
      feature.energy = frame.views[kFull].energy;
      feature.motion = frame.views[kFull].motion;
      continue;
    }
    measure_change(at(before).views[view].picture, at(before + 1).views[view].picture, share, feature);
  }
  while (front().time < time - span_) {
    first_ = (first_ + 1) & (frames_.size() - 1);
    --size_;
    ++base_;
  }
  return true;
}

size_t History::nearest(double time, size_t guess) const {
  const auto off = [&](size_t i) { return std::abs((*this)[i].time - time); };
  size_t i = std::min(guess, size_ - 1);
  while (i + 1 < size_ && off(i + 1) <= off(i)) ++i;
  while (i > 0 && off(i - 1) < off(i)) --i;
  return i;
}

}  // namespace vmafhip::content
