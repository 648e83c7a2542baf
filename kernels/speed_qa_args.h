// Launch arguments of speed_qa: sums of each row of blocks of up to kSpeedQaMostPictures pictures; the host adds up the rows.
#pragma once
#include "engine/arith/speed_qa.h"
#include "kernels/args.h"

namespace vmafhip {

constexpr int kSpeedQaMostPictures = 64;  // blockIdx.z
constexpr int kSpeedQaThreads = 128;

struct SpeedQaArgs {
  struct Picture {
    DevicePlane plane, before;        // before: the picture before; null: there is none
    DeviceAddress<SpeedQaSums> rows;  // of blocks
  } pictures[kSpeedQaMostPictures];
  SpeedQaWeights weights;
  int32_t blocks;  // in a row
  int32_t depth;
};
static_assert(sizeof(SpeedQaArgs) <= 4096);

}  // namespace vmafhip
