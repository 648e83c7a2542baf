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

// Column sums of kDwords columns.
struct ColumnSums {
  Simd::I mean[kRows], half[kRows / 2];  // half: with the filter of the next scale, on even rows
  Simd::I square[kRows], product[kRows];
};

// Column sums of the samples themselves.
template <int kScale, bool kStatistics>
struct MeanSums {
  static constexpr bool kHalves = kScale + 1 < kVifScales;

  VMAFHIP_SIMD_FN void clear(ColumnSums &sums) {
    for (int r = 0; r < kRows; r++) sums.mean[r] = Simd::zero();
    for (int r = 0; r < kRows / 2; r++) sums.half[r] = Simd::zero();
  }
  // Adds pair p of rows to row r.
  VMAFHIP_SIMD_FN void add(ColumnSums &sums, Simd::I v, int p, int r) {
    constexpr int lead = VifShape<kScale>::lead;
    if constexpr (kStatistics)
      sums.mean[r] = add_pairs(sums.mean[r], v, kScale, vif_first_tap(kScale, lead, p, r));
    if constexpr (kHalves)
      if (r % 2 == 0)
        sums.half[r / 2] = add_pairs(sums.half[r / 2], v, kScale + 1, vif_first_tap(kScale + 1, lead, p, r));
  }
};

// Of the reference, at column x.
template <int kScale, class Sample, bool kStatistics>
VMAFHIP_SIMD_FN ColumnSums sums_of_reference(const VifWindow &window, int x) {
  using Means = MeanSums<kScale, kStatistics>;
  ColumnSums sums;
  ProductSums square[kRows];
  Means::clear(sums);
  for (int r = 0; r < kRows; r++) square[r] = {Simd::zero(), Simd::zero()};
#pragma GCC unroll 16
  for (int p = 0; p < VifShape<kScale>::row_pairs; p++) {
    const Simd::I v = load_pairs<Sample>(window.pair[p], x);
    const ProductSums squares = products<Sample>(v, v);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; r++) {
      Means::add(sums, v, p, r);
      if constexpr (kStatistics)
        add_products<Sample>(square[r], squares, kScale, vif_first_tap(kScale, VifShape<kScale>::lead, p, r));
    }
  }
  for (int r = 0; r < kRows; r++) sums.square[r] = finish_square<Sample>(square[r], sums.mean[r]);
  return sums;
}

// Of a distorted picture, at column x; `ref_means`: of the reference, kMeanPitch apart.
template <int kScale, class Sample, bool kStatistics>
VMAFHIP_SIMD_FN ColumnSums sums_of_distorted(const VifWindow &ref, const VifWindow &dist, int x,
                                             const int32_t *ref_means) {
  using Means = MeanSums<kScale, kStatistics>;
  ColumnSums sums;
  ProductSums square[kRows], cross[kRows];
  Means::clear(sums);
  for (int r = 0; r < kRows; r++) square[r] = cross[r] = {Simd::zero(), Simd::zero()};
#pragma GCC unroll 16
  for (int p = 0; p < VifShape<kScale>::row_pairs; p++) {
    const Simd::I v = load_pairs<Sample>(dist.pair[p], x);
    const ProductSums squares = products<Sample>(v, v);
    const ProductSums crosses = products<Sample>(v, load_pairs<Sample>(ref.pair[p], x));
#pragma GCC unroll 4
    for (int r = 0; r < kRows; r++) {
      Means::add(sums, v, p, r);
      if constexpr (kStatistics) {
        const int at = vif_first_tap(kScale, VifShape<kScale>::lead, p, r);
        add_products<Sample>(square[r], squares, kScale, at);
        add_products<Sample>(cross[r], crosses, kScale, at);
      }
    }
  }
  if constexpr (kStatistics)
    for (int r = 0; r < kRows; r++) {
      sums.square[r] = finish_square<Sample>(square[r], sums.mean[r]);
      sums.product[r] = finish_product<Sample>(cross[r], Simd::load(ref_means + r * VifReference::kMeanPitch),
                                               sums.mean[r]);
    }
  return sums;
}

// Means of signed samples on the 16-bit scale, rounded: -2^15 to 2^15 - 1.
template <class Sample>
VMAFHIP_SIMD_FN void store_means(int16_t *to, Simd::I a, Simd::I b) {
  constexpr int shift = 8 * sizeof(Sample);
  const Simd::I half = Simd::set(1 << (shift - 1));
  Simd::store_words<shift>(to, Simd::add(a, half), Simd::add(b, half));
}

VMAFHIP_SIMD_FN void store_products(const VifColumns &out, int high, int low, int r, int x, Simd::I a,
                                    Simd::I b) {
  a = flip_words(a);
  b = flip_words(b);
  Simd::store_words<16>(VifColumns::row(out, high, r) + x, a, b);
  Simd::store_words<0>(VifColumns::row(out, low, r) + x, a, b);
}

// Stores the sums of kWords columns, those x columns behind the first of the chunk and on.
template <int kScale, class Sample, bool kStatistics>
VMAFHIP_SIMD_FN void store_sums(const ColumnSums &a, const ColumnSums &b, const VifColumns &out, int x) {
  for (int r = 0; r < kRows; r++) {
    if constexpr (MeanSums<kScale, kStatistics>::kHalves)
      if (r % 2 == 0) store_means<Sample>(VifColumns::row(out, kHalf, r) + x, a.half[r / 2], b.half[r / 2]);
    if constexpr (!kStatistics) continue;
    store_means<Sample>(VifColumns::row(out, kMean, r) + x, a.mean[r], b.mean[r]);
    store_products(out, kHigh, kLow, r, x, a.square[r], b.square[r]);
  }
}

// Columns [first, last); the first is where chunks start.
template <int kScale, class Sample, bool kStatistics>
void columns_of_reference(const VifWindow &window, int first, int last, const VifColumns &columns,
                          VifReference *reference) {
  for (int x = 0; x < last - first; x += Simd::kWords) {
    const ColumnSums a = sums_of_reference<kScale, Sample, kStatistics>(window, first + x);
    const ColumnSums b = sums_of_reference<kScale, Sample, kStatistics>(window, first + x + Simd::kDwords);
    for (int r = 0; kStatistics && r < kRows; r++) {
      Simd::store(reference->column_mean[r] + x, a.mean[r]);
      Simd::store(reference->column_mean[r] + x + Simd::kDwords, b.mean[r]);
    }
    store_sums<kScale, Sample, kStatistics>(a, b, columns, x);
  }
}

template <int kScale, class Sample, bool kStatistics>
void columns_of_distorted(const VifWindow &ref, const VifWindow &dist, int first, int last,
                          const VifColumns &columns, const VifReference &reference) {
  for (int x = 0; x < last - first; x += Simd::kWords) {
    const int32_t *means = reference.column_mean[0] + x;
    const ColumnSums a = sums_of_distorted<kScale, Sample, kStatistics>(ref, dist, first + x, means);
    const ColumnSums b = sums_of_distorted<kScale, Sample, kStatistics>(ref, dist, first + x + Simd::kDwords,
                                                                        means + Simd::kDwords);
    store_sums<kScale, Sample, kStatistics>(a, b, columns, x);
    for (int r = 0; kStatistics && r < kRows; r++)
      store_products(columns, kCrossHigh, kCrossLow, r, x, a.product[r], b.product[r]);
  }
}

}  // namespace
}  // namespace vmafhip
