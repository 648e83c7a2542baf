// Sums that are taken one number after the other: one block each, one thread of which adds what all have fetched.
#pragma once
#include "kernels/device.h"
#include "kernels/serial_sums_args.h"

namespace vmafhip {

template <class Number>
GPU_FN void serial_sum(const SerialSumArgs<Number> &args) {
  constexpr int kChunk = 16 * kSerialSumThreads;
  GPU_SHARED Number chunk[kChunk];
  int number = static_cast<int>(blockIdx.x), part = 0;
  while (number >= args.parts[part].sums) number -= args.parts[part++].sums;
  const int count = args.parts[part].count, thread = static_cast<int>(threadIdx.x);
  const auto &frame = args.frames[blockIdx.z];
  const Number *from =
      (frame.numbers + (args.parts[part].first + int64_t{number} * count)).get(static_cast<uint64_t>(count));

  Number sum = 0;
  for (int first = 0; first < count; first += kChunk) {
    const int live = count - first < kChunk ? count - first : kChunk;
    gpu_sync();
    for (int i = thread; i < live; i += kSerialSumThreads) chunk[i] = from[first + i];
    gpu_sync();
    if (thread == 0) {
#pragma unroll 16
      for (int i = 0; i < live; i++) sum += chunk[i];
    }
  }
  if (thread == 0) *(frame.sums + blockIdx.x).get() = sum;
}

}  // namespace vmafhip
