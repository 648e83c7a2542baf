// SSIMULACRA 2 on the CPU: what a scale is, between the metric (ssimulacra2_metric.cpp, compiled for the baseline) and
// the kernel (ssimulacra2.cpp, compiled for each instruction set).
#pragma once
#include <cstddef>

#include "engine/arith/ssimulacra2.h"
#include "engine/metric.h"

namespace vmafhip {

// One picture on one scale.
struct Ssimulacra2Picture {
  const Views *samples;  // on scale 0
  const float *rgb;      // on the others: planes R, G, B, each of `height` rows
  float *half;           // the same of the next scale, for the kernel to write; null: not wanted
};

struct Ssimulacra2Scale {
  int scale;
  int width, height;  // of this scale
  int chroma_shift_x, chroma_shift_y;
  const Ssimulacra2Range &range;
  const Ssimulacra2Piece *curve;       // ssimulacra2_fill_curve()
  const Ssimulacra2Picture *pictures;  // the reference, then `distorted` pictures
  int distorted;
  std::byte *scratch;     // Ssimulacra2Kernels::scratch_bytes()
  Ssimulacra2Sums *sums;  // this scale's are written, for each distorted picture
};

// Floats from row to row of a scale's plane: what vectors read and write behind its end belongs to it.
constexpr ptrdiff_t ssimulacra2_stride(int width) { return (width + 15) / 16 * 16; }

struct Ssimulacra2Kernels {
  size_t (*scratch_bytes)(int height, int distorted);
  void (*scale)(const Ssimulacra2Scale &scale);
};

}  // namespace vmafhip
