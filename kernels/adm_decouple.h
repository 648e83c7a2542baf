// ADM's decoupling as kernels do it: by the definitions of engine/arith/adm.h, with f64 and divisions replaced by what
// GPUs are fast at. Every replacement gives the same bits; the reasons stand with each.
#pragma once
#include "kernels/device.h"

#include "engine/arith/adm.h"
#include "kernels/adm_args.h"
#include "kernels/adm_wide.h"
#include "kernels/numbers.h"

namespace vmafhip {

// floor(2^30 / size) for size 1 to 32768, from r = 1 / size with a relative error of up to 2^-22.
// The first quotient is off by at most 2^30 / size * 2^-22 + 1, so that its remainder is at most 256 + size, exact in
// f32. What is missing is floor(remainder / size), the nearest integer of (remainder + 1/2) / size - 1/2, which
// is never nearer than 1 / (2 * size) >= 2^-16 to where rounding changes; f32 is off by less than
// (256 / size + 1) * 2^-21 there, which is below that.
GPU_FN uint32_t adm_reciprocal(uint32_t size, float r) {
  const uint32_t first = static_cast<uint32_t>(1073741824.0f * r);
  const int32_t remainder = static_cast<int32_t>((1u << 30) - first * size);
  const float missing = __builtin_fmaf(static_cast<float>(remainder), r, __builtin_fmaf(0.5f, r, -0.5f));
  return first + static_cast<uint32_t>(gpu_nearest(missing));
}

GPU_FN uint32_t adm_reciprocal(uint32_t size) {
  return adm_reciprocal(size, gpu_reciprocal(static_cast<float>(size)));
}

// adm_ratio() of |ref| and of dist with the sign of ref divided out, `along`, 0 where that is negative. Beyond twice
// |ref| the ratio is 1 in any case, so that cutting `along` off there changes nothing and keeps products in range.
// A reference of 0 gives any ratio: nothing is restored of it.
template <int kScale>
GPU_FN uint32_t adm_ratio_of(uint32_t size, uint32_t along) {
  const uint32_t cut = smaller(along, 2 * size), divisor = larger(size, 1u);
  if constexpr (kScale == 0) {
    // 2^30 / size * (2 * size) and the half are below 2^32.
    return smaller((adm_reciprocal(divisor) * cut + 16384) >> 15, 32768u);
  } else {
    // The leading 15 bits, rounded: 1 to 32768. `cut` fits as samples stay below 2^31. The product is at most 2^(32 +
    // shift), of which the shift leaves 18 bits; a half added before the last step is the half of all of it.
    const int shift = larger(highest_bit(divisor) - 14, 0);
    const uint32_t lead = ((2 * divisor >> shift) + 1) >> 1;
    const uint64_t product = static_cast<uint64_t>(adm_reciprocal(lead)) * cut;
    return smaller((static_cast<uint32_t>(product >> (14 + shift)) + 1) >> 1, 32768u);
  }
}

// A band's sample, decoupled, with the sign of the reference divided out: the restored part has that sign or is 0.
struct AdmDecoupled {
  int32_t sign;   // of the reference: -1 or 0
  uint32_t size;  // of the reference
  int32_t along;  // distorted
  uint32_t restored;
};

// Without enhancement. ratio * ref + 2^14, shifted, rounds down: for a negative reference the magnitude rounds up,
// so that there a half is one less.
template <int kScale>
GPU_FN AdmDecoupled adm_attenuate(int32_t ref, int32_t dist) {
  AdmDecoupled out;
  out.sign = ref >> 31;
  out.size = magnitude(ref);
  out.along = (dist ^ out.sign) - out.sign;
  const uint32_t ratio = adm_ratio_of<kScale>(out.size, static_cast<uint32_t>(larger(out.along, 0))),
                 half = static_cast<uint32_t>(16384 + out.sign);
  if constexpr (kScale == 0)
    out.restored = (ratio * out.size + half) >> 15;
  else
    out.restored = static_cast<uint32_t>((static_cast<uint64_t>(ratio) * out.size + half) >> 15);
  return out;
}

// adm_restore()'s limit, where the angles are the same. With the sign divided out no case is its own: where ratio or
// reference is 0, nothing is restored and the limit is 0 as well.
template <int kScale>
GPU_FN uint32_t adm_enhance(const AdmDecoupled &band, uint32_t whole_gain_limit) {
  const uint32_t along = static_cast<uint32_t>(larger(band.along, 0));
  if constexpr (kScale == 0) {  // restored is up to 22,931, the limit up to 100
    return smaller(along, band.restored * whole_gain_limit);
  } else {
    const uint64_t limit = static_cast<uint64_t>(band.restored) * whole_gain_limit;
    return limit >> 32 ? along : smaller(along, static_cast<uint32_t>(limit));
  }
}

GPU_FN uint32_t adm_enhance(const AdmDecoupled &band, double gain_limit) {
  return static_cast<uint32_t>(
      smaller(static_cast<double>(larger(band.along, 0)), static_cast<double>(band.restored) * gain_limit));
}

// ---- Angle --------------------------------------------------------------------------------------------------

// What adm_same_angle() compares, as f32.
struct AdmAngle {
  float dot, ref_norm, dist_norm;

  GPU_FN bool exact() const { return adm_same_angle(dot, ref_norm, dist_norm); }

  // In f32, with `sure` cleared where that cannot tell. The text compares products of f32 numbers, rounded to 53 bits at
  // most once. Here dot^2 is rounded once and the bound twice, and their difference is exact where they are close: it is
  // off by less than 3.1 * 2^-24 of the bound, and 8 * 2^-24 is asked for. Products stay below 2^127. Where
  // the bound is 0, one of the vectors is 0 and so is dot: the gap is 0 too, and sure.
  GPU_FN bool quick(bool *sure) const {
    constexpr float cos2 = 0.99969541886f;
    const float bound = cos2 * ref_norm * dist_norm, gap = dot * dot - bound;
    *sure &= __builtin_fabsf(gap) >= 4.8e-7f * bound;
    return dot >= 0 && gap >= 0;
  }
};

// Samples of scale 0 stay below 22,931, so that sums of two products fit 31 bits; those of later scales below 2.11e9,
// and the sums fit 63 and a half.
template <int kScale>
GPU_FN float adm_dot(int32_t a, int32_t b, int32_t c, int32_t d) {
  if constexpr (kScale == 0)
    return static_cast<float>(static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b) +
                                                   static_cast<uint32_t>(c) * static_cast<uint32_t>(d)));
  else
    return static_cast<float>(adm_multiply_add(a, b, adm_multiply_add(c, d, 0)));
}

template <int kScale>
GPU_FN AdmAngle adm_angle(const int32_t *ref, const int32_t *dist) {
  return {adm_dot<kScale>(ref[0], dist[0], ref[1], dist[1]), adm_dot<kScale>(ref[0], ref[0], ref[1], ref[1]),
          adm_dot<kScale>(dist[0], dist[0], dist[1], dist[1])};
}

}  // namespace vmafhip
