#include "kernels/vif.hip"

#include "tests/hipsim/image.h"

#if defined(GPU_AMD)
#define OF_NVIDIA(name)
#else
#define OF_NVIDIA(name) HIPSIM_KERNEL(name),
#endif

HIPSIM_IMAGE(vif,
             OF_NVIDIA(vif_scale0_8_several) OF_NVIDIA(vif_scale0_16_several) OF_NVIDIA(vif_scale1_several)
                 OF_NVIDIA(vif_scale2_several) OF_NVIDIA(vif_scale3_several) OF_NVIDIA(vif_scale0_matrix_8)
                     OF_NVIDIA(vif_scale0_matrix_12) OF_NVIDIA(vif_scale0_matrix_16)
                         OF_NVIDIA(vif_scale0_matrix_8_limits) OF_NVIDIA(vif_scale0_matrix_12_limits)
                             OF_NVIDIA(vif_scale0_matrix_16_limits) HIPSIM_KERNEL(vif_scale0_8),
             HIPSIM_KERNEL(vif_scale0_matrix64_8), HIPSIM_KERNEL(vif_scale0_matrix64_12),
             HIPSIM_KERNEL(vif_scale0_matrix64_16), HIPSIM_KERNEL(vif_scale0_matrix64_8_limits),
             HIPSIM_KERNEL(vif_scale0_matrix64_12_limits), HIPSIM_KERNEL(vif_scale0_matrix64_16_limits),
             HIPSIM_KERNEL(vif_scale0_16), HIPSIM_KERNEL(vif_scale1), HIPSIM_KERNEL(vif_scale2),
             HIPSIM_KERNEL(vif_scale3), HIPSIM_KERNEL(vif_halve_8), HIPSIM_KERNEL(vif_halve_16),
             HIPSIM_KERNEL(vif_scale0_8_limits), HIPSIM_KERNEL(vif_scale0_16_limits),
             HIPSIM_KERNEL(vif_scale1_limits), HIPSIM_KERNEL(vif_scale2_limits),
             HIPSIM_KERNEL(vif_scale3_limits))
