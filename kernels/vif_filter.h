// VIF in kernels, one scale of any depth in one pass: column sums (a thread walks down one column), then row sums and
// statistics (a thread takes 8 pixels of one row), and the planes of the next scale.
//
// A block can take several distorted pictures of one reference, one after the other. Column means and the variance of the
// reference then stay in shared memory: for the second and later pictures ("!kReference") a fifth to two fifths of the
// sums, the variance, its logarithm and the reference's samples of the next scale are not made again. Its row means are;
// there is no room for them, 32 bits each.
#pragma once
#include "kernels/tile.h"
#include "kernels/vif_statistics.h"

namespace vmafhip {

// What column sums are handed on as, each row by row. Means of both pictures share a word.
enum VifStream { kVifMeans, kVifRefSquare, kVifDistSquare, kVifProduct, kVifStreams };

template <int kScale, bool kStatistics, int kLimits>
struct VifTile {
  static constexpr int kChunks = kVifThreads / 4;
  Words4 streams[kStatistics ? kVifStreams : 1][kStatistics ? kVifTileRows : 1][kChunks];
  Words4 halves[kScale < 3 ? kVifTileRows / 2 : 1]
               [kChunks];  // means under the next scale's window, even rows
  Words4 log_table[kStatistics ? kVifFoldedEntries / 8 : 1];
  VifWarpSums<kVifThreads, kLimits> sums;

  GPU_FN uint32_t *stream(int number, int row) { return reinterpret_cast<uint32_t *>(streams[number][row]); }
  GPU_FN uint32_t *half(int row) { return reinterpret_cast<uint32_t *>(halves[row]); }
};

// Column sums of a sample of each picture. Weights are 65536 in all, so sums of 16-bit samples leave room for rounding.
template <class Sample>
class VifMeanSum {
 public:
  GPU_FN void add(uint32_t ref, uint32_t dist, uint32_t weight) {
    ref_ += ref * weight;
    dist_ += dist * weight;
  }
  // Both as 16-bit words, rounded.
  GPU_FN uint32_t rounded(int shift) const {
    const uint32_t half = 1u << (shift - 1);
    return ((ref_ + half) >> shift) | ((dist_ + half) >> shift) << 16;
  }

 private:
  uint32_t ref_ = 0, dist_ = 0;
};
template <>
class VifMeanSum<uint8_t> {
 public:
  GPU_FN void add(uint32_t ref, uint32_t dist, uint32_t weight) {
    sum_.add(GpuTwinSum::pack(ref, dist), weight);
  }
  GPU_FN uint32_t rounded(int) const {
    return ((sum_.first() + 128) >> 8) | ((sum_.second() + 128) >> 8) << 16;
  }

 private:
  GpuTwinSum sum_;
};

// Column sums of squares or products. Those of bytes stay below 2^32 and are not shifted.
template <class Sample>
class VifSquareSum {
 public:
  GPU_FN void add(uint32_t square, uint32_t weight) { sum_.add(square, weight); }
  template <int kScale>
  GPU_FN uint32_t rounded(int depth) const {
    if constexpr (kScale > 0) return sum_.rounded16();
    const int shift = 2 * (depth - 8);
    return static_cast<uint32_t>((sum_.sum() + (uint64_t{1} << (shift - 1))) >> shift);
  }

 private:
  GpuWideSum sum_;
};
template <>
class VifSquareSum<uint8_t> {
 public:
  GPU_FN void add(uint32_t square, uint32_t weight) { sum_ += square * weight; }
  template <int>
  GPU_FN uint32_t rounded(int) const {
    return sum_;
  }

