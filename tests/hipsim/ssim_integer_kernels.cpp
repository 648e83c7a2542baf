#include "kernels/ssim_integer.hip"

#include "tests/hipsim/image.h"

HIPSIM_IMAGE(ssim_integer, HIPSIM_KERNEL(ssim_integer_terms_8), HIPSIM_KERNEL(ssim_integer_terms_16),
             HIPSIM_KERNEL(ssim_integer_rows), HIPSIM_KERNEL(ssim_integer_sum))
