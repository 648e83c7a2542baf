// Launch arguments of float motion: planes of up to kMostPairs pairs of frames, all of one size.
#pragma once
#include "engine/arith/motion_float.h"
#include "kernels/float_scale_args.h"
#include "kernels/float_tile_args.h"

namespace vmafhip {

struct MotionFloatPair {
  DevicePlane earlier, current;
  DeviceAddress<float> sums;         // of each row
  DeviceAddress<float> filtered[2];  // both planes, to be written; null: they are not wanted
};

struct MotionFloatArgs {
  MotionFloatPair pairs[kMostPairs];  // blockIdx: band, 0, pair
  FloatFilter filter;
  int32_t width, height;
  int32_t stride;  // of filtered planes, in floats
  float step;
};

// Filtered planes at half size.
struct MotionFloatHalfArgs {
  struct Pair {
    DeviceAddress<const float> filtered[2];
    DeviceAddress<float> sums;
  } pairs[kMostPairs];
  FloatScaleArgs scale;
  int32_t stride;  // of filtered planes, in floats
};

static_assert(sizeof(MotionFloatArgs) <= 4096 && sizeof(MotionFloatHalfArgs) <= 4096);

}  // namespace vmafhip
