// Sums of terms in the tree of engine/arith/ssim.h: blocks of columns, lanes, rows.
#pragma once
#include "kernels/device.h"

#include "engine/arith/ssim.h"

namespace vmafhip {

// What lane `lane` gets of a block of kSsimBlock terms; zeros stand for terms that are not there.
GPU_FN double gpu_ssim_part(const double *terms, int lane) {
  double part[2] = {0, 0};
#pragma unroll
  for (int i = 0; i < kSsimBlock / kSsimLanes; i++) part[i % 2] += terms[i * kSsimLanes + lane];
  return part[0] + part[1];
}

// ssim_fold() of lanes that kSsimLanes neighbouring threads have; the first of them has it.
GPU_FN double gpu_ssim_fold(double lane) {
  for (int d = kSsimLanes / 2; d > 0; d /= 2) lane += gpu_shuffle_down(lane, d);
  return lane;
}

}  // namespace vmafhip
