// VIF on the CPU: column sums of kRows rows, first step of the window's separable filter, for means, squares and
// the product of both pictures, and for the samples of the next scale.
//
// With p = P + c (P signed, c = 2^7 or 2^15) and F's taps that sum to 2^16:
//   sum F p   = sum F P + 2^16 c
//   sum F p^2 = sum F P^2 + 2c sum F P + 2^16 c^2
//   sum F pq  = sum F PQ + c (sum F P + sum F Q) + 2^16 c^2
// At 8 bits a product fits 16 bits and the sums are exact in 32. At 16 bits a product is cut into halves,
// PQ = 2^16 H + L with 0 <= L < 2^16, and sum F PQ / 2^16 = sum F H + (sum F L) / 2^16: no sum needs more than 32.
#pragma once
#include <cstddef>
#include <cstdint>

#include "engine/cpu/vif_memory.h"

namespace vmafhip {
namespace {

// A window of rows: pointers to its pairs.
struct VifWindow {
  const int16_t *pair[kMaxPairs];
};

// Both samples of the pairs from column x on: kDwords pairs.
template <class Sample>
VMAFHIP_SIMD_FN Simd::I load_pairs(const int16_t *pair, int x) {
  if constexpr (sizeof(Sample) == 1)
    return Simd::load_bytes(reinterpret_cast<const int8_t *>(pair) + 2 * x);
  else
    return Simd::load(pair + 2 * x);
}

// Mean of signed samples on the 16-bit scale, rounded: -2^15 to 2^15 - 1.
template <class Sample>
VMAFHIP_SIMD_FN Simd::I round_mean(Simd::I sum) {
  constexpr int shift = 8 * sizeof(Sample);
  return Simd::sra<shift>(Simd::add(sum, Simd::set(1 << (shift - 1))));
}

// Sums over products: the halves of each if samples have 16 bits, else `high` alone.
struct ProductSums {
  Simd::I high, low;
};

template <class Sample>
VMAFHIP_SIMD_FN ProductSums products(Simd::I a, Simd::I b) {
  if constexpr (sizeof(Sample) == 1)
    return {Simd::mul_low16(a, b), Simd::zero()};
  else
    return {Simd::mul_high16(a, b), flip_words(Simd::mul_low16(a, b))};
}

template <class Sample>
VMAFHIP_SIMD_FN void add_products(ProductSums &sums, const ProductSums &p, int scale, int at) {
  sums.high = add_pairs(sums.high, p.high, scale, at);
  if constexpr (sizeof(Sample) == 2) sums.low = add_pairs(sums.low, p.low, scale, at);
}

// Filtered square in units of 2^-16 (8-bit steps squared), an unsigned number of 32 bits. `mean`: sum F P.
template <class Sample>
VMAFHIP_SIMD_FN Simd::I finish_square(const ProductSums &sums, Simd::I mean) {
  if constexpr (sizeof(Sample) == 1)
    return Simd::add(Simd::add(sums.high, Simd::set(1 << 30)), Simd::shl<8>(mean));
  // Low halves are L - 2^15, so their sum lacks 2^31; 2^15 rounds.
  const Simd::I low = Simd::shr<16>(Simd::add(sums.low, Simd::set(word_pair(0x8000, 0x8000))));
  return Simd::add(Simd::add(sums.high, Simd::set(1 << 30)), Simd::add(mean, low));
}

// Filtered product likewise. `ref`, `dist`: sum F P, sum F Q.
template <class Sample>
VMAFHIP_SIMD_FN Simd::I finish_product(const ProductSums &sums, Simd::I ref, Simd::I dist) {
  if constexpr (sizeof(Sample) == 1)
    return Simd::add(Simd::add(sums.high, Simd::set(1 << 30)), Simd::shl<7>(Simd::add(ref, dist)));
  // 2^15 (ref + dist) / 2^16: half the sum, of up to 33 bits, rounded down, and its last bit among the low halves.
  // These do not overflow: their sum exceeds 2^32 - 2^16 only if every L is 2^16 - 1; then all samples are odd and
  // so, since the taps' sum is even, ref and dist are even.
  const Simd::I differ = Simd::bit_xor(ref, dist);
  const Simd::I half = Simd::add(Simd::bit_and(ref, dist), Simd::sra<1>(differ));
  const Simd::I odd = Simd::shl<15>(Simd::bit_and(differ, Simd::set(1)));
  const Simd::I low =
      Simd::shr<16>(Simd::add(Simd::add(sums.low, odd), Simd::set(word_pair(0x8000, 0x8000))));
  return Simd::add(Simd::add(sums.high, Simd::set(1 << 30)), Simd::add(half, low));
}

VMAFHIP_SIMD_FN void store_product(const VifColumns &out, int high, int low, int r, int x, Simd::I v) {
  Simd::store_halves(VifColumns::row(out, high, r) + x, VifColumns::row(out, low, r) + x, flip_words(v));
}

// Means, and the filter of the next scale on even rows.
template <int kScale, class Sample>
struct MeanSums {
  static constexpr bool kHalves = kScale + 1 < kVifScales;
  Simd::I sum[kRows], half[kRows / 2];

