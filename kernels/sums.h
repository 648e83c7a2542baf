// Sums: of integers in any order, of floats in the order that a definition has.
#pragma once
#include "kernels/device.h"

namespace vmafhip {

// Sum over the warp; lane 0 has it.
GPU_FN uint64_t gpu_warp_sum(uint64_t v) {
  for (int d = gpu_warp_size() / 2; d > 0; d /= 2) v += gpu_shuffle_down(v, d);
  return v;
}

// Adds what the threads of a warp have to `sum`.
GPU_FN void gpu_add_warp(DeviceAddress<uint64_t> sum, uint64_t v) {
  v = gpu_warp_sum(v);
  if (gpu_lane() == 0 && v != 0) gpu_atomic_add(sum.get(), v);
}

// The sum of `count` numbers from the first to the last, for thread 0. All threads of the block call it: they bring the
// numbers, thread 0 adds.
template <int kThreads, class Number>
GPU_FN Number gpu_serial_sum(DeviceAddress<Number> numbers, int count) {
  constexpr int kPart = 8 * kThreads;
  GPU_SHARED Number part[kPart];
  Number sum = 0;
  for (int first = 0; first < count; first += kPart) {
    const int n = first + kPart < count ? kPart : count - first;
    const Number *from = (numbers + first).get(static_cast<uint64_t>(n));
    gpu_sync();
#pragma unroll
    for (int i = static_cast<int>(threadIdx.x); i < kPart; i += kThreads)
      if (i < n) part[i] = from[i];
    gpu_sync();
    if (threadIdx.x == 0) {
#pragma unroll 16
      for (int i = 0; i < n; i++) sum += part[i];
    }
  }
  return sum;
}

}  // namespace vmafhip
