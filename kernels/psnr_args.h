// What the host hands to the kernels of psnr, float_psnr and float_moment (kernels/psnr.hip): planes of any sizes.
#pragma once
#include "engine/arith/psnr.h"
#include "kernels/args.h"

namespace vmafhip {

// Rows of a plane that a warp takes together; a block has kPsnrThreads / warp size of those groups. blockIdx: group of
// rows, 0, number of the plane; blocks below the last row of theirs have nothing to do.
constexpr int kPsnrRows = 4;
constexpr int kPsnrThreads = 256;
constexpr int kPsnrMostPlanes = 2 * kMostPairs;

struct SquaresArgs {
  struct Item {
    PlanePair planes;
    DeviceAddress<uint64_t> sum;  // zeroed before
    int32_t width, height;
  } items[kPsnrMostPlanes];
};

struct MomentsArgs {
  struct Item {
    DevicePlane plane;
    DeviceAddress<Moments> sums;  // zeroed before
  } items[kPsnrMostPlanes];
  int32_t width, height;
};
static_assert(sizeof(SquaresArgs) <= 4096 && sizeof(MomentsArgs) <= 4096);

}  // namespace vmafhip
