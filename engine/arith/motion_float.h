// Float motion: how much the reference changes from frame to frame, as defined by libvmaf's `float_motion`.
//
// Both frames are low-pass filtered; the mean magnitude of their difference is the frame's motion, if wished with that
// of both chroma planes or of both at half size added. Samples are in steps of 8 bits whatever the depth, less 128,
// and everything per sample is f32.
//
// Sums: f32, along each row from left to right, then over the rows from top to bottom.
#pragma once
#include <cstdint>

#include "engine/arith/float_filter.h"
#include "engine/arith/motion.h"

namespace vmafhip {

struct MotionFloatParams : MotionParams {
  int filter_size = 5;  // 1: none; 3: three taps; else five
  bool add_scale1 = false;
  bool add_chroma = false;
};

inline FloatFilter motion_float_filter(int size) {
  if (size == 1) return {1, {1.0f}};
  if (size == 3) return {3, {0.166378498f, 0.667243004f, 0.166378498f}};
  return {5, {0.054488685f, 0.244201342f, 0.402619947f, 0.244201342f, 0.054488685f}};
}

// Planes as they are measured. Chroma of odd sizes is rounded down, unlike elsewhere.
struct MotionFloatShape {
  int planes;
  int width[3], height[3];

  static int half(int size) { return (size + 1) / 2; }  // of a plane at half size
};

inline MotionFloatShape motion_float_shape(int width, int height, bool half_width, bool half_height,
                                           const MotionFloatParams &params) {
  const int chroma_width = half_width ? width / 2 : width, chroma_height = half_height ? height / 2 : height;
  return {
      params.add_chroma ? 3 : 1, {width, chroma_width, chroma_width}, {height, chroma_height, chroma_height}};
}

struct MotionFloatSums {
  float sad[3];   // of each plane
  float half[3];  // of each plane at half size
};

// Mean magnitudes, one after the other.
inline double motion_float_score(const MotionFloatSums &sums, const MotionFloatShape &shape,
                                 const MotionFloatParams &params) {
  const auto mean = [](float sum, int width, int height) {
    return sum / static_cast<float>(static_cast<int64_t>(width) * height);
  };
  double motion = 0;
  for (int p = 0; p < shape.planes; p++) {
    const int w = shape.width[p], h = shape.height[p];
    float score = mean(sums.sad[p], w, h);
    if (params.add_scale1) score += mean(sums.half[p], MotionFloatShape::half(w), MotionFloatShape::half(h));
    motion += static_cast<double>(score);
  }
  return motion;
}

}  // namespace vmafhip
