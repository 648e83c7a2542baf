// Sums over planes: what psnr_metric.cpp, compiled for the baseline, calls of psnr.cpp, compiled for each instruction
// set. All are over rows [first, last).
#pragma once
#include <cstdint>

#include "engine/arith/psnr.h"
#include "engine/metric.h"

namespace vmafhip {

struct PsnrKernels {
  // Of (a - b)^2.
  uint64_t (*squares)(const PlaneView &a, const PlaneView &b, int first, int last);
  // Each rounded to f32.
  uint64_t (*rounded_squares)(const PlaneView &a, const PlaneView &b, int first, int last);
  Moments (*moments)(const PlaneView &plane, int first, int last);
};

}  // namespace vmafhip
