#include "kernels/motion.hip"

#include "tests/hipsim/image.h"

HIPSIM_IMAGE(motion, HIPSIM_KERNEL(motion_8), HIPSIM_KERNEL(motion_16))
