#include "kernels/ansnr.hip"

#include "tests/hipsim/image.h"

HIPSIM_IMAGE(ansnr, HIPSIM_KERNEL(ansnr_rows_8), HIPSIM_KERNEL(ansnr_rows_16), HIPSIM_KERNEL(ansnr_sum))
