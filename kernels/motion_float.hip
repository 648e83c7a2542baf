// Kernels of float motion (engine/arith/motion_float.h has the definition).
#include "kernels/float_scale.h"
#include "kernels/float_tile.h"
#include "kernels/motion_float_args.h"
#include "kernels/serial_sums.h"

using namespace vmafhip;

namespace {

// Both planes filtered, and the magnitudes of their difference added up along rows.
template <class Sample, int kLength>
GPU_FN void motion_float_band(const MotionFloatArgs &args) {
  constexpr int kRadius = filter_radius(kLength), kColumns = float_tile_columns<kLength>(kRadius);
  GPU_SHARED FloatTile tiles[2];
  GPU_SHARED FloatTerms terms;
  GPU_SHARED FloatTileReach<1> reach;
  GPU_SHARED typename FloatTileFilter<kLength>::Memory memory;

  const MotionFloatPair &pair = args.pairs[blockIdx.z];
  const int thread = static_cast<int>(threadIdx.x), top = static_cast<int>(blockIdx.x) * kFloatTileRows;
  const FloatTileFilter<kLength> filter(args.filter, memory);
  reach.fill(top, args.height, kLength);
  gpu_sync();

  const int row = thread / kFloatTileRuns, column = thread % kFloatTileRuns * kFloatTileRun;
  const bool runs = top + row < args.height && column < kColumns;
  const bool adds = thread < kFloatTileRows && top + thread < args.height;
  float sum = 0;
  for (int left = 0; left < args.width; left += kColumns) {
    const int x = tile_mirror(left - kRadius + thread, args.width);
    const SampleColumn<Sample> earlier(pair.earlier, x, top, args.step, -kFloatSampleMiddle),
        current(pair.current, x, top, args.step, -kFloatSampleMiddle);
    float sums[kFloatTileRows][2] = {};
    filter.template columns<1>(
        [&](int j, float(&value)[2]) {
          value[0] = earlier.at(reach.at(j));
          value[1] = current.at(reach.at(j));
        },
        sums);
    float_tile_store(sums, tiles);
    gpu_sync();

    if (runs && left + column < args.width) {
      float filtered[2][kFloatTileRun] = {}, term[kFloatTileRun];
#pragma unroll
      for (int f = 0; f < 2; f++) filter.template rows<1>(tiles[f].row[row], column, filtered[f]);
#pragma unroll
      for (int c = 0; c < kFloatTileRun; c++) term[c] = absolute(filtered[0][c] - filtered[1][c]);
      float_terms_store(term, terms.row[row], column);
      if (pair.filtered[0])
#pragma unroll
        for (int f = 0; f < 2; f++)
          float_tile_write(filtered[f], pair.filtered[f] + int64_t{top + row} * args.stride, left + column,
                           args.width);
    }
    gpu_sync();
    // The others go on, and come no further than the next barrier.
    if (adds) sum = float_terms_add(sum, terms.row[thread], smaller(kColumns, args.width - left));
  }
  if (adds) *(pair.sums + (top + thread)).get() = sum;
}

}  // namespace

GPU_KERNEL void GPU_BOUNDS(kFloatTileThreads, 4) motion_float_1_8(MotionFloatArgs args) {
  motion_float_band<uint8_t, 1>(args);
}
GPU_KERNEL void GPU_BOUNDS(kFloatTileThreads, 4) motion_float_1_16(MotionFloatArgs args) {
  motion_float_band<uint16_t, 1>(args);
}
GPU_KERNEL void GPU_BOUNDS(kFloatTileThreads, 4) motion_float_3_8(MotionFloatArgs args) {
  motion_float_band<uint8_t, 3>(args);
}
GPU_KERNEL void GPU_BOUNDS(kFloatTileThreads, 4) motion_float_3_16(MotionFloatArgs args) {
  motion_float_band<uint16_t, 3>(args);
}
GPU_KERNEL void GPU_BOUNDS(kFloatTileThreads, 4) motion_float_5_8(MotionFloatArgs args) {
  motion_float_band<uint8_t, 5>(args);
}
GPU_KERNEL void GPU_BOUNDS(kFloatTileThreads, 4) motion_float_5_16(MotionFloatArgs args) {
  motion_float_band<uint16_t, 5>(args);
}

// The same of the filtered planes at half size; blockIdx: band, 0, pair.
GPU_KERNEL void GPU_BOUNDS(kFloatTileThreads, 4) motion_float_half(MotionFloatHalfArgs args) {
  GPU_SHARED FloatTerms terms;
  const MotionFloatHalfArgs::Pair &pair = args.pairs[blockIdx.z];
  const int thread = static_cast<int>(threadIdx.x), top = static_cast<int>(blockIdx.x) * kFloatTileRows;
  const int width = args.scale.columns.size, rows = smaller(kFloatTileRows, args.scale.rows.size - top);
  const DeviceAddress<const float> planes[2] = {pair.filtered[0], pair.filtered[1]};
  float sum = 0;
  for (int left = 0; left < width; left += kFloatTileThreads) {
    for (int r = 0; r < rows && left + thread < width; r++) {
      float half[2];
#pragma unroll
      for (int f = 0; f < 2; f++)
        half[f] = float_scale_at(args.scale, left + thread, top + r, [&](int x, int y) {
          return *(planes[f] + (int64_t{y} * args.stride + x)).get();
        });
      terms.row[r][thread] = static_cast<uint32_t>(bits_of(absolute(half[0] - half[1])));
    }
    gpu_sync();
    if (thread < rows)
      sum = float_terms_add(sum, terms.row[thread], smaller(kFloatTileThreads, width - left));
    gpu_sync();
  }
  if (thread < rows) *(pair.sums + (top + thread)).get() = sum;
}

GPU_KERNEL void GPU_BOUNDS(kSerialSumThreads, 1) motion_float_total(SerialSumArgs<float> args) {
  serial_sum(args);
}
