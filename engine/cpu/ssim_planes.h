// Planes that structural similarity reads: samples of a picture, or floats. Compiled for each instruction set.
#pragma once
#include <cstring>

#include "engine/cpu/float_samples.h"
#include "engine/cpu/ssim.h"

namespace vmafhip {
namespace {

// `count` neighbouring samples of a row; nothing else is read or written.
inline void ssim_read(const SsimPlane &plane, int x, int y, int count, float *to) {
  if (plane.floats) {
    std::memcpy(to, plane.floats + y * plane.stride + x, static_cast<size_t>(count) * sizeof(float));
    return;
  }
  const float step = float_sample_step(plane.samples.depth);
  if (plane.samples.depth == 8)
    read_float_samples(row_of<uint8_t>(plane.samples, y) + x, count, step, 0.0f, to);
  else
    read_float_samples(row_of<uint16_t>(plane.samples, y) + x, count, step, 0.0f, to);
}

}  // namespace
}  // namespace vmafhip
