#include "tests/hipsim/broken.hip"
#include "tests/hipsim/demo.hip"
#include "tests/hipsim/image.h"

namespace vmafhip {
HIPSIM_IMAGE(hipsim_demo, HIPSIM_KERNEL(hipsim_demo), HIPSIM_KERNEL(hipsim_store),
             HIPSIM_KERNEL(hipsim_no_barrier), HIPSIM_KERNEL(hipsim_two_barriers),
             HIPSIM_KERNEL(hipsim_barrier_of_few), HIPSIM_KERNEL(hipsim_exchange_of_few),
             HIPSIM_KERNEL(hipsim_two_exchanges), HIPSIM_KERNEL(hipsim_exchange_with_left),
             HIPSIM_KERNEL(hipsim_warp), HIPSIM_KERNEL(hipsim_warp_sum), HIPSIM_KERNEL(hipsim_unwritten),
             HIPSIM_KERNEL(hipsim_too_much_memory), HIPSIM_KERNEL(hipsim_deep_stack),
             HIPSIM_KERNEL(hipsim_matrix), HIPSIM_KERNEL(hipsim_signed_matrix))
}  // namespace vmafhip
