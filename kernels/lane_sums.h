// Sums in the order of engine/arith/lane_sum.h, by a block of kSumLanes threads: each of them is a lane.
#pragma once
#include "engine/arith/lane_sum.h"
#include "kernels/device.h"

namespace vmafhip {

// The sum of the lanes, which lie in shared memory, for thread 0. They are overwritten.
GPU_FN double gpu_lane_sum(double *lanes) {
  const int lane = static_cast<int>(threadIdx.x);
  for (int n = kSumLanes / 2; n > 0; n /= 2) {
    gpu_sync();
    if (lane < n) lanes[lane] += lanes[lane + n];
  }
  return lanes[0];
}

}  // namespace vmafhip
