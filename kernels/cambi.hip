// Banding (engine/arith/cambi.h has the definition): planes of filtered codes, c-values, the sums of the largest.
#include "kernels/device.h"  // before all else: some compilers know words like __device__ from its headers only

#include "kernels/cambi_counts.h"
#include "kernels/cambi_mean.h"
#include "kernels/cambi_planes.h"

using namespace vmafhip;

namespace {

template <int kScans, int kContrasts>
GPU_FN void cambi_count(const CambiCountArgs &args) {
  using Walk = CambiWalk<kScans, kContrasts>;
  GPU_SHARED typename Walk::Shared shared;
  Walk(args, &shared).run();
}

}  // namespace

GPU_KERNEL void GPU_BOUNDS(kCambiThreads, 4) cambi_prepare_8(CambiPrepareArgs args) {
  cambi_prepare<uint8_t>(args);
}
GPU_KERNEL void GPU_BOUNDS(kCambiThreads, 4) cambi_prepare_16(CambiPrepareArgs args) {
  cambi_prepare<uint16_t>(args);
}
GPU_KERNEL void GPU_BOUNDS(kCambiThreads, 4) cambi_halve_plane(CambiHalveArgs args) { cambi_halve(args); }

// Named by how many columns of a row a thread looks at; for 4 contrasts, and for any number.
GPU_KERNEL void GPU_BOUNDS(64, 16) cambi_count_2(CambiCountArgs args) { cambi_count<2, 4>(args); }
GPU_KERNEL void GPU_BOUNDS(64, 16) cambi_count_3(CambiCountArgs args) { cambi_count<3, 4>(args); }
GPU_KERNEL void GPU_BOUNDS(64, 16) cambi_count_any(CambiCountArgs args) { cambi_count<3, 0>(args); }

GPU_KERNEL void GPU_BOUNDS(kCambiThreads, 4) cambi_digits(CambiPoolArgs args) { cambi_count_digits(args); }
GPU_KERNEL void GPU_BOUNDS(kCambiThreads, 4) cambi_digit(CambiPoolArgs args) { cambi_find_digit(args); }
GPU_KERNEL void GPU_BOUNDS(kCambiThreads, 4) cambi_sum(CambiPoolArgs args) { cambi_sum_values(args); }
