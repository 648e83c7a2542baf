#include "kernels/ssim.hip"

#include "tests/hipsim/image.h"

HIPSIM_IMAGE(ssim, HIPSIM_KERNEL(ssim_windows_8), HIPSIM_KERNEL(ssim_windows_16),
             HIPSIM_KERNEL(ssim_windows_32), HIPSIM_KERNEL(ssim_windows_cs_8),
             HIPSIM_KERNEL(ssim_windows_cs_16), HIPSIM_KERNEL(ssim_windows_cs_32), HIPSIM_KERNEL(ssim_half_8),
             HIPSIM_KERNEL(ssim_half_16), HIPSIM_KERNEL(ssim_half_32), HIPSIM_KERNEL(ssim_box_8),
             HIPSIM_KERNEL(ssim_box_16), HIPSIM_KERNEL(ssim_rows), HIPSIM_KERNEL(ssim_total))
