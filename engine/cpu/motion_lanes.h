// Motion's rows on vectors: two rows at a time, so that a multiply-add of 16-bit pairs does two taps.
//
// V is a policy with the functions of lanes_avx512.h. Rows of columns have room for a vector beyond their end.
#pragma once
#include <cstring>

#include "engine/cpu/arena.h"
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

// ---- Where pictures differ by less than half of their range -------------------------------------------------

// Column sums then fit i16 as they are: (65536 * (2^(depth - 1) - 1) + 2^(depth - 1)) >> depth is at most 32,767. So most rows of
// most streams need half of the multiply-adds. Differences are worked out once, interleaved by twos of rows, and wait in
// a ring of three pairs; moved up to 16 bits, where the sum's high word is the column sum.
struct MotionDifferences {
  int16_t *pair[3];
  int16_t *sums[2];  // column sums of two rows, with mirrored columns on either side

  void take(Arena *arena, int width, size_t beyond) {
    const size_t count = static_cast<size_t>(width);
    for (int16_t *&rows : pair) rows = arena->take<int16_t>(2 * count, 0, 2 * beyond);
    for (int16_t *&row : sums) row = arena->take<int16_t>(count, kMotionRadius, beyond);
  }
  void clear_behind(int width, size_t beyond) const {
    for (int16_t *row : sums) std::memset(row + width, 0, beyond * sizeof *row);
  }
};

// Two rows of either picture, and the two after them, which are fetched meanwhile.
template <class Sample>
struct MotionPair {
  const Sample *earlier[4], *current[4];
};

// Whether all differences fit. Blocks of V::kWords columns: lower, then upper halves of each 128 bits. The last block
// overlaps the one before.
template <class V, class Sample>
bool motion_differences(const MotionPair<Sample> &from, int width, int depth, int16_t *pair) {
  using I = typename V::I;
  constexpr bool kBytes = sizeof(Sample) == 1;
  I seen = V::zero();
  for (int at = 0; at < width; at += V::kWords) {
    const int x = smaller(at, width - V::kWords);
    for (int k = 2; k < 4; k++) {
      __builtin_prefetch(from.earlier[k] + x);
      __builtin_prefetch(from.current[k] + x);
    }
    const auto difference = [&](int k) __attribute__((always_inline)) {
      const I d = V::sub16(load_sample<V>(from.earlier[k] + x), load_sample<V>(from.current[k] + x));
      seen = V::bit_or(seen, V::abs16(d));
      return kBytes ? d : V::shl16(d, 16 - depth);
    };
    const I a = difference(0), b = difference(1);
    V::store(pair + 2 * at, V::unpack_low16(a, b));
    V::store(pair + 2 * at + V::kWords, V::unpack_high16(a, b));
  }
  return !V::any_common(seen, V::set16(-(1 << (depth - 1))));
}

// Column sums of row y and, if `rows` is 2, of row y + 1, from the pairs of rows y - 2, y and y + 2.
template <class V, bool kBytes>
void motion_short_columns(const int16_t *const *pair, int width, int rows, int16_t *const *sums) {
  using I = typename V::I;
  const I half = V::set(kBytes ? 128 : 32768);
  for (int at = 0; at < width; at += V::kWords) {
    const int x = smaller(at, width - V::kWords);
    I lower[3], upper[3];
#pragma GCC unroll 3
    for (int k = 0; k < 3; k++) {
      lower[k] = V::load(pair[k] + 2 * at);
      upper[k] = V::load(pair[k] + 2 * at + V::kWords);
    }
    for (int next = 0; next < rows; next++) {
      const I a = motion_dot<V>(half, lower, next), b = motion_dot<V>(half, upper, next);
      V::store(sums[next] + x, kBytes ? V::pack_middle(a, b) : V::pack_high(a, b));
    }
  }
}

// Filtered magnitudes are at most 32,767 as well.
template <class V>
uint64_t motion_short_row_sum(const int16_t *sums, int width) {
  using I = typename V::I;
  const I half = V::set(32768);
  I sum = V::zero();
  const auto add = [&](int x, auto keep) __attribute__((always_inline)) {
    const I at[3] = {V::load(sums + x - 2), V::load(sums + x), V::load(sums + x + 2)};
    const I even = motion_dot<V>(half, at, 0), odd = motion_dot<V>(half, at, 1);
    sum = V::dot(sum, V::abs16(V::pack_high(keep(even, 0), keep(odd, 1))), word_pair(1, 1));
  };
  int x = 0;
  for (; x + V::kWords <= width; x += V::kWords)
    add(
        x, [](I v, int) __attribute__((always_inline)) { return v; });
  if (const int rest = width - x; rest > 0)
    add(
        x, [rest](I v, int next)
               __attribute__((always_inline)) { return V::keep(V::first_lanes((rest + 1 - next) / 2), v); });
  return static_cast<uint64_t>(V::sum32(sum));
}

// Rows y and y + 1 for rising y, two by two.
template <class V, class Sample>
class MotionShortRows {
 public:
  MotionShortRows(const PlaneView &earlier, const PlaneView &current, const MotionDifferences &m)
      : earlier_(earlier), current_(current), m_(m) {}

  // False if differences are too large; then nothing is added.
  bool add(int y, int rows, uint64_t *total) {
    const int width = current_.width;
    if (width < V::kWords || current_.depth == 16) return false;
    if (begun_) {
      for (int k = 0; k < 2; k++) pair_[k] = pair_[k + 1];
    } else {
      pair_[0] = measure(y - 2, 0);
      pair_[1] = measure(y, 1);
    }
    begun_ = true;
    pair_[2] = measure(y + 2, spare());
    if (!pair_[0].fits || !pair_[1].fits || !pair_[2].fits) return false;
    const int16_t *const pairs[3] = {m_.pair[pair_[0].at], m_.pair[pair_[1].at], m_.pair[pair_[2].at]};
    motion_short_columns<V, sizeof(Sample) == 1>(pairs, width, rows, m_.sums);
    for (int next = 0; next < rows; next++) {
      mirror_columns(m_.sums[next], width);
      *total += motion_short_row_sum<V>(m_.sums[next], width);
    }
    return true;
  }

 private:
  struct Pair {
    int at;
    bool fits;
  };

  int spare() const { return 3 - pair_[0].at - pair_[1].at; }

  Pair measure(int y, int at) const {
    MotionPair<Sample> from;
    for (int k = 0; k < 4; k++) {
      const int row = motion_row(y + k, current_.height);
      from.earlier[k] = row_of<Sample>(earlier_, row);
      from.current[k] = row_of<Sample>(current_, row);
    }
    return {at, motion_differences<V>(from, current_.width, current_.depth, m_.pair[at])};
  }

  const PlaneView &earlier_, &current_;
  const MotionDifferences &m_;
  Pair pair_[3] = {};
  bool begun_ = false;
};

}  // namespace
}  // namespace vmafhip
