#include "kernels/psnr.hip"

#include "tests/hipsim/image.h"

HIPSIM_IMAGE(psnr, HIPSIM_KERNEL(psnr_squares_8), HIPSIM_KERNEL(psnr_squares_16),
             HIPSIM_KERNEL(psnr_squares_rounded), HIPSIM_KERNEL(psnr_moments_8),
             HIPSIM_KERNEL(psnr_moments_16), HIPSIM_KERNEL(psnr_moments_rounded))
