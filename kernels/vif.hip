// Kernels of VIF: each scale, whatever the depth (engine/arith/vif.h has the definition).
#include "kernels/vif_filter.h"
#include "kernels/vif_matrix.h"

using namespace vmafhip;

// Registers for three blocks on a multiprocessor: with fewer blocks loads are not hidden, with more the sums spill.
GPU_KERNEL void GPU_BOUNDS(kVifThreads, 3) vif_scale0_8(VifArgs args) { vif_filter<0, uint8_t, true>(args); }
GPU_KERNEL void GPU_BOUNDS(kVifThreads, 3) vif_scale0_16(VifArgs args) {
  vif_filter<0, uint16_t, true>(args);
}
GPU_KERNEL void GPU_BOUNDS(kVifThreads, 3) vif_scale1(VifArgs args) { vif_filter<1, uint16_t, true>(args); }
GPU_KERNEL void GPU_BOUNDS(kVifThreads, 3) vif_scale2(VifArgs args) { vif_filter<2, uint16_t, true>(args); }
GPU_KERNEL void GPU_BOUNDS(kVifThreads, 3) vif_scale3(VifArgs args) { vif_filter<3, uint16_t, true>(args); }

// Scale 0 without its statistics (vif_skip_scale0): the planes of scale 1 alone.
GPU_KERNEL void GPU_BOUNDS(kVifThreads, 3) vif_halve_8(VifArgs args) { vif_filter<0, uint8_t, false>(args); }
GPU_KERNEL void GPU_BOUNDS(kVifThreads, 3) vif_halve_16(VifArgs args) {
  vif_filter<0, uint16_t, false>(args);
}

#if defined(GPU_HAS_MMA_U8)
GPU_KERNEL void GPU_BOUNDS(kVifMatrixThreads, 3) vif_scale0_matrix(VifArgs args) { vif_matrix(args); }
#endif
