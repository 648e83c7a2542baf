// VIF as AMD's GPUs do it: what kernels/vif_filter.h does, with a quarter of its shared memory and without a register too
// many, so that four waves fit each SIMD, and two taps at a time where there is an instruction for that.
//
// A thread sums up its column of means, squares and products and keeps these sums; row by row they go through one and the
// same piece of shared memory, one stream after the other, and what a thread takes from there are the row sums of 8 pixels
// of a row. The table of logarithms takes the streams' place at the end. Several distorted pictures of a reference are
// measured each as if it were alone.
#pragma once
#include "kernels/vif_filter.h"

namespace vmafhip {

template <int kScale, bool kStatistics, int kLimits>
struct VifStreamTile {
  static constexpr int kChunks = kVifThreads / 4;
  static_assert(kVifTileRows * kChunks >= kVifFoldedEntries / 8);
  Words4 words[kStatistics ? kVifTileRows * kChunks : 1];  // a stream, or the table of logarithms
  union {
    Words4 halves[kScale < 3 ? kVifTileRows / 2 : 1][kChunks];
    VifWarpSums<kVifThreads, kLimits> sums;
  };

  GPU_FN uint32_t *row(int number) { return reinterpret_cast<uint32_t *>(words + number * kChunks); }
  GPU_FN uint32_t *half(int number) { return reinterpret_cast<uint32_t *>(halves[number]); }
};

// Column sums of a thread, rounded.
struct VifColumns {
  uint32_t means[kVifTileRows];  // both pictures': of the reference below
  uint32_t squares[3][kVifTileRows];
  uint32_t halves[kVifTileRows / 2];  // means under the next scale's window, even rows
};

// Squares, of 16 bits for bytes, else in two halves.
template <class Sample, int kTaps>
class VifColumnSquares {
 public:
  template <int i>
  GPU_FN void add(uint32_t before, uint32_t square) {
    if constexpr (sizeof(Sample) == 1) {
      low_.template add<i>(before, square, taps());
    } else {
      low_.template add<i>(before & 0xffff, square & 0xffff, taps());
      high_.template add<i>(before >> 16, square >> 16, taps());
    }
  }
  template <int kScale>
  GPU_FN uint32_t rounded(int row, int depth) const {
    if constexpr (sizeof(Sample) == 1) return low_[row];
    if constexpr (kScale > 0) return high_[row] + ((low_[row] + 32768u) >> 16);
    const int shift = 2 * (depth - 8);
    const uint64_t sum = (static_cast<uint64_t>(high_[row]) << 16) + low_[row];
    return static_cast<uint32_t>((sum + (uint64_t{1} << (shift - 1))) >> shift);
  }

