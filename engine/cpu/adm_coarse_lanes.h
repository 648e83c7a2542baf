// ADM's scales 1 to 3 on vectors of 32-bit lanes: decoupling and weights. What differs from the definitions of
// engine/arith/adm.h is algebra, stated where it is used. Samples are below 2.11e9 in magnitude.
#pragma once
#include "engine/cpu/adm_angles_lanes.h"
#include "engine/cpu/arena.h"
#include "engine/cpu/unroll.h"

namespace vmafhip {
namespace {

// One row of a decoupled signal: |adm_weighted()|. Weights as a masker are summed over the bands: `rest` is the weight on the
// sample itself less that on a neighbour.
struct AdmCoarseRow {
  int32_t *size[kAdmBands];
  int32_t *neighbour;  // with one mirrored column on either side
  int32_t *rest;
  int32_t *beside;  // `neighbour` of three neighbouring columns

  // Shares memory with the rows two and three before.
  void take(Arena *arena, size_t count, size_t beyond, const AdmCoarseRow *two, const AdmCoarseRow *three) {
    for (int band = 0; band < kAdmBands; band++)
      size[band] = two ? two->size[band] : arena->take<int32_t>(count, 0, beyond);
    neighbour = two ? two->neighbour : arena->take<int32_t>(count, 1, beyond);
    rest = two ? two->rest : arena->take<int32_t>(count, 0, beyond);
    beside = three ? three->beside : arena->take<int32_t>(count, 0, beyond);
  }
};

template <class V>
VMAFHIP_SIMD_FN typename V::Mask adm_coarse_angles(const int32_t *const *ref, const int32_t *const *dist,
                                                   int i) {
  const auto load = [i](const int32_t *row) __attribute__((always_inline)) {
    return V::to_floats(V::load(row + i));
  };
  const auto oh = load(ref[0]), ov = load(ref[1]), dh = load(dist[0]), dv = load(dist[1]);
  const AdmAngles<V> angles =
      adm_estimate_angles<V>(V::add(V::mul(oh, dh), V::mul(ov, dv)), V::sub(V::mul(oh, dv), V::mul(ov, dh)));
  if (angles.certain()) [[likely]]
    return angles.surely;
  return adm_decide_angles<V>(angles, ref, dist, i, [](int lane) { return lane; });
}

// What is restored without enhancement: adm_ratio() of both, times ref. All of it in 32 bits.
//
// With lead = (|ref| rounded) >> shift and q = floor(2^30 / lead), the ratio is (q * along + 2^(14 + shift)) >> (15 + shift).
// along = 2^shift * whole + part / 2^(16 - shift): as floors nest, that is (q * whole + ((q * part) >> 16) + 2^14) >> 15. From
// |ref| * (1 + 2^-13) on, for |ref| >= 2^13 at least 1 more than |ref|, the ratio is 1 or more, so that along can be cut off there, and
// for a smaller |ref| at itself, where the product rounds to it. That leaves at most 32,771 of whole, and q is at most 2^16 unless
// shift is 0, where |ref| is less than 2^15 and q * whole at most 2^31.
//
// V::reciprocal() is floor(2^30 / lead) for lead >= 2^13 and within 2^-20 below. There |ref| = lead is less than 2^13, and as
// with scale 0 the ratio times |ref| rounds to the same.
template <class V>
VMAFHIP_SIMD_FN typename V::I adm_coarse_restored(typename V::I ref, typename V::I dist) {
  using I = typename V::I;
  const I size = V::abs(ref);
  const I along = V::max(V::with_sign(dist, ref), V::zero());
  const I shift = V::max(V::sub(V::highest_bit(size), V::set(14)), V::zero());
  const I lead = V::template shr<1>(V::add(V::shr_each(V::add(size, size), shift), V::set(1)));
  const I q = V::reciprocal(lead);
  const I cut = V::min_unsigned(along, V::add(size, V::template shr<13>(size)));
  const I whole = V::shr_each(cut, shift),
          part = V::bit_and(V::shl_each(cut, V::sub(V::set(16), shift)), V::set(0xffff));
  const I twice = V::add(V::add(V::mul(q, whole), V::template shr<16>(V::mul(q, part))), V::set(16384));
  const I ratio = V::min(V::template shr<15>(twice), V::set(32768));
  // ref = 2^15 * above + below: floors nest again.
  const I above = V::template sra<15>(ref), below = V::bit_and(ref, V::set(32767));
  return V::add(V::mul(ratio, above), V::template shr<15>(V::add(V::mul(ratio, below), V::set(16384))));
}

// adm_restore(): an enhancement up to the limit. It is the distorted sample, cut off at 0 and at limit * restored, whatever the
// signs, as `restored` has that of ref and leaves nothing where it is 0. A product cut off at up to 100 below 2^31 - 1 is above all
// samples.
template <class V>
VMAFHIP_SIMD_FN typename V::I adm_coarse_enhanced(typename V::I restored, typename V::I dist,
                                                  typename V::Mask same, const AdmGainLimit &limit) {
  using I = typename V::I;
  I enhanced;
  if (limit.whole) {
    I bound = restored;
    if (limit.whole > 1) {
      const int32_t most = INT32_MAX / limit.whole;
      bound = V::mul(V::max(V::min(restored, V::set(most)), V::set(-most)), V::set(limit.whole));
    }
    enhanced = V::max(V::min(dist, V::max(bound, V::zero())), V::min(bound, V::zero()));
  } else {
    const auto bound = V::mul(V::doubles(restored), V::set_doubles(limit.value)), none = V::set_doubles(0);
    enhanced = V::truncate(V::max(V::min(V::doubles(dist), V::max(bound, none)), V::min(bound, none)));
  }
  return V::select(same, enhanced, restored);
}

template <class V>
struct AdmWeights {
  typename V::I neighbour, centre;
};

// The magnitude of the weighted sample, as adm_above() wants it, and its weights as a masker.
template <class V>
VMAFHIP_SIMD_FN typename V::I adm_coarse_weigh(typename V::I sample, typename V::I csf,
                                               AdmWeights<V> *weights) {
  using I = typename V::I;
  // csf < 2^31, as the sensitivity at scales 1 to 3 is below 1/2 in all modes.
  const I c = V::narrow(V::template shr<28>(V::add(V::mul_signed(sample, csf), V::set_wide(1 << 27))));
  const I size = V::abs(c);
  if (weights) {
    const auto weight = [&](int32_t factor) __attribute__((always_inline)) {
      return V::narrow_high(V::add(V::mul_unsigned(size, V::set(factor)), V::set_wide(-(int64_t{1} << 31))));
    };
    weights->neighbour = V::add(weights->neighbour, weight(143165577));
    weights->centre = V::add(weights->centre, weight(286331153));
  }
  return size;
}

// One row: ref's bands against dist's, with each of `number` gain limits.
template <class V>
void adm_coarse_decouple(const int32_t *const *ref, const int32_t *const *dist, int count,
                         const AdmScaleParams &p, bool aim,
                         const AdmDecoupledRow<AdmCoarseRow, int32_t> *rows, int number) {
  using I = typename V::I;
  const I csf[kAdmBands] = {V::set(static_cast<int32_t>(p.csf[0])), V::set(static_cast<int32_t>(p.csf[1])),
                            V::set(static_cast<int32_t>(p.csf[2]))};
  // Loops are short, so that the processor can work on several turns at a time. What does not depend on the limit waits
  // where the last one puts its results.
  int32_t *angles = rows[number - 1].additive->rest;
  int32_t *const *plain = rows[number - 1].restored->size;
  for (int i = 0; i < count; i += V::kDwords) V::store_lanes(angles + i, adm_coarse_angles<V>(ref, dist, i));
  for (int band = 0; band < kAdmBands; band++)
    for (int i = 0; i < count; i += V::kDwords)
      V::store(plain[band] + i, adm_coarse_restored<V>(V::load(ref[band] + i), V::load(dist[band] + i)));
  for (int n = 0; n < number; n++)
    for (int i = 0; i < count; i += V::kDwords) {
      const auto same = V::load_lanes(angles + i);
      AdmWeights<V> of_restored = {V::zero(), V::zero()}, of_additive = of_restored;
      unroll<kAdmBands>([&](int band) __attribute__((always_inline)) {
        const I d = V::load(dist[band] + i);
        const I r = adm_coarse_enhanced<V>(V::load(plain[band] + i), d, same, rows[n].limit);
        V::store(rows[n].restored->size[band] + i,
                 adm_coarse_weigh<V>(r, csf[band], aim ? &of_restored : nullptr));
        V::store(rows[n].additive->size[band] + i,
                 adm_coarse_weigh<V>(V::sub(d, r), csf[band], &of_additive));
      });
      const auto store = [i](const AdmWeights<V> &weights, const AdmCoarseRow &row)
          __attribute__((always_inline)) {
        V::store(row.neighbour + i, weights.neighbour);
        V::store(row.rest + i, V::sub(weights.centre, weights.neighbour));
      };
      store(of_additive, *rows[n].additive);
      if (aim) store(of_restored, *rows[n].restored);
    }
}

template <class V>
void adm_beside(const AdmCoarseRow &row, int count) {
  for (int i = 0; i < count; i += V::kDwords) {
    const int32_t *at = row.neighbour + i;
    V::store(row.beside + i, V::add(V::add(V::load(at - 1), V::load(at)), V::load(at + 1)));
  }
}

}  // namespace
}  // namespace vmafhip
