// Scaling: how a plane of another size is brought to the reference's, in integers, the same bits everywhere.
//
// Kernels: `bilinear` is the triangle of radius 1; `bicubic` is Catmull-Rom (B = 0, C = 1/2), radius 2; `lanczos` is
// sinc(t) sinc(t/3), radius 3. Planes are aligned at their centres: output x lies at (x + 1/2) in/out - 1/2 of the
// input. This goes for every plane by itself, so that chroma is taken as centred in its luma samples. Where the
// output is smaller, the kernel is as many times wider (anti-aliasing). Samples beyond the border repeat it.
//
// Weights sum to exactly 2^14: output x has the shares of 2^14 by which its running sum of kernel values grows, each
// running sum rounded to nearest. They are mirrored where the picture is, and a constant stays what it is.
//
// Samples are centred: s - 2^(depth-1). Rows are filtered first, then columns; a direction that keeps its size is not
// filtered at all. After the rows, samples have 15 bits whatever the depth, or 16 at depth 16 (and overshoot); after
// the columns they are at the depth at which pictures are compared, which may be larger than the plane's own: what is
// interpolated loses nothing to a shallow input. Both results are rounded to nearest, halves up, and the last one is
// clamped to the depth's range.
//
// Against real arithmetic the result is off by half a step for its own rounding and, in units of the range, by at most
// kScaleGain * ((taps of rows - 1 + taps of columns - 1) * 2^-15 + 2^-16) for the roundings of weights and of what is
// between rows and columns: with `bicubic` to a larger size 0.08 steps of 8 bits, 1.3 of 12 bits.
#pragma once
#include <cstddef>
#include <cstdint>

#include "engine/arith/hd.h"

namespace vmafhip {

enum class ScaleKernel : uint8_t { bilinear, bicubic, lanczos };

constexpr int kScaleBits = 14;
// Largest sum of magnitudes of the weights of an output, of all kernels and sizes: lanczos halfway between two
// samples has 1.544. Sums of products thus fit 32 bits, of columns of depth 16 too: 2^15 * 1.6^2 * 2^14 < 2^31.
constexpr double kScaleGain = 1.6;

VMAFHIP_HD constexpr int scale_radius(ScaleKernel kernel) {
  return kernel == ScaleKernel::bilinear ? 1 : kernel == ScaleKernel::bicubic ? 2 : 3;
}

// Weights of an output, an even number; some may be zero.
VMAFHIP_HD constexpr int scale_taps(ScaleKernel kernel, int in, int out) {
  const int64_t widest = int64_t{scale_radius(kernel)} * larger(in, out);
  return static_cast<int>(2 * ((widest + out - 1) / out));
}

// ---- Weights: made once for a size, on the host, for up to a hundred inputs an output ------------------------------------------------------------

// sin(pi n/d), 0 <= n <= d: Taylor's series up to the 21st power over a quarter wave, within 1e-15. Operations that
// IEEE 754 rounds correctly and nothing else, as in all of the weights.
inline double scale_sine(int64_t n, int64_t d) {
  constexpr double kPi = 3.14159265358979323846;
  if (2 * n > d) n = d - n;
  const double x = kPi * (static_cast<double>(n) / static_cast<double>(d)), square = x * x;
  double sum = 1;
  for (int k = 20; k > 0; k -= 2) sum = 1 - square / (k * (k + 1)) * sum;
  return x * sum;
}

// The kernel at distance n/d >= 0 from its centre, in units of 2^-30.
inline int64_t scale_kernel(ScaleKernel kernel, int64_t n, int64_t d) {
  if (n >= scale_radius(kernel) * d) return 0;
  constexpr double kSquareOfPi = 9.86960440108935861883;
  const double t = static_cast<double>(n) / static_cast<double>(d);
  double value = 1;
  if (kernel == ScaleKernel::bilinear) {
    value = 1 - t;
  } else if (kernel == ScaleKernel::bicubic) {
    value = n < d ? (1.5 * t - 2.5) * t * t + 1 : ((2.5 - 0.5 * t) * t - 4) * t + 2;
  } else if (n > 0) {
    const double wave = scale_sine(n % d, d) * scale_sine(n, 3 * d);
    value = 3 * (n / d % 2 == 0 ? wave : -wave) / (kSquareOfPi * t * t);
  }
  value *= 1 << 30;
  return static_cast<int64_t>(value < 0 ? value - 0.5 : value + 0.5);
}

inline int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }  // b > 0

// 2^14 * sum / total to nearest. Halves are rounded so that the rest, total - sum, has the rest of 2^14.
inline int scale_share(int64_t sum, int64_t total) {
  const int64_t product = sum * (1 << kScaleBits), low = floor_divide(product, total);
  const int64_t twice = 2 * (product - low * total);
  return static_cast<int>(low) + (twice > total || (twice == total && 2 * sum < total) ? 1 : 0);
}

// Weights of output x over the inputs from the one returned, which may lie before the first, on.
inline int32_t scale_weights(ScaleKernel kernel, int in, int out, int x, int16_t *weights) {
  // In units of 1/(2 out) inputs, the kernel's unit in 1/(2 out) of what it is widened by.
  const int64_t centre = (2 * int64_t{x} + 1) * in - out, unit = 2 * int64_t{larger(in, out)};
  const int64_t first = floor_divide(centre - scale_radius(kernel) * unit, 2 * int64_t{out}) + 1;
  const auto value = [&](int k) {
    const int64_t distance = 2 * int64_t{out} * (first + k) - centre;
    return scale_kernel(kernel, distance < 0 ? -distance : distance, unit);
  };
  const int taps = scale_taps(kernel, in, out);
  int64_t total = 0, sum = 0;
  for (int k = 0; k < taps; k++) total += value(k);
  for (int k = 0, before = 0; k < taps; k++) {
    sum += value(k);
    const int share = scale_share(sum, total);
    weights[k] = static_cast<int16_t>(share - before);
    before = share;
  }
  return static_cast<int32_t>(first);
}

// ---- Samples ------------------------------------------------------------------------------------------------

VMAFHIP_HD constexpr int32_t scale_centre(int depth) { return int32_t{1} << (depth - 1); }

// Bits of a sample between rows and columns.
VMAFHIP_HD constexpr int scale_middle_bits(int from_depth) { return larger(15, from_depth); }

// What sums of weights times values are shifted by: of rows if columns follow, of columns if rows went before, and
// where only one direction is filtered.
VMAFHIP_HD constexpr int scale_rows_shift(int from_depth) {
  return kScaleBits - (scale_middle_bits(from_depth) - from_depth);
}
VMAFHIP_HD constexpr int scale_columns_shift(int from_depth, int to_depth) {
  return kScaleBits + (scale_middle_bits(from_depth) - to_depth);
}
VMAFHIP_HD constexpr int scale_only_shift(int from_depth, int to_depth) {
  return kScaleBits - (to_depth - from_depth);
}

VMAFHIP_HD constexpr int32_t scale_round(int32_t sum, int shift) {
  return (sum + (int32_t{1} << (shift - 1))) >> shift;
}

// The sample that the last result, centred, stands for.
VMAFHIP_HD constexpr int32_t scale_sample(int32_t value, int depth) {
  const int32_t centre = scale_centre(depth);
  return smaller(larger(value, -centre), centre - 1) + centre;
}

}  // namespace vmafhip
