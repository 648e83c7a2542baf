// Kernels of VIF: each scale, whatever the depth (engine/arith/vif.h has the definition).
#include "kernels/vif_filter.h"
#include "kernels/vif_matrix.h"
#include "kernels/vif_matrix_amd.h"
#include "kernels/vif_streams.h"

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

#if defined(GPU_AMD)
#define VIF_KERNEL(name, scale, Sample, statistics, limits)                                      \
  GPU_KERNEL void GPU_BOUNDS(kVifThreads, 1) GPU_WAVES(vif_waves(scale, sizeof(Sample), limits)) \
      name(VifArgs args) {                                                                       \
    vif_streams<scale, Sample, statistics, limits>(args);                                        \
  }
#else
#define VIF_KERNEL(name, scale, Sample, statistics, limits)     \
  GPU_KERNEL void VIF_BOUNDS(kVifThreads) name(VifArgs args) {  \
    vif_filter<scale, Sample, statistics, false, limits>(args); \
  }
#endif

VIF_KERNEL(vif_scale0_8, 0, uint8_t, true, 1)
VIF_KERNEL(vif_scale0_16, 0, uint16_t, true, 1)
VIF_KERNEL(vif_scale1, 1, uint16_t, true, 1)
VIF_KERNEL(vif_scale2, 2, uint16_t, true, 1)
VIF_KERNEL(vif_scale3, 3, uint16_t, true, 1)

// Two gain limits. Several pictures that share more of the reference's would take more registers than there are.
VIF_KERNEL(vif_scale0_8_limits, 0, uint8_t, true, 2)
VIF_KERNEL(vif_scale0_16_limits, 0, uint16_t, true, 2)
VIF_KERNEL(vif_scale1_limits, 1, uint16_t, true, 2)
VIF_KERNEL(vif_scale2_limits, 2, uint16_t, true, 2)
VIF_KERNEL(vif_scale3_limits, 3, uint16_t, true, 2)

// Scale 0 without its statistics (vif_skip_scale0): the planes of scale 1 alone.
VIF_KERNEL(vif_halve_8, 0, uint8_t, false, 1)
VIF_KERNEL(vif_halve_16, 0, uint16_t, false, 1)

#if !defined(GPU_AMD)
// Several distorted pictures of a reference.
#define VIF_KERNEL_OF_SEVERAL(name, scale, Sample)             \
  GPU_KERNEL void VIF_BOUNDS(kVifThreads) name(VifArgs args) { \
    vif_filter<scale, Sample, true, true, 1>(args);            \
  }

VIF_KERNEL_OF_SEVERAL(vif_scale0_8_several, 0, uint8_t)
VIF_KERNEL_OF_SEVERAL(vif_scale0_16_several, 0, uint16_t)
VIF_KERNEL_OF_SEVERAL(vif_scale1_several, 1, uint16_t)
VIF_KERNEL_OF_SEVERAL(vif_scale2_several, 2, uint16_t)
VIF_KERNEL_OF_SEVERAL(vif_scale3_several, 3, uint16_t)
#endif

#if defined(GPU_HAS_MMA_U8)
#define VIF_MATRIX_KERNEL(name, ...) \
  GPU_KERNEL void VIF_BOUNDS(kVifMatrixThreads) name(VifArgs args) { vif_matrix<__VA_ARGS__>(args); }

VIF_MATRIX_KERNEL(vif_scale0_matrix_8, uint8_t, 2, 1)
VIF_MATRIX_KERNEL(vif_scale0_matrix_12, uint16_t, 3, 1)
VIF_MATRIX_KERNEL(vif_scale0_matrix_16, uint16_t, 4, 1)
VIF_MATRIX_KERNEL(vif_scale0_matrix_8_limits, uint8_t, 2, 2)
VIF_MATRIX_KERNEL(vif_scale0_matrix_12_limits, uint16_t, 3, 2)
VIF_MATRIX_KERNEL(vif_scale0_matrix_16_limits, uint16_t, 4, 2)
#endif

#if defined(GPU_HAS_MMA_I8)
#define VIF_MATRIX64_KERNEL(name, ...)                                                  \
  GPU_KERNEL void GPU_BOUNDS(64 * kVifMatrixWarps, 1) GPU_WAVES(4) name(VifArgs args) { \
    vif_matrix_amd<__VA_ARGS__>(args);                                                  \
  }

VIF_MATRIX64_KERNEL(vif_scale0_matrix64_8, uint8_t, 2, 1)
VIF_MATRIX64_KERNEL(vif_scale0_matrix64_12, uint16_t, 3, 1)
VIF_MATRIX64_KERNEL(vif_scale0_matrix64_16, uint16_t, 4, 1)
VIF_MATRIX64_KERNEL(vif_scale0_matrix64_8_limits, uint8_t, 2, 2)
VIF_MATRIX64_KERNEL(vif_scale0_matrix64_12_limits, uint16_t, 3, 2)
VIF_MATRIX64_KERNEL(vif_scale0_matrix64_16_limits, uint16_t, 4, 2)
#endif
