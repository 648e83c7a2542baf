// Scaling's rows on vectors. Values are 16 bits wide, so that a multiply-add of pairs does two taps.
//
// V is a policy with the functions of lanes_avx512.h.
#pragma once
#include "engine/cpu/scale_plain.h"
#include "engine/cpu/simd.h"

namespace vmafhip {
namespace {

// V::kDwords values from x on.
template <class V, bool kBits>
VMAFHIP_SIMD_FN void store_values(typename V::I values, const ScaledRow &out, int x) {
  if (kBits) {
    V::store_low(out.words + x, V::template sra<1>(values));
    V::store_low(out.bits + x, V::bit_and(values, V::set(1)));
  } else {
    V::store_saturated(out.words + x, values);
  }
}

// Few inputs an output: V::kDwords outputs at a time pick their pairs of inputs from a vector or two.
template <class V, bool kBits, int kPairs>
void filter_row_pairs(const ScaleAxis &axis, const int16_t *row, const ScaledRow &out, int shift) {
  using I = typename V::I;
  const int pairs = kPairs > 0 ? kPairs : axis.taps / 2;
  const I half = V::set(1 << (shift - 1));
  const int32_t *weights = axis.pairs;
  for (int group = 0; group < axis.out; group += kScaleGroup, weights += pairs * kScaleGroup)
    for (int at = 0; at < kScaleGroup; at += V::kDwords) {
      const int32_t *first = axis.first + group + at;
      const int16_t *from = row + first[0];
      const auto index = V::pair_index(V::sub(V::load(first), V::set(first[0])));
      I sum = half;
#pragma GCC unroll 3
      for (int k = 0; k < pairs; k++)
        sum = V::add(sum, V::multiply_pairs(V::pick_pairs(from + 2 * k, index),
                                            V::load(weights + k * kScaleGroup + at)));
      store_values<V, kBits>(V::sra(sum, shift), out, group + at);
    }
}

// Many: an output at a time takes vectors of inputs.
template <class V>
void filter_row_dots(const ScaleAxis &axis, const int16_t *row, const ScaledRow &out, int shift) {
  for (int x = 0; x < axis.out; x++) {
    const int16_t *from = row + axis.first[x], *weights = axis.weights + ptrdiff_t{x} * axis.stride;
    auto sum = V::zero();
    for (int k = 0; k < axis.taps; k += V::kWords)
      sum = V::add(sum, V::multiply_pairs(V::load(from + k), V::load(weights + k)));
    put_value(out, x, scale_round(static_cast<int32_t>(V::sum32(sum)), shift));
  }
}

template <class V>
void filter_row(const ScaleAxis &axis, const int16_t *row, const ScaledRow &out, int shift) {
  if (axis.in > V::kPairRatio * axis.out) return filter_row_dots<V>(axis, row, out, shift);
  if (out.bits) return filter_row_pairs<V, true, 0>(axis, row, out, shift);
  switch (axis.taps) {
    case 2:
      return filter_row_pairs<V, false, 1>(axis, row, out, shift);
    case 4:
      return filter_row_pairs<V, false, 2>(axis, row, out, shift);
    case 6:
      return filter_row_pairs<V, false, 3>(axis, row, out, shift);
    default:
      return filter_row_pairs<V, false, 0>(axis, row, out, shift);
  }
}

// Clamped to the depth's range.
template <class V>
VMAFHIP_SIMD_FN void store_samples(typename V::I values, int32_t centre, uint8_t *out) {
  V::store_low_bytes(
      out, V::add16(V::min16(V::max16(values, V::set16(-centre)), V::set16(centre - 1)), V::set16(centre)));
}
template <class V>
VMAFHIP_SIMD_FN void store_samples(typename V::I values, int32_t centre, uint16_t *out) {
  V::store(out,
           V::add16(V::min16(V::max16(values, V::set16(-centre)), V::set16(centre - 1)), V::set16(centre)));
}

template <class V, bool kBits, int kPairs, class Sample>
void filter_columns_pairs(const ScaledRow *rows, const int16_t *weights, int taps, int width, int shift,
                          int depth, Sample *out) {
  using I = typename V::I;
  if (width < V::kWords)
    return filter_columns_plain<2 * kPairs, kBits>(rows, weights, taps, width, shift, depth, out);
  const int pairs = kPairs > 0 ? kPairs : taps / 2;
  const I half = V::set(1 << (shift - 1));
  const int32_t centre = scale_centre(depth);
  for (int at = 0; at < width; at += V::kWords) {
    const int x = smaller(at, width - V::kWords);  // the last vector overlaps the one before
    I lower = V::zero(), upper = V::zero();
    const auto add = [&](const int16_t *first, const int16_t *second, int32_t pair)
        __attribute__((always_inline)) {
      const I a = V::load(first + x), b = V::load(second + x);
      lower = V::dot(lower, V::unpack_low16(a, b), pair);
      upper = V::dot(upper, V::unpack_high16(a, b), pair);
    };
#pragma GCC unroll 3
    for (int k = 0; k < pairs; k++)
      add(rows[2 * k].words, rows[2 * k + 1].words, word_pair(weights[2 * k], weights[2 * k + 1]));
    if (kBits) {
      lower = V::template shl<1>(lower);
      upper = V::template shl<1>(upper);
      for (int k = 0; k < pairs; k++)
        add(rows[2 * k].bits, rows[2 * k + 1].bits, word_pair(weights[2 * k], weights[2 * k + 1]));
    }
    lower = V::sra(V::add(lower, half), shift);
    upper = V::sra(V::add(upper, half), shift);
    store_samples<V>(V::pack16(lower, upper), centre, out + x);
  }
}

template <class V, class Sample>
void filter_columns(const ScaledRow *rows, const int16_t *weights, int taps, int width, int shift, int depth,
                    Sample *out) {
  if (rows[0].bits) return filter_columns_pairs<V, true, 0>(rows, weights, taps, width, shift, depth, out);
  switch (taps) {
    case 2:
      return filter_columns_pairs<V, false, 1>(rows, weights, taps, width, shift, depth, out);
    case 4:
      return filter_columns_pairs<V, false, 2>(rows, weights, taps, width, shift, depth, out);
    case 6:
      return filter_columns_pairs<V, false, 3>(rows, weights, taps, width, shift, depth, out);
    default:
      return filter_columns_pairs<V, false, 0>(rows, weights, taps, width, shift, depth, out);
  }
}

}  // namespace
}  // namespace vmafhip
