// Planes of lower resolution, as libvmaf's float_ssim (a box) and float_ms_ssim (a low-pass of 9 x 9) make them. Beyond
// its border a plane is mirrored, the border sample repeated.
//
// In libvmaf both are f64 sums of f32 products in raster order, rounded to f32. Here the sums of rows come first: the
// box may be summed by columns, and the low-pass, whose table has equal rows above and below its middle, shares row
// sums between neighbouring outputs. Bits differ only where an f64 sum is not exact, i.e. where products span more than
// 53 bits. Those of samples never do; those of planes that were filtered before may.
#pragma once
#include <cstdint>

#include "engine/arith/real.h"

namespace vmafhip {

VMAFHIP_HD constexpr int repeat_border(int i, int n) { return i < 0 ? -1 - i : i >= n ? 2 * n - 1 - i : i; }

// libvmaf adds the remainder of 2 whatever the factor. Factor 1 leaves the plane as it is.
VMAFHIP_HD constexpr int ssim_decimated(int size, int factor) {
  return factor == 1 ? size : size / factor + size % 2;
}

// ---- Box of factor x factor samples, the first one factor / 2 before factor * x.

VMAFHIP_HD constexpr float ssim_box_weight(int factor) { return 1.0f / static_cast<float>(factor * factor); }

// With a power of 2 products are exact, and sums of samples fit 24 bits: the weight may come last, all in f32. Else
// each product is rounded to f32, and sums of them fit 53 bits. 64 samples of 16 bits, 100 products of 24 + 15 bits.
VMAFHIP_HD constexpr bool ssim_box_is_exact(int factor) { return (factor & (factor - 1)) == 0; }

// ---- Low-pass of 9 x 9 samples, the middle at 2 * x; sizes are halved, rounded up.

constexpr int kSsimHalfTaps = 9, kSsimHalfReach = kSsimHalfTaps / 2;

// A quarter of the table, its middle last.
VMAFHIP_TABLE float kSsimHalf[kSsimHalfReach + 1][kSsimHalfReach + 1] = {
    {0.000714f, -0.000450f, -0.002090f, 0.007132f, 0.016114f},
    {-0.000450f, 0.000283f, 0.001316f, -0.004490f, -0.010146f},
    {-0.002090f, 0.001316f, 0.006115f, -0.020867f, -0.047149f},
    {0.007132f, -0.004490f, -0.020867f, 0.071207f, 0.160885f},
    {0.016114f, -0.010146f, -0.047149f, 0.160885f, 0.363505f},
};

// A row under row `class` or 8 - class of the table; sample(u): the u-th of its 9 samples.
template <class Real, class Sample>
VMAFHIP_HD WideOf<Real> ssim_half_row(int row_class, Sample sample) {
  WideOf<Real> sum = widen(sample(0) * kSsimHalf[row_class][0]);
#pragma GCC unroll 8
  for (int u = 1; u < kSsimHalfTaps; u++)
    sum = sum + widen(sample(u) * kSsimHalf[row_class][u <= kSsimHalfReach ? u : kSsimHalfTaps - 1 - u]);
  return sum;
}
// An output is narrow() of the sum of its 9 rows from top to bottom.

}  // namespace vmafhip
