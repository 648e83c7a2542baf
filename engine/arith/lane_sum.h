// A sum of many doubles that any number of lanes gives with the same bits: term i is added to partial sum i % kSumLanes,
// in ascending order, and these are added by halves (i + n/2 to i, n = kSumLanes, ..., 2).
#pragma once
#include "engine/arith/hd.h"

namespace vmafhip {

constexpr int kSumLanes = 64;

// The sum of kSumLanes partial sums, which are overwritten.
VMAFHIP_HD double lane_sum(double *lanes) {
  for (int n = kSumLanes / 2; n > 0; n /= 2)
    for (int i = 0; i < n; i++) lanes[i] += lanes[i + n];
  return lanes[0];
}

}  // namespace vmafhip
