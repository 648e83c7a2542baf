// ADM on the CPU: what a strip is, between the metric (adm_metric.cpp, compiled for the baseline) and the kernel (adm.cpp,
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
  const AdmParams &params;  // but for the gain limit
  const double *gain_limits;
  int limits;
  int distorted;  // pictures that the memory has room for
  int scale;
  int first, last;          // band rows, end exclusive
  std::byte *frame_memory;  // AdmKernels::frame_bytes()
  std::byte *scratch;       // AdmKernels::scratch_bytes()
  AdmScaleSums *sums;       // result: for each distorted picture, one for each gain limit
};

struct AdmKernels {
  size_t (*scratch_bytes)(const AdmParams &params, int distorted, int limits);
  size_t (*frame_bytes)(const AdmParams &params, int distorted);
  void (*measure)(const AdmStrip &strip);
};

}  // namespace vmafhip
