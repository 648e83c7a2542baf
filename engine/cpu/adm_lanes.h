// ADM's rows on vectors of 32-bit lanes: wavelet, decoupling, weights and sums. The plain form of the same rows, by
// the definitions of engine/arith/adm.h, is adm_plain.h; what differs here is algebra, stated where it is used.
//
// V is a policy (simd_avx2.h, simd_avx512.h). Loops run over whole vectors: rows of scratch and frame memory have
// room for one vector more, and lanes beyond a row's end are cut off where a sum is taken.
#pragma once
#include "engine/cpu/adm_rows.h"
#include "engine/cpu/simd.h"

namespace vmafhip {
namespace {

// ---- Wavelet ------------------------------------------------------------------------------------------------

struct AdmTaps {
  int32_t first, second;  // taps 0 and 1, 2 and 3, as 16-bit pairs
};
constexpr AdmTaps kAdmLowTaps = {word_pair(kAdmLow[0], kAdmLow[1]), word_pair(kAdmLow[2], kAdmLow[3])};
constexpr AdmTaps kAdmHighTaps = {word_pair(kAdmHigh[0], kAdmHigh[1]), word_pair(kAdmHigh[2], kAdmHigh[3])};

// Samples of 8 bits are centred at 128, words at `half`; a low band is signed already.
template <class V>
VMAFHIP_SIMD_FN typename V::I load_centred(const uint8_t *at, typename V::I half) {
  return V::sub16(V::load_unsigned_bytes(at), half);
}
template <class V>
VMAFHIP_SIMD_FN typename V::I load_centred(const uint16_t *at, typename V::I half) {
  return V::sub16(V::load(at), half);
}
template <class V>
VMAFHIP_SIMD_FN typename V::I load_centred(const int16_t *at, typename V::I) {
  return V::load(at);
}

// Four rows, interleaved by twos for the multiply-add of pairs. `lower` and `upper` hold the halves of each 128 bits;
// pack16() undoes just that.
template <class V>
struct AdmColumns {
  typename V::I lower[2], upper[2];
};

template <class V, class Sample>
VMAFHIP_SIMD_FN AdmColumns<V> adm_interleave(const Sample *const *rows, int x, typename V::I half) {
  const auto a = load_centred<V>(rows[0] + x, half), b = load_centred<V>(rows[1] + x, half),
             c = load_centred<V>(rows[2] + x, half), d = load_centred<V>(rows[3] + x, half);
  return {{V::unpack_low16(a, b), V::unpack_low16(c, d)}, {V::unpack_high16(a, b), V::unpack_high16(c, d)}};
}

template <class V>
VMAFHIP_SIMD_FN typename V::I adm_dot(typename V::I sum, const typename V::I (&pairs)[2],
                                      const AdmTaps &taps) {
  return V::dot(V::dot(sum, pairs[0], taps.first), pairs[1], taps.second);
}

// Vertical filters of one row of bands. `count` columns can be read and written, at least 2 * V::kDwords; the
// last vector overlaps the one before. High pass only if `detail`.
template <class V, int kScale, class Sample>
void adm_columns(const AdmSourceRows<Sample> &rows, int count, int depth, bool detail, const AdmHalves &low,
                 const AdmHalves &high) {
  using I = typename V::I;
  constexpr int kStep = V::kWords;
  const I half16 = V::set16(1 << (depth - 1)), half0 = V::set(1 << (depth - 1)), half = V::set(32768);
  for (int at = 0; at < count; at += kStep) {
    const int x = smaller(at, count - kStep);
    const AdmColumns<V> columns = adm_interleave<V>(rows.low, x, half16);
    AdmColumns<V> tops = columns;
    if constexpr (kScale > 1) tops = adm_interleave<V>(rows.high, x, half16);
    const auto filter = [&](const AdmTaps &taps, const AdmHalves &to) __attribute__((always_inline)) {
      if constexpr (kScale == 0) {
        const I lower = V::sra(adm_dot<V>(half0, columns.lower, taps), depth),
                upper = V::sra(adm_dot<V>(half0, columns.upper, taps), depth);
        V::store(to.low + x, V::pack16(lower, upper));
      } else {
        I lower, upper;
        if constexpr (kScale == 1) {
          lower = adm_dot<V>(V::zero(), columns.lower, taps);
          upper = adm_dot<V>(V::zero(), columns.upper, taps);
        } else {
          lower = adm_dot<V>(V::template sra<16>(adm_dot<V>(half, columns.lower, taps)), tops.lower, taps);
          upper = adm_dot<V>(V::template sra<16>(adm_dot<V>(half, columns.upper, taps)), tops.upper, taps);
        }
        V::store(to.high + x, V::pack16(V::template sra<16>(V::add(lower, half)),
                                        V::template sra<16>(V::add(upper, half))));
        V::store(to.low + x, V::pack16(V::template sra<16>(V::template shl<16>(lower)),
                                       V::template sra<16>(V::template shl<16>(upper))));
      }
    };
    filter(kAdmLowTaps, low);
    if (detail) filter(kAdmHighTaps, high);
  }
}

// Horizontal filter: columns x to x + V::kDwords - 1 of a band.
template <class V, int kScale>
VMAFHIP_SIMD_FN typename V::I adm_across(const AdmHalves &from, int x, const AdmTaps &taps) {
  using I = typename V::I;
  constexpr int kShift = kAdmHorizontalShift[kScale];
  const I low[2] = {V::load(from.low + 2 * x - 1), V::load(from.low + 2 * x + 1)};
  const I sum = V::template sra<kShift>(adm_dot<V>(V::set(1 << (kShift - 1)), low, taps));
  if constexpr (kScale == 0) {
    return sum;
  } else {
    const I high[2] = {V::load(from.high + 2 * x - 1), V::load(from.high + 2 * x + 1)};
    if constexpr (kShift == 16) return adm_dot<V>(sum, high, taps);
    const I top = adm_dot<V>(V::zero(), high, taps);
    return V::add(V::add(top, top), sum);
  }
}

// The low band, for the next scale.
template <class V, int kScale>
void adm_low_band(const AdmHalves &low, int width, const AdmHalves &to) {
  for (int x = 0; x < width; x += V::kDwords) {
    const auto value = adm_across<V, kScale>(low, x, kAdmLowTaps);
    if constexpr (kScale > 0) V::store_low(to.high + x, V::template shr<16>(V::add(value, V::set(32768))));
    V::store_low(to.low + x, value);
  }
}

template <class V, int kScale>
void adm_detail_bands(const AdmHalves &low, const AdmHalves &high, AdmSpan span, int32_t *const *bands) {
  for (int i = 0; i < span.count; i += V::kDwords) {
    V::store(bands[0] + i, adm_across<V, kScale>(high, span.first + i, kAdmLowTaps));
    V::store(bands[1] + i, adm_across<V, kScale>(low, span.first + i, kAdmHighTaps));
    V::store(bands[2] + i, adm_across<V, kScale>(high, span.first + i, kAdmHighTaps));
  }
}

// ---- Decoupling ---------------------------------------------------------------------------------------------

// adm_same_angle() of the sums of products.
template <class V>
VMAFHIP_SIMD_FN typename V::Doubles angle_bound(typename V::Doubles ref, typename V::Doubles dist) {
  return V::mul(V::mul(V::set_doubles(kAdmCos2), ref), dist);
}

template <class V, int kScale>
VMAFHIP_SIMD_FN typename V::Mask adm_angles(typename V::I rh, typename V::I rv, typename V::I dh,
                                            typename V::I dv) {
  using I = typename V::I;
  if constexpr (kScale == 0) {
    // Samples fit 16 bits and their products' sums 31, as they stay below 22,931 in magnitude.
    const I ref = V::join_pairs(rh, rv), dist = V::join_pairs(dh, dv);
    const auto dot = V::floats(V::multiply_pairs(ref, dist));
    const auto bound =
        angle_bound<V>(V::floats(V::multiply_pairs(ref, ref)), V::floats(V::multiply_pairs(dist, dist)));
    return V::join_in_order(V::both_at_least(dot, V::mul(dot, dot), bound));
  } else {
    const auto product = [](I a, I b, I c, I d) __attribute__((always_inline)) {
      return V::floats(V::add(V::mul_signed(a, b), V::mul_signed(c, d)));
    };
    const auto dot = product(rh, dh, rv, dv);
    const auto bound = angle_bound<V>(product(rh, rh, rv, rv), product(dh, dh, dv, dv));
    return V::join_interleaved(V::both_at_least(dot, V::mul(dot, dot), bound));
  }
}

// adm_ratio(): 2^30 / lead is never so close below an integer that the f64 quotient could round up to it, as lead
// has at most 16 bits. `along` is dist with the sign of ref divided out; where it exceeds the reference, it is cut
// off at a value whose ratio is still 1 or more, which keeps products in range.
template <class V, int kScale>
VMAFHIP_SIMD_FN typename V::I adm_ratios(typename V::I size, typename V::I along) {
  using I = typename V::I;
  const I divisor = V::max(size, V::set(1));
  const auto reciprocal = [](I lead) __attribute__((always_inline)) {
    return V::truncate(V::div(V::set_doubles(0x1p30), V::doubles(lead)));
  };
  if constexpr (kScale == 0) {
    // size <= 32768: (size + 1) * floor(2^30 / size) is at least 2^30 and at most 2^31, and 2^14 more fits u32.
    const I cut = V::min(along, V::add(divisor, V::set(1)));
    const I ratio = V::template shr<15>(V::add(V::mul(reciprocal(divisor), cut), V::set(16384)));
    return V::min(ratio, V::set(32768));
  } else {
    // Twice the reference gives about 2^16. Adding a half before the last step of the shift is adding it before.
    const I shift = V::max(V::sub(V::highest_bit(divisor), V::set(14)), V::set(0));
    const I half = V::template shr<1>(V::shl_each(V::set(1), shift));
    const I lead = V::shr_each(V::add(divisor, half), shift);
    const I cut = V::min_unsigned(along, V::template shl<1>(divisor));
    const I twice = V::narrow(V::shr_each(V::mul_unsigned(reciprocal(lead), cut), V::add(shift, V::set(14))));
    return V::min(V::template shr<1>(V::add(twice, V::set(1))), V::set(32768));
  }
}

// What the restored sample is made of, whatever the gain limit.
template <class V>
struct AdmRestored {
  typename V::I sign;   // of ref: -1 or 0
  typename V::I along;  // dist with it divided out, 0 or more
  typename V::I plain;  // without enhancement
};

template <class V>
VMAFHIP_SIMD_FN typename V::I adm_signed(typename V::I v, typename V::I sign) {
  return V::sub(V::bit_xor(v, sign), sign);
}

template <class V, int kScale>
VMAFHIP_SIMD_FN AdmRestored<V> adm_restored(typename V::I ref, typename V::I dist) {
  using I = typename V::I;
  const I sign = V::template sra<31>(ref);
  const I along = V::max(adm_signed<V>(dist, sign), V::set(0));
  const I ratio = adm_ratios<V, kScale>(adm_signed<V>(ref, sign), along);
  if constexpr (kScale == 0)
    return {sign, along, V::template sra<15>(V::add(V::mul(ratio, ref), V::set(16384)))};
  else
    return {sign, along,
            V::narrow(V::template shr<15>(V::add(V::mul_signed(ratio, ref), V::set_wide(16384))))};
}

// adm_restore(). With the sign of ref divided out all values are 0 or more, and no case needs its own: where the
// ratio or the reference is 0, nothing is restored and the limit is 0 as well. Samples are below 2.11e9: a product cut off
// at up to 100 below 2^31 - 1 is above all of them.
template <class V, int kScale>
VMAFHIP_SIMD_FN typename V::I adm_enhanced(const AdmRestored<V> &sample, typename V::Mask same_angle,
                                           const AdmGainLimit &limit) {
  using I = typename V::I;
  const I plain = adm_signed<V>(sample.plain, sample.sign);
  I limited;
  if (limit.whole) {
    const I below = kScale == 0 ? plain : V::min(plain, V::set(limit.most));
    limited = V::min(sample.along, V::mul(below, V::set(limit.whole)));
  } else {
    const auto most = V::mul(V::doubles(plain), V::set_doubles(limit.value));
    limited = V::truncate(V::min(V::doubles(sample.along), most));
  }
  return V::select(same_angle, adm_signed<V>(limited, sample.sign), sample.plain);
}

// ---- Masking ------------------------------------------------------------------------------------------------

template <class V>
struct AdmWeights {
  typename V::I neighbour, centre;
};

// What i16 keeps of v >> kDrop.
template <class V, int kDrop>
VMAFHIP_SIMD_FN typename V::I wrapped16(typename V::I v) {
  return V::template sra<16>(V::template shl<16 - kDrop>(v));
}

// The magnitude of the weighted sample, as adm_above0() and adm_above() want it, and its weights as a masker.
template <class V, int kScale, int kBand>
VMAFHIP_SIMD_FN typename V::I adm_weigh(typename V::I sample, typename V::I csf, AdmWeights<V> *weights) {
  using I = typename V::I;
  if constexpr (kScale == 0) {
    const I product = V::mul(sample, csf);
    const I rounded = V::add(product, V::set(adm_mask_round0(kBand)));
    I c;
    if constexpr (kBand == 2)
      c = V::template sra<17>(rounded);  // 15 bits
    else
      c = wrapped16<V, 15>(rounded);
    const I scaled = V::mul(V::abs(c), V::set(4369));
    const I neighbour = wrapped16<V, 12>(V::add(scaled, V::set(2048)));
    // (2 * scaled + 2048) >> 12
    const I centre = wrapped16<V, 11>(V::add(scaled, V::set(1024)));
    *weights = {V::add(weights->neighbour, neighbour), V::add(weights->centre, centre)};
    return V::abs(product);
  } else {
    // csf < 2^31, as the sensitivity at scales 1 to 3 is below 1/2 in all modes.
    const I c = V::narrow(V::template shr<28>(V::add(V::mul_signed(sample, csf), V::set_wide(1 << 27))));
    const I size = V::abs(c);
    const auto weight = [&](int32_t factor) __attribute__((always_inline)) {
      return V::narrow_high(V::add(V::mul_unsigned(size, V::set(factor)), V::set_wide(-(int64_t{1} << 31))));
    };
    *weights = {V::add(weights->neighbour, weight(143165577)), V::add(weights->centre, weight(286331153))};
    return size;
  }
}

// One row: ref's bands against dist's, with each of `limits` gain limits.
template <class V, int kScale>
void adm_decouple(const int32_t *const *ref, const int32_t *const *dist, int count, const AdmScaleParams &p,
                  bool aim, const AdmDecoupledRow *rows, int limits) {
  using I = typename V::I;
  const I csf[kAdmBands] = {V::set(static_cast<int32_t>(p.csf[0])), V::set(static_cast<int32_t>(p.csf[1])),
                            V::set(static_cast<int32_t>(p.csf[2]))};
  for (int i = 0; i < count; i += V::kDwords) {
    const auto angles = adm_angles<V, kScale>(V::load(ref[0] + i), V::load(ref[1] + i), V::load(dist[0] + i),
                                              V::load(dist[1] + i));
    AdmRestored<V> samples[kAdmBands];
    for (int band = 0; band < kAdmBands; band++)
      samples[band] = adm_restored<V, kScale>(V::load(ref[band] + i), V::load(dist[band] + i));
    for (const AdmDecoupledRow *row = rows; row < rows + limits; row++) {
      const AdmSignalRow &restored = row->restored, &additive = row->additive;
      AdmWeights<V> of_restored = {V::set(0), V::set(0)}, of_additive = of_restored;
      const auto band = [&](auto number) __attribute__((always_inline)) {
        constexpr int kBand = decltype(number)::value;
        const I r = adm_enhanced<V, kScale>(samples[kBand], angles, row->limit);
        I a = V::sub(V::load(dist[kBand] + i), r);
        if constexpr (kScale == 0) a = wrapped16<V, 0>(a);
        V::store(restored.size[kBand] + i, adm_weigh<V, kScale, kBand>(r, csf[kBand], &of_restored));
        V::store(additive.size[kBand] + i, adm_weigh<V, kScale, kBand>(a, csf[kBand], &of_additive));
      };
      band(AdmNumber<0>());
      band(AdmNumber<1>());
      band(AdmNumber<2>());
      V::store(additive.neighbour + i, of_additive.neighbour);
      V::store(additive.centre + i, of_additive.centre);
      if (aim) {
        V::store(restored.neighbour + i, of_restored.neighbour);
        V::store(restored.centre + i, of_restored.centre);
      }
    }
  }
}

template <class V>
double adm_float_of(int64_t v) {
  return V::first(V::floats(V::set_wide(v)));
}

// ---- Sums ---------------------------------------------------------------------------------------------------

// Calls step(i, lanes) for whole vectors with all lanes and for the rest with the first few.
template <class V, class Step>
VMAFHIP_SIMD_FN void over_row(int count, Step step) {
  int i = 0;
  for (; i + V::kDwords <= count; i += V::kDwords) step(i, V::all_lanes());
  if (i < count) step(i, V::first_lanes(count - i));
}

// Sums of a row per band. As in adm_cube_offset(), every lane carries an offset, so that the last shift can be a
// logical one; lanes beyond the end hold 0 and carry it as well.
template <class V, int kScale>
void adm_masked_row(const AdmSignalRow &signal, const AdmMaskRows &masker, int begin, int count,
                    const AdmScaleParams &p, int32_t * /*threshold*/, int64_t *rows) {
  using I = typename V::I;
  typename V::Wide sums[kAdmBands] = {V::set_wide(0), V::set_wide(0), V::set_wide(0)};
  uint64_t lanes = 0;
  const int32_t *above = masker.above + begin, *here = masker.here + begin, *below = masker.below + begin,
                *centre = masker.centre + begin;
  const auto rounding = [&](int band) __attribute__((always_inline)) {
    return V::set_wide(
        static_cast<int64_t>(static_cast<uint64_t>(half_of(p.col_shift[band])) + (uint64_t{1} << 63)));
  };
  const typename V::Wide round[2] = {rounding(0), rounding(2)};
  over_row<V>(
      count, [&](int i, typename V::Mask use) __attribute__((always_inline)) {
        const auto three = [&](const int32_t *row) __attribute__((always_inline)) {
          return V::add(V::add(V::load(row + i - 1), V::load(row + i)), V::load(row + i + 1));
        };
        const I threshold = V::add(V::add(V::add(three(above), three(below)), V::load(centre + i)),
                                   V::add(V::load(here + i - 1), V::load(here + i + 1)));
        const auto band = [&](auto number) __attribute__((always_inline)) {
          constexpr int kBand = decltype(number)::value;
          constexpr int kSquare = adm_square_shift(kScale, kBand);
          I limit = threshold;
          if constexpr (kScale == 0) limit = V::template shl<adm_threshold_shift0(kBand)>(threshold);
          const I size = V::load(signal.size[kBand] + begin + i);
          const I x = V::keep(use, V::max(V::sub(size, limit), V::set(0)));
          const auto square = V::template shr<kSquare>(
              V::add(V::mul_unsigned(x, x), V::set_wide(int64_t{1} << (kSquare - 1))));
          const auto cube = V::mul_signed_wide(square, x);
          const auto value = V::shr(V::add(cube, round[kBand == 2]), p.col_shift[kBand]);
          sums[kBand] = V::add(sums[kBand], value);
        };
        band(AdmNumber<0>());
        band(AdmNumber<1>());
        band(AdmNumber<2>());
        lanes += V::kDwords;
      });
  for (int band = 0; band < kAdmBands; band++) {
    const uint64_t offset = (uint64_t{1} << 63) >> p.col_shift[band];
    rows[band] = static_cast<int64_t>(V::sum(sums[band]) - offset * lanes);
  }
}

template <class V, int kScale>
uint64_t adm_den_row(const int32_t *ref, int count, const AdmScaleParams &p) {
  using I = typename V::I;
  typename V::Wide sum = V::set_wide(0);
  const auto round = V::set_wide(half_of(p.den_col_shift));
  over_row<V>(
      count, [&](int i, typename V::Mask use) __attribute__((always_inline)) {
        const I size = V::keep(use, V::abs(V::load(ref + i)));
        if constexpr (kScale == 0) {
          sum = V::add(sum, V::mul_unsigned(V::mul(size, size), size));
        } else {
          // The square is below 2^62, so that what is left of it fits u32.
          constexpr int kShift = adm_den_square_shift(kScale);
          const auto square =
              V::template shr<kShift>(V::add(V::mul_unsigned(size, size), V::set_wide(int64_t{1} << kShift)));
          sum = V::add(sum, V::shr(V::add(V::mul_unsigned_wide(square, size), round), p.den_col_shift));
        }
      });
  return V::sum(sum);
}

}  // namespace
}  // namespace vmafhip
