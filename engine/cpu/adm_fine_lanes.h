// ADM's scale 0 on vectors of 16-bit lanes: decoupling and weights. What differs from the definitions of
// engine/arith/adm.h is algebra, stated where it is used.
//
// Ranges: taps of both filters sum to 54,822 in magnitude, so that band samples stay below 22,931 for centred samples
// of any depth. csf is at most 36,453 for h and v and 49,417 for d: the standard display has the largest, as the
// sensitivity at scale 0 falls with the density of samples, of which that display has the least. It is never 0: 4 at least,
// where that density is largest.
#pragma once
#include "engine/cpu/adm_angles_lanes.h"
#include "engine/cpu/arena.h"
#include "engine/cpu/unroll.h"

namespace vmafhip {
namespace {

// One row of a decoupled signal. Weights as a masker are summed over the bands: `rest` is the weight on the sample
// itself less that on a neighbour, modulo 2^16; 65,536 * `wraps` is to be taken off where `wrapped`.
struct AdmFineRow {
  int16_t *size[kAdmBands];  // magnitudes
  int16_t *neighbour;        // unsigned; with one mirrored column on either side
  int16_t *rest, *wraps;
  bool wrapped;
  // `neighbour` of three neighbouring columns, in blocks of V::kWords columns: the even ones, then the odd ones.
  int32_t *beside;

  // Shares memory with the rows two and three before.
  void take(Arena *arena, size_t count, size_t beyond, const AdmFineRow *two, const AdmFineRow *three) {
    for (int band = 0; band < kAdmBands; band++)
      size[band] = two ? two->size[band] : arena->take<int16_t>(count, 0, beyond);
    neighbour = two ? two->neighbour : arena->take<int16_t>(count, 1, beyond);
    rest = two ? two->rest : arena->take<int16_t>(count, 0, beyond);
    wraps = two ? two->wraps : arena->take<int16_t>(count, 0, beyond);
    beside = three ? three->beside : arena->take<int32_t>(count, 0, beyond);
  }
};

// What a gain limit makes of the reference: limit * sample, cut off beyond all samples. Nothing to do if the limit is 1.
template <class V>
bool adm_reach(const int16_t *const *ref, int count, const AdmGainLimit &limit, int16_t *const *reach) {
  if (limit.whole == 1) return false;
  for (int band = 0; band < kAdmBands; band++) {
    const int16_t *from = ref[band];
    int16_t *to = reach[band];
    if (limit.whole) {
      // Limits are at most 100, so that what is cut off still gives 32,668 or more.
      const int most = 32767 / limit.whole;
      const auto low = V::set16(-most), high = V::set16(most), factor = V::set16(limit.whole);
      for (int i = 0; i < count; i += V::kWords)
        V::store(to + i, V::mul_low16(V::max16(V::min16(V::load(from + i), high), low), factor));
    } else {
      // Whole vectors are read: what the lanes behind the columns ask must not depend on what a source left there.
      const int whole = (count + V::kWords - 1) / V::kWords * V::kWords;
      for (int i = 0; i < whole; i++)
        to[i] = static_cast<int16_t>(larger(smaller(from[i] * limit.value, 32767.0), -32767.0));
    }
  }
  return true;
}

template <class V>
VMAFHIP_SIMD_FN typename V::Words adm_fine_angles(const int16_t *const *ref, const int16_t *const *dist,
                                                  int i) {
  using I = typename V::I;
  const I oh = V::load(ref[0] + i), ov = V::load(ref[1] + i), dh = V::load(dist[0] + i),
          dv = V::load(dist[1] + i);
  const I turned = V::sub16(V::zero(), dh);
  // Sums of two products fit 31 bits.
  const auto estimate = [](I o, I d, I across) __attribute__((always_inline)) {
    return adm_estimate_angles<V>(V::to_floats(V::multiply_pairs(o, d)),
                                  V::to_floats(V::multiply_pairs(o, across)));
  };
  AdmAngles<V> lower =
                   estimate(V::unpack_low16(oh, ov), V::unpack_low16(dh, dv), V::unpack_low16(dv, turned)),
               upper =
                   estimate(V::unpack_high16(oh, ov), V::unpack_high16(dh, dv), V::unpack_high16(dv, turned));
  if (!lower.certain() || !upper.certain()) [[unlikely]] {
    const auto place = [](int lane) { return lane / 4 * 8 + lane % 4; };
    lower.surely = adm_decide_angles<V>(lower, ref, dist, i, place);
    upper.surely = adm_decide_angles<V>(upper, ref, dist, i + 4, place);
  }
  return V::join_unpacked(lower.surely, upper.surely);
}

// Restores the samples of `which` by the definition.
template <class V>
[[gnu::noinline, gnu::cold]] typename V::I adm_restore_exactly(typename V::I restored, uint32_t which,
                                                               uint32_t same, const int16_t *ref,
                                                               const int16_t *dist, double limit) {
  alignas(64) int16_t out[V::kWords];
  V::store(out, restored);
  for (; which; which &= which - 1) {
    const int k = highest_bit(which & -which);
    out[k] = static_cast<int16_t>(
        adm_restore(ref[k], dist[k], adm_ratio(ref[k], dist[k]), (same >> k & 1) != 0, limit));
  }
  return V::load(out);
}

// Magnitudes of the weighted samples, as maskers have them, and their weights.
template <class V>
struct AdmFineWeights {
  using I = typename V::I;
  // Between them and the csf lies 2^15, as multiplications are signed.
  I csf[2], csf_d;
  bool even_d;

