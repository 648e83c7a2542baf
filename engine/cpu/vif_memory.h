// VIF on the CPU: what a strip keeps while it runs down its rows. About 0.5 MB for a width of 1920.
#pragma once
#include <cstddef>
#include <cstdint>

#include "engine/arith/hd.h"
#include "engine/cpu/arena.h"
#include "engine/cpu/vif_shape.h"

namespace vmafhip {
namespace {

// Columns that are summed before their row sums are taken, so that these find them in the first-level cache: 10 KB
// for four rows. Half as many are 5 % slower, twice as many no faster.
constexpr int kChunk = 128;
constexpr int kPad = 32;  // words beside the column sums: mirrored columns, and an aligned start

constexpr int vif_padded(int width) { return (width + Simd::kWords - 1) / Simd::kWords * Simd::kWords; }

// Column sums of kRows rows as 16-bit streams.
enum VifStream { kMean, kHigh, kLow, kHalf, kCrossHigh, kCrossLow, kStreams };

struct VifColumns {
  int16_t *base;
  ptrdiff_t pitch;

  VMAFHIP_SIMD_FN int16_t *row(const VifColumns &c, int stream, int r) {
    return c.base + (stream * kRows + r) * c.pitch;
  }
};

struct VifMemory {
  int padded;
  int16_t *pairs;  // interleaved rows: of each picture, reference first, a ring of kMaxPairs pairs
  ptrdiff_t pair_pitch;
  VifColumns ref, dist;
  // Of the reference, for all distorted pictures; 32-bit lanes.
  int32_t *column_mean[kRows];  // column sums, not rounded
  int32_t *row_mean[kRows];     // row sums of rounded column sums; unsigned
  int32_t *variance[kRows];
  // Sums of a group of rows' logarithms of the numerator for each gain limit but the first, a vector each.
  int32_t *further_logs;

  VifMemory(Arena *arena, int width, int distorted, int limits) : padded(vif_padded(width)) {
    const size_t w = static_cast<size_t>(padded);
    pair_pitch = static_cast<ptrdiff_t>(2 * w + kPad);
    pairs = arena->take<int16_t>(static_cast<size_t>(1 + distorted) * kMaxPairs *
                                 static_cast<size_t>(pair_pitch));
    // An odd number of cache lines, so that streams do not fall into the same sets of the cache.
    const size_t pitch = (w + 2 * kPad) / 64 * 64 + 32;
    ref = {arena->take<int16_t>(pitch * kRows * (kHalf + 1), kPad, kPad), static_cast<ptrdiff_t>(pitch)};
    dist = {arena->take<int16_t>(pitch * kRows * kStreams, kPad, kPad), static_cast<ptrdiff_t>(pitch)};
    for (int32_t **rows : {column_mean, row_mean, variance})
      for (int r = 0; r < kRows; r++) rows[r] = arena->take<int32_t>(w);
    further_logs = arena->take<int32_t>(static_cast<size_t>(limits - 1) * Simd::kDwords);
  }

  int16_t *pair(int picture, int at) const {
    return pairs + (picture * kMaxPairs + at % kMaxPairs) * pair_pitch;
  }
};

}  // namespace
}  // namespace vmafhip
