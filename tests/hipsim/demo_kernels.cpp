#include "tests/hipsim/demo.hip"

#include "tests/hipsim/image.h"

namespace vmafhip {
HIPSIM_IMAGE(hipsim_demo, HIPSIM_KERNEL(hipsim_demo))
}  // namespace vmafhip