  explicit AdmFineWeights(const AdmScaleParams &p)
      : csf{V::set16(static_cast<int>(p.csf[0]) - 32768), V::set16(static_cast<int>(p.csf[1]) - 32768)},
        csf_d(V::set16(static_cast<int>(p.csf[2]))),
        even_d(p.csf[2] % 2 == 0) {}

  // |c| of h or v: (csf * v + 2^14) >> 15 is v more than with 2^15 taken off the csf. Up to 25,510.
  [[gnu::always_inline]] I weighted(I v, int band) const {
    return V::abs16(V::add16(v, V::mul_round16(v, csf[band])));
  }
  // |c| of d. With p = csf * |v| it is (p + 2^16 - 1) >> 17 for positive v, -((2^16 - 1 - p) >> 17) = (p + 2^16) >> 17
  // for negative: half of the high word of p, rounded up. That differs for positive v only if the low word is 0, which an
  // odd csf gives for 0 alone.
  [[gnu::always_inline]] I weighted_d(I v, I size) const {
    I high = V::mul_high_unsigned16(size, csf_d);
    if (even_d) {
      const auto exact =
          V::both(V::equal16(V::mul_low16(size, csf_d), V::zero()), V::greater16(v, V::zero()));
      high = V::select16(exact, V::sub16(high, V::set16(1)), high);
    }
    return V::average16(high, V::zero());
  }

