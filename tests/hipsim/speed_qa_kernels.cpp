#include "kernels/speed_qa.hip"

#include "tests/hipsim/image.h"

HIPSIM_IMAGE(speed_qa, HIPSIM_KERNEL(speed_qa_8), HIPSIM_KERNEL(speed_qa_16))
