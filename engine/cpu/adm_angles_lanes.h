// ADM's angles on vectors. adm_same_angle() compares sums of products that are rounded to f32; here an f32 estimate
// decides all but the few vectors whose angle is so close to one degree that its roundings matter, which are left to
// the definition.
//
// With D the dot product and X the cross product of the (h, v) vectors o and d, |o|^2 |d|^2 = D^2 + X^2, so that
// D^2 >= C |o|^2 |d|^2 and D >= 0 are |X| <= T D with T^2 = (1 - C) / C, C = 1 - 5110 / 2^24. The definition rounds D, |o|^2 and
// |d|^2 to f32 and one product to f64: a relative change of the bound C of at most 4.1 / 2^24, 2.45e-7, which moves T
// by up to 2.45e-7 / (2 (1 - C)) = 4.02e-4 of itself. The estimate adds errors of at most 5 / 2^24 |o| |d| to X and D: 1.8e-5
// of T D there. Beyond 2^-11 = 4.88e-4 of T on either side both agree; where all is zero they do as well.
#pragma once
#include "engine/cpu/adm_rows.h"
#include "engine/cpu/simd.h"

namespace vmafhip {
namespace {

constexpr double kAdmTangent = 0.017454872;  // sqrt(5110 / (2^24 - 5110))
constexpr float kAdmSurelyWithin = static_cast<float>(kAdmTangent * (1 - 0x1p-11)),
                kAdmPerhapsWithin = static_cast<float>(kAdmTangent * (1 + 0x1p-11));

// Lanes of 32 bits: those whose angle is surely less than one degree, and with them those where it may be.
template <class V>
struct AdmAngles {
  typename V::Mask surely, perhaps;

  bool certain() const { return V::bits(surely) == V::bits(perhaps); }
};

template <class V>
VMAFHIP_SIMD_FN AdmAngles<V> adm_estimate_angles(typename V::Floats dot, typename V::Floats cross) {
  const auto size = V::abs(cross);
  return {V::at_most(size, V::mul(dot, V::set_floats(kAdmSurelyWithin))),
          V::at_most(size, V::mul(dot, V::set_floats(kAdmPerhapsWithin)))};
}

// By the definition. Sums of products fit i64; unsigned, as samples above the depth's range are garbage.
template <class Sample>
bool adm_same_angle_at(const Sample *const *ref, const Sample *const *dist, int i) {
  const auto dot = [](int64_t a, int64_t b, int64_t c, int64_t d) __attribute__((always_inline)) {
    return static_cast<float>(
        static_cast<int64_t>(static_cast<uint64_t>(a * b) + static_cast<uint64_t>(c * d)));
  };
  const int64_t oh = ref[0][i], ov = ref[1][i], dh = dist[0][i], dv = dist[1][i];
  return adm_same_angle(dot(oh, dh, ov, dv), dot(oh, oh, ov, ov), dot(dh, dh, dv, dv));
}

// Decides lanes that are not certain. Lane k is sample i + place(k).
template <class V, class Sample, class Place>
[[gnu::noinline, gnu::cold]] typename V::Mask adm_decide_angles(const AdmAngles<V> &angles,
                                                                const Sample *const *ref,
                                                                const Sample *const *dist, int i,
                                                                Place place) {
  uint32_t same = V::bits(angles.surely);
  for (uint32_t open = V::bits(angles.perhaps) & ~same; open; open &= open - 1) {
    const int lane = highest_bit(open & -open);
    same |= static_cast<uint32_t>(adm_same_angle_at(ref, dist, i + place(lane))) << lane;
  }
  return V::lanes(same);
}

}  // namespace
}  // namespace vmafhip
