#include "gst/vmafhip/content/line.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace vmafhip::content {
namespace {

constexpr double kMemory = 5;          // s
constexpr double kWeight = 6;          // of the logarithm of what a lag leaves unexplained
constexpr double kMostCost = 12;       // so that a path can leave the line at all
constexpr double kLeastRest = 1e-4;    // unexplained share that is taken for noise
constexpr double kPlateau = 0.01;      // lags whose costs differ less lead to the same frames
constexpr double kFartherThan = 0.75;  // frames from the next reference frame: there is none
// Lags that lead to a frame: half a frame to either side, less the step at which the next frame is as near.
constexpr double kHalf = 0.375;

}  // namespace

void Line::aim(double offset, double end) {
  offset_ = offset;
  cross_ = ref_energy_ = cost_ = {};
  dist_energy_ = 0;
  gathered_ = dist_.base();
  while (gathered_ < dist_.end() && dist_.numbered(gathered_).time <= end) add(dist_.numbered(gathered_++));
  weigh();
  centre();
}

void Line::gather(int64_t number) {
  if (number < gathered_) return;
  for (gathered_ = std::max(gathered_, dist_.base()); gathered_ <= number; ++gathered_)
    add(dist_.numbered(gathered_));
  weigh();
  centre();
}

void Line::add(const Frame &dist) {
  if (!dist.changed) return;
  const double period = ref_.period(), time = dist.time + offset_;
  size_t i = ref_.nearest(time, ref_.size() - 1);
  if (std::abs(ref_[i].time - time) > kFartherThan * period) return;
  const View view = better_view(dist, ref_[i]);
  const Feature &d = dist.views[view];
  const double decay = std::exp(-dist_.period() / kMemory);
  size_t looked_at = ref_.size();
  double cross = 0, energy = 0;
  for (int k = 0; k < kLags; ++k) {
    const double at = time + (double(k) / kSteps - kReach) * period;
    i = ref_.nearest(at, i);
    if (i != looked_at) {
      looked_at = i;
      const bool there = ref_[i].changed && std::abs(ref_[i].time - at) < period;
      cross = there ? dot(d.change, ref_[i].views[view].change) : 0;
      energy = there ? ref_[i].views[view].energy : d.energy;
    }
    cross_[size_t(k)] = cross_[size_t(k)] * decay + cross;
    ref_energy_[size_t(k)] = ref_energy_[size_t(k)] * decay + energy;
  }
  dist_energy_ = dist_energy_ * decay + d.energy;
}

// For changes with normal errors this is, but for a factor, the logarithm of the likelihood ratio.
void Line::weigh() {
  PerLag rest;
  for (size_t k = 0; k < kLags; ++k) {
    const double correlation = std::max(0.0, cross_[k]) / std::sqrt(ref_energy_[k] * dist_energy_ + 1e-9);
    rest[k] = std::max(kLeastRest, 1 - correlation * correlation);
  }
  const double least = *std::min_element(rest.begin(), rest.end());
  for (size_t k = 0; k < kLags; ++k) cost_[k] = std::min(kMostCost, kWeight * std::log(rest[k] / least));
}

// Puts the line in the middle of the lags that fit best.
void Line::centre() {
  int from = int(std::min_element(cost_.begin(), cost_.end()) - cost_.begin()), to = from;
  const double low = cost_[size_t(from)] + kPlateau;
  while (from > 0 && cost_[size_t(from) - 1] < low) --from;
  while (to + 1 < kLags && cost_[size_t(to) + 1] < low) ++to;
  const int off = (from + to) / 2 - kReach * kSteps;
  if (off == 0) return;
  offset_ += off * ref_.period() / kSteps;
  PerLag cross = {}, energy;
  energy.fill(dist_energy_);
  for (int k = std::max(0, -off); k < std::min(kLags, kLags - off); ++k) {
    cross[size_t(k)] = cross_[size_t(k + off)];
    energy[size_t(k)] = ref_energy_[size_t(k + off)];
  }
  cross_ = cross;
  ref_energy_ = energy;
  weigh();
}

double Line::cost(double lag) const {
  const auto index = [](double l) {
    return std::clamp(int(std::lround((l + kReach) * kSteps)), 0, kLags - 1);
  };
  double least = std::numeric_limits<double>::max();
  for (int k = index(lag - kHalf + 1e-6); k <= index(lag + kHalf - 1e-6); ++k)
    least = std::min(least, cost_[size_t(k)]);
  return least;
}

}  // namespace vmafhip::content
