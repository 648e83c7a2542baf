// Launch arguments of SpEED: planes of pictures are reduced and analysed, many at once, then compared in pairs.
#pragma once
#include "engine/arith/speed_blocks.h"
#include "kernels/args.h"
#include "kernels/float_scale_args.h"

namespace vmafhip {

// What a launch takes: blockIdx.z is the plane, or the pair of planes.
constexpr int kSpeedMostPlanes = 64;

// Where the parts of an analysed plane lie in its memory, in floats.
struct SpeedLayout {
  int32_t coarse = 0,
          centred = 0;     // the coarse scale, and the same without its local mean; shape.columns a row
  int32_t means = 0;       // by offset
  int32_t covariance = 0;  // SpeedMatrix
  int32_t eigenvalues = 0;
  int32_t factors = 0;                // SpeedFactors
  int32_t singular = 0;               // as int32_t: by the eigenvalues, and by the factors
  int32_t variance = 0, entropy = 0;  // by block
};
constexpr int kSpeedMatrixFloats = sizeof(SpeedMatrix) / sizeof(float);
constexpr int kSpeedFactorsFloats = sizeof(SpeedFactors) / sizeof(float);

struct SpeedReduceArgs {
  struct Plane {
    DevicePlane plane, minus;  // minus: subtracted; null: the middle of the range is
    DeviceAddress<float> memory;
  } planes[kSpeedMostPlanes];
  FloatFilter antialias;
  FloatScaleArgs scale;  // only if the shape is prescaled
  SpeedShape shape;
  SpeedLayout layout;
  int32_t depth;
};
static_assert(sizeof(SpeedReduceArgs) <= 4096);

struct SpeedArgs {
  DeviceAddress<float> memory[kSpeedMostPlanes];
  FloatFilter local_mean;
  SpeedShape shape;
  SpeedLayout layout;
  float sigma;
};
static_assert(sizeof(SpeedArgs) <= 4096);

struct SpeedScoreArgs {
  struct Pair {
    DeviceAddress<float> ref, dist;  // memory of analysed planes
    DeviceAddress<SpeedSums> sums;
    int64_t plane;  // of the sums
  } pairs[kSpeedMostPlanes];
  SpeedLayout layout;
  int32_t blocks, weight_mode;
  float base;  // speed_base()
};
static_assert(sizeof(SpeedScoreArgs) <= 4096);

// speed_reduce: a block gives so many samples of a row of the coarse scale.
constexpr int kSpeedReduceThreads = 256;
constexpr int kSpeedReduceColumns = 16;
// speed_local_mean, speed_score.
constexpr int kSpeedThreads = 256;
// speed_means: a block a plane. speed_covariance: a sum a thread.
constexpr int kSpeedSumThreads = 128;
constexpr int kSpeedProducts = kSpeedOffsets * (kSpeedOffsets + 1) / 2;
constexpr int kSpeedProductBlocks = (kSpeedProducts + kSpeedSumThreads - 1) / kSpeedSumThreads;
// speed_solve: an element of a matrix a thread; block 0 finds the eigenvalues, block 1 the factors.
constexpr int kSpeedSolveThreads = 640;
static_assert(kSpeedSolveThreads >= kSpeedOffsets * kSpeedOffsets);
// speed_blocks: a block of samples a thread.
constexpr int kSpeedBlockThreads = 64;

}  // namespace vmafhip
