// ADM's wavelet on vectors: multiply-adds of 16-bit pairs, down four rows and then across four columns.
//
// V is a policy (lanes_avx2.h, lanes_avx512.h). Loops run over whole vectors, and rows of scratch and frame memory have
// room for them.
#pragma once
#include "engine/cpu/adm_rows.h"
#include "engine/cpu/simd.h"

namespace vmafhip {
namespace {

struct AdmTaps {
  int32_t first, second;  // taps 0 and 1, 2 and 3, as 16-bit pairs
  int32_t sum;
};
constexpr AdmTaps adm_taps(const int32_t (&t)[4]) {
  return {word_pair(t[0], t[1]), word_pair(t[2], t[3]), t[0] + t[1] + t[2] + t[3]};
}
constexpr AdmTaps kAdmLowTaps = adm_taps(kAdmLow), kAdmHighTaps = adm_taps(kAdmHigh);

// Words are centred at `half`; a low band is signed already. Samples of 8 bits stay as they are: what filters make of
// their middle is in the rounding term.
template <class V>
VMAFHIP_SIMD_FN typename V::I load_centred(const uint8_t *at, typename V::I) {
  return V::load_unsigned_bytes(at);
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

// Vertical filters of one row of bands. `count` columns can be read and written, at least V::kWords; the last vector
// overlaps the one before. High pass only if `detail`.
template <class V, int kScale, class Sample>
void adm_columns(const AdmSourceRows<Sample> &rows, int count, int depth, bool detail, const AdmHalves &low,
                 const AdmHalves &high) {
  using I = typename V::I;
  constexpr bool kBytes = sizeof(Sample) == 1;
  constexpr int kStep = V::kWords;
  const I half16 = V::set16(1 << (depth - 1)), half = V::set(32768);
  for (int at = 0; at < count; at += kStep) {
    const int x = smaller(at, count - kStep);
    rows.fetch(x, kScale > 1);
    const AdmColumns<V> columns = adm_interleave<V>(rows.low, x, half16);
    AdmColumns<V> tops = columns;
    if constexpr (kScale > 1) tops = adm_interleave<V>(rows.high, x, half16);
    const auto filter = [&](const AdmTaps &taps, const AdmHalves &to) __attribute__((always_inline)) {
      if constexpr (kScale == 0) {
        const I round = V::set((1 << (depth - 1)) - (kBytes ? 128 * taps.sum : 0));
        const I lower = adm_dot<V>(round, columns.lower, taps),
                upper = adm_dot<V>(round, columns.upper, taps);
        V::store(to.low + x, kBytes ? V::pack_middle(lower, upper)
                                    : V::pack16(V::sra(lower, depth), V::sra(upper, depth)));
      } else {
        I lower, upper;
        if constexpr (kScale == 1) {
          lower = adm_dot<V>(V::zero(), columns.lower, taps);
          upper = adm_dot<V>(V::zero(), columns.upper, taps);
        } else {
          lower = adm_dot<V>(V::template sra<16>(adm_dot<V>(half, columns.lower, taps)), tops.lower, taps);
          upper = adm_dot<V>(V::template sra<16>(adm_dot<V>(half, columns.upper, taps)), tops.upper, taps);
        }
        V::store(to.high + x, V::pack_high(V::add(lower, half), V::add(upper, half)));
        V::store(to.low + x, V::pack_low(lower, upper));
      }
    };
    filter(kAdmLowTaps, low);
    if (detail) filter(kAdmHighTaps, high);
  }
}

// What the horizontal filter reads for columns x to x + V::kDwords - 1 of a band: samples 2x - 1 and 2x of each, 2x + 1 and
// 2x + 2. All that a vector of bands reads is loaded before any of it is stored, as compilers would load it again.
template <class V>
struct AdmAcross {
  typename V::I low[2], high[2];
};

template <class V, int kScale>
VMAFHIP_SIMD_FN AdmAcross<V> adm_load_across(const AdmHalves &from, int x) {
  AdmAcross<V> at = {{V::load(from.low + 2 * x - 1), V::load(from.low + 2 * x + 1)}, {V::zero(), V::zero()}};
  if constexpr (kScale > 0) {
    at.high[0] = V::load(from.high + 2 * x - 1);
    at.high[1] = V::load(from.high + 2 * x + 1);
  }
  return at;
}

// At scale 0 the result is the high word of each lane.
template <class V, int kScale>
VMAFHIP_SIMD_FN typename V::I adm_across(const AdmAcross<V> &at, const AdmTaps &taps) {
  using I = typename V::I;
  constexpr int kShift = kAdmHorizontalShift[kScale];
  const I whole = adm_dot<V>(V::set(1 << (kShift - 1)), at.low, taps);
  if constexpr (kScale == 0) {
    static_assert(kShift == 16);
    return whole;
  } else {
    const I sum = V::template sra<kShift>(whole);
    if constexpr (kShift == 16) return adm_dot<V>(sum, at.high, taps);
    const I top = adm_dot<V>(V::zero(), at.high, taps);
    return V::add(V::add(top, top), sum);
  }
}

// The low band, for the next scale.
template <class V, int kScale>
void adm_low_band(const AdmHalves &low, int width, const AdmHalves &to) {
  for (int x = 0; x < width; x += V::kWords) {
    const auto first = adm_across<V, kScale>(adm_load_across<V, kScale>(low, x), kAdmLowTaps),
               second = adm_across<V, kScale>(adm_load_across<V, kScale>(low, x + V::kDwords), kAdmLowTaps);
    if constexpr (kScale == 0) {
      V::store(to.low + x, V::high_words(first, second));
    } else {
      const auto half = V::set(32768);
      V::store(to.high + x, V::high_words(V::add(first, half), V::add(second, half)));
      V::store(to.low + x, V::low_words(first, second));
    }
  }
}

// Rows of h, v and d: words at scale 0.
template <class V, int kScale>
void adm_detail_bands(const AdmHalves &low, const AdmHalves &high, AdmSpan span, int16_t *const *bands) {
  static_assert(kScale == 0);
  for (int i = 0; i < span.count; i += V::kWords) {
    const int x = span.first + i;
    const AdmAcross<V> l[2] = {adm_load_across<V, 0>(low, x), adm_load_across<V, 0>(low, x + V::kDwords)},
                       h[2] = {adm_load_across<V, 0>(high, x), adm_load_across<V, 0>(high, x + V::kDwords)};
    const auto band = [](const AdmAcross<V> *at, const AdmTaps &taps) __attribute__((always_inline)) {
      return V::high_words(adm_across<V, 0>(at[0], taps), adm_across<V, 0>(at[1], taps));
    };
    V::store(bands[0] + i, band(h, kAdmLowTaps));
    V::store(bands[1] + i, band(l, kAdmHighTaps));
    V::store(bands[2] + i, band(h, kAdmHighTaps));
  }
}

template <class V, int kScale>
void adm_detail_bands(const AdmHalves &low, const AdmHalves &high, AdmSpan span, int32_t *const *bands) {
  for (int i = 0; i < span.count; i += V::kDwords) {
    const AdmAcross<V> l = adm_load_across<V, kScale>(low, span.first + i),
                       h = adm_load_across<V, kScale>(high, span.first + i);
    V::store(bands[0] + i, adm_across<V, kScale>(h, kAdmLowTaps));
    V::store(bands[1] + i, adm_across<V, kScale>(l, kAdmHighTaps));
    V::store(bands[2] + i, adm_across<V, kScale>(h, kAdmHighTaps));
  }
}

}  // namespace
}  // namespace vmafhip