 private:
  GPU_FN static constexpr const auto &taps() {
    return kVifTaps[kTaps == 17 ? 0 : kTaps == 9 ? 1 : kTaps == 5 ? 2 : 3];
  }
  GpuColumnSums<kTaps, kVifTileRows> low_, high_;
};

// Of one column of the tile, halo included, whose first pixel is (x0, y0).
template <int kScale, class Sample, bool kStatistics>
GPU_FN void vif_columns(const VifArgs &args, const PlanePair &planes, int x0, int y0, VifColumns *out) {
  constexpr int kRows = kVifTileRows, kNext = kScale < 3 ? kScale + 1 : 0;
  constexpr int kTaps = kVifTapCount[kScale], kNextTaps = kScale < 3 ? kVifTapCount[kNext] : 1;
  constexpr int kRadius = kStatistics ? kTaps / 2 : kNextTaps / 2;
  constexpr int kSamples = kRows + 2 * kRadius;
  const int x = tile_mirror(x0 - vif_halo(kScale) + static_cast<int>(threadIdx.x), args.width);

  GpuColumnSums<kTaps, kRows> means[2];
  GpuColumnSums<kNextTaps, kRows, 2, kRadius - kNextTaps / 2> halves[2];
  VifColumnSquares<Sample, kTaps> squares[3];
  uint32_t before[2] = {}, before_squares[3] = {};
  gpu_each<kSamples + (kGpuHasDot2 ? 1 : 0)>([&](auto number) {
    constexpr int i = decltype(number)::value;
    uint32_t samples[2] = {before[0], before[1]};
    if constexpr (i < kSamples) {
      const int y = tile_mirror(y0 - kRadius + i, args.height);
      samples[0] = tile_sample<Sample>(planes.ref, y, x);
      samples[1] = tile_sample<Sample>(planes.dist, y, x);
    }
    const uint32_t of_both[3] = {samples[0] * samples[0], samples[1] * samples[1], samples[0] * samples[1]};
#pragma unroll
    for (int picture = 0; picture < 2; picture++) {
      if constexpr (kStatistics)
        means[picture].template add<i>(before[picture], samples[picture], kVifTaps[kScale]);
      if constexpr (kScale < 3)
        halves[picture].template add<i>(before[picture], samples[picture], kVifTaps[kNext]);
      before[picture] = samples[picture];
    }
#pragma unroll
    for (int p = 0; p < 3; p++) {
      if constexpr (kStatistics) squares[p].template add<i>(before_squares[p], of_both[p]);
      before_squares[p] = of_both[p];
    }
  });

  const int shift = kScale > 0 ? 16 : args.depth;
  const uint32_t half = 1u << (shift - 1);
#pragma unroll
  for (int row = 0; row < kRows; row++) {
    if constexpr (kStatistics) {
      out->means[row] = ((means[0][row] + half) >> shift) | ((means[1][row] + half) >> shift) << 16;
#pragma unroll
      for (int p = 0; p < 3; p++) out->squares[p][row] = squares[p].template rounded<kScale>(row, args.depth);
    }
    if (kScale < 3 && row % 2 == 0)
      out->halves[row / 2] = ((halves[0][row / 2] + half) >> shift) | ((halves[1][row / 2] + half) >> shift)
                                                                          << 16;
  }
}

// The 8 pixels of a row that are a thread's, worked out where it is asked for. Threads that are left over do what others do.
template <int kScale>
struct VifPlace {
  static constexpr int kThreadsOfRow = vif_tile_columns(kScale) / 8;
  const int thread = gpu_anew(static_cast<int>(threadIdx.x)),
            row = smaller(thread / kThreadsOfRow, kVifTileRows - 1), column = thread % kThreadsOfRow * 8;
};

// Hands a stream on, and sums up the halves of its words along the rows. All threads of the block call it.
template <int kScale, class Tile>
GPU_FN void vif_sum_rows(Tile &tile, const uint32_t (&stream)[kVifTileRows], uint32_t (&lower)[8],
                         uint32_t (&upper)[8]) {
  constexpr int kHalo = vif_halo(kScale), kTaps = kVifTapCount[kScale];
  const VifPlace<kScale> place;
  const int at = tile_position(place.thread);
  gpu_sync();  // all have read what was there
#pragma unroll
  for (int r = 0; r < kVifTileRows; r++) tile.row(r)[at] = stream[r];
  gpu_sync();
  uint32_t words[8 + 2 * kHalo];
  tile_read<8 + 2 * kHalo>(tile.row(place.row), place.column, words);
  gpu_sum_halves<kTaps, 8>(words + kHalo - kTaps / 2, kVifTaps[kScale], lower, upper);
}

template <int kScale, class Sample, bool kStatistics, int kLimits>
GPU_FN void vif_stream_pair(const VifArgs &args, int number, int x0, int y0,
                            VifStreamTile<kScale, kStatistics, kLimits> &tile) {
  // What is the pair's is loaded where it is needed, for fewer scalar registers.
  const auto pair = [&]() -> const VifPair & { return args.pairs[gpu_anew_for_all(number)]; };
  VifColumns columns;
  vif_columns<kScale, Sample, kStatistics>(args, pair().planes, x0, y0, &columns);
  if constexpr (kScale < 3) {
#pragma unroll
    for (int row = 0; row < kVifTileRows / 2; row++)
      tile.half(row)[tile_position(static_cast<int>(threadIdx.x))] = columns.halves[row];
    gpu_sync();
    vif_halve<kScale, true>(args, pair(), tile, x0, y0);
  }
  if constexpr (kStatistics) {
    uint32_t means[2][8], lower[8], upper[8];
    vif_sum_rows<kScale>(tile, columns.means, means[0], means[1]);
    int32_t statistics[3][8];
#pragma unroll
    for (int p = 0; p < 3; p++) {
      vif_sum_rows<kScale>(tile, columns.squares[p], lower, upper);
#pragma unroll
      for (int i = 0; i < 8; i++)
        statistics[p][i] =
            static_cast<int32_t>(upper[i] + ((lower[i] + 32768u) >> 16) -
                                 gpu_rounded_high(means[p == 1 ? 1 : 0][i], means[p == 0 ? 0 : 1][i]));
    }
    gpu_sync();
    vif_load_log_table<kVifThreads>(args.log_table, tile.words);
    gpu_sync();
    VifThreadSums<kLimits> sums;
    const VifPlace<kScale> place;
    if (place.thread < kVifTileRows * place.kThreadsOfRow && y0 + place.row < args.height &&
        x0 + place.column < args.width)
      vif_add_pixels<true>(reinterpret_cast<const uint16_t *>(tile.words), statistics,
                           args.width - x0 - place.column, args.gain_limits + gpu_anew_for_all(0), &sums);
    vif_add_to_sums(sums, tile.sums, pair());
  }
}

// Waves that a SIMD holds of a kernel. Column sums of words, or two gain limits, take the registers of one of four.
VMAFHIP_HD constexpr int vif_waves(int scale, int sample_bytes, int limits) {
  return limits > 1 || (scale == 0 && sample_bytes > 1) ? 3 : 4;
}

// The kernel, as vif_filter(). Where registers are few it is a loop of one turn, of which the compiler does not know that:
// it is more careful with them in one.
template <int kScale, class Sample, bool kStatistics, int kLimits>
GPU_FN void vif_streams(const VifArgs &args) {
  GPU_SHARED VifStreamTile<kScale, kStatistics, kLimits> tile;
  const int x0 = static_cast<int>(blockIdx.x) * vif_tile_columns(kScale),
            y0 = static_cast<int>(blockIdx.y) * kVifTileRows;
  constexpr bool kLoop = vif_waves(kScale, sizeof(Sample), kLimits) > 3;
  const int turns = kLoop ? gpu_anew_for_all(1) : 1;
#pragma unroll 1
  for (int turn = 0; turn < turns; turn++)
    vif_stream_pair<kScale, Sample, kStatistics>(args, static_cast<int>(blockIdx.z), x0,
                                                 kLoop ? gpu_anew_for_all(y0) : y0, tile);
}

}  // namespace vmafhip
