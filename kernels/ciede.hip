// CIEDE2000 (engine/arith/ciede.h has the definition): differences of all pixels, then sums of rows, then the sum of these.
// A thread has one pixel and no loop, out of which compilers take the many constants: AMD's scalar registers, which hold
// them, would not do.
#include "kernels/ciede_args.h"
#include "kernels/lane_sums.h"
#include "kernels/sums.h"
#include "kernels/tile.h"

using namespace vmafhip;

namespace {

template <class Sample>
GPU_FN float chroma_at(const DevicePlane &plane, const CiedeShape &shape, int x, int y) {
  const Sample *row = tile_row<Sample>(plane, ciede_chroma_row(shape, x, y), shape.chroma_width);
  if (!shape.swapped) return row[smaller(shape.half_width ? x / 2 : x, shape.chroma_width - 1)];
  const int column = x % shape.stride;
  return column < shape.chroma_width ? row[column] : 0.0f;
}

template <class Sample>
GPU_FN CiedeLab<float> lab_at(const DevicePlane (&picture)[3], const CiedeArgs &args, int x, int y) {
  const float luma = tile_row<Sample>(picture[0], y, args.shape.width)[x];
  return ciede_lab(luma, chroma_at<Sample>(picture[1], args.shape, x, y),
                   chroma_at<Sample>(picture[2], args.shape, x, y), args.range);
}

template <class Sample>
GPU_FN void ciede_pixel(const CiedeArgs &args) {
  const CiedePair &pair = args.pairs[blockIdx.z];
  const int x = static_cast<int>(blockIdx.x) * kCiedeThreads + static_cast<int>(threadIdx.x),
            y = static_cast<int>(blockIdx.y);
  if (x >= args.shape.width) return;
  *(pair.differences + (static_cast<int64_t>(y) * args.shape.width + x)).get() =
      ciede_difference(lab_at<Sample>(pair.ref, args, x, y), lab_at<Sample>(pair.dist, args, x, y));
}

}  // namespace

// Block (x, y, z): kCiedeThreads pixels of row y of pair z.
GPU_KERNEL void GPU_BOUNDS(kCiedeThreads, 6) ciede_pixels_8(CiedeArgs args) { ciede_pixel<uint8_t>(args); }
GPU_KERNEL void GPU_BOUNDS(kCiedeThreads, 6) ciede_pixels_16(CiedeArgs args) { ciede_pixel<uint16_t>(args); }

// Block (y, 0, z): row y of pair z; a thread is a lane of its sum.
GPU_KERNEL void GPU_BOUNDS(kSumLanes, 16) ciede_rows(CiedeArgs args) {
  GPU_SHARED double lanes[kSumLanes];
  const CiedePair &pair = args.pairs[blockIdx.z];
  const int lane = static_cast<int>(threadIdx.x), y = static_cast<int>(blockIdx.x), width = args.shape.width;
  const float *row = (pair.differences + static_cast<int64_t>(y) * width).get(static_cast<uint64_t>(width));
  double sum = 0;
#pragma unroll 4
  for (int x = lane; x < width; x += kSumLanes) sum += widen(row[x]);
  lanes[lane] = sum;
  sum = gpu_lane_sum(lanes);
  if (lane == 0) *(pair.rows + y).get() = sum;
}

// Block (0, 0, z): rows of pair z, from the top.
GPU_KERNEL void GPU_BOUNDS(kCiedeThreads, 4) ciede_sum(CiedeArgs args) {
  const CiedePair &pair = args.pairs[blockIdx.z];
  const double sum = gpu_serial_sum<kCiedeThreads>(pair.rows, args.shape.height);
  if (threadIdx.x == 0) *pair.sum.get() = sum;
}