 private:
  uint32_t sum_ = 0;
};

// Column sums of one column of the tile, halo included, whose first pixel is (x0, y0).
template <int kScale, class Sample, bool kStatistics, bool kReference, int kLimits>
GPU_FN void vif_sum_columns(const VifArgs &args, const PlanePair &planes, int x0, int y0,
                            VifTile<kScale, kStatistics, kLimits> &tile) {
  constexpr int kRows = kVifTileRows, kNext = kScale < 3 ? kScale + 1 : 0;
  constexpr int kTaps = kVifTapCount[kScale], kNextTaps = kScale < 3 ? kVifTapCount[kNext] : 0;
  constexpr int kRadius = kStatistics ? kTaps / 2 : kNextTaps / 2;
  const int thread = static_cast<int>(threadIdx.x);
  const int x = tile_mirror(x0 - vif_halo(kScale) + thread, args.width);

  VifMeanSum<Sample> means[kRows], halves[kRows / 2];
  VifSquareSum<Sample> squares[3][kRows];
#pragma unroll
  for (int i = 0; i < kRows + 2 * kRadius; i++) {
    const int y = tile_mirror(y0 - kRadius + i, args.height);
    const uint32_t ref = tile_row<Sample>(planes.ref, y, args.width)[x];
    const uint32_t dist = tile_row<Sample>(planes.dist, y, args.width)[x];
    const uint32_t ref_square = ref * ref, dist_square = dist * dist, product = ref * dist;
    const uint32_t ref_of_mean = kReference ? ref : 0;
#pragma unroll
    for (int row = 0; row < kRows; row++) {
      const int tap = i - row, next_tap = tap - (kRadius - kNextTaps / 2);
      if (kStatistics && tap >= 0 && tap < kTaps) {
        const uint32_t weight = kVifTaps[kScale][tap];
        means[row].add(ref_of_mean, dist, weight);
        if (kReference) squares[0][row].add(ref_square, weight);
        squares[1][row].add(dist_square, weight);
        squares[2][row].add(product, weight);
      }
      if (row % 2 == 0 && next_tap >= 0 && next_tap < kNextTaps)
        halves[row / 2].add(ref_of_mean, dist, kVifTaps[kNext][next_tap]);
    }
  }

  const int shift = kScale > 0 ? 16 : args.depth, at = tile_position(thread);
#pragma unroll
  for (int row = 0; row < kRows; row++) {
    if constexpr (kStatistics) {
      uint32_t &mean = tile.stream(kVifMeans, row)[at];
      mean = kReference ? means[row].rounded(shift) : (mean & 0xffff) | means[row].rounded(shift);
#pragma unroll
      for (int p = kReference ? 0 : 1; p < 3; p++)
        tile.stream(kVifRefSquare + p, row)[at] = squares[p][row].template rounded<kScale>(args.depth);
    }
    if (kScale < 3 && row % 2 == 0) tile.half(row / 2)[at] = halves[row / 2].rounded(shift);
  }
}

// Adds pixels of a row, of which the first `columns` are of the plane, from their statistics: of the reference, of the
// distorted picture, of both.
template <bool kReference, int kPixels, int kLimits>
GPU_FN void vif_add_pixels(const uint16_t *log_table, const int32_t (&statistics)[3][kPixels], int columns,
                           const double *gain_limits, VifThreadSums<kLimits> *sums) {
  const VifLimits<kLimits> limits(gain_limits);
  uint32_t unsure = 0;
#pragma unroll
  for (int i = 0; i < kPixels; i++) {
    const VifPixel pixel = {statistics[0][i], statistics[1][i], statistics[2][i]};
    unsure |= static_cast<uint32_t>(vif_add_pixel<kReference>(log_table, pixel, i < columns, limits, sums))
              << i;
    if (i % 2 == 1) gpu_keep_order();
  }
  if (unsure == 0) return;
#pragma unroll
  for (int i = 0; i < kPixels; i++)
    if (unsure >> i & 1)
      vif_add_exact(log_table, {statistics[0][i], statistics[1][i], statistics[2][i]}, gain_limits, sums);
}

// Row sums and statistics of the 8 pixels of a row from `column` of the tile on; `columns` of them are of the plane.
// `variance` is the reference's, a result if kReference.
template <int kScale, bool kReference, int kLimits>
GPU_FN void vif_measure_row(VifTile<kScale, true, kLimits> &tile, int row, int column, int columns,
                            const double *gain_limits, VifThreadSums<kLimits> *sums, uint32_t *variance) {
  constexpr int kPixels = 8, kHalo = vif_halo(kScale), kTaps = kVifTapCount[kScale],
                kFirst = kHalo - kTaps / 2;
  uint32_t words[kPixels + 2 * kHalo], ref_mean[kPixels] = {}, dist_mean[kPixels] = {};
  tile_read<kPixels + 2 * kHalo>(tile.stream(kVifMeans, row), column, words);
#pragma unroll
  for (int c = 0; c < kPixels + kTaps - 1; c++) {
    const uint32_t ref = words[kFirst + c] & 0xffff, dist = words[kFirst + c] >> 16;
#pragma unroll
    for (int i = 0; i < kPixels; i++)
      if (c - i >= 0 && c - i < kTaps) {
        ref_mean[i] += ref * kVifTaps[kScale][c - i];
        dist_mean[i] += dist * kVifTaps[kScale][c - i];
      }
  }

  int32_t statistics[3][kPixels];
#pragma unroll
  for (int p = kReference ? 0 : 1; p < 3; p++) {
    GpuWideSum squares[kPixels];
    tile_read<kPixels + 2 * kHalo>(tile.stream(kVifRefSquare + p, row), column, words);
#pragma unroll
    for (int c = 0; c < kPixels + kTaps - 1; c++)
#pragma unroll
      for (int i = 0; i < kPixels; i++)
        if (c - i >= 0 && c - i < kTaps) squares[i].add(words[kFirst + c], kVifTaps[kScale][c - i]);
#pragma unroll
    for (int i = 0; i < kPixels; i++)
      statistics[p][i] = static_cast<int32_t>(
          squares[i].rounded16() -
          gpu_rounded_high(p == 1 ? dist_mean[i] : ref_mean[i], p == 0 ? ref_mean[i] : dist_mean[i]));
  }

#pragma unroll
  for (int i = 0; i < kPixels; i++) {
    if (kReference)
      variance[i] = static_cast<uint32_t>(statistics[0][i]);
    else
      statistics[0][i] = static_cast<int32_t>(variance[i]);
  }

  vif_add_pixels<kReference>(reinterpret_cast<const uint16_t *>(tile.log_table), statistics, columns,
                             gain_limits, sums);
}

// Samples of the next scale: even columns of even rows. A thread makes two of a row.
template <int kScale, bool kReference, class Tile>
GPU_FN void vif_halve(const VifArgs &args, const VifPair &pair, Tile &tile, int x0, int y0) {
  constexpr int kHalo = vif_halo(kScale), kTaps = kVifTapCount[kScale + 1], kFirst = kHalo - kTaps / 2,
                kThreads = vif_tile_columns(kScale) / 4;  // of a row
  const int thread = static_cast<int>(threadIdx.x), row = thread / kThreads, at = thread % kThreads;
  const int x = x0 / 2 + 2 * at, y = y0 / 2 + row;
  if (row >= kVifTileRows / 2 || y >= args.height / 2 || x >= args.width / 2) return;

  uint32_t words[4 + 2 * kHalo], ref[2] = {}, dist[2] = {};
  tile_read<4 + 2 * kHalo>(tile.half(row), 4 * at, words);
#pragma unroll
  for (int c = 0; c < kTaps + 2; c++)
#pragma unroll
    for (int i = 0; i < 2; i++)
      if (c - 2 * i >= 0 && c - 2 * i < kTaps) {
        if (kReference) ref[i] += (words[kFirst + c] & 0xffff) * kVifTaps[kScale + 1][c - 2 * i];
        dist[i] += (words[kFirst + c] >> 16) * kVifTaps[kScale + 1][c - 2 * i];
      }
  // An even stride gives an odd row room for one sample more.
  const int64_t offset = static_cast<int64_t>(y) * args.half_stride + x;
  if (kReference && pair.half_ref)
    *address_cast<uint32_t>(pair.half_ref + offset).get() =
        ((ref[0] + 32768) >> 16) | ((ref[1] + 32768) & 0xffff0000u);
  *address_cast<uint32_t>(pair.half_dist + offset).get() =
      ((dist[0] + 32768) >> 16) | ((dist[1] + 32768) & 0xffff0000u);
}

// One pair. kKeep: the reference's variance is kept for the next.
template <int kScale, class Sample, bool kStatistics, bool kReference, bool kKeep, int kLimits>
GPU_FN void vif_filter_pair(const VifArgs &args, const VifPair &pair, int x0, int y0,
                            VifTile<kScale, kStatistics, kLimits> &tile) {
  constexpr int kThreadsOfRow = vif_tile_columns(kScale) / 8;
  vif_sum_columns<kScale, Sample, kStatistics, kReference>(args, pair.planes, x0, y0, tile);
  gpu_sync();

  VifThreadSums<kLimits> sums;
  if constexpr (kStatistics) {
    const int thread = static_cast<int>(threadIdx.x), row = thread / kThreadsOfRow,
              column = thread % kThreadsOfRow * 8;
    const bool mine = row < kVifTileRows && y0 + row < args.height && x0 + column < args.width;
    uint32_t variance[8];
    if (mine) {
      if (!kReference) tile_read<8>(tile.stream(kVifRefSquare, row), column, variance);
      vif_measure_row<kScale, kReference>(tile, row, column, args.width - x0 - column, args.gain_limits,
                                          &sums, variance);
    }
    if constexpr (kReference && kKeep) {
      gpu_sync();  // all have read the squares
      if (mine) tile_write<8>(tile.stream(kVifRefSquare, row), column, variance);
    }
  }
  if constexpr (kScale < 3) vif_halve<kScale, kReference>(args, pair, tile, x0, y0);
  if constexpr (kStatistics) vif_add_to_sums(sums, tile.sums, pair);
}

// The kernel. Block (x, y, z): tile x of the columns, y of the rows, pair z or, if kSeveral, the z-th args.pictures pairs,
// which have their reference in common.
template <int kScale, class Sample, bool kStatistics, bool kSeveral, int kLimits>
GPU_FN void vif_filter(const VifArgs &args) {
  GPU_SHARED VifTile<kScale, kStatistics, kLimits> tile;
  const int x0 = static_cast<int>(blockIdx.x) * vif_tile_columns(kScale),
            y0 = static_cast<int>(blockIdx.y) * kVifTileRows;
  const int pictures = kSeveral ? args.pictures : 1;
  const VifPair *pairs = args.pairs + static_cast<int>(blockIdx.z) * pictures;
  if constexpr (kStatistics) vif_load_log_table<kVifThreads>(args.log_table, tile.log_table);
  vif_filter_pair<kScale, Sample, kStatistics, true, kSeveral>(args, pairs[0], x0, y0, tile);
  if constexpr (kSeveral)
    // All have read the tile: between the last of that and the end of vif_add_to_sums() there is a barrier.
    for (int i = 1; i < pictures; i++) {
      int y = y0;
#if defined(__HIP__)
      // Places of rows are computed anew: kept for all pictures, they take more scalar registers than waves of 64 have.
      asm volatile("" : "+s"(y));
#endif
      vif_filter_pair<kScale, Sample, kStatistics, false, true>(args, pairs[i], x0, y, tile);
    }
}

}  // namespace vmafhip
