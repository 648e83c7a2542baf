// Rescaling of float planes (engine/arith/float_scale.h): positions and weights along one direction, in device memory.
#pragma once
#include "engine/arith/float_scale.h"
#include "kernels/args.h"

namespace vmafhip {

// Those of tap t begin at t * size.
struct FloatScaleAxisArgs {
  DeviceAddress<const int32_t> index;
  DeviceAddress<const float> weight;
  int32_t size;
};

struct FloatScaleArgs {
  FloatScaleAxisArgs columns, rows;
  FloatScaling method;
};

}  // namespace vmafhip
