#include "kernels/vif_float.hip"

#include "tests/hipsim/image.h"

HIPSIM_IMAGE(vif_float, HIPSIM_KERNEL(vif_float_17_8), HIPSIM_KERNEL(vif_float_17_16),
             HIPSIM_KERNEL(vif_float_17_32), HIPSIM_KERNEL(vif_float_9_32), HIPSIM_KERNEL(vif_float_5_32),
             HIPSIM_KERNEL(vif_float_3_32), HIPSIM_KERNEL(vif_float_any_8), HIPSIM_KERNEL(vif_float_any_16),
             HIPSIM_KERNEL(vif_float_any_32), HIPSIM_KERNEL(vif_float_half_9_8),
             HIPSIM_KERNEL(vif_float_half_9_16), HIPSIM_KERNEL(vif_float_half_9_32),
             HIPSIM_KERNEL(vif_float_half_5_32), HIPSIM_KERNEL(vif_float_half_3_32),
             HIPSIM_KERNEL(vif_float_half_any_8), HIPSIM_KERNEL(vif_float_half_any_16),
             HIPSIM_KERNEL(vif_float_half_any_32), HIPSIM_KERNEL(vif_float_scale_8),
             HIPSIM_KERNEL(vif_float_scale_16), HIPSIM_KERNEL(vif_float_total))
