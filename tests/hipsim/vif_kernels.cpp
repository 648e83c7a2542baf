#include "kernels/vif.hip"

#include "tests/hipsim/image.h"

HIPSIM_IMAGE(vif, HIPSIM_KERNEL(vif_scale0_8), HIPSIM_KERNEL(vif_scale0_16), HIPSIM_KERNEL(vif_scale1),
             HIPSIM_KERNEL(vif_scale2), HIPSIM_KERNEL(vif_scale3), HIPSIM_KERNEL(vif_scale0_8_several),
             HIPSIM_KERNEL(vif_scale0_16_several), HIPSIM_KERNEL(vif_scale1_several),
             HIPSIM_KERNEL(vif_scale2_several), HIPSIM_KERNEL(vif_scale3_several), HIPSIM_KERNEL(vif_halve_8),
             HIPSIM_KERNEL(vif_halve_16), HIPSIM_KERNEL(vif_scale0_matrix_8),
             HIPSIM_KERNEL(vif_scale0_matrix_12), HIPSIM_KERNEL(vif_scale0_matrix_16),
             HIPSIM_KERNEL(vif_scale0_8_limits), HIPSIM_KERNEL(vif_scale0_16_limits),
             HIPSIM_KERNEL(vif_scale1_limits), HIPSIM_KERNEL(vif_scale2_limits),
             HIPSIM_KERNEL(vif_scale3_limits), HIPSIM_KERNEL(vif_scale0_matrix_8_limits),
             HIPSIM_KERNEL(vif_scale0_matrix_12_limits), HIPSIM_KERNEL(vif_scale0_matrix_16_limits))
