// Structural similarity as defined by the extractor `ssim` of libvmaf's fork: moments of samples under a window of 9 x 9
// integer weights, at every pixel. Weights beyond the border are dropped, and pixels count by the weight that is left.
//
// Moments are exact integers below 2^48, so that they may be summed in any order, in f64, too, and in 32 bits at depth 8.
#pragma once
#include <cstdint>

#include "engine/arith/real.h"

namespace vmafhip {

// 256 times the normal density of sigma 1.5, rounded; the middle makes the sum 256.
constexpr int kSsimIntegerTaps = 9, kSsimIntegerReach = kSsimIntegerTaps / 2;
VMAFHIP_TABLE int kSsimIntegerWindow[kSsimIntegerReach + 1] = {2, 9, 28, 55, 68};  // half of it, middle last
static_assert(2 * (2 + 9 + 28 + 55) + 68 == 256);

// Sum of the taps that are inside a line of n samples, at sample i.
VMAFHIP_HD constexpr int ssim_integer_weight(int i, int n) {
  int sum = 0;
  for (int k = -kSsimIntegerReach; k <= kSsimIntegerReach; k++)
    if (i + k >= 0 && i + k < n) sum += kSsimIntegerWindow[kSsimIntegerReach - (k < 0 ? -k : k)];
  return sum;
}

// Sums over the window of samples a and b, of their squares and of their product, each times its weight.
template <class Real>
struct SsimIntegerMoments {
  Real a, b, aa, bb, ab;
};

struct SsimIntegerConstants {
  double c1, c2;  // of weight 1
};

// The fork squares the peak in 32 bits, which wraps at 16 bits a sample. Here it is what was meant.
VMAFHIP_HD SsimIntegerConstants ssim_integer_constants(int depth) {
  const double peak = static_cast<double>((1 << depth) - 1);
  return {peak * peak * (0.01 * 0.01), peak * peak * (0.03 * 0.03)};
}

// Similarity at a pixel, times its weight. The order of evaluation is the fork's.
template <class Real>
VMAFHIP_HD Real ssim_integer_term(const SsimIntegerMoments<Real> &m, Real weight,
                                  SsimIntegerConstants constants) {
  const Real c1 = constants.c1 * weight * weight, c2 = constants.c2 * weight * weight;
  const Real aa = m.a * m.a, ab = m.a * m.b, bb = m.b * m.b;
  const Real above = weight * (2.0 * ab + c1) * (c2 + 2.0 * (m.ab * weight - ab));
  return above / ((aa + bb + c1) * (m.aa * weight - aa + m.bb * weight - bb + c2));
}

// Terms are added like those of float_ssim (engine/arith/ssim.h): blocks, lanes, rows.
struct SsimIntegerSums {
  double terms;
};

inline double ssim_integer_score(const SsimIntegerSums &sums, int width, int height) {
  int64_t columns = 0, rows = 0;
  for (int x = 0; x < width; x++) columns += ssim_integer_weight(x, width);
  for (int y = 0; y < height; y++) rows += ssim_integer_weight(y, height);
  return sums.terms / (static_cast<double>(columns) * static_cast<double>(rows));
}

}  // namespace vmafhip
