#include "kernels/speed.hip"

#include "tests/hipsim/image.h"

HIPSIM_IMAGE(speed, HIPSIM_KERNEL(speed_reduce_8), HIPSIM_KERNEL(speed_reduce_16),
             HIPSIM_KERNEL(speed_reduce_scaled_8), HIPSIM_KERNEL(speed_reduce_scaled_16),
             HIPSIM_KERNEL(speed_local_mean), HIPSIM_KERNEL(speed_means), HIPSIM_KERNEL(speed_covariance),
             HIPSIM_KERNEL(speed_solve), HIPSIM_KERNEL(speed_blocks), HIPSIM_KERNEL(speed_differences))
