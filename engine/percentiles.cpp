#include "engine/percentiles.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

namespace vmafhip {
namespace {

constexpr int kLeastExponent = -1074;  // of the smallest double

// Bins narrower than this tell no values near `value` apart; with them, numbers of bins stay below 2^51.
int least_exponent(double value) {
  return value == 0 ? kLeastExponent : std::max(std::ilogb(value) - 50, kLeastExponent);
}

}  // namespace

int64_t Percentiles::bin(double value, int exponent) const {
  const double number = std::floor(std::scalbn(value, -exponent));
  // A tiny negative number may have been rounded to zero.
  return number == 0 && value < 0 ? -1 : int64_t(number);
}

void Percentiles::add(double value) {
  if (count_ == uint64_t(kExact) && !counting_) begin_counting();
  if (counting_)
    count_in(value);
  else
    store_[count_] = std::bit_cast<uint64_t>(value);
  ++count_;
}

void Percentiles::reset() {
  // What an exact phase has left is overwritten by the next one.
  count_ = lowest_ = highest_ = finite_ = at_min_ = at_max_ = 0;
  counting_ = false;
}

void Percentiles::begin_counting() {
  const auto values = store_;
  store_.fill(0);
  counting_ = true;
  exponent_ = kLeastExponent;
  for (const uint64_t bits : values) count_in(std::bit_cast<double>(bits));
}

void Percentiles::count_in(double value) {
  if (std::isinf(value)) {
    ++(value < 0 ? lowest_ : highest_);
    return;
  }
  const double least = finite_ ? std::min(min_, value) : value;
  const double most = finite_ ? std::max(max_, value) : value;
  if (finite_ == 0 || value < min_ || value > max_) {
    int exponent = std::max(exponent_, least_exponent(value));
    while (bin(most, exponent) - bin(least, exponent) >= kExact) ++exponent;
    widen(exponent);
    if (least != min_) at_min_ = 0;
    if (most != max_) at_max_ = 0;
    min_ = least;
    max_ = most;
  }
  if (value == min_) ++at_min_;
  if (value == max_) ++at_max_;
  ++finite_;
  ++store_[size_t(bin(value, exponent_) & (kExact - 1))];
}

void Percentiles::widen(int exponent) {
  if (finite_ > 0 && exponent > exponent_) {
    const auto narrow = store_;
    store_.fill(0);
    const int halvings = std::min(exponent - exponent_, 63);
    const int64_t last = bin(max_, exponent_);
    for (int64_t i = bin(min_, exponent_); i <= last; ++i)
      store_[size_t((i >> halvings) & (kExact - 1))] += narrow[size_t(i & (kExact - 1))];
  }
  exponent_ = exponent;
}

double Percentiles::percentile(double p) const {
  if (count_ == 0) return std::numeric_limits<double>::quiet_NaN();
  const double t = p * double(count_ - 1) / 100;
  const double l = std::floor(t), r = std::ceil(t);
  double low, high;
  if (counting_) {
    low = ranked(uint64_t(l));
    high = l == r ? low : ranked(uint64_t(r));
  } else {
    std::array<double, kExact> values;
    std::transform(store_.begin(), store_.begin() + std::ptrdiff_t(count_), values.begin(),
                   [](uint64_t bits) { return std::bit_cast<double>(bits); });
    const auto at = values.begin() + std::ptrdiff_t(l), end = values.begin() + std::ptrdiff_t(count_);
    std::nth_element(values.begin(), at, end);
    low = *at;
    high = l == r ? low : *std::min_element(at + 1, end);
  }
  return low == high ? low : low * (r - t) + high * (t - l);
}

// The value at a position of the sorted stream, or the middle of its bin.
double Percentiles::ranked(uint64_t rank) const {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (rank < lowest_) return -kInf;
  rank -= lowest_;
  if (rank >= finite_) return kInf;
  if (rank < at_min_) return min_;
  if (rank >= finite_ - at_max_) return max_;
  int64_t i = bin(min_, exponent_);
  for (uint64_t below = store_[size_t(i & (kExact - 1))]; below <= rank;)
    below += store_[size_t(++i & (kExact - 1))];
  return std::clamp(std::scalbn(double(i) + 0.5, exponent_), min_, max_);
}

double Percentiles::error() const { return counting_ && min_ < max_ ? std::scalbn(0.5, exponent_) : 0; }

}  // namespace vmafhip
