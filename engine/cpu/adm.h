// ADM on the CPU: what a strip is, between the metric (cpu.cpp, compiled for the baseline) and the kernel (adm.cpp,
// compiled for each instruction set).
#pragma once
#include <cstddef>

#include "engine/arith/adm.h"
#include "engine/metric.h"

namespace vmafhip {

// Some rows of the bands of one scale. Low bands go to the frame's memory, and a scale needs all rows of the one
// before from there.
struct AdmStrip {
  const FrameView &frame;
  const AdmParams &params;
  int distorted;  // pictures that the memory has room for
  int scale;
  int first, last;          // band rows, end exclusive
  std::byte *frame_memory;  // adm_frame_bytes()
  std::byte *scratch;       // adm_scratch_bytes()
  std::byte *partial;       // result: AdmSums for each distorted picture, 0 but for this scale
};

}  // namespace vmafhip
