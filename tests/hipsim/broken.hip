// Kernels of the simulator's own test that do something wrong each, or something that is allowed and looks like it.
#include "kernels/device.h"
#include "tests/hipsim/broken_args.h"

namespace vmafhip {

// Right as long as `element` and `count` are.
GPU_KERNEL void hipsim_store(BrokenArgs args) { args.data.get(args.count)[args.element] = threadIdx.x; }

// Sums from both neighbours' values without a barrier between.
GPU_KERNEL void hipsim_no_barrier(BrokenArgs args) {
  GPU_SHARED uint32_t row[kBrokenThreads];
  const int t = static_cast<int>(threadIdx.x);
  row[t] = static_cast<uint32_t>(t);
  args.data.get(kBrokenThreads)[t] =
      row[(t + 1) % kBrokenThreads] + row[(t + kBrokenThreads - 1) % kBrokenThreads];
}

GPU_KERNEL void hipsim_two_barriers(BrokenArgs) {
  if (threadIdx.x < 64)
    gpu_sync();
  else
    gpu_sync();
}

// The rest of the block leaves: allowed.
GPU_KERNEL void hipsim_barrier_of_few(BrokenArgs args) {
  if (threadIdx.x >= 40) return;
  gpu_sync();
  args.data.get(kBrokenThreads)[threadIdx.x] = threadIdx.x;
}

// Half a warp exchanges while the other half is at the barrier.
GPU_KERNEL void hipsim_exchange_of_few(BrokenArgs args) {
  uint32_t v = threadIdx.x;
  if (gpu_lane() < gpu_warp_size() / 2) v = gpu_shuffle_down(v, 1);
  gpu_sync();
  args.data.get(kBrokenThreads)[threadIdx.x] = v;
}

GPU_KERNEL void hipsim_two_exchanges(BrokenArgs args) {
  uint32_t v = threadIdx.x;
  if (gpu_lane() < 16)
    v = gpu_shuffle_down(v, 1);
  else
    v = gpu_shuffle_xor(v, 1);
  args.data.get(kBrokenThreads)[threadIdx.x] = v;
}

// Reads what the odd lanes would give; they have left.
GPU_KERNEL void hipsim_exchange_with_left(BrokenArgs args) {
  if (gpu_lane() % 2) return;
  const uint32_t v = gpu_shuffle_down(threadIdx.x, 1);
  args.data.get(kBrokenThreads)[threadIdx.x] = v;
}

// All that a warp can do, in whole warps.
GPU_KERNEL void hipsim_warp(BrokenArgs args) {
  const uint32_t t = threadIdx.x;
  uint32_t *out = args.data.get(kBrokenThreads * 10) + t * 10;
  out[0] = gpu_shuffle_down(t, 3);
  out[1] = gpu_shuffle_up(t, 3);
  out[2] = gpu_shuffle_xor(t, 5);
  out[3] = gpu_any(t == 77);
  out[4] = gpu_warp_sum_all(t);
  out[5] = gpu_warp_sum(t);
  out[6] = static_cast<uint32_t>(gpu_shuffle_down(uint64_t{t} << 32, 1) >> 32);
  const GpuLanes thirds = gpu_ballot(t % 3 == 0);
  out[7] = static_cast<uint32_t>(thirds);
  out[8] = static_cast<uint32_t>(thirds >> 32);
  out[9] = static_cast<uint32_t>(gpu_first_lane(thirds));
}

// Whole warps only.
GPU_KERNEL void hipsim_warp_sum(BrokenArgs args) {
  const uint32_t sum = gpu_warp_sum(threadIdx.x);
  if (gpu_lane() == 0) args.data.get(kBrokenThreads)[threadIdx.x] = sum;
}

// Each block finds what the block before left, if memory of the block is not new.
GPU_KERNEL void hipsim_unwritten(BrokenArgs args) {
  GPU_SHARED uint32_t last;
  if (threadIdx.x == 0) {
    args.data.get(args.count)[blockIdx.x] = last;
    last = 4711;
  }
}

GPU_KERNEL void hipsim_too_much_memory(BrokenArgs args) {
  GPU_SHARED uint32_t much[17000];
  for (unsigned i = threadIdx.x; i < 17000; i += kBrokenThreads) much[i] = i;
  gpu_sync();
  args.data.get(kBrokenThreads)[threadIdx.x] = much[threadIdx.x];
}

GPU_FN void fill_stack(uint32_t *out) {
  volatile uint32_t words[100000];
  for (unsigned i = 0; i < 100000; ++i) words[i] = i;
  out[threadIdx.x] = words[threadIdx.x];
}
GPU_KERNEL void hipsim_deep_stack(BrokenArgs args) { fill_stack(args.data.get(kBrokenThreads)); }

// D = A * B with A[i][k] = 3 i + k and B[k][j] = k + 5 j, in bytes; D is stored row by row.
GPU_KERNEL void hipsim_matrix(BrokenArgs args) {
  const uint32_t lane = static_cast<uint32_t>(gpu_lane()), g = lane / 4, q = lane % 4;
  uint32_t a[4] = {}, b[2] = {}, d[4] = {1000, 1000, 1000, 1000};
  for (uint32_t i = 0; i < 4; ++i)
    for (uint32_t byte = 0; byte < 4; ++byte)
      a[i] |= (3 * (g + i % 2 * 8) + i / 2 * 16 + 4 * q + byte) << 8 * byte;
  for (uint32_t i = 0; i < 2; ++i)
    for (uint32_t byte = 0; byte < 4; ++byte) b[i] |= (i * 16 + 4 * q + byte + 5 * g) << 8 * byte;
  gpu_mma_u8(d, a, b[0], b[1]);
  for (uint32_t i = 0; i < 4; ++i) args.data.get(128)[(g + i / 2 * 8) * 8 + 2 * q + i % 2] = d[i];
}

// D = A * B with A[i][k] = 11 i + 3 k - 128 and B[k][j] = 5 j - 7 k + 100, in signed bytes; D is stored row by row.
GPU_KERNEL void hipsim_signed_matrix(BrokenArgs args) {
  const uint32_t lane = static_cast<uint32_t>(gpu_lane()), n = lane % 16, q = lane / 16;
  uint32_t a[2] = {}, b[2] = {}, d[4] = {1000, 1000, 1000, 1000};
  for (uint32_t half = 0; half < 2; ++half)
    for (uint32_t byte = 0; byte < 4; ++byte) {
      const uint32_t k = 16 * half + 4 * q + byte;
      a[half] |= (11 * n + 3 * k - 128 & 255) << 8 * byte;
      b[half] |= (5 * n - 7 * k + 100 & 255) << 8 * byte;
    }
  gpu_mma_i8(d, a[0], a[1], b[0], b[1]);
  for (uint32_t i = 0; i < 4; ++i) args.data.get(256)[(4 * q + i) * 16 + n] = d[i];
}

}  // namespace vmafhip
