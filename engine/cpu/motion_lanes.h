// Motion's rows on vectors: two rows at a time, so that a multiply-add of 16-bit pairs does two taps.
//
// V is a policy with the functions of lanes_avx512.h. Rows of columns have room for a vector beyond their end.
#pragma once
#include "engine/cpu/motion_rows.h"
#include "engine/cpu/simd.h"

namespace vmafhip {
namespace {

// The five taps as pairs, for an output at the first of six samples and for one at the second.
constexpr int32_t kMotionPairs[2][3] = {
    {word_pair(kMotionTaps[0], kMotionTaps[1]), word_pair(kMotionTaps[2], kMotionTaps[1]),
     word_pair(kMotionTaps[0], 0)},
    {word_pair(0, kMotionTaps[0]), word_pair(kMotionTaps[1], kMotionTaps[2]),
     word_pair(kMotionTaps[1], kMotionTaps[0])}};

template <class V>
VMAFHIP_SIMD_FN typename V::I motion_dot(typename V::I sum, const typename V::I (&pairs)[3], int next) {
  for (int k = 0; k < 3; k++) sum = V::dot(sum, pairs[k], kMotionPairs[next][k]);
  return sum;
}

template <class V>
VMAFHIP_SIMD_FN typename V::I load_sample(const uint8_t *at) {
  return V::load_unsigned_bytes(at);
}
template <class V>
VMAFHIP_SIMD_FN typename V::I load_sample(const uint16_t *at) {
  return V::load(at);
}

// Six rows of V::kWords words, interleaved by twos.
template <class V>
struct MotionPairs {
  typename V::I lower[3], upper[3];
};

template <class V, class Load>
VMAFHIP_SIMD_FN MotionPairs<V> motion_interleave(Load load) {
  MotionPairs<V> out;
#pragma GCC unroll 3
  for (int k = 0; k < 3; k++) {
    const auto a = load(2 * k), b = load(2 * k + 1);
    out.lower[k] = V::unpack_low16(a, b);
    out.upper[k] = V::unpack_high16(a, b);
  }
  return out;
}

template <class V>
VMAFHIP_SIMD_FN void store_columns(typename V::I lower, typename V::I upper, const MotionColumns &to, int x) {
  const auto one = V::set(1);
  V::store(to.half + x, V::pack16(V::template sra<1>(lower), V::template sra<1>(upper)));
  V::store(to.bit + x, V::pack16(V::bit_and(lower, one), V::bit_and(upper, one)));
}

// Up to 15 bits, differences fit i16 and their filtered sums i32: 65,536 * 32,767 + 2^14 at most.
template <class V, class Sample>
VMAFHIP_SIMD_FN void motion_columns_at(const MotionSource<Sample> &from, int x, int depth, int rows,
                                       const MotionColumns *out) {
  const auto pairs = motion_interleave<V>([&](int k) __attribute__((always_inline)) {
    return V::sub16(load_sample<V>(from.earlier[k] + x), load_sample<V>(from.current[k] + x));
  });
  const auto half = V::set(1 << (depth - 1));
  for (int next = 0; next < rows; next++)
    store_columns<V>(V::sra(motion_dot<V>(half, pairs.lower, next), depth),
                     V::sra(motion_dot<V>(half, pairs.upper, next), depth), out[next], x);
}

// 16 bits: both pictures are filtered, centred at 2^15, and the sums a and b subtracted in halves:
// (a - b + 2^15) >> 16 = (a >> 16) - (b >> 16) + (((a & 65535) - (b & 65535) + 2^15) >> 16).
template <class V>
VMAFHIP_SIMD_FN void motion_columns16_at(const MotionSource<uint16_t> &from, int x, int rows,
                                         const MotionColumns *out) {
  using I = typename V::I;
  const I middle = V::set16(32768), half = V::set(32768), low = V::set(65535);
  const auto load = [&](const uint16_t *const *at) __attribute__((always_inline)) {
    return motion_interleave<V>([&](int k) __attribute__((always_inline)) {
      return V::bit_xor(V::load(at[k] + x), middle);
    });
  };
  const auto a = load(from.earlier), b = load(from.current);
  const auto difference = [&](I p, I q) __attribute__((always_inline)) {
    const I high = V::sub(V::template sra<16>(p), V::template sra<16>(q));
    const I rest = V::add(V::sub(V::bit_and(p, low), V::bit_and(q, low)), half);
    return V::add(high, V::template sra<16>(rest));
  };
  for (int next = 0; next < rows; next++)
    store_columns<V>(
        difference(motion_dot<V>(V::zero(), a.lower, next), motion_dot<V>(V::zero(), b.lower, next)),
        difference(motion_dot<V>(V::zero(), a.upper, next), motion_dot<V>(V::zero(), b.upper, next)),
        out[next], x);
}

// Column sums of row y and, if `rows` is 2, of row y + 1.
template <class V, class Sample>
void motion_columns(const MotionSource<Sample> &from, int width, int depth, int rows,
                    const MotionColumns *out) {
  if (width < V::kWords) {
    for (int next = 0; next < rows; next++) motion_columns_plain(from, next, width, depth, out[next]);
    return;
  }
  for (int at = 0; at < width; at += V::kWords) {
    const int x = smaller(at, width - V::kWords);  // the last vector overlaps the one before
    if constexpr (sizeof(Sample) == 2)
      if (depth == 16) {
        motion_columns16_at<V>(from, x, rows, out);
        continue;
      }
    motion_columns_at<V>(from, x, depth, rows, out);
  }
}

// Of the six samples from x - 2 on, pairs give the outputs at x and at x + 1. Magnitudes stay below 2^16, and rows
// have at most 2^15 samples, so that 32-bit lanes hold a row.
template <class V>
uint64_t motion_row_sum(const MotionColumns &columns, int width) {
  using I = typename V::I;
  I sum = V::zero();
  const auto filtered = [&](int x, I(&out)[2]) __attribute__((always_inline)) {
    I half[3], bit[3];
#pragma GCC unroll 3
    for (int k = 0; k < 3; k++) {
      half[k] = V::load(columns.half + x - 2 + 2 * k);
      bit[k] = V::load(columns.bit + x - 2 + 2 * k);
    }
#pragma GCC unroll 2
    for (int next = 0; next < 2; next++) {
      const I low = V::template sra<1>(motion_dot<V>(V::set(32768), bit, next));
      out[next] = V::abs(V::template sra<15>(motion_dot<V>(low, half, next)));
    }
  };
  int x = 0;
  I pair[2];
  for (; x + V::kWords <= width; x += V::kWords) {
    filtered(x, pair);
    sum = V::add(sum, V::add(pair[0], pair[1]));
  }
  if (const int rest = width - x; rest > 0) {
    filtered(x, pair);
    sum = V::add(sum, V::add(V::keep(V::first_lanes((rest + 1) / 2), pair[0]),
                             V::keep(V::first_lanes(rest / 2), pair[1])));
  }
  return static_cast<uint64_t>(V::sum32(sum));
}

}  // namespace
}  // namespace vmafhip
