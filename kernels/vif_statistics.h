// VIF in kernels: from variances and covariance of pixels to the sums of logarithms. The results are those of
// vif_add_reference() and vif_add_distorted() (engine/arith/vif.h), whose doubles all but few pixels do without.
#pragma once
#include "engine/arith/vif.h"
#include "kernels/numbers.h"
#include "kernels/vif_args.h"

namespace vmafhip {

constexpr int kVifLogBias = kGpuLeadingBias >> 4;

// 2048 * (log2(v) - 15) + 30720 = vif_log2(v), plus kVifLogBias; 0 < v < 2^32. The table's entry is on its way meanwhile.
struct VifFoldedLog {
  uint32_t leading, entry;

  GPU_FN VifFoldedLog() {}
  GPU_FN VifFoldedLog(const uint16_t *folded, uint32_t v)
      : leading(gpu_leading16(v)), entry(folded[(leading >> 3) & 4095]) {}
  GPU_FN int32_t value() const {
    return static_cast<int32_t>(((leading >> 15 << 14) + entry + (leading & 7)) >> 3);
  }
};
GPU_FN int32_t vif_folded_log2(const uint16_t *folded, uint32_t v) { return VifFoldedLog(folded, v).value(); }

// The difference of logarithms that vif_add_distorted() adds, in its doubles. Cold code.
GPU_NOINLINE int32_t vif_gain_exact(const uint16_t *folded, int32_t ref, int32_t dist, int32_t cross,
                                    double gain_limit) {
  double gain = cross / (ref + kVifEpsilon);
  const int32_t residue = larger(static_cast<int32_t>(dist - gain * cross), 0);
  gain = smaller(gain, gain_limit);
  const uint32_t noise = static_cast<uint32_t>(residue + kVifNoise);
  uint64_t signal = static_cast<uint64_t>(static_cast<int64_t>((gain * gain) * ref)) + noise;
  // The leading 16 bits stay when others are shifted out.
  int32_t octaves = 0;
  for (; signal >> 32; signal >>= 1) octaves += 2048;
  return vif_folded_log2(folded, static_cast<uint32_t>(signal)) + octaves - vif_folded_log2(folded, noise);
}

// What gains do, in integers: noise is residue + kVifNoise, and signal, without a limit, noise + part.
struct VifGain {
  uint32_t noise;
  int32_t part;
  bool sure;  // for gains up to 2: whether both are what doubles give
};

// Without branches, so that the pixels of a thread overlap. ref >= kVifNoise; all arguments below 2^30.1.
//
// Let T = cross^2 / ref, the part of the distorted variance that the reference explains. With gain = cross / (ref + e),
// e = kVifEpsilon = 6.6e-6, vif_add_distorted() has
//   gain * cross      = T - b,   b  = T * e / ref     = (cross / ref)^2 * e     < 2^-15, with 3 roundings,
//   gain * gain * ref = T - b',  b' = 2 * T * e / ref = 2 * (cross / ref)^2 * e < 2^-14, with 6 roundings,
// roundings of 2^-53 relative. Let I = floor(T).
//  1. T is 2^-12 - 2^-17 or more away from every integer. Biases and roundings, 6 * 2^-53 * 2^31.1 < 2^-19, do not take it
//     across one: trunc(gain^2 * ref) = I, and trunc(dist - gain * cross) = dist - I - 1 where that is not negative.
//  2. T is an integer. e / ref is at least 2^-47.3, 17 times what the roundings can be: both products are below T, so
//     trunc(gain^2 * ref) = T - 1. dist - gain * cross, a little above dist - T, gives dist - T where that is not
//     negative. It is as in 1. with I = T - 1.
//  3. Elsewhere nothing is said.
// How I is found: `quotient` = cross * (1 / ref) * cross in floats. Reciprocal and five roundings, 7 * 2^-24 relative,
// make it at most 2^9.8 wrong at T = 2^31: the remainder stays below cross^2 * 7 * 2^-24 < 2^39, which leaves 31 bits and
// sign after the shift by 8. Half a unit and the float's error of 2^-12 later it lies within +-0.51 * ref, and one
// conditional addition makes it the remainder of the floor. Larger T yield numbers that are not used.
GPU_FN VifGain vif_gain(int32_t ref, int32_t dist, int32_t cross) {
  const uint32_t divisor = static_cast<uint32_t>(ref);
  const float reciprocal = gpu_reciprocal(static_cast<float>(ref)), factor = static_cast<float>(cross);
  uint32_t quotient = gpu_truncate(factor * reciprocal * factor);
  const uint64_t remainder =
      static_cast<uint64_t>(static_cast<uint32_t>(cross)) * static_cast<uint32_t>(cross) -
      static_cast<uint64_t>(quotient) * divisor;
  const int32_t correction =
      gpu_nearest(static_cast<float>(static_cast<int32_t>(remainder >> 8)) * (reciprocal * 256.0f));
  int32_t left =
      static_cast<int32_t>(static_cast<uint32_t>(remainder) - static_cast<uint32_t>(correction) * divisor);
  const bool below = left < 0;
  quotient = quotient + static_cast<uint32_t>(correction) - below;
  left = below ? left + ref : left;

  const uint32_t margin = divisor >> 12;
  const bool whole = left == 0;
  const int32_t part = static_cast<int32_t>(quotient) - whole;
  return {static_cast<uint32_t>(larger(dist - part - 1, 0) + kVifNoise), part,
          static_cast<uint32_t>(left) - margin < divisor - 2 * margin || whole};
}

// The same of several pixels, a step for all of them after the other: a step waits for what the one before gives, which takes as
// long as it takes for all. It needs more registers.
template <int kCount>
GPU_FN void vif_gains(const int32_t (&ref)[kCount], const int32_t (&dist)[kCount],
                      const int32_t (&cross)[kCount], VifGain (&gains)[kCount]) {
  float reciprocal[kCount];
  uint32_t quotient[kCount];
  uint64_t remainder[kCount];
  int32_t correction[kCount], left[kCount];
#pragma unroll
  for (int i = 0; i < kCount; i++) reciprocal[i] = gpu_reciprocal(static_cast<float>(ref[i]));
#pragma unroll
  for (int i = 0; i < kCount; i++) {
    const float factor = static_cast<float>(cross[i]);
    quotient[i] = gpu_truncate(factor * reciprocal[i] * factor);
  }
#pragma unroll
  for (int i = 0; i < kCount; i++)
    remainder[i] = static_cast<uint64_t>(static_cast<uint32_t>(cross[i])) * static_cast<uint32_t>(cross[i]) -
                   static_cast<uint64_t>(quotient[i]) * static_cast<uint32_t>(ref[i]);
#pragma unroll
  for (int i = 0; i < kCount; i++)
    correction[i] =
        gpu_nearest(static_cast<float>(static_cast<int32_t>(remainder[i] >> 8)) * (reciprocal[i] * 256.0f));
#pragma unroll
  for (int i = 0; i < kCount; i++)
    left[i] = static_cast<int32_t>(static_cast<uint32_t>(remainder[i]) -
                                   static_cast<uint32_t>(correction[i]) * static_cast<uint32_t>(ref[i]));
#pragma unroll
  for (int i = 0; i < kCount; i++) {
    const bool below = left[i] < 0;
    quotient[i] = quotient[i] + static_cast<uint32_t>(correction[i]) - below;
    left[i] = below ? left[i] + ref[i] : left[i];
  }
#pragma unroll
  for (int i = 0; i < kCount; i++) {
    const bool whole = left[i] == 0;
    const int32_t part = static_cast<int32_t>(quotient[i]) - whole;
    gains[i].part = part;
    gains[i].noise = static_cast<uint32_t>(larger(dist[i] - part - 1, 0) + kVifNoise);
  }
#pragma unroll
  for (int i = 0; i < kCount; i++) {
    const uint32_t divisor = static_cast<uint32_t>(ref[i]), margin = divisor >> 12;
    gains[i].sure = static_cast<uint32_t>(left[i]) - margin < divisor - 2 * margin || left[i] == 0;
  }
}

// Gain limits, as far as integers can go by them: where a limit cuts the gain off, they cannot, unless it is 1. Then
// gain * gain * ref is ref itself, and as gain > 1 means cross > ref, the part that is cut off is above that; a part that is
// not, for cross <= ref, is at most ref.
template <int kLimits>
struct VifLimits {
  int32_t log2_gain;      // gains are told up to 2^log2_gain, 1 or 2
  int32_t open[kLimits];  // 0 for a limit of 1, else all ones but the sign: part is at most ref | open

