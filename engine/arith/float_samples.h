// Samples as the float metrics take them: in steps of 8-bit video whatever the depth, moved by an offset.
//
// All of it is exact in f32: a sample has at most 16 bits, the step is a power of 2, and the offset, an integer of
// at most 128, leaves no more than 17.
#pragma once
#include "engine/arith/real.h"

namespace vmafhip {

// What metrics that look at contrast subtract from a sample.
constexpr float kFloatSampleMiddle = 128.0f;

// What a step of a sample is worth: 1, 1/4, 1/16 and 1/256 at 8, 10, 12 and 16 bits.
VMAFHIP_HD constexpr float float_sample_step(int depth) {
  return 1.0f / static_cast<float>(1 << (depth - 8));
}

// `sample`: an integer held as a float.
template <class Real>
VMAFHIP_HD Real float_sample(Real sample, float step, float offset) {
  return sample * step + offset;
}

}  // namespace vmafhip
