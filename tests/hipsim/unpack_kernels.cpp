#include "kernels/unpack.hip"

#include "tests/hipsim/image.h"

HIPSIM_IMAGE(unpack, HIPSIM_KERNEL(unpack_8), HIPSIM_KERNEL(unpack_16))
