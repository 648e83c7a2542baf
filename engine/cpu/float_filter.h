// The separable low-pass of engine/arith/float_filter.h on vectors.
//
// Column sums come first, on vectors of neighbouring columns. For the row sums kFloats rows are transposed, so that a
// vector holds one column of them: then neighbours are whole vectors, no load is unaligned, and whoever sums along
// rows from left to right adds up vectors.
//
// Everything is local to the including file: it is compiled once per instruction set.
#pragma once
#include <cstddef>

#include "engine/arith/float_filter.h"
#include "engine/cpu/float_transpose.h"
#include "engine/cpu/floats.h"
#include "engine/cpu/unroll.h"

namespace vmafhip {
namespace {

// Rows, or columns, that are summed at once, sharing what they read.
template <int kRows, int kStreams>
struct FilterSums {
  F32 of[kRows][kStreams];
};

// Column sums of kRows rows. `read(j)` gives the values of input row j, kStreams of them, 0 <= j < length + kRows - 1
// (or as if the filter had kRows taps, if it has fewer: those are zero).
template <int kRows, int kStreams, class Read>
VMAFHIP_FLOATS_FN void filter_columns(const FloatFilter &filter, const Read &read,
                                      FilterSums<kRows, kStreams> *sums) {
  const float *tap = filter.tap;
  const int length = larger(filter.length, kRows);
  FilterSums<kRows, kStreams> sum;
  const auto start = [&](auto row, const F32(&value)[kStreams]) __attribute__((always_inline)) {
    unroll<kStreams>([&](auto s) __attribute__((always_inline)) { sum.of[row][s] = tap[0] * value[s]; });
  };
  const auto add = [&](auto row, float t, const F32(&value)[kStreams]) __attribute__((always_inline)) {
    unroll<kStreams>([&](auto s) __attribute__((always_inline)) {
      sum.of[row][s] = filter_add(sum.of[row][s], t, value[s]);
    });
  };
  // Row i takes input rows i to i + length - 1.
  unroll<kRows>([&](auto j) __attribute__((always_inline)) {
    F32 value[kStreams];
    read(j, value);
    unroll<j>([&](auto i) __attribute__((always_inline)) { add(i, tap[j - i], value); });
    start(j, value);
  });
  for (int j = kRows; j < length; j++) {
    F32 value[kStreams];
    read(j, value);
    unroll<kRows>([&](auto i) __attribute__((always_inline)) { add(i, tap[j - i], value); });
  }
  unroll<kRows - 1>([&](auto done) __attribute__((always_inline)) {
    F32 value[kStreams];
    read(length + done, value);
    constexpr int first = done + 1;
    unroll<kRows - first>([&](auto i) __attribute__((always_inline)) {
      add(Index<first + i>(), tap[length - 1 - i], value);
    });
  });
  *sums = sum;
}

// Row sums of kCount neighbouring columns of transposed rows: sums[c] is of the vectors from at[c] on.
template <int kCount>
VMAFHIP_FLOATS_FN void filter_transposed(const FloatFilter &filter, const F32 *at, F32 (&sums)[kCount]) {
  F32 sum[kCount];
  const F32 first = splat<F32>(static_cast<double>(filter.tap[0]));
  unroll<kCount>([&](auto c) __attribute__((always_inline)) { sum[c] = first * at[c]; });
  for (int k = 1; k < filter.length; k++) {
    const F32 tap = F32{} + filter.tap[k];
    unroll<kCount>([&](auto c) __attribute__((always_inline)) { sum[c] = sum[c] + tap * at[c + k]; });
  }
  unroll<kCount>([&](auto c) __attribute__((always_inline)) { sums[c] = sum[c]; });
}

// Transposed column sums of kFloats rows, of several quantities: streams of `columns` vectors.
struct FilterStreams {
  F32 *first;
  int count, columns;

