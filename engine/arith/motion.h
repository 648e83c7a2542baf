// Integer motion: how much the reference changes from frame to frame, as defined by libvmaf's `motion`.
//
// The difference earlier - current is low-pass filtered, rows first, and the mean of its magnitude is the frame's
// motion. motion2 takes the smaller of two neighbouring frames, motion3 blends and may smooth it.
// Both roundings are floors of signed values: sad(earlier, current) is not exactly sad(current, earlier).
#pragma once
#include <cstdint>

#include "engine/arith/hd.h"

namespace vmafhip {

constexpr int kMotionMinSize = 3;
constexpr int kMotionRadius = 2;
// Half of the symmetric low-pass, centre last, in units of 2^-16.
VMAFHIP_TABLE int16_t kMotionTaps[3] = {3571, 16004, 26386};
static_assert(2 * (kMotionTaps[0] + kMotionTaps[1]) + kMotionTaps[2] == 65536);

struct MotionParams {
  bool force_zero = false;
  double blend_factor = 1.0;   // 0 to 1: weight of motion beyond blend_offset
  double blend_offset = 40.0;  // 0 to 1000
  double fps_weight = 1.0;     // 0 to 5
  double max_val = 10000.0;    // 0 to 10000
  bool five_frame_window = false;
  bool moving_average = false;
};

// Frames between the two that are compared.
VMAFHIP_HD int motion_lag(const MotionParams &params) { return params.five_frame_window ? 2 : 1; }

struct MotionSums {
  uint64_t sad;  // sum of magnitudes of the filtered difference, in 1/256 of an 8-bit step
};

// A difference of up to 17 bits, cut in two halves that fit i16: d = 256 * high + low.
VMAFHIP_HD constexpr int16_t motion_high(int32_t d) { return static_cast<int16_t>(d >> 8); }
VMAFHIP_HD constexpr int16_t motion_low(int32_t d) { return static_cast<int16_t>(d & 255); }

// (sum of taps * d + 2^15) >> 16, from the sums over high and low halves: both floors nest exactly.
VMAFHIP_HD constexpr int32_t motion_join(int32_t high, int32_t low) {
  return (high + ((low + 32768) >> 8)) >> 8;
}

inline double motion_score(const MotionSums &sums, int width, int height, const MotionParams &params) {
  const double pixels = static_cast<double>(static_cast<unsigned>(width) * static_cast<unsigned>(height));
  return smaller((static_cast<double>(sums.sad) / 256.0) / pixels * params.fps_weight, params.max_val);
}

inline double motion_blend(double motion, const MotionParams &params) {
  const double blended =
      motion * params.blend_factor + (1 - params.blend_factor) * smaller(params.blend_offset, motion);
  return smaller(blended, params.max_val);
}

}  // namespace vmafhip
