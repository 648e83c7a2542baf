// Motion: the sum of magnitudes of the filtered difference of two frames (engine/arith/motion.h has the definition).
// Filtering is linear but for its two roundings, so the difference is filtered, not the frames: columns first, a thread
// walks down one of them, then rows, where a thread takes 8 pixels at a time.
#include "kernels/motion_args.h"
#include "kernels/numbers.h"
#include "kernels/tile.h"

using namespace vmafhip;

namespace {

constexpr int kTaps = 2 * kMotionRadius + 1;
GPU_FN constexpr uint32_t motion_tap(int k) {
  return static_cast<uint32_t>(kMotionTaps[k > kMotionRadius ? kTaps - 1 - k : k]);
}

// Column sum of differences, (sum + 2^(depth - 1)) >> depth, 17 bits with the sign. Differences of bytes stay below
// 255 * 65536 in all.
template <class Sample>
class MotionColumn {
 public:
  GPU_FN void add(int32_t difference, uint32_t weight) {
    sum_ += static_cast<int64_t>(difference) * static_cast<int32_t>(weight);
  }
  GPU_FN int32_t rounded(int depth) const {
    return static_cast<int32_t>((sum_ + (int64_t{1} << (depth - 1))) >> depth);
  }

 private:
  int64_t sum_ = 0;
};
template <>
class MotionColumn<uint8_t> {
 public:
  GPU_FN void add(int32_t difference, uint32_t weight) { sum_ += difference * static_cast<int32_t>(weight); }
  GPU_FN int32_t rounded(int) const { return (sum_ + 128) >> 8; }

 private:
  int32_t sum_ = 0;
};

// Block (x, y, z): tile x of the columns, y of the rows, pair z.
template <class Sample>
GPU_FN void motion_tile(const MotionArgs &args) {
  constexpr int kRows = kMotionTileRows, kPixels = 8, kThreadsOfRow = kMotionTileColumns / kPixels,
                kRowsAtOnce = 8, kFirst = kMotionHalo - kMotionRadius;
  static_assert(kThreadsOfRow * kRowsAtOnce <= kMotionThreads);
  GPU_SHARED Words4 columns[kRows][kMotionThreads / 4];
  GPU_SHARED uint32_t warp_sums[kMotionThreads / 32];
  const int thread = static_cast<int>(threadIdx.x);
  const int x0 = static_cast<int>(blockIdx.x) * kMotionTileColumns, y0 = static_cast<int>(blockIdx.y) * kRows;
  const MotionPair &pair = args.pairs[blockIdx.z];

  const int x = tile_mirror(x0 - kMotionHalo + thread, args.width);
  MotionColumn<Sample> sums[kRows];
#pragma unroll
  for (int i = 0; i < kRows + kTaps - 1; i++) {
    const int y = tile_mirror(y0 - kMotionRadius + i, args.height);
    const int32_t difference = static_cast<int32_t>(tile_row<Sample>(pair.earlier, y, args.width)[x]) -
                               static_cast<int32_t>(tile_row<Sample>(pair.current, y, args.width)[x]);
#pragma unroll
    for (int row = 0; row < kRows; row++)
      if (i - row >= 0 && i - row < kTaps) sums[row].add(difference, motion_tap(i - row));
  }
#pragma unroll
  for (int row = 0; row < kRows; row++)
    reinterpret_cast<uint32_t *>(columns[row])[tile_position(thread)] =
        static_cast<uint32_t>(sums[row].rounded(args.depth));
  gpu_sync();

  // At most 16 pixels of 2^16 each; 2^26 a warp of 64.
  uint32_t sad = 0;
#pragma unroll
  for (int group = 0; group < kRows; group += kRowsAtOnce) {
    const int of_group = thread / kThreadsOfRow, row = group + of_group,
              column = thread % kThreadsOfRow * kPixels;
    if (of_group >= kRowsAtOnce || y0 + row >= args.height || x0 + column >= args.width) continue;
    uint32_t words[kPixels + 2 * kMotionHalo];
    tile_read<kPixels + 2 * kMotionHalo>(reinterpret_cast<const uint32_t *>(columns[row]), column, words);
#pragma unroll
    for (int i = 0; i < kPixels; i++) {
      GpuWideSum sum;
#pragma unroll
      for (int k = 0; k < kTaps; k++) sum.add(static_cast<int32_t>(words[kFirst + i + k]), motion_tap(k));
      const uint32_t filtered = magnitude(static_cast<int32_t>(sum.rounded16()));
      if (x0 + column + i < args.width) sad += filtered;
    }
  }
  const uint32_t warp_sum = gpu_warp_sum(sad);
  if (gpu_lane() == 0) warp_sums[thread / gpu_warp_size()] = warp_sum;
  gpu_sync();
  if (thread > 0) return;
  uint64_t sum = 0;
  for (int warp = 0; warp < kMotionThreads / gpu_warp_size(); warp++) sum += warp_sums[warp];
  const unsigned slot = (blockIdx.x + blockIdx.y) % kMotionSlots;
  if (sum) gpu_atomic_add((pair.sad + slot).get(), sum);
}

}  // namespace

GPU_KERNEL void GPU_BOUNDS(kMotionThreads, 4) motion_8(MotionArgs args) { motion_tile<uint8_t>(args); }
GPU_KERNEL void GPU_BOUNDS(kMotionThreads, 4) motion_16(MotionArgs args) { motion_tile<uint16_t>(args); }
