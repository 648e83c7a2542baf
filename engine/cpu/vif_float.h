// Float VIF on the CPU: what vif_float_metric.cpp, compiled for the baseline, calls of vif_float.cpp, compiled for
// each instruction set.
#pragma once
#include <cstddef>
#include <cstdint>

#include "engine/arith/vif_float.h"
#include "engine/cpu/float_scale.h"
#include "engine/metric.h"

namespace vmafhip {

// One picture on one scale: samples as they come, or floats in frame memory.
struct VifFloatPicture {
  PlaneView samples;
  const float *floats = nullptr;  // instead of samples; rows are VifFloatStrip::stride floats apart
  float *half = nullptr;          // the next scale, to be written
};

// Some rows of one scale.
struct VifFloatStrip {
  int width, height;
  int first, last;                  // rows; first is even
  const VifFloatPicture *pictures;  // the reference, then `distorted` pictures
  int distorted;
  ptrdiff_t stride, half_stride;  // vif_float_stride() of the widths of this scale and of the next
  const FloatFilter *filter;      // null: nothing is measured
  const FloatFilter *next;        // filter of the next scale; null: there is none
  const VifFloatTerms *terms;
  // Results: sums of rows. `num` holds those of `height` rows for each distorted picture.
  float *num, *den;
  std::byte *scratch;
};

// Some rows of one picture, rescaled.
struct VifFloatScaling {
  PlaneView samples;
  FloatScaling method;
  const FloatScaleAxis *columns, *rows;
  int first, last;
  float *to;  // the whole plane, rows `stride` floats apart
  ptrdiff_t stride;
  std::byte *scratch;
};

struct VifFloatKernels {
  // For rows of `width` samples before they are rescaled.
  size_t (*scaling_scratch_bytes)(int width);
  void (*scale)(const VifFloatScaling &scaling);
  // For rows of up to `width` samples, and filters of radii up to `radius`.
  size_t (*scratch_bytes)(int width, int radius, int distorted);
  void (*measure)(const VifFloatStrip &strip);
};

// Floats from row to row: with room for whole vectors behind the last sample, and an odd number of cache lines, so
// that neighbouring rows do not fall into the same sets of the cache.
constexpr ptrdiff_t vif_float_stride(int width) { return (width + 31) / 32 * 32 + 16; }

}  // namespace vmafhip
