#include "kernels/psnr_hvs.hip"

#include "tests/hipsim/image.h"

HIPSIM_IMAGE(psnr_hvs, HIPSIM_KERNEL(psnr_hvs_terms_8), HIPSIM_KERNEL(psnr_hvs_terms_16),
             HIPSIM_KERNEL(psnr_hvs_sum))
