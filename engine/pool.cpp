#include "engine/pool.h"

#include <cmath>
#include <limits>

namespace vmafhip {

void BasicPool::add(double score) {
  // min and max start from the first value and are replaced on comparison, so that a NaN does what it
  // does in libvmaf: it stays if it comes first and is passed over later.
  if (count_ == 0) min_ = max_ = score;
  if (score < min_) min_ = score;
  if (score > max_) max_ = score;
  sum_ += score;
  reciprocals_ += 1.0 / (score + 1.0);
  ++count_;
}

double BasicPool::get(PoolMethod method) const {
  if (count_ == 0) return std::numeric_limits<double>::quiet_NaN();
  const double n = double(count_);
  switch (method) {
    case PoolMethod::mean:
      return sum_ / n;
    case PoolMethod::min:
      return min_;
    case PoolMethod::max:
      return max_;
    case PoolMethod::harmonic_mean:
      return n / reciprocals_ - 1.0;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

void RunningPool::add(double score) {
  BasicPool::add(score);
  const double distance = score - mean_;
  mean_ += distance / double(count());
  squares_ += distance * (score - mean_);
  if (std::isnan(score))
    nan_ = true;
  else
    percentiles_.add(score);
}

void RunningPool::reset() {
  BasicPool::reset();
  mean_ = squares_ = 0;
  nan_ = false;
  percentiles_.reset();
}

double RunningPool::stddev() const {
  return count() ? std::sqrt(squares_ / double(count())) : std::numeric_limits<double>::quiet_NaN();
}

double RunningPool::percentile(double p) const {
  return nan_ ? std::numeric_limits<double>::quiet_NaN() : percentiles_.percentile(p);
}

}  // namespace vmafhip
