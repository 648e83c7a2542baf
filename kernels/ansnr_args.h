// What the host hands to the kernels of float_ansnr (kernels/ansnr.hip).
#pragma once
#include "engine/arith/ansnr.h"
#include "kernels/args.h"

namespace vmafhip {

// A block of ansnr_rows_* goes along some rows, some columns a step: of each column of these a thread has some rows.
// blockIdx: group of rows, 0, pair.
constexpr int kAnsnrRows = 32, kAnsnrColumns = 64;
constexpr int kAnsnrThreads = 256;
constexpr int kAnsnrThreadRows = kAnsnrRows * kAnsnrColumns / kAnsnrThreads;

struct AnsnrArgs {
  struct Pair {
    PlanePair planes;
    DeviceAddress<float> rows;  // sums of rows: of the signal, then of the noise
    DeviceAddress<float> sums;  // AnsnrSums
  } pairs[kMostPairs];
  int32_t width, height, depth;
};
static_assert(sizeof(AnsnrArgs) <= 4096 && sizeof(AnsnrSums) == 2 * sizeof(float));

constexpr int kAnsnrSumThreads = 128;  // of ansnr_sum; blockIdx: signal or noise, 0, pair

}  // namespace vmafhip
