// Float ADM on the CPU: what a strip is, between the metric (adm_float_metric.cpp, compiled for the baseline) and the
// kernel (adm_float.cpp, compiled for each instruction set).
#pragma once
#include <cstddef>

#include "engine/arith/adm_float.h"
#include "engine/metric.h"

namespace vmafhip {

// Some rows of the bands of one scale. Low bands and the sums of rows go to the frame's memory, and a scale needs all
// rows of the one before from there.
struct AdmFloatStrip {
  const FrameView &frame;
  const AdmFloatParams &params;
  int distorted;  // pictures that the memory has room for
  int scale;
  int first, last;          // band rows, end exclusive
  std::byte *frame_memory;  // AdmFloatKernels::frame_bytes()
  std::byte *scratch;       // AdmFloatKernels::scratch_bytes()
};

struct AdmFloatKernels {
  size_t (*scratch_bytes)(const AdmFloatParams &params, int distorted);
  size_t (*frame_bytes)(const AdmFloatParams &params, int distorted);
  void (*measure)(const AdmFloatStrip &strip);
  // Adds up the sums of all rows, once all strips are done: AdmFloatSums for each of `pictures` distorted pictures.
  void (*total)(const AdmFloatParams &params, int distorted, int pictures, std::byte *frame_memory,
                std::byte *sums);
  // real_power(), for tests.
  float (*power)(float v, float exponent);
};

}  // namespace vmafhip
