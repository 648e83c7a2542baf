// Kernels of the integer structural similarity (engine/arith/ssim_integer.h has the definition): terms of tiles, summed up
// to lanes of blocks; these summed up along rows; the rows.
#include "kernels/device.h"

#include "kernels/ssim_integer_args.h"
#include "kernels/ssim_sums.h"
#include "kernels/sums.h"
#include "kernels/tile.h"

using namespace vmafhip;

namespace {

constexpr int kReach = kSsimIntegerReach;
constexpr int kRows = kSsimIntegerRows, kColumns = kSsimIntegerColumns;
constexpr int kLines = kRows + 2 * kReach, kWidth = kColumns + 2 * kReach;  // under a tile's windows

// Moments of squares and products: 32 bits hold them at depth 8.
template <class Sample>
struct SquareOf;
template <>
struct SquareOf<uint8_t> {
  using Sum = uint32_t;
};
template <>
struct SquareOf<uint16_t> {
  using Sum = uint64_t;
};

// Sums of columns.
template <class Square>
struct ColumnSums {
  uint32_t a[kRows][kWidth], b[kRows][kWidth];
  Square aa[kRows][kWidth], bb[kRows][kWidth], ab[kRows][kWidth];
};

// Of kTaps values from `from` on.
template <class Sum, class Value>
GPU_FN Sum window(const Value *from) {
  Sum sum = static_cast<Sum>(from[kReach]) * static_cast<uint32_t>(kSsimIntegerWindow[kReach]);
#pragma unroll
  for (int k = 0; k < kReach; k++)
    sum += (static_cast<Sum>(from[k]) + from[2 * kReach - k]) * static_cast<uint32_t>(kSsimIntegerWindow[k]);
  return sum;
}

// Column c of the tile: samples of kLines rows, zeros beyond the border, to sums.
template <class Sample, class Square>
GPU_FN void sum_column(const PlanePair &planes, int x, int y, int width, int height, int c,
                       ColumnSums<Square> *sums) {
  uint32_t a[kLines] = {}, b[kLines] = {}, product[kLines];
  if (x >= 0 && x < width) {
#pragma unroll
    for (int i = 0; i < kLines; i++)
      if (y + i >= 0 && y + i < height) {
        a[i] = tile_row<Sample>(planes.ref, y + i, width)[x];
        b[i] = tile_row<Sample>(planes.dist, y + i, width)[x];
      }
  }
#pragma unroll
  for (int r = 0; r < kRows; r++) {
    sums->a[r][c] = window<uint32_t>(a + r);
    sums->b[r][c] = window<uint32_t>(b + r);
  }
#pragma unroll
  for (int i = 0; i < kLines; i++) product[i] = a[i] * a[i];
#pragma unroll
  for (int r = 0; r < kRows; r++) sums->aa[r][c] = window<Square>(product + r);
#pragma unroll
  for (int i = 0; i < kLines; i++) product[i] = b[i] * b[i];
#pragma unroll
  for (int r = 0; r < kRows; r++) sums->bb[r][c] = window<Square>(product + r);
#pragma unroll
  for (int i = 0; i < kLines; i++) product[i] = a[i] * b[i];
#pragma unroll
  for (int r = 0; r < kRows; r++) sums->ab[r][c] = window<Square>(product + r);
}

GPU_FN int weight_at(int i, int n) { return i >= kReach && i + kReach < n ? 256 : ssim_integer_weight(i, n); }

template <class Sample>
GPU_FN void measure_tile(const SsimIntegerArgs &args) {
  using Square = typename SquareOf<Sample>::Sum;
  GPU_SHARED ColumnSums<Square> sums;
  GPU_SHARED double terms[kRows][kColumns];
  const SsimIntegerArgs::Pair &pair = args.pairs[blockIdx.z];
  const int width = args.width, height = args.height, thread = static_cast<int>(threadIdx.x);
  const int left = static_cast<int>(blockIdx.x) * kColumns, top = static_cast<int>(blockIdx.y) * kRows;

  for (int c = thread; c < kWidth; c += kSsimIntegerThreads)
    sum_column<Sample>(pair.planes, left - kReach + c, top - kReach, width, height, c, &sums);
  gpu_sync();

  const SsimIntegerConstants constants = ssim_integer_constants(args.depth);
  const int x = left + thread;
  const double column_weight = x < width ? weight_at(x, width) : 0;
#pragma unroll 2
  for (int r = 0; r < kRows; r++) {
    double term = 0;
    if (x < width && top + r < height)
      term = ssim_integer_term<double>({static_cast<double>(window<uint32_t>(sums.a[r] + thread)),
                                        static_cast<double>(window<uint32_t>(sums.b[r] + thread)),
                                        static_cast<double>(window<Square>(sums.aa[r] + thread)),
                                        static_cast<double>(window<Square>(sums.bb[r] + thread)),
                                        static_cast<double>(window<Square>(sums.ab[r] + thread))},
                                       column_weight * weight_at(top + r, height), constants);
    terms[r][thread] = term;
  }
  gpu_sync();

  constexpr int kBlocks = kColumns / kSsimBlock, kRowThreads = kBlocks * kSsimLanes;
  const int r = thread / kRowThreads, block = thread % kRowThreads / kSsimLanes, lane = thread % kSsimLanes;
  const int blocks = ssim_blocks(width), number = left / kSsimBlock + block;
  if (top + r >= height || number >= blocks) return;
  const int64_t at = (static_cast<int64_t>(top + r) * blocks + number) * kSsimLanes + lane;
  *(pair.parts + at).get() = gpu_ssim_part(terms[r] + block * kSsimBlock, lane);
}

}  // namespace

GPU_KERNEL void GPU_BOUNDS(kSsimIntegerThreads, 6) ssim_integer_terms_8(SsimIntegerArgs args) {
  measure_tile<uint8_t>(args);
}
GPU_KERNEL void GPU_BOUNDS(kSsimIntegerThreads, 4) ssim_integer_terms_16(SsimIntegerArgs args) {
  measure_tile<uint16_t>(args);
}

GPU_KERNEL void GPU_BOUNDS(kSsimIntegerThreads, 8) ssim_integer_rows(SsimIntegerArgs args) {
  const SsimIntegerArgs::Pair &pair = args.pairs[blockIdx.z];
  const int y = static_cast<int>(blockIdx.x * kSsimIntegerThreads + threadIdx.x) / kSsimLanes;
  gpu_ssim_row(pair.parts, pair.rows, y, args.height, ssim_blocks(args.width));
}

GPU_KERNEL void GPU_BOUNDS(kSsimIntegerThreads, 8) ssim_integer_sum(SsimIntegerArgs args) {
  const SsimIntegerArgs::Pair &pair = args.pairs[blockIdx.z];
  const double sum = gpu_serial_sum<kSsimIntegerThreads>(pair.rows, args.height);
  if (threadIdx.x == 0) *pair.sum.get() = sum;
}
