#include "kernels/adm_float.hip"

#include "tests/hipsim/image.h"

HIPSIM_IMAGE(adm_float, HIPSIM_KERNEL(adm_float_8), HIPSIM_KERNEL(adm_float_16), HIPSIM_KERNEL(adm_float_32),
             HIPSIM_KERNEL(adm_float_power_8), HIPSIM_KERNEL(adm_float_power_16),
             HIPSIM_KERNEL(adm_float_power_32), HIPSIM_KERNEL(adm_float_low_8),
             HIPSIM_KERNEL(adm_float_low_16), HIPSIM_KERNEL(adm_float_low_32), HIPSIM_KERNEL(adm_float_total))
