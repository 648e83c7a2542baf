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

// Row sums and variance of the reference, columns [first, last) of row r.
template <int kScale>
void row_sums_of_reference(const VifMemory &memory, int r, int first, int last) {
  for (int x = first; x < last; x += Simd::kWords) {
    EvenOdd mean = both(kFromZero), high = both(kFromZero), low = both(kFromZeroRounded);
#pragma GCC unroll 9
    for (int p = 0; p < VifShape<kScale>::column_pairs; p++) {
      add_columns<kScale>(mean, VifColumns::row(memory.ref, kMean, r) + x, p);
      add_columns<kScale>(high, VifColumns::row(memory.ref, kHigh, r) + x, p);
      add_columns<kScale>(low, VifColumns::row(memory.ref, kLow, r) + x, p);
    }
    Simd::store(memory.row_mean[r] + x, mean.even);
    Simd::store(memory.row_mean[r] + x + Simd::kDwords, mean.odd);
    Simd::store(memory.variance[r] + x, variance(high.even, low.even, mean.even, mean.even));
    Simd::store(memory.variance[r] + x + Simd::kDwords, variance(high.odd, low.odd, mean.odd, mean.odd));
  }
}

// Variance of a distorted picture, 0 or more, and covariance with the reference: last - first lanes each.
template <int kScale>
void row_sums_of_distorted(const VifMemory &memory, int r, int first, int last, int32_t *variances,
                           int32_t *covariances) {
  for (int x = first; x < last; x += Simd::kWords) {
    EvenOdd mean = both(kFromZero), high = both(kFromZero), low = both(kFromZeroRounded);
    EvenOdd cross_high = both(kFromZero), cross_low = both(kFromZeroRounded);
#pragma GCC unroll 9
    for (int p = 0; p < VifShape<kScale>::column_pairs; p++) {
      add_columns<kScale>(mean, VifColumns::row(memory.dist, kMean, r) + x, p);
      add_columns<kScale>(high, VifColumns::row(memory.dist, kHigh, r) + x, p);
      add_columns<kScale>(low, VifColumns::row(memory.dist, kLow, r) + x, p);
      add_columns<kScale>(cross_high, VifColumns::row(memory.dist, kCrossHigh, r) + x, p);
      add_columns<kScale>(cross_low, VifColumns::row(memory.dist, kCrossLow, r) + x, p);
    }
    const EvenOdd ref = {Simd::load(memory.row_mean[r] + x),
                         Simd::load(memory.row_mean[r] + x + Simd::kDwords)};
    Simd::store(variances, Simd::max(variance(high.even, low.even, mean.even, mean.even), Simd::zero()));
    Simd::store(variances + Simd::kDwords,
                Simd::max(variance(high.odd, low.odd, mean.odd, mean.odd), Simd::zero()));
    Simd::store(covariances, variance(cross_high.even, cross_low.even, ref.even, mean.even));
    Simd::store(covariances + Simd::kDwords, variance(cross_high.odd, cross_low.odd, ref.odd, mean.odd));
    variances += Simd::kWords;
    covariances += Simd::kWords;
  }
}

// Samples of scale kNext, signed, from the even columns of [first, last).
template <int kNext>
void halve_columns(const int16_t *half, int first, int last, int16_t *out) {
  constexpr int lead = VifShape<kNext>::lead;
  for (int x = first; x < last; x += Simd::kWords) {
    Simd::I sum = Simd::set(32768);
#pragma GCC unroll 9
    for (int p = 0; p < VifShape<kNext>::column_pairs; p++)
      sum = add_pairs(sum, Simd::load(half + x - lead + 2 * p), kNext, vif_first_tap(kNext, lead, p, 0));
    Simd::store_low(out + x / 2, Simd::sra<16>(sum));
  }
}

}  // namespace
}  // namespace vmafhip
