// Integer structural similarity on the CPU: what ssim_integer_metric.cpp, compiled for the baseline, calls of
// ssim_integer.cpp, compiled for each instruction set.
#pragma once
#include <cstddef>

#include "engine/arith/ssim_integer.h"
#include "engine/metric.h"

namespace vmafhip {

constexpr int kSsimIntegerStripRows = 96;

struct SsimIntegerKernels {
  size_t (*scratch_bytes)();
  // Sums of rows [first, last), kSsimIntegerStripRows at most, to rows[first] and so on.
  void (*measure)(const PlaneView &a, const PlaneView &b, int first, int last, double *rows,
                  std::byte *scratch);
};

}  // namespace vmafhip
