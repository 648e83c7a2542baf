// Motion on the CPU: what motion_metric.cpp, compiled for the baseline, calls of motion.cpp, compiled for each
// instruction set.
#pragma once
#include <cstddef>
#include <cstdint>

#include "engine/arith/motion.h"
#include "engine/metric.h"

namespace vmafhip {

struct MotionKernels {
  size_t (*scratch_bytes)(int width, int height);
  // Rows [first, last) of the picture.
  uint64_t (*sad)(const PlaneView &earlier, const PlaneView &current, int first, int last,
                  std::byte *scratch);
};

}  // namespace vmafhip
