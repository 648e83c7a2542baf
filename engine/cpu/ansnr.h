// float_ansnr on the CPU: what a strip is, between the metric (ansnr_metric.cpp, compiled for the baseline) and the
// kernel (ansnr.cpp, compiled for each instruction set).
#pragma once
#include <cstddef>

#include "engine/arith/ansnr.h"
#include "engine/metric.h"

namespace vmafhip {

// Rows [first, last) of a reference and a distorted picture.
struct AnsnrStrip {
  PlaneView ref, dist;
  int first, last;
  std::byte *scratch;
  // Results: the sums of row y at [y].
  float *signal, *noise;
};

struct AnsnrKernels {
  size_t (*scratch_bytes)(int width);
  void (*measure)(const AnsnrStrip &strip);
};

}  // namespace vmafhip
