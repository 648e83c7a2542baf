// CIEDE2000 on the CPU: what a strip is, between the metric (ciede_metric.cpp, compiled for the baseline) and the
// kernel (ciede.cpp, compiled for each instruction set).
#pragma once
#include <cstddef>

#include "engine/arith/ciede.h"
#include "engine/metric.h"

namespace vmafhip {

struct CiedeStrip {
  const FrameView &frame;
  const CiedeShape &shape;
  int first, last;     // rows
  double *rows;        // result: sums of all rows of the first distorted picture, then of the next
  std::byte *scratch;  // CiedeKernels::scratch_bytes()
};

struct CiedeKernels {
  size_t (*scratch_bytes)(int width);
  void (*strip)(const CiedeStrip &strip);
};

}  // namespace vmafhip
