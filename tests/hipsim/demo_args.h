// Arguments of the simulator's own kernels (demo.hip, broken.hip).
#pragma once
#include "kernels/args.h"

namespace vmafhip {

constexpr int kDemoThreads = 128;

// The sum of the absolute differences of a plane of bytes and itself, one sample to the right.
struct DemoArgs {
  DevicePlane plane;
  int width, height;
  DeviceAddress<uint64_t> sum;  // added to
};

}  // namespace vmafhip
