// VIF on the CPU: what a strip keeps while it runs down its rows: the rows under the window, interleaved, and the sums
// of one chunk of columns. All but the rows, about 150 KB for two pictures of 1920 columns, stays in the first-level
// cache.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engine/arith/hd.h"
#include "engine/cpu/arena.h"
#include "engine/cpu/vif_shape.h"

namespace vmafhip {
namespace {

// Columns that are summed before their row sums are taken: as many as the first-level cache holds. Half as many are 2 to
// 3 % slower, twice as many no faster.
constexpr int kChunk = 256;

constexpr int vif_round_up(int n, int to) { return (n + to - 1) / to * to; }
constexpr int vif_padded(int width) { return vif_round_up(width, Simd::kWords); }

// Row sums need columns on both sides: those of a chunk wait for kAhead columns behind it, which are summed with it, and
// the last kCarry of its columns are kept for the next one.
constexpr int kAhead = vif_round_up(kVifMaxRadius, Simd::kWords);
constexpr int kCarry = vif_round_up(kAhead + kVifMaxRadius, Simd::kWords);

// Columns [first, last) whose sums are taken, and [done, ready) whose row sums are then, at most kChunk.
struct VifChunk {
  int first = 0, last = 0, done = 0, ready = 0;

  VMAFHIP_SIMD_FN VifChunk next(const VifChunk &before, int padded) {
    const int ready = smaller(before.ready + kChunk, padded);
    return {before.last, smaller(ready + kAhead, padded), before.ready, ready};
  }
};
static_assert(kChunk % Simd::kWords == 0 && kChunk >= kCarry);

// Column sums of kRows rows as 16-bit streams.
enum VifStream { kMean, kHigh, kLow, kHalf, kCrossHigh, kCrossLow, kStreams };

// Of one picture and one chunk.
struct VifColumns {
  int16_t *base;

  // kCarry columns before the chunk, the columns of the chunk, those that mirror others behind the picture.
  static constexpr int kPitch = kCarry + kChunk + 2 * kAhead;

  // Where the first column of the chunk is.
  VMAFHIP_SIMD_FN int16_t *row(const VifColumns &c, int stream, int r) {
    return c.base + (stream * kRows + r) * kPitch + kCarry;
  }
};

// Of the reference, for all distorted pictures; 32-bit lanes.
struct VifReference {
  static constexpr int kMeanPitch = kChunk + kAhead;

  int32_t column_mean[kRows][kMeanPitch];  // column sums, not rounded
  int32_t row_mean[kRows][kChunk];         // row sums of rounded column sums; unsigned
  int32_t variance[kRows][kChunk];
};

struct VifMemory {
  int padded;
  VifReference *reference;

  VifMemory(Arena *arena, int width, int distorted)
      : padded(vif_padded(width)), pair_pitch_(2 * padded + 32) {
    pairs_ = arena->take<int16_t>(static_cast<size_t>((1 + distorted) * kMaxPairs) *
                                  static_cast<size_t>(pair_pitch_));
    reference = arena->take<VifReference>(1);
    column_words_ = static_cast<size_t>(kHalf + 1 + distorted * kStreams) * kColumnWords;
    columns_ = arena->take<int16_t>(column_words_);
  }

  // Of each picture, reference first, a ring of kMaxPairs interleaved pairs of rows.
  int16_t *pair(int picture, int at) const {
    return pairs_ + (picture * kMaxPairs + at % kMaxPairs) * pair_pitch_;
  }
  // Taps are read in pairs and columns in vectors, beyond the columns that the filter reaches. Those decide nothing, but what
  // is asked of them must not depend on what a source left there.
  void clear_columns() const { std::memset(columns_, 0, column_words_ * sizeof *columns_); }
  VifColumns columns_of_reference() const { return {columns_}; }
  VifColumns columns_of_distorted(int d) const {
    return {columns_ + (kHalf + 1 + d * kStreams) * kColumnWords};
  }

 private:
  static constexpr ptrdiff_t kColumnWords = kRows * VifColumns::kPitch;  // of a stream

  ptrdiff_t pair_pitch_;
  size_t column_words_;
  int16_t *pairs_, *columns_;
};

}  // namespace
}  // namespace vmafhip
