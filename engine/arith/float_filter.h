// The separable low-pass of the float metrics (float_vif, float_motion, speed): columns first, then rows, each a sum
// of f32 products in ascending order of the taps, nothing contracted. Beyond its border a plane is mirrored about the
// border sample, once: a filter needs planes larger than its radius in both directions.
//
// A sum starts with its first product. That one starts from zero instead may change the sign of a zero and nothing
// else, which no result depends on; taps of zero before and behind a filter are likewise free.
#pragma once
#include <cmath>

#include "engine/arith/hd.h"

namespace vmafhip {

// Lengths are odd. 17 taps at the largest kernel scale give 65.
constexpr int kFilterMostTaps = 65;

struct FloatFilter {
  int length = 1;
  float tap[kFilterMostTaps] = {1.0f};
};

VMAFHIP_HD constexpr int filter_radius(int length) { return length / 2; }
// Samples that a plane must have in each direction.
VMAFHIP_HD constexpr int filter_min_size(int length) { return filter_radius(length) + 1; }

// Ratios of the resolution that a kernel was meant for to the one that it is used at: libvmaf knows no others.
constexpr double kKernelScales[] = {1.0,     1.0 / 2, 3.0 / 2,  2.0,      2.0 / 3,  24.0 / 10, 360.0 / 97,
                                    4.0 / 3, 3.5 / 3, 3.75 / 3, 4.25 / 3, 5.0 / 3,  3.0,       1 / 2.25,
                                    1.4746,  1.54,    1.6,      1.06667,  0.711111, 0.740740,  1.111111};

inline bool is_kernel_scale(double value) {
  for (const double scale : kKernelScales)
    if (std::fabs(value - scale) < 1e-3) return true;
  return false;
}

// Taps of a kernel made for 2^(4 - scale) + 1 of them, at another kernel scale; at least 3. Scales are 0 to 4.
inline int filter_length(int scale, double kernel_scale) {
  const int base = (1 << (4 - scale)) + 1;
  const int length = static_cast<int>(std::ceil(static_cast<float>(base * kernel_scale)));
  return larger(length % 2 == 0 ? length + 1 : length, 3);
}

// Samples of a Gaussian, normalised. The factor `scale` cancels but for its roundings. In memory between f64 and f32,
// since they must be rounded (hd.h). Made once, on the host.
inline FloatFilter gaussian_filter(int length, float sigma) {
  constexpr double kPi = 3.14159265358979323846;
  FloatFilter filter;
  filter.length = length;
  const float scale = static_cast<float>(1 / (sigma * std::sqrt(2 * kPi)));
  float total = 0;
  for (int i = 0; i < length; i++) {
    const int x = i - (length - 1) / 2;
    const float height = static_cast<float>(std::exp(-0.5 * x / sigma * x / sigma));
    filter.tap[i] = height / scale;
    total += filter.tap[i];
  }
  for (int i = 0; i < length; i++) filter.tap[i] /= total;
  return filter;
}

// sum + tap * value, both rounded; for numbers and vectors of them.
template <class T>
VMAFHIP_HD T filter_add(T sum, float tap, T value) {
  return sum + tap * value;
}

}  // namespace vmafhip
