#include "kernels/ciede.hip"

#include "tests/hipsim/image.h"

HIPSIM_IMAGE(ciede, HIPSIM_KERNEL(ciede_pixels_8), HIPSIM_KERNEL(ciede_pixels_16), HIPSIM_KERNEL(ciede_rows),
             HIPSIM_KERNEL(ciede_sum))
