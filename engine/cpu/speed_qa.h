// speed_qa on the CPU: what speed_qa_metric.cpp, compiled for the baseline, calls of speed_qa.cpp, compiled for each
// instruction set.
#pragma once
#include <cstddef>
#include <cstdint>

#include "engine/arith/speed_qa.h"
#include "engine/metric.h"

namespace vmafhip {

struct SpeedQaKernels {
  size_t (*scratch_bytes)(int width);
  // Sum of the entropies of a row of blocks: of `plane`, or of its difference from `before` unless that has no data.
  double (*row)(const SpeedQaWeights &weights, const PlaneView &plane, const PlaneView &before, int row,
                std::byte *scratch);
};

}  // namespace vmafhip
