// Kernels of float_ansnr (engine/arith/ansnr.h has the definition): filters on tiles of samples, whose squares some
// threads add along the rows, one row each, while the others are at the next tile; then the rows.
#include "kernels/device.h"

#include "engine/arith/float_samples.h"
#include "kernels/ansnr_args.h"
#include "kernels/sums.h"
#include "kernels/tile.h"

using namespace vmafhip;

namespace {

constexpr int kReach = kAnsnrRadius, kTaps = 2 * kReach + 1;
constexpr int kRows = kAnsnrRows, kColumns = kAnsnrColumns, kThreadRows = kAnsnrThreadRows;
constexpr int kLines = kRows + 2 * kReach, kWidth = kColumns + 2 * kReach;

struct Samples {
  float ref[kLines][kWidth], dist[kLines][kWidth];
};

// The threads that add read a column at a time: of odd width, rows begin in different banks.
struct Squares {
  float signal[kRows][kColumns + 1], noise[kRows][kColumns + 1];
};

// Mirrored; what is beyond the mirrored samples does not matter.
GPU_FN int place(int i, int n) {
  i = ansnr_mirror(i, n);
  return i < 0 || i >= n ? 0 : i;
}

template <class Sample>
GPU_FN void read_samples(const PlanePair &planes, int left, int top, const AnsnrArgs &args, Samples *to) {
  const float step = float_sample_step(args.depth);
  for (int i = static_cast<int>(threadIdx.x); i < kLines * kWidth; i += kAnsnrThreads) {
    const int line = i / kWidth, column = i % kWidth;
    const int x = place(left - kReach + column, args.width), y = place(top - kReach + line, args.height);
    const auto number = [&](const DevicePlane &plane) {
      const float sample = static_cast<float>(tile_row<Sample>(plane, y, args.width)[x]);
      return float_sample(sample, step, -kFloatSampleMiddle);
    };
    to->ref[line][column] = number(planes.ref);
    to->dist[line][column] = number(planes.dist);
  }
}

// Of kThreadRows rows of a column of the tile. Rows of taps that are the same have the same sums, which are taken once.
GPU_FN void square_column(const Samples &samples, int column, int first, Squares *to) {
  constexpr int kWindow = kThreadRows + 2 * kReach;
  float ref[kWindow][3], dist[kWindow][kTaps];
#pragma unroll
  for (int i = 0; i < kWindow; i++) {
#pragma unroll
    for (int j = 0; j < 3; j++) ref[i][j] = samples.ref[first + i][column + 1 + j];
#pragma unroll
    for (int j = 0; j < kTaps; j++) dist[i][j] = samples.dist[first + i][column + j];
  }
#pragma unroll
  for (int r = 0; r < kThreadRows; r++) {
    const float smooth =
        ansnr_filter<float>(kAnsnrReference, [&](int i, int j) { return ref[r + 1 + i][j]; });
    const float smoother = ansnr_filter<float>(kAnsnrDistorted, [&](int i, int j) { return dist[r + i][j]; });
    to->signal[first + r][column] = smooth * smooth;
    to->noise[first + r][column] = (smooth - smoother) * (smooth - smoother);
  }
}

template <class Sample>
GPU_FN void sum_rows(const AnsnrArgs &args) {
  GPU_SHARED Samples samples;
  GPU_SHARED Squares squares;
  const AnsnrArgs::Pair &pair = args.pairs[blockIdx.z];
  const int thread = static_cast<int>(threadIdx.x), top = static_cast<int>(blockIdx.x) * kRows;
  float sum = 0;
  for (int left = 0; left < args.width; left += kColumns) {
    read_samples<Sample>(pair.planes, left, top, args, &samples);
    gpu_sync();  // squares of the tile before are added, samples of this one are there
    square_column(samples, thread % kColumns, thread / kColumns * kThreadRows, &squares);
    gpu_sync();
    if (thread < 2 * kRows) {
      const float *row = thread < kRows ? squares.signal[thread] : squares.noise[thread - kRows];
      const int columns = smaller(kColumns, args.width - left);
#pragma unroll 16
      for (int x = 0; x < columns; x++) sum += row[x];
    }
  }
  const int y = top + thread % kRows;
  if (thread < 2 * kRows && y < args.height)
    *(pair.rows + (thread < kRows ? y : args.height + y)).get() = sum;
}

}  // namespace

GPU_KERNEL void GPU_BOUNDS(kAnsnrThreads, 4) ansnr_rows_8(AnsnrArgs args) { sum_rows<uint8_t>(args); }
GPU_KERNEL void GPU_BOUNDS(kAnsnrThreads, 4) ansnr_rows_16(AnsnrArgs args) { sum_rows<uint16_t>(args); }

GPU_KERNEL void GPU_BOUNDS(kAnsnrSumThreads, 8) ansnr_sum(AnsnrArgs args) {
  const AnsnrArgs::Pair &pair = args.pairs[blockIdx.z];
  const int which = static_cast<int>(blockIdx.x);
  const float sum = gpu_serial_sum<kAnsnrSumThreads>(pair.rows + which * args.height, args.height);
  if (threadIdx.x == 0) *(pair.sums + which).get() = sum;
}
