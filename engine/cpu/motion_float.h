// Float motion on the CPU: what motion_float_metric.cpp, compiled for the baseline, calls of motion_float.cpp, compiled
// for each instruction set.
#pragma once
#include <cstddef>

#include "engine/arith/motion_float.h"
#include "engine/cpu/float_scale.h"
#include "engine/metric.h"

namespace vmafhip {

// Some rows of a plane of two frames.
struct MotionFloatStrip {
  PlaneView earlier, current;
  int width, height;  // of what is measured, which may leave out a last column or row
  int first, last;    // rows
  const FloatFilter *filter;
  float *sums;  // result: sums of rows, of the whole plane
  // Filtered planes, to be written; rows are `stride` floats apart. Null: they are not wanted.
  float *filtered[2];
  ptrdiff_t stride;
  std::byte *scratch;
};

// Some rows of two filtered planes at half size.
struct MotionFloatHalf {
  const float *filtered[2];
  ptrdiff_t stride;
  const FloatScaleAxis *columns, *rows;  // bilinear
  int first, last;
  float *sums;  // result: sums of rows, of the whole half plane
  std::byte *scratch;
};

struct MotionFloatKernels {
  // Of either.
  size_t (*scratch_bytes)(int width);
  void (*measure)(const MotionFloatStrip &strip);
  void (*measure_half)(const MotionFloatHalf &half);
};

// Floats from row to row, with room for whole vectors.
constexpr ptrdiff_t motion_float_stride(int width) { return (width + 15) / 16 * 16 + 16; }

}  // namespace vmafhip
