// Structural similarity on the CPU: what ssim_metric.cpp, compiled for the baseline, calls of ssim.cpp, compiled for
// each instruction set.
#pragma once
#include <cstddef>

#include "engine/arith/ssim.h"
#include "engine/metric.h"

namespace vmafhip {

// A plane of samples or, decimated, of floats.
struct SsimPlane {
  PlaneView samples;              // data is null if there are floats
  const float *floats = nullptr;  // rows `stride` floats apart
  ptrdiff_t stride = 0;
  int width = 0, height = 0;
};

// Floats per row of a decimated plane: whole vectors may be written.
constexpr ptrdiff_t ssim_stride(int width) { return (static_cast<ptrdiff_t>(width) + 15) / 16 * 16; }

// Rows of windows [first, last) of a reference and distorted pictures.
constexpr int kSsimStripRows = 111;
struct SsimWindowStrip {
  const SsimPlane *planes;  // the reference, then the distorted ones
  int distorted;
  int first, last;  // kSsimStripRows at most
  SsimParts parts;
  SsimSums *rows;     // sums of all rows of windows; parts that are not asked for are 0
  ptrdiff_t of_next;  // from one distorted picture's rows to the next one's
  std::byte *scratch;
};

// Rows [first, last) of a decimated plane.
struct SsimDecimateStrip {
  SsimPlane from;
  int factor;  // 0: the low-pass of 9 x 9, else the box
  int width, first, last;
  float *to;
  ptrdiff_t stride;
  std::byte *scratch;
};

struct SsimKernels {
  size_t (*window_scratch_bytes)(int distorted);
  void (*windows)(const SsimWindowStrip &strip);
  // `width` of the plane that is decimated.
  size_t (*decimate_scratch_bytes)(int width);
  void (*decimate)(const SsimDecimateStrip &strip);
};

}  // namespace vmafhip
