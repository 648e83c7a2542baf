// SpEED-QA, which speed_chroma and speed_temporal are: how differently two pictures, or two differences of pictures,
// carry information in blocks of 5x5 samples of a coarse scale.
//
// A plane is low-passed, reduced to every 16th sample and freed of its local mean. The covariance K of the 25 offsets
// in a block has eigenvalues (speed_eigen.h) and is solved for each block y (speed_blocks.h): s = y' K^-1 y / 25 is
// the block's variance and sum_k log2(eigenvalue_k * s + sigma) its entropy. A score is the mean difference of the
// entropies, weighted by log2(1 + s). All in f32, in the order written here, since results are no better
// conditioned than 1e-6.
#pragma once
#include <cstddef>
#include <cstdint>

#include "engine/arith/float_filter.h"
#include "engine/arith/float_scale.h"
#include "engine/arith/hd.h"
#include "engine/arith/log2.h"

namespace vmafhip {

constexpr int kSpeedStep = 16;  // every so many samples one is kept
constexpr int kSpeedBlock = 5;
constexpr int kSpeedOffsets = kSpeedBlock * kSpeedBlock;
// A block of samples on the coarse scale: what a plane must have, after prescaling.
constexpr int kSpeedMinSize = kSpeedStep * kSpeedBlock;

constexpr double kLog2TwoPiE = 4.0941911703612822;

struct SpeedParams {
  double kernel_scale = 1.0;  // one of kKernelScales
  double prescale = 1.0;      // 0.1 to 4
  FloatScaling method = FloatScaling::nearest;
  double sigma = 0.29;      // variance of the neural noise, 0.1 to 2
  double floor = 0.0;       // 0 to 1, of entropies that count as none
  double max_val = 1000.0;  // of any output
  int weight_mode = 0;      // 0 to 6, speed_weights()
  bool use_ref_diff = false;
};

// Sizes that follow from a plane's size.
struct SpeedShape {
  int from_width = 0, from_height = 0;
  int width = 0, height = 0;  // prescaled
  int columns = 0, rows = 0;  // of the coarse scale
  int across = 0, down = 0;   // blocks
  bool prescaled = false;

  constexpr int blocks() const { return across * down; }
  // Positions of a window of 5x5 within the blocks' area.
  constexpr int window_columns() const { return kSpeedBlock * across - (kSpeedBlock - 1); }
  constexpr int window_rows() const { return kSpeedBlock * down - (kSpeedBlock - 1); }
};

inline SpeedShape speed_shape(const SpeedParams &params, int width, int height) {
  SpeedShape shape;
  shape.from_width = shape.width = width;
  shape.from_height = shape.height = height;
  if (std::fabs(params.prescale - 1) >= 1e-3) {
    shape.width = float_scaled_size(width, params.prescale);
    shape.height = float_scaled_size(height, params.prescale);
  }
  shape.prescaled = shape.width != width || shape.height != height;
  shape.columns = shape.width / kSpeedStep;
  shape.rows = shape.height / kSpeedStep;
  shape.across = shape.columns / kSpeedBlock;
  shape.down = shape.rows / kSpeedBlock;
  return shape;
}

// What is measured of a chroma plane: of odd sizes the last column and row are left out, as in libvmaf.
struct SpeedPlaneSize {
  int width, height;
};
constexpr SpeedPlaneSize speed_chroma_size(int width, int height, bool half_width, bool half_height) {
  return {half_width ? width / 2 : width, half_height ? height / 2 : height};
}

// The low-pass before samples are dropped: twice as wide as its length would have it, sqrt(4) * length / 5.
inline FloatFilter speed_antialias(const SpeedParams &params) {
  const int length = filter_length(1, params.kernel_scale);
  return gaussian_filter(length, static_cast<float>(2.0 * length / 5));
}
// The local mean on the coarse scale. libvmaf knows no kernel scale that needs more than a radius of 4.
inline FloatFilter speed_local_mean(const SpeedParams &params) {
  const int length = filter_length(4, params.kernel_scale);
  return gaussian_filter(length, static_cast<float>(length) / 5);
}

// A sample as these metrics see it is (sample - offset) / 2^(depth - 8), offset being the middle of the range or the
// sample of another picture. It is exact, and so is moving the power of two into the taps.
VMAFHIP_HD constexpr int speed_middle(int depth) { return 1 << (depth - 1); }
VMAFHIP_HD constexpr float speed_unit(int depth) { return 1.0f / static_cast<float>(1 << (depth - 8)); }

// A distorted picture's score per plane, and whether one of the two planes compared was singular.
struct SpeedSums {
  float score[2];
  int32_t singular[2];
};

// What is known of a block.
struct SpeedBlockInfo {
  float variance, entropy;
};

// What is known of a plane: per block its variance s and entropy.
struct SpeedAnalysis {
  const float *variance, *entropy;
  bool singular;  // K has no inverse to speak of; all variances are 0
};

struct SpeedWeights {
  double ref, dist;
};

// 1 + s rounds to f32 but in modes 5 and 6, which are f64 throughout.
VMAFHIP_HD SpeedWeights speed_weights(int mode, float ref, float dist) {
  const auto of = [](float s) { return log2_of(static_cast<double>(1 + s)); };
  const auto mixed = [&](double share) { return log2_of((1 + share * ref) + (1 - share) * dist); };
  switch (mode) {
    case 1:
      return {of(ref), of(ref)};
    case 2:
      return {of(dist), of(dist)};
    case 3:
      return {of((ref + dist) / 2), of((ref + dist) / 2)};
    case 4:
      return {of(ref), of((ref + dist) / 2)};
    case 5:
      return {of(ref), mixed(0.75)};
    case 6:
      return {of(ref), mixed(0.25)};
    default:
      return {of(ref), of(dist)};
  }
}

// Entropy of a block of nothing but noise.
inline float speed_base(const SpeedParams &params) {
  const float sigma = static_cast<float>(params.sigma);
  const float variance = static_cast<float>(1 + params.floor) * sigma;
  return static_cast<float>(kSpeedOffsets * (log2_of(static_cast<double>(variance)) + kLog2TwoPiE));
}

// How much two blocks differ.
VMAFHIP_HD float speed_difference(int weight_mode, float base, const SpeedBlockInfo &ref,
                                  const SpeedBlockInfo &dist) {
  if (ref.entropy < base && dist.entropy < base) return 0;
  const SpeedWeights weights = speed_weights(weight_mode, ref.variance, dist.variance);
  const float r = static_cast<float>(ref.entropy * weights.ref);
  const float t = static_cast<float>(dist.entropy * weights.dist);
  return absolute(r - t);
}

inline float speed_score(const SpeedParams &params, int blocks, const SpeedAnalysis &ref,
                         const SpeedAnalysis &dist) {
  if (ref.singular != dist.singular) return 0;
  const float base = speed_base(params);
  float sum = 0;
  for (int j = 0; j < blocks; j++)
    sum += speed_difference(params.weight_mode, base, {ref.variance[j], ref.entropy[j]},
                            {dist.variance[j], dist.entropy[j]});
  return sum / static_cast<float>(blocks);
}

}  // namespace vmafhip
