// Launch arguments of CIEDE2000, of all its kernels.
#pragma once
#include "engine/arith/ciede.h"
#include "kernels/args.h"

namespace vmafhip {

struct CiedePair {
  DevicePlane ref[3], dist[3];
  DeviceAddress<float> differences;  // of all pixels, row by row
  DeviceAddress<double> rows;        // their sums
  DeviceAddress<double> sum;
};

struct CiedeArgs {
  CiedePair pairs[kMostPairs];
  CiedeShape shape;
  CiedeRange range;
};
static_assert(sizeof(CiedeArgs) <= 4096);

constexpr int kCiedeThreads = 128;

}  // namespace vmafhip
