// Integer VIF: visual information fidelity of luma on four scales, as defined by libvmaf's `vif`; of chroma as
// defined by the fork of libvmaf that has the option `enable_chroma`.
//
// Scale 0 is the picture; scale s is scale s-1 filtered by F(s) and halved. On each scale, local means,
// variances and the covariance under the window F(s) give per pixel the information that the reference
// carries and the part of it that survives in the distorted picture; both are summed as integers.
//
// Units. Samples are on a 16-bit scale (pixel << (16 - depth)) everywhere, which gives every depth the
// same shifts: means are 16.0 bits, squares are in units of 2^-16 of (8-bit step)^2, 32 bits.
#pragma once
#include <cmath>
#include <cstdint>

#include "engine/arith/hd.h"

namespace vmafhip {

constexpr int kVifScales = 4;
constexpr int kVifMinSize = 16;  // below it the coarsest scale has fewer than two samples
constexpr int kVifMaxRadius = 8;
VMAFHIP_TABLE int kVifTapCount[kVifScales] = {17, 9, 5, 3};

// Gaussian windows in units of 2^-16.
VMAFHIP_TABLE uint16_t kVifTaps[kVifScales][17] = {
    {489, 935, 1640, 2640, 3896, 5274, 6547, 7455, 7784, 7455, 6547, 5274, 3896, 2640, 1640, 935, 489},
    {1244, 3663, 7925, 12590, 14692, 12590, 7925, 3663, 1244},
    {3571, 16004, 26386, 16004, 3571},
    {10904, 43728, 10904}};

namespace vif_check {
constexpr bool taps_are_good(int scale) {
  const int n = kVifTapCount[scale];
  int sum = 0;
  for (int k = 0; k < 17; k++) {
    sum += kVifTaps[scale][k];
    if (k < n && kVifTaps[scale][k] != kVifTaps[scale][n - 1 - k]) return false;
    if (k >= n && kVifTaps[scale][k] != 0) return false;
  }
  return sum == 65536;
}
static_assert(taps_are_good(0) && taps_are_good(1) && taps_are_good(2) && taps_are_good(3));
}  // namespace vif_check

// Variance of the model's visual noise, 2.0, in units of 2^-16.
constexpr int32_t kVifNoise = 2 << 16;
// Keeps the gain finite: 1e-10 in units of 2^-16.
constexpr double kVifEpsilon = 65536 * 1e-10;

struct VifParams {
  double gain_limit = 100.0;  // 1 to 100; 1 counts no enhancement (NEG)
  bool skip_scale0 = false;   // of luma
  bool chroma = false;        // also planes 1 and 2
};

// Exact sums of one scale.
struct VifScaleSums {
  int64_t num_log = 0;  // sum of log2 terms of the numerator, in 1/2048
  int64_t den_log = 0;  // sum of log2 terms of the denominator, in 1/2048
  int64_t num_low = 0;  // sum of the distorted variance where the reference is flat, in 2^-16
  int64_t den_low = 0;  // pixels where the reference is flat
};

struct VifSums {
  VifScaleSums scale[kVifScales];      // luma
  VifScaleSums chroma[2][kVifScales];  // Cb, Cr: only with enable_chroma
};

constexpr int kVifLogEntries = 32768;

// table[i - 32768] = 2048 * log2(i) for i = 32768 to 65535: log2 rounded to f32, the product rounded half up.
// A log2 in f64 without the rounding to f32 gives 38 different entries.
inline void vif_fill_log_table(uint16_t *table) {
  for (int i = 0; i < kVifLogEntries; i++) {
    const volatile float log = std::log2(static_cast<float>(32768 + i));
    table[i] = static_cast<uint16_t>(std::floor(static_cast<double>(log) * 2048.0 + 0.5));
  }
}

// 2048 * log2(v) for v >= 2^17: the table at the leading 16 bits, the rest of v cut off.
VMAFHIP_HD int32_t vif_log2(const uint16_t *table, uint64_t v) {
  const int k = highest_bit(v) - 15;
  return table[(v >> k) - 32768] + 2048 * k;
}

// Local statistics of one pixel in units of 2^-16.
struct VifStatistics {
  int32_t ref;    // variance of the reference; rounding can make it negative
  int32_t dist;   // variance of the distorted picture, 0 or more
  int32_t cross;  // covariance
};

// mean_*: filtered means, 32 bits, not shifted back; *_square: filtered squares and product.
VMAFHIP_HD VifStatistics vif_statistics(uint32_t mean_ref, uint32_t mean_dist, uint32_t ref_square,
                                        uint32_t dist_square, uint32_t product) {
  constexpr uint64_t half = uint64_t{1} << 31;
  const uint32_t rr = static_cast<uint32_t>((static_cast<uint64_t>(mean_ref) * mean_ref + half) >> 32);
  const uint32_t dd = static_cast<uint32_t>((static_cast<uint64_t>(mean_dist) * mean_dist + half) >> 32);
  const uint32_t rd = static_cast<uint32_t>((static_cast<uint64_t>(mean_ref) * mean_dist + half) >> 32);
  return {static_cast<int32_t>(ref_square - rr), larger(static_cast<int32_t>(dist_square - dd), 0),
          static_cast<int32_t>(product - rd)};
}

// Adds what one pixel of the reference carries. Variances stay below 2^30.1, so kVifNoise + ref fits i32.
VMAFHIP_HD void vif_add_reference(int32_t ref, const uint16_t *table, VifScaleSums *sums) {
  if (ref < kVifNoise)
    sums->den_low++;
  else
    sums->den_log += vif_log2(table, static_cast<uint64_t>(kVifNoise + ref)) - 2048 * 17;
}

// The channel between the pictures at one pixel.
struct VifChannel {
  double gain;
  int64_t noise;  // what the gain, before its limit, leaves unexplained, and the visual noise
};

// All of `s` above 0.
VMAFHIP_HD VifChannel vif_channel(const VifStatistics &s) {
  const double gain = s.cross / (s.ref + kVifEpsilon);
  return {gain, static_cast<int64_t>(larger(static_cast<int32_t>(s.dist - gain * s.cross), 0)) + kVifNoise};
}

// What comes through it, with the noise. With the limit 100 it reaches about 1e13.
VMAFHIP_HD int64_t vif_signal(const VifChannel &channel, int32_t ref, double gain_limit) {
  const double gain = smaller(channel.gain, gain_limit);
  return static_cast<int64_t>((gain * gain) * ref) + channel.noise;
}

// Adds what of it is left in the distorted picture; a pixel's logarithms for each gain limit to sums of their own.
VMAFHIP_HD void vif_add_distorted(const VifStatistics &s, const uint16_t *table, const double *gain_limits,
                                  int limits, VifScaleSums *sums) {
  if (s.ref < kVifNoise) {
    for (int i = 0; i < limits; i++) sums[i].num_low += s.dist;
    return;
  }
  if (s.cross <= 0 || s.dist <= 0) return;
  const VifChannel channel = vif_channel(s);
  const int32_t noise = vif_log2(table, static_cast<uint64_t>(channel.noise));
  for (int i = 0; i < limits; i++)
    sums[i].num_log +=
        vif_log2(table, static_cast<uint64_t>(vif_signal(channel, s.ref, gain_limits[i]))) - noise;
}

struct VifScores {
  double score[kVifScales];
  double chroma[2][kVifScales];
  // f32: rounded once from f64, then used as they are.
  float num[kVifScales], den[kVifScales];
  double total_num, total_den, total;
};

// Numerator and denominator of one scale, each rounded to f32.
struct VifFraction {
  float num, den;
};

inline VifFraction vif_fraction(const VifScaleSums &sum) {
  // 16384 * 65025: from 2^-16 to the square of the 8-bit range, times 4.
  return {static_cast<float>(
              static_cast<double>(sum.num_log) / 2048.0 +
              (static_cast<double>(sum.den_low) - (static_cast<double>(sum.num_low) / 16384.0) / 65025.0)),
          static_cast<float>(static_cast<double>(sum.den_log) / 2048.0 + static_cast<double>(sum.den_low))};
}

// Luma divides in f32, chroma in f64.
inline VifScores vif_finish(const VifSums &sums, const VifParams &params) {
  VifScores out = {};
  const int first = params.skip_scale0 ? 1 : 0;
  if (params.skip_scale0) out.den[0] = -1.0f;
  for (int s = first; s < kVifScales; s++) {
    const VifFraction fraction = vif_fraction(sums.scale[s]);
    out.num[s] = fraction.num;
    out.den[s] = fraction.den;
  }
  for (int s = first; s < kVifScales; s++) {
    const float ratio = out.num[s] / out.den[s];
    out.score[s] = ratio;
    out.total_num += out.num[s];
    out.total_den += out.den[s];
  }
  out.total = out.total_den == 0.0 ? 1.0 : out.total_num / out.total_den;
  for (int c = 0; params.chroma && c < 2; c++)
    for (int s = 0; s < kVifScales; s++) {
      const VifFraction fraction = vif_fraction(sums.chroma[c][s]);
      const double num = fraction.num, den = fraction.den;
      out.chroma[c][s] = den == 0.0 ? 1.0 : num / den;
    }
  return out;
}

}  // namespace vmafhip
