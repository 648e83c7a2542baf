// Scaling on the CPU: a plane's tables, made once, and a strip of its rows as work.
#pragma once
#include <cstddef>
#include <cstdint>

#include "engine/picture.h"

namespace vmafhip {

// Outputs whose pairs of weights lie together, and by which rows are padded.
constexpr int kScaleGroup = 16;
// Up to so many inputs an output, groups exist.
constexpr int kScalePairRatio = 4;
// What may be read beyond the last input that has a weight, and weights are padded to where there are no groups.
constexpr int kScaleBeyond = 96, kScaleWeightPad = 32;

// One direction.
struct ScaleAxis {
  int in = 0, out = 0;
  int taps = 0;  // even; 0: it keeps its size
  int stride =
      0;  // weights from one output to the next: `taps`, or a multiple of kScaleWeightPad, zeros behind
  const int32_t *first = nullptr;    // per output, rounded up to whole groups: the input of its first weight
  const int16_t *weights = nullptr;  // per output
  // Two neighbouring weights each, [group][pair][output of the group]; null if there are no groups.
  const int32_t *pairs = nullptr;
};

struct ScalePlan {
  ScaleAxis x, y;
  int from_depth = 8, to_depth = 8;
};

struct ScaleStrip {
  const ScalePlan &plan;
  const Plane &plane;
  int low_bits;    // Picture::shift
  std::byte *out;  // the whole plane
  int first, last;
  std::byte *scratch;
};

struct ScaleKernels {
  size_t (*scratch_bytes)(const ScalePlan &plan);
  void (*scale)(const ScaleStrip &strip);
};

}  // namespace vmafhip
