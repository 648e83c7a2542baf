// SpEED on the CPU: what speed_metric.cpp, compiled for the baseline, calls of speed.cpp, compiled for each
// instruction set.
#pragma once
#include <cstddef>
#include <cstdint>

#include "engine/arith/speed.h"
#include "engine/metric.h"

namespace vmafhip {

struct FloatScaleAxis;

// What planes of one size have in common.
struct SpeedSetup {
  SpeedParams params;
  SpeedShape shape;
  FloatFilter antialias, local_mean;
  const FloatScaleAxis *across = nullptr, *down = nullptr;  // null if nothing is prescaled
};

// Rows of a plane's coarse scale.
struct SpeedStrip {
  PlaneView plane;
  PlaneView minus;  // subtracted from `plane`; data is null: the middle of the range is
  int first, last;
  float *coarse;  // the whole plane's, shape.columns a row
};

struct SpeedKernels {
  size_t (*reduce_scratch_bytes)(const SpeedSetup &setup);
  void (*reduce)(const SpeedSetup &setup, const SpeedStrip &strip, std::byte *scratch);

  size_t (*analyse_scratch_bytes)(const SpeedSetup &setup);
  // Variance and entropy of each block, with room for kSpeedBeyond more. Returns whether the plane is singular.
  bool (*analyse)(const SpeedSetup &setup, const float *coarse, float *variance, float *entropy,
                  std::byte *scratch);
};

// Floats that vectors may write behind the results for blocks.
constexpr size_t kSpeedBeyond = 16;

}  // namespace vmafhip
