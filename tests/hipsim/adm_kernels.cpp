#include "kernels/adm.hip"

#include "tests/hipsim/image.h"

namespace vmafhip {
HIPSIM_IMAGE(adm, HIPSIM_KERNEL(adm_scale0_8), HIPSIM_KERNEL(adm_scale0_16), HIPSIM_KERNEL(adm_scale1),
             HIPSIM_KERNEL(adm_scale2), HIPSIM_KERNEL(adm_scale3), HIPSIM_KERNEL(adm_scale0_8_limits),
             HIPSIM_KERNEL(adm_scale0_16_limits), HIPSIM_KERNEL(adm_scale1_limits),
             HIPSIM_KERNEL(adm_scale2_limits), HIPSIM_KERNEL(adm_scale3_limits), HIPSIM_KERNEL(adm_sum_rows))
}  // namespace vmafhip
