// Kernels of VIF: each scale, whatever the depth (engine/arith/vif.h has the definition).
#include "kernels/vif_filter.h"
#include "kernels/vif_matrix.h"

using namespace vmafhip;

// Blocks for which a multiprocessor is to have registers. With less than three loads are not hidden, with more the sums
// spill; but some have shared memory for fewer.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr int kBlocks = 1;
#elif defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1200)
constexpr int kBlocks = 2;
#else
constexpr int kBlocks = 3;
#endif

GPU_KERNEL void GPU_BOUNDS(kVifThreads, kBlocks) vif_scale0_8(VifArgs args) {
  vif_filter<0, uint8_t, true>(args);
}
GPU_KERNEL void GPU_BOUNDS(kVifThreads, kBlocks) vif_scale0_16(VifArgs args) {
  vif_filter<0, uint16_t, true>(args);
}
GPU_KERNEL void GPU_BOUNDS(kVifThreads, kBlocks) vif_scale1(VifArgs args) {
  vif_filter<1, uint16_t, true>(args);
}
GPU_KERNEL void GPU_BOUNDS(kVifThreads, kBlocks) vif_scale2(VifArgs args) {
  vif_filter<2, uint16_t, true>(args);
}
GPU_KERNEL void GPU_BOUNDS(kVifThreads, kBlocks) vif_scale3(VifArgs args) {
  vif_filter<3, uint16_t, true>(args);
}

// Scale 0 without its statistics (vif_skip_scale0): the planes of scale 1 alone.
GPU_KERNEL void GPU_BOUNDS(kVifThreads, kBlocks) vif_halve_8(VifArgs args) {
  vif_filter<0, uint8_t, false>(args);
}
GPU_KERNEL void GPU_BOUNDS(kVifThreads, kBlocks) vif_halve_16(VifArgs args) {
  vif_filter<0, uint16_t, false>(args);
}

#if defined(GPU_HAS_MMA_U8)
GPU_KERNEL void GPU_BOUNDS(kVifMatrixThreads, kBlocks) vif_scale0_matrix(VifArgs args) { vif_matrix(args); }
#endif