  VMAFHIP_SIMD_FN void clear(MeanSums &m) {
    for (int r = 0; r < kRows; r++) m.sum[r] = Simd::zero();
    for (int r = 0; r < kRows / 2; r++) m.half[r] = Simd::zero();
  }
  VMAFHIP_SIMD_FN void add_half(MeanSums &m, Simd::I v, int p, int r) {
    if constexpr (kHalves)
      if (r % 2 == 0)
        m.half[r / 2] =
            add_pairs(m.half[r / 2], v, kScale + 1, vif_first_tap(kScale + 1, VifShape<kScale>::lead, p, r));
  }
  VMAFHIP_SIMD_FN void store_half(const MeanSums &m, const VifColumns &out, int r, int x) {
    if constexpr (kHalves)
      if (r % 2 == 0) Simd::store_low(VifColumns::row(out, kHalf, r) + x, round_mean<Sample>(m.half[r / 2]));
  }
};

// Columns [first, last); the first is where chunks start.
template <int kScale, class Sample, bool kStatistics>
void columns_of_reference(const VifWindow &window, int first, int last, const VifColumns &columns,
                          VifReference *reference) {
  using Means = MeanSums<kScale, Sample>;
  constexpr int lead = VifShape<kScale>::lead;
  for (int x = 0; x < last - first; x += Simd::kDwords) {
    Means mean;
    ProductSums square[kRows];
    Means::clear(mean);
    for (int r = 0; r < kRows; r++) square[r] = {Simd::zero(), Simd::zero()};
#pragma GCC unroll 16
    for (int p = 0; p < VifShape<kScale>::row_pairs; p++) {
      const Simd::I v = load_pairs<Sample>(window.pair[p], first + x);
      const ProductSums squares = products<Sample>(v, v);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; r++) {
        if constexpr (kStatistics) {
          const int at = vif_first_tap(kScale, lead, p, r);
          mean.sum[r] = add_pairs(mean.sum[r], v, kScale, at);
          add_products<Sample>(square[r], squares, kScale, at);
        }
        Means::add_half(mean, v, p, r);
      }
    }
#pragma GCC unroll 4
    for (int r = 0; r < kRows; r++) {
      Means::store_half(mean, columns, r, x);
      if constexpr (!kStatistics) continue;
      Simd::store(reference->column_mean[r] + x, mean.sum[r]);
      Simd::store_low(VifColumns::row(columns, kMean, r) + x, round_mean<Sample>(mean.sum[r]));
      store_product(columns, kHigh, kLow, r, x, finish_square<Sample>(square[r], mean.sum[r]));
    }
  }
}

template <int kScale, class Sample, bool kStatistics>
void columns_of_distorted(const VifWindow &ref, const VifWindow &dist, int first, int last,
                          const VifColumns &columns, const VifReference &reference) {
  using Means = MeanSums<kScale, Sample>;
  constexpr int lead = VifShape<kScale>::lead;
  for (int x = 0; x < last - first; x += Simd::kDwords) {
    Means mean;
    ProductSums square[kRows], cross[kRows];
    Means::clear(mean);
    for (int r = 0; r < kRows; r++) square[r] = cross[r] = {Simd::zero(), Simd::zero()};
#pragma GCC unroll 16
    for (int p = 0; p < VifShape<kScale>::row_pairs; p++) {
      const Simd::I v = load_pairs<Sample>(dist.pair[p], first + x);
      const ProductSums squares = products<Sample>(v, v);
      const ProductSums crosses = products<Sample>(v, load_pairs<Sample>(ref.pair[p], first + x));
#pragma GCC unroll 4
      for (int r = 0; r < kRows; r++) {
        if constexpr (kStatistics) {
          const int at = vif_first_tap(kScale, lead, p, r);
          mean.sum[r] = add_pairs(mean.sum[r], v, kScale, at);
          add_products<Sample>(square[r], squares, kScale, at);
          add_products<Sample>(cross[r], crosses, kScale, at);
        }
        Means::add_half(mean, v, p, r);
      }
    }
#pragma GCC unroll 4
    for (int r = 0; r < kRows; r++) {
      Means::store_half(mean, columns, r, x);
      if constexpr (!kStatistics) continue;
      const Simd::I ref_mean = Simd::load(reference.column_mean[r] + x);
      Simd::store_low(VifColumns::row(columns, kMean, r) + x, round_mean<Sample>(mean.sum[r]));
      store_product(columns, kHigh, kLow, r, x, finish_square<Sample>(square[r], mean.sum[r]));
      store_product(columns, kCrossHigh, kCrossLow, r, x,
                    finish_product<Sample>(cross[r], ref_mean, mean.sum[r]));
    }
  }
}

}  // namespace
}  // namespace vmafhip