  GPU_FN explicit VifLimits(const double *limits) : log2_gain(1) {
#pragma unroll
    for (int i = 0; i < kLimits; i++) {
      const bool one = kLimits > 1 && limits[i] == 1;  // a single limit does without
      open[i] = one ? 0 : INT32_MAX;
      if (limits[i] < 2 && !one) log2_gain = 0;
    }
  }
};

// VifScaleSums of a thread. A pixel adds at most 2048 * 27 < 2^16 to either logarithm (the limit of 100 lets the
// signal reach 2^43.3, and noise is 2^17 or more).
template <int kLimits>
struct VifThreadSums {
  uint32_t num_log[kLimits] = {}, den_log = 0, den_low = 0;
  uint64_t num_low = 0;
};

// A pixel's three statistics as filters leave them: `dist` may be negative.
struct VifPixel {
  int32_t ref, dist, cross;
};

// Adds a pixel that is `live`, that is, of the plane, to the numerator's sums and, if kReference, to the denominator's. True
// if its numerator is left to vif_gain_exact().
template <bool kReference, int kLimits>
GPU_FN bool vif_add_pixel(const uint16_t *folded, VifPixel pixel, bool live, const VifLimits<kLimits> &limits,
                          VifThreadSums<kLimits> *sums) {
  const bool low = pixel.ref < kVifNoise;
  const int32_t ref = low ? kVifNoise : pixel.ref, dist = larger(pixel.dist, 0);
  const bool explained = live && !low && pixel.cross > 0 && dist > 0;
  const VifGain gain = vif_gain(ref, dist, pixel.cross);
  const bool sure = gain.sure && static_cast<uint32_t>(pixel.cross) <= static_cast<uint32_t>(ref)
                                                                           << limits.log2_gain;
  const int32_t noise = vif_folded_log2(folded, gain.noise);
#pragma unroll
  for (int i = 0; i < kLimits; i++) {
    const int32_t part = kLimits > 1 ? smaller(gain.part, ref | limits.open[i]) : gain.part;
    const int32_t num = vif_folded_log2(folded, gain.noise + static_cast<uint32_t>(part)) - noise;
    sums->num_log[i] += explained && sure ? static_cast<uint32_t>(num) : 0;
  }
  // The factor makes it one multiply-add where those are 64 bits wide.
  sums->num_low += static_cast<uint64_t>(live && low ? static_cast<uint32_t>(dist) : 0) * 1u;
  if constexpr (kReference) {
    const int32_t den =
        vif_folded_log2(folded, static_cast<uint32_t>(kVifNoise + ref)) - 2048 * 17 - kVifLogBias;
    sums->den_log += live && !low ? static_cast<uint32_t>(den) : 0;
    sums->den_low += live && low;
  }
  return explained && !sure;
}

// The same of several, a step for all of them after the other, and in masks, as branches would part them again. It takes more
// registers. A bit for each pixel whose numerator is left to vif_gain_exact().
template <bool kReference, int kCount, int kLimits>
GPU_FN uint32_t vif_add_some(const uint16_t *folded, const VifPixel (&pixels)[kCount],
                             const bool (&live)[kCount], const VifLimits<kLimits> &limits,
                             VifThreadSums<kLimits> *sums) {
  int32_t ref[kCount], dist[kCount], cross[kCount];
#pragma unroll
  for (int k = 0; k < kCount; k++) {
    ref[k] = larger(pixels[k].ref, kVifNoise);
    dist[k] = larger(pixels[k].dist, 0);
    cross[k] = pixels[k].cross;
  }
  VifGain gains[kCount];
  vif_gains(ref, dist, cross, gains);

  VifFoldedLog noise[kCount], signal[kLimits][kCount], den[kCount];
#pragma unroll
  for (int k = 0; k < kCount; k++) {
    if constexpr (kReference) den[k] = VifFoldedLog(folded, static_cast<uint32_t>(kVifNoise + ref[k]));
    noise[k] = VifFoldedLog(folded, gains[k].noise);
#pragma unroll
    for (int i = 0; i < kLimits; i++) {
      const int32_t part = kLimits > 1 ? smaller(gains[k].part, ref[k] | limits.open[i]) : gains[k].part;
      signal[i][k] = VifFoldedLog(folded, gains[k].noise + static_cast<uint32_t>(part));
    }
  }
  uint32_t unsure = 0;
#pragma unroll
  for (int k = 0; k < kCount; k++) {
    const bool low = pixels[k].ref < kVifNoise;
    const bool explained = live[k] & !low & (cross[k] > 0) & (dist[k] > 0);
    const bool sure = gains[k].sure &
                      (static_cast<uint32_t>(cross[k]) <= static_cast<uint32_t>(ref[k]) << limits.log2_gain);
    const uint32_t told = 0u - static_cast<uint32_t>(explained & sure);
#pragma unroll
    for (int i = 0; i < kLimits; i++)
      sums->num_log[i] += static_cast<uint32_t>(signal[i][k].value() - noise[k].value()) & told;
    // The factor makes it one multiply-add where those are 64 bits wide.
    sums->num_low += static_cast<uint64_t>(live[k] & low ? static_cast<uint32_t>(dist[k]) : 0) * 1u;
    if constexpr (kReference) {
      sums->den_log += static_cast<uint32_t>(den[k].value() - 2048 * 17 - kVifLogBias) &
                       (0u - static_cast<uint32_t>(live[k] & !low));
      sums->den_low += live[k] & low;
    }
    unsure |= static_cast<uint32_t>(explained & !sure) << k;
  }
  return unsure;
}

// The numerator that is left to it.
template <int kLimits>
GPU_FN void vif_add_exact(const uint16_t *folded, VifPixel pixel, const double *limits,
                          VifThreadSums<kLimits> *sums) {
#pragma unroll
  for (int i = 0; i < kLimits; i++)
    sums->num_log[i] +=
        static_cast<uint32_t>(vif_gain_exact(folded, pixel.ref, pixel.dist, pixel.cross, limits[i]));
}

// Sums of a block's warps.
template <int kThreads, int kLimits>
struct VifWarpSums {
  static constexpr int kMostWarps = kThreads / 32;
  uint32_t num_log[kLimits][kMostWarps], den_log[kMostWarps], den_low[kMostWarps];
  uint32_t num_low[2][kMostWarps];  // low 16 bits, and the rest
};

// Adds what the threads of a block have to the pair's sums; all threads of the block call it. A warp has summed 2^14 pixels
// at most (32 lanes, kVifMostMatrixSteps steps, 16 pixels each): in 32 bits there is room for 2^16 of each of them in the
// logarithms, and for num_low's upper part, 2^(30.1 - 16) of each.
template <int kThreads, int kLimits>
GPU_FN void vif_add_to_sums(const VifThreadSums<kLimits> &own, VifWarpSums<kThreads, kLimits> &shared,
                            const VifPair &pair) {
  const int thread = static_cast<int>(threadIdx.x), warp = thread / gpu_warp_size();
#pragma unroll
  for (int i = 0; i < kLimits; i++) {
    const uint32_t num_log = gpu_warp_sum(own.num_log[i]);
    if (gpu_lane() == 0) shared.num_log[i][warp] = num_log;
  }
  const uint32_t den_log = gpu_warp_sum(own.den_log);
  const uint32_t low0 = gpu_warp_sum(static_cast<uint32_t>(own.num_low) & 0xffff);
  const uint32_t low1 = gpu_warp_sum(static_cast<uint32_t>(own.num_low >> 16));
  const uint32_t den_low = gpu_warp_sum(own.den_low);
  if (gpu_lane() == 0) {
    shared.den_log[warp] = den_log;
    shared.num_low[0][warp] = low0;
    shared.num_low[1][warp] = low1;
    shared.den_low[warp] = den_low;
  }
  gpu_sync();
  if (thread > 2 + kLimits || (thread % 2 == 1 && !pair.with_reference)) return;
  uint64_t sum = 0;
  for (int w = 0; w < kThreads / gpu_warp_size(); w++)
    sum += thread == 0   ? shared.num_log[0][w]
           : thread == 1 ? shared.den_log[w]
           : thread == 2 ? shared.num_low[0][w] + (static_cast<uint64_t>(shared.num_low[1][w]) << 16)
           : thread == 3 ? shared.den_low[w]
                         : shared.num_log[kLimits - 1][w];
  const unsigned slot = (blockIdx.x + blockIdx.y) % kVifSlots;
  static_assert(sizeof(VifScaleSums) == 4 * sizeof(uint64_t) && kLimits <= 2);
  if (sum) gpu_atomic_add(address_cast<uint64_t>(pair.sums[thread / 4] + slot).get(4) + thread % 4, sum);
}

// All threads of the block copy the table; a barrier has to follow.
template <int kThreads>
GPU_FN void vif_load_log_table(DeviceAddress<const uint16_t> from, Words4 *to) {
  constexpr int kCount = kVifFoldedEntries * sizeof(uint16_t) / sizeof(Words4);
  const Words4 *words = address_cast<const Words4>(from).get(kCount);
  for (int i = static_cast<int>(threadIdx.x); i < kCount; i += kThreads) to[i] = words[i];
}

}  // namespace vmafhip
