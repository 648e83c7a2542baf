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

// Row `row` of `rows`: sums of the lanes of its blocks, kSsimLanes each, one after the other; folded. So many threads
// beside each other take a row, and all of a warp call it.
GPU_FN void gpu_ssim_row(DeviceAddress<double> parts, DeviceAddress<double> sums, int row, int rows,
                         int blocks) {
  const int lane = static_cast<int>(threadIdx.x) % kSsimLanes;
  const uint64_t length = static_cast<uint64_t>(blocks) * kSsimLanes;
  double sum = 0;
  if (row < rows) {
    const double *from = (parts + row * static_cast<int64_t>(length)).get(length);
#pragma unroll 8
    for (int b = 0; b < blocks; b++) sum += from[b * kSsimLanes + lane];
  }
  sum = gpu_ssim_fold(sum);
  if (row < rows && lane == 0) *(sums + row).get() = sum;
}

}  // namespace vmafhip
