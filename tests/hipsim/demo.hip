// A small kernel that needs all that the simulated runtime has: memory of the block, a barrier, a sum over warps, an
// atomic addition, and rows that end within a block.
#include "kernels/device.h"
#include "tests/hipsim/demo_args.h"

namespace vmafhip {

// A block takes kDemoThreads samples of row blockIdx.y.
GPU_KERNEL void GPU_BOUNDS(128, 1) hipsim_demo(DemoArgs args) {
  GPU_SHARED uint8_t row[kDemoThreads + 1];
  GPU_SHARED uint32_t part[kDemoThreads / 32];
  const int t = static_cast<int>(threadIdx.x), x0 = static_cast<int>(blockIdx.x) * kDemoThreads;
  const int here = x0 + t;
  const int64_t offset = static_cast<int64_t>(blockIdx.y) * args.plane.stride;
  const uint8_t *samples = (args.plane.data + offset).get(static_cast<uint64_t>(args.width));
  row[t] = samples[here < args.width ? here : args.width - 1];
  if (t == 0) {
    const int end = x0 + kDemoThreads;
    row[kDemoThreads] = samples[end < args.width ? end : args.width - 1];
  }
  gpu_sync();
  const int difference = here + 1 < args.width ? row[t] - row[t + 1] : 0;
  const uint32_t sum = gpu_warp_sum(static_cast<uint32_t>(difference < 0 ? -difference : difference));
  if (gpu_lane() == 0) part[t / gpu_warp_size()] = sum;
  gpu_sync();
  if (t == 0) {
    uint64_t all = 0;
    for (int i = 0; i < kDemoThreads / gpu_warp_size(); ++i) all += part[i];
    gpu_atomic_add(args.sum.get(), all);
  }
}

}  // namespace vmafhip
