// VIF on the CPU: row sums of the column sums, second step of the filter, which give variances and covariance, and
// the samples of the next scale.
//
// Of kWords columns, the even ones are summed in one vector and the odd ones in another, from the same loads. The
// two are stored one behind the other: the statistics that read them ask for no order.
#pragma once
#include <cstddef>
#include <cstdint>

#include "engine/cpu/vif_memory.h"

namespace vmafhip {
namespace {

struct EvenOdd {
  Simd::I even, odd;
};

VMAFHIP_SIMD_FN EvenOdd both(int32_t v) { return {Simd::set(v), Simd::set(v)}; }

template <int kScale>
VMAFHIP_SIMD_FN void add_columns(EvenOdd &sums, const int16_t *from, int pair) {
  constexpr int lead = VifShape<kScale>::lead;
  const Simd::I v = Simd::load(from - lead + 2 * pair);
  sums.even = add_pairs(sums.even, v, kScale, vif_first_tap(kScale, lead, pair, 0));
  sums.odd = add_pairs(sums.odd, v, kScale, vif_first_tap(kScale, lead, pair, 1));
}

// Where the sums of signed words start so that they end as sums of the words + 2^15; with half of 2^16 for rounding.
constexpr int32_t kFromZero = word_pair(0, 0x8000), kFromZeroRounded = word_pair(0x8000, 0x8000);

// Rounded 2^-16 of sums that were taken over high and low halves, minus the product of two means.
VMAFHIP_SIMD_FN Simd::I variance(Simd::I high, Simd::I low, Simd::I mean_a, Simd::I mean_b) {
  return Simd::sub(Simd::add(high, Simd::shr<16>(low)), Simd::mul_high32_rounded(mean_a, mean_b));
}

// Row sums and variance of the reference in row r: `count` columns, the first of them `at` columns behind the first of
// the chunk.
template <int kScale>
void row_sums_of_reference(const VifColumns &columns, int r, int at, int count, VifReference *reference) {
  const int16_t *means = VifColumns::row(columns, kMean, r) + at,
                *highs = VifColumns::row(columns, kHigh, r) + at,
                *lows = VifColumns::row(columns, kLow, r) + at;
  for (int x = 0; x < count; x += Simd::kWords) {
    EvenOdd mean = both(kFromZero), high = both(kFromZero), low = both(kFromZeroRounded);
#pragma GCC unroll 9
    for (int p = 0; p < VifShape<kScale>::column_pairs; p++) {
      add_columns<kScale>(mean, means + x, p);
      add_columns<kScale>(high, highs + x, p);
      add_columns<kScale>(low, lows + x, p);
    }
    Simd::store(reference->row_mean[r] + x, mean.even);
    Simd::store(reference->row_mean[r] + x + Simd::kDwords, mean.odd);
    Simd::store(reference->variance[r] + x, variance(high.even, low.even, mean.even, mean.even));
    Simd::store(reference->variance[r] + x + Simd::kDwords, variance(high.odd, low.odd, mean.odd, mean.odd));
  }
}

// Variance of a distorted picture, 0 or more, and covariance with the reference, likewise.
template <int kScale>
void row_sums_of_distorted(const VifColumns &columns, int r, int at, int count, const VifReference &reference,
                           int32_t *variances, int32_t *covariances) {
  const int16_t *means = VifColumns::row(columns, kMean, r) + at,
                *highs = VifColumns::row(columns, kHigh, r) + at,
                *lows = VifColumns::row(columns, kLow, r) + at,
                *cross_highs = VifColumns::row(columns, kCrossHigh, r) + at,
                *cross_lows = VifColumns::row(columns, kCrossLow, r) + at;
  for (int x = 0; x < count; x += Simd::kWords) {
    EvenOdd mean = both(kFromZero), high = both(kFromZero), low = both(kFromZeroRounded);
    EvenOdd cross_high = both(kFromZero), cross_low = both(kFromZeroRounded);
#pragma GCC unroll 9
    for (int p = 0; p < VifShape<kScale>::column_pairs; p++) {
      add_columns<kScale>(mean, means + x, p);
      add_columns<kScale>(high, highs + x, p);
      add_columns<kScale>(low, lows + x, p);
      add_columns<kScale>(cross_high, cross_highs + x, p);
      add_columns<kScale>(cross_low, cross_lows + x, p);
    }
    const int32_t *ref = reference.row_mean[r] + x;
    const EvenOdd ref_mean = {Simd::load(ref), Simd::load(ref + Simd::kDwords)};
    Simd::store(variances + x, Simd::max(variance(high.even, low.even, mean.even, mean.even), Simd::zero()));
    Simd::store(variances + x + Simd::kDwords,
                Simd::max(variance(high.odd, low.odd, mean.odd, mean.odd), Simd::zero()));
    Simd::store(covariances + x, variance(cross_high.even, cross_low.even, ref_mean.even, mean.even));
    Simd::store(covariances + x + Simd::kDwords,
                variance(cross_high.odd, cross_low.odd, ref_mean.odd, mean.odd));
  }
}

// Samples of scale kNext, signed, from the even ones of `count` columns.
template <int kNext>
void halve_columns(const int16_t *half, int count, int16_t *out) {
  constexpr int lead = VifShape<kNext>::lead;
  for (int x = 0; x < count; x += Simd::kWords) {
    Simd::I sum = Simd::set(32768);
#pragma GCC unroll 9
    for (int p = 0; p < VifShape<kNext>::column_pairs; p++)
      sum = add_pairs(sum, Simd::load(half + x - lead + 2 * p), kNext, vif_first_tap(kNext, lead, p, 0));
    Simd::store_low(out + x / 2, Simd::shr<16>(sum));
  }
}

}  // namespace
}  // namespace vmafhip
