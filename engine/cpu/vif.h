// VIF on the CPU: what a strip is, between the metric (vif_metric.cpp, compiled for the baseline) and the kernel
// (vif.cpp, compiled for each instruction set).
#pragma once
#include <cstddef>
#include <cstdint>

#include "engine/arith/vif.h"
#include "engine/metric.h"

namespace vmafhip {

// One plane of one picture on one scale. On scale 0 it is the picture's own, on others samples of 16 bits minus
// 2^15, as signed numbers, in frame memory.
struct VifPicture {
  PlaneView plane;
  // Samples of the next scale, for the kernel to write; rows are half_stride samples apart and have room for
  // vif_half_stride() samples. Null: they are not wanted.
  int16_t *half;
};

// Some rows of one plane on one scale.
struct VifStrip {
  int scale;
  int first, last;  // rows; first is a multiple of 4, last too or the plane's height
  bool statistics;  // false: only samples of the next scale are wanted
  const double *gain_limits;
  int limits;
  const uint16_t *log_table;   // vif_fill_log_table()
  const VifPicture *pictures;  // the reference, then `distorted` pictures, all of the same size and depth
  int distorted;
  ptrdiff_t half_stride;
  std::byte *scratch;  // VifKernels::scratch_bytes()
  VifScaleSums *sums;  // result: for each distorted picture, one for each gain limit
};

// Samples of a row of a scale, with what vectors write behind its end.
constexpr ptrdiff_t vif_half_stride(int width) { return (width + 63) / 32 * 32; }

struct VifKernels {
  // Working memory for strips of planes up to `width`.
  size_t (*scratch_bytes)(int width, int distorted, int limits);
  void (*measure)(const VifStrip &strip);
  // The logarithms that the statistics use, for tests: vif_log2() of the numerator's numbers, and of the denominator's,
  // which are below 2^31.
  int32_t (*log2)(const uint16_t *log_table, uint64_t v);
  int32_t (*log2_below_31_bits)(const uint16_t *log_table, uint32_t v);
};

}  // namespace vmafhip