  // (4369 x + 2^11) >> 12 = x + ((2184 x + 2^14) >> 15), and 2 x + ((4368 x + 2^14) >> 15) for 8738. Weights on
  // neighbours are at most 27,209 for h and v and 9,222 for d, 63,640 together, and the weight on the sample itself is
  // less than twice that on a neighbour: both sums fit u16.
  [[gnu::always_inline]] void store(I h, I v, I d, const AdmFineRow &row, int i) const {
    const I once = V::set16(2184), twice = V::set16(4368);
    const I all = V::add16(V::add16(h, v), d);
    const I a = V::add16(V::add16(V::mul_round16(h, once), V::mul_round16(v, once)), V::mul_round16(d, once));
    const I b =
        V::add16(V::add16(V::mul_round16(h, twice), V::mul_round16(v, twice)), V::mul_round16(d, twice));
    V::store(row.neighbour + i, V::add16(all, a));
    V::store(row.rest + i, V::sub16(V::add16(all, b), a));
  }
};

// The definition keeps the weight on the sample itself in i16: from |c| = 15,360 on it is 32,768 or more and wraps.
template <class V>
[[gnu::noinline, gnu::cold]] void adm_note_wraps(typename V::I h, typename V::I v, AdmFineRow *row, int i,
                                                 int count) {
  using I = typename V::I;
  const I from = V::set16(32768 - 15360);
  const I wraps =
      V::add16(V::template shr16<15>(V::add16(h, from)), V::template shr16<15>(V::add16(v, from)));
  if (!V::any_common(wraps, wraps) && !row->wrapped) return;
  if (!row->wrapped)
    for (int k = 0; k < count; k += V::kWords) V::store(row->wraps + k, V::zero());
  row->wrapped = true;
  V::store(row->wraps + i, wraps);
}

// One row. The ratio of adm_ratio() and its product with the reference, both rounded, restore what lies between 0 and the
// reference, cut off there, if that is at most 2^14: with s = |ref|, a = the distorted sample's magnitude and u = s / 2^15, the
// ratio is 2^15 a / s - e with e from -1/2 to less than 1/2 + a / 2^15 (its own rounding, and the reciprocal's, which is less than
// 1 too small), so that the product is a - e u, between a - (1/2 + u) u and a + u / 2; u <= 1/2 makes both round
// to a. Where s <= a, the ratio is 1, as reciprocal * s > 2^30 - s. For s up to 22,931, u < 0.7, the same holds for a up to 7,020.
//
// An enhancement within the gain limit of at least 1 moves that bound from ref to limit * ref: up to the reference there
// is nothing to limit. So what is restored is the distorted sample, cut off at 0 and at ref or limit * ref.
//
// What does not fit these cases has a restored part above 7,020, and weights that wrap have a part of 13,806 or more: vectors
// without any part of 4,096 need not be looked at. Both parts have the sign of the distorted sample and add up to it.
template <class V>
void adm_fine_decouple(const int16_t *const *ref, const int16_t *const *dist, int count,
                       const AdmScaleParams &p, bool aim, const AdmDecoupledRow<AdmFineRow, int16_t> *rows,
                       int number) {
  using I = typename V::I;
  const AdmFineWeights<V> weights(p);
  // Angles wait where the last limit puts its weights.
  int16_t *angles = rows[number - 1].additive->rest;
  bool reached = false;
  for (int n = 0; n < number; n++) reached |= rows[n].reach != nullptr;
  for (int i = 0; reached && i < count; i += V::kWords)
    V::store_words(angles + i, adm_fine_angles<V>(ref, dist, i));
  for (int n = 0; n < number; n++) {
    int16_t *const *reach = rows[n].reach;
    AdmFineRow &restored = *rows[n].restored, &additive = *rows[n].additive;
    restored.wrapped = additive.wrapped = false;
    for (int i = 0; i < count; i += V::kWords) {
      auto same = V::greater16(V::zero(), V::zero());
      if (reach) same = V::load_words(angles + i);
      I r[kAdmBands], a[kAdmBands], r_size[kAdmBands], a_size[kAdmBands];
      const auto split = [&](int band, I value) __attribute__((always_inline)) {
        r[band] = value;
        a[band] = V::sub16(V::load(dist[band] + i), value);
        r_size[band] = V::abs16(r[band]);
        a_size[band] = V::abs16(a[band]);
      };
      unroll<kAdmBands>([&](int band) __attribute__((always_inline)) {
        I bound = V::load(ref[band] + i);
        if (reach) bound = V::select16(same, V::load(reach[band] + i), bound);
        const I low = V::min16(bound, V::zero()), high = V::max16(bound, V::zero());
        split(band, V::max16(V::min16(V::load(dist[band] + i), high), low));
      });
      const I any = V::bit_or(V::bit_or(V::bit_or(r_size[0], r_size[1]), V::bit_or(r_size[2], a_size[0])),
                              V::bit_or(a_size[1], a_size[2]));
      const bool large = V::any_common(any, V::set16(0xf000));
      if (large) [[unlikely]]
        unroll<kAdmBands>([&](int band) __attribute__((always_inline)) {
          const uint32_t which =
              V::bits_of_words(V::both(V::greater16(V::abs16(V::load(ref[band] + i)), V::set16(16384)),
                                       V::greater16(V::abs16(V::load(dist[band] + i)), V::set16(7020))));
          if (which)
            split(band, adm_restore_exactly<V>(r[band], which, V::bits_of_words(same), ref[band] + i,
                                               dist[band] + i, rows[n].limit.value));
        });
      const auto weigh = [&](const I *part, const I *size, AdmFineRow *row) __attribute__((always_inline)) {
        const I h = weights.weighted(part[0], 0), v = weights.weighted(part[1], 1),
                d = weights.weighted_d(part[2], size[2]);
        weights.store(h, v, d, *row, i);
        if (large) [[unlikely]]
          adm_note_wraps<V>(h, v, row, i, count);
      };
      unroll<kAdmBands>([&](int band) __attribute__((always_inline)) {
        V::store(restored.size[band] + i, r_size[band]);
        V::store(additive.size[band] + i, a_size[band]);
      });
      weigh(a, a_size, &additive);
      if (aim) weigh(r, r_size, &restored);
    }
  }
}

// Sums of three neighbouring columns, each unsigned with 16 bits: columns 2i - 1 to 2i + 1 for the even one, 2i to 2i + 2
// for the odd one.
template <class V>
void adm_beside(const AdmFineRow &row, int count) {
  using I = typename V::I;
  const I words = V::set(0xffff);
  for (int i = 0; i < count; i += V::kWords) {
    const int16_t *at = row.neighbour + i;
    const I here = V::load(at);
    const I both = V::add(V::bit_and(here, words), V::template shr<16>(here));
    V::store(row.beside + i, V::add(both, V::bit_and(V::load(at - 1), words)));
    V::store(row.beside + i + V::kDwords, V::add(both, V::bit_and(V::load(at + 2), words)));
  }
}

}  // namespace
}  // namespace vmafhip
