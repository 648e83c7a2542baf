#include "kernels/ssimulacra2.hip"

#include "tests/hipsim/image.h"

HIPSIM_IMAGE(ssimulacra2, HIPSIM_KERNEL(ssimulacra2_colours_8), HIPSIM_KERNEL(ssimulacra2_colours_16),
             HIPSIM_KERNEL(ssimulacra2_more_rows), HIPSIM_KERNEL(ssimulacra2_rows),
             HIPSIM_KERNEL(ssimulacra2_columns), HIPSIM_KERNEL(ssimulacra2_sum))
