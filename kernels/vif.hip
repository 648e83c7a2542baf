// Kernels of VIF: each scale, whatever the depth (engine/arith/vif.h has the definition).
#include "kernels/vif_filter.h"
#include "kernels/vif_matrix.h"

using namespace vmafhip;

// Blocks for which a multiprocessor is to have registers. With less than three loads are not hidden, with more the sums
// spill; but some have shared memory for fewer.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define VIF_BOUNDS(threads) GPU_BOUNDS(threads, 1)
#elif defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1200)
#define VIF_BOUNDS(threads) GPU_BOUNDS(threads, 2)
#else
#define VIF_BOUNDS(threads) GPU_BOUNDS(threads, 3)
#endif

#define VIF_KERNEL(name, ...) \
  GPU_KERNEL void VIF_BOUNDS(kVifThreads) name(VifArgs args) { vif_filter<__VA_ARGS__>(args); }

VIF_KERNEL(vif_scale0_8, 0, uint8_t, true, false)
VIF_KERNEL(vif_scale0_16, 0, uint16_t, true, false)
VIF_KERNEL(vif_scale1, 1, uint16_t, true, false)
VIF_KERNEL(vif_scale2, 2, uint16_t, true, false)
VIF_KERNEL(vif_scale3, 3, uint16_t, true, false)

// Several distorted pictures of a reference.
VIF_KERNEL(vif_scale0_8_several, 0, uint8_t, true, true)
VIF_KERNEL(vif_scale0_16_several, 0, uint16_t, true, true)
VIF_KERNEL(vif_scale1_several, 1, uint16_t, true, true)
VIF_KERNEL(vif_scale2_several, 2, uint16_t, true, true)
VIF_KERNEL(vif_scale3_several, 3, uint16_t, true, true)

// Scale 0 without its statistics (vif_skip_scale0): the planes of scale 1 alone.
VIF_KERNEL(vif_halve_8, 0, uint8_t, false, false)
VIF_KERNEL(vif_halve_16, 0, uint16_t, false, false)

#if defined(GPU_HAS_MMA_U8)
#define VIF_MATRIX_KERNEL(name, ...) \
  GPU_KERNEL void VIF_BOUNDS(kVifMatrixThreads) name(VifArgs args) { vif_matrix<__VA_ARGS__>(args); }

VIF_MATRIX_KERNEL(vif_scale0_matrix_8, uint8_t, 2)
VIF_MATRIX_KERNEL(vif_scale0_matrix_12, uint16_t, 3)
VIF_MATRIX_KERNEL(vif_scale0_matrix_16, uint16_t, 4)
#endif
