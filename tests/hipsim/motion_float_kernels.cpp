#include "kernels/motion_float.hip"

#include "tests/hipsim/image.h"

HIPSIM_IMAGE(motion_float, HIPSIM_KERNEL(motion_float_1_8), HIPSIM_KERNEL(motion_float_1_16),
             HIPSIM_KERNEL(motion_float_3_8), HIPSIM_KERNEL(motion_float_3_16),
             HIPSIM_KERNEL(motion_float_5_8), HIPSIM_KERNEL(motion_float_5_16),
             HIPSIM_KERNEL(motion_float_half), HIPSIM_KERNEL(motion_float_total))
