// What the host hands to the kernels of the integer structural similarity (kernels/ssim_integer.hip).
#pragma once
#include "engine/arith/ssim.h"
#include "engine/arith/ssim_integer.h"
#include "kernels/args.h"

namespace vmafhip {

// A block of ssim_integer_terms_* has a thread a column. blockIdx: tile of columns, of rows, pair.
constexpr int kSsimIntegerThreads = 128;
constexpr int kSsimIntegerColumns = kSsimIntegerThreads;
constexpr int kSsimIntegerRows = 8;
static_assert(kSsimIntegerColumns % kSsimBlock == 0);
// Afterwards it has one for each lane of each row of kSsimBlock columns.
static_assert(kSsimIntegerRows * (kSsimIntegerColumns / kSsimBlock) * kSsimLanes == kSsimIntegerThreads);

// Blocks of ssim_integer_rows have a thread for each lane of a row; blockIdx: group of rows, 0, pair.
constexpr int kSsimIntegerSumRows = kSsimIntegerThreads / kSsimLanes;

struct SsimIntegerArgs {
  struct Pair {
    PlanePair planes;
    DeviceAddress<double> parts;  // [row][kSsimBlock columns][kSsimLanes], sums of terms
    DeviceAddress<double> rows;   // sums of rows
    DeviceAddress<double> sum;
  } pairs[kMostPairs];
  int32_t width, height, depth;
};
static_assert(sizeof(SsimIntegerArgs) <= 4096);

}  // namespace vmafhip
