#include "kernels/cambi.hip"

#include "tests/hipsim/image.h"

HIPSIM_IMAGE(cambi, HIPSIM_KERNEL(cambi_prepare_8), HIPSIM_KERNEL(cambi_prepare_16),
             HIPSIM_KERNEL(cambi_halve_plane), HIPSIM_KERNEL(cambi_count_2), HIPSIM_KERNEL(cambi_count_3),
             HIPSIM_KERNEL(cambi_count_any), HIPSIM_KERNEL(cambi_digits), HIPSIM_KERNEL(cambi_digit),
             HIPSIM_KERNEL(cambi_sum))
