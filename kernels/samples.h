// Samples of rows for metrics that look at each one alone: 16 bytes at a time.
#pragma once
#include "kernels/tile.h"

namespace vmafhip {

template <class Sample>
constexpr int kChunkSamples = static_cast<int>(sizeof(Words4) / sizeof(Sample));

// The first `count` of a chunk's samples; zeros stand for the others.
template <class Sample>
GPU_FN Words4 gather_samples(const Sample *from, int count) {
  uint32_t words[4] = {};
#pragma unroll
  for (int i = 0; i < kChunkSamples<Sample>; i++)
    if (i < count)
      words[i * sizeof(Sample) / 4] |= static_cast<uint32_t>(from[i]) << 8 * (i * sizeof(Sample) % 4);
  return {words[0], words[1], words[2], words[3]};
}

// The warp reads kRows rows of some planes of one size, from row `first` on, which is one of theirs, and calls
// take(chunks) with what all planes have at the same place. Zeros stand for rows and samples that are not there. All loads
// of a thread are on their way before the first is waited for. Rows that do not begin at a multiple of 16 bytes are read
// sample by sample, at a fraction of the speed.
template <class Sample, int kRows, int kPlanes, class Take>
GPU_FN void read_rows(const DevicePlane (&planes)[kPlanes], int first, int width, int height, Take take) {
  constexpr int kSamples = kChunkSamples<Sample>;
  const Sample *rows[kRows][kPlanes];
  uintptr_t places = 0;
#pragma unroll
  for (int i = 0; i < kRows; i++)
#pragma unroll
    for (int p = 0; p < kPlanes; p++) {
      rows[i][p] = tile_row<Sample>(planes[p], first + i < height ? first + i : first, width);
      places |= reinterpret_cast<uintptr_t>(rows[i][p]);
    }
  const int whole = places % sizeof(Words4) == 0 ? width / kSamples : 0;
  for (int c = gpu_lane(); c < whole; c += gpu_warp_size()) {
    Words4 chunks[kRows][kPlanes] = {};
#pragma unroll
    for (int i = 0; i < kRows; i++)
      if (first + i < height) {
#pragma unroll
        for (int p = 0; p < kPlanes; p++) chunks[i][p] = reinterpret_cast<const Words4 *>(rows[i][p])[c];
      }
#pragma unroll
    for (int i = 0; i < kRows; i++) take(chunks[i]);
  }
  for (int x = (whole + gpu_lane()) * kSamples; x < width; x += gpu_warp_size() * kSamples)
#pragma unroll 1
    for (int y = first; y < first + kRows && y < height; y++) {
      Words4 chunks[kPlanes];
#pragma unroll
      for (int p = 0; p < kPlanes; p++)
        chunks[p] = gather_samples(tile_row<Sample>(planes[p], y, width) + x, width - x);
      take(chunks);
    }
}

// Word `k`, known at compile time.
GPU_FN uint32_t word_of(const Words4 &chunk, int k) {
  return k == 0 ? chunk.x : k == 1 ? chunk.y : k == 2 ? chunk.z : chunk.w;
}

}  // namespace vmafhip