  VMAFHIP_FLOATS_FN F32 *stream(const FilterStreams &s, int number) {
    return s.first + static_cast<ptrdiff_t>(number) * s.columns;
  }
};

// Columns that are filled in at once before row sums are taken of them, while they are still in the cache. The first
// ones have to hold all that lie mirrored beyond the border.
VMAFHIP_HD constexpr int filter_chunk(int radius) {
  constexpr int kChunk = 32;
  return larger(kChunk, (radius + kFloats) / kFloats * kFloats);
}
// Vectors of a stream if row sums are taken of `block` columns at once.
VMAFHIP_HD constexpr int filter_stream_columns(int radius, int block) {
  return filter_chunk(radius) + 3 * radius + 2 * block;
}

// From left to right along kFloats rows. `fill(x, to)` puts column sums of columns x to x + kFloats - 1, some of which
// may not exist, to position `to` of the streams; `use(at, count)` takes those from position `at` on that the row
// sums of the next kBlock columns need, of which `count` exist.
template <int kBlock, class Fill, class Use>
VMAFHIP_FLOATS_FN void filter_along_rows(int width, int radius, const FilterStreams &streams,
                                         const Fill &fill, const Use &use) {
  const int end = (width + kFloats - 1) / kFloats * kFloats;
  // The column at position 0, the first one not filled, and the first one not used.
  int base = -radius, have = 0, out = 0;
  while (out < width) {
    const int last = smaller(have + filter_chunk(radius), end);
    for (int x = have; x < last; x += kFloats) fill(x, x - base);
    for (int s = 0; s < streams.count; s++) {
      F32 *const column = FilterStreams::stream(streams, s) - base;
      for (int i = 1; have == 0 && i <= radius; i++) column[-i] = column[i];
      for (int i = 0; last == end && i < radius; i++) column[width + i] = column[width - 2 - i];
    }
    have = last;
    const int ready = have == end ? width : have - radius;
    while (out + kBlock <= ready || (have == end && out < width)) {
      use(out - radius - base, smaller(kBlock, width - out));
      out += kBlock;
    }
    // What the next columns still need comes to the front.
    const int kept = out - radius;
    for (int s = 0; s < streams.count && out < width; s++) {
      F32 *const at = FilterStreams::stream(streams, s);
      for (int x = kept; x < have; x++) at[x - kept] = at[x - base];
    }
    base = kept;
  }
}

// Columns beyond both ends of a row of `width`, which must be larger than `radius`.
template <class T>
VMAFHIP_FLOATS_FN void mirror_ends(T *row, int width, int radius) {
  for (int i = 1; i <= radius; i++) {
    row[-i] = row[i];
    row[width - 1 + i] = row[width - 1 - i];
  }
}

// Every second sum of a row, from its first on: (width + 1) / 2 of them. The row has been mirrored and can be read for
// two vectors beyond what was; `parts` holds 2 * half_part(width, radius) floats. `out` is written in whole vectors.
VMAFHIP_HD constexpr ptrdiff_t filter_half_part(int width, int radius) {
  return (width + 2 * radius + 2 * kFloats) / 2 / kFloats * kFloats + 2 * kFloats;
}
inline void filter_every_second(const FloatFilter &filter, const float *row, int width, float *parts,
                                float *out) {
  const int radius = filter_radius(filter.length), length = width + 2 * radius;
  float *const part[2] = {parts, parts + filter_half_part(width, radius)};
  // part[p][i] is row[2 i + p - radius].
  for (int i = 0; 2 * i < length; i += kFloats) {
    const F32 a = load_floats(row - radius + 2 * i), b = load_floats(row - radius + 2 * i + kFloats);
    store_vector(part[0] + i, even_lanes(a, b));
    store_vector(part[1] + i, odd_lanes(a, b));
  }
  for (int x = 0; 2 * x < width; x += kFloats) {
    F32 sum = filter.tap[0] * load_floats(part[0] + x);
    for (int k = 1; k < filter.length; k++)
      sum = filter_add(sum, filter.tap[k], load_floats(part[k % 2] + x + k / 2));
    store_vector(out + x, sum);
  }
}

}  // namespace
}  // namespace vmafhip
