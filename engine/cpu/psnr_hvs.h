// psnr_hvs on the CPU: what psnr_hvs_metric.cpp, compiled for the baseline, calls of psnr_hvs.cpp, compiled for each
// instruction set.
//
// Blocks are numbered in raster order. Their terms lie in memory in groups of some blocks; kHvsGroup is a multiple of
// what any instruction set takes.
#pragma once
#include <cstddef>

#include "engine/metric.h"

namespace vmafhip {

constexpr int kHvsGroup = 32;

// Blocks [first, last) of one plane of a reference and a distorted picture; first is a multiple of kHvsGroup.
struct HvsStrip {
  const PlaneView *ref;
  const PlaneView *dist;  // one per distorted picture
  int distorted, plane;
  int64_t first, last;
  float *const *terms;  // results per distorted picture: those of block `first` and on
};

// A sum that goes on over blocks [next, last), counted from the first one that `terms` has.
struct HvsSum {
  const float *terms;
  int64_t next, last;
  float sum;
};

struct PsnrHvsKernels {
  void (*measure)(const HvsStrip &strip);
  // All to their ends.
  void (*add)(HvsSum *sums, int count);
};

}  // namespace vmafhip
