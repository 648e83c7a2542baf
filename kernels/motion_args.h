// Launch arguments of motion: the luma of a frame and of one before it, for up to kMostPairs frames.
#pragma once
#include "engine/arith/motion.h"
#include "kernels/args.h"

namespace vmafhip {

// Blocks add to several copies of the sum, so that they seldom meet; the host adds these up.
constexpr int kMotionSlots = 16;

struct MotionPair {
  DevicePlane earlier, current;
  DeviceAddress<uint64_t> sad;  // kMotionSlots, zeroed
};

struct MotionArgs {
  MotionPair pairs[kMostPairs];
  int32_t width, height, depth;
};
static_assert(sizeof(MotionArgs) <= 4096);

// A thread has four columns of some rows. Columns and rows of which a block gives results; columns beside them are its halo:
// two are needed, four keep what a thread reads aligned.
constexpr int kMotionThreads = 256;
constexpr int kMotionColumns = 4, kMotionRows = 4;  // of a thread
constexpr int kMotionThreadsOfRow = 64;
constexpr int kMotionHalo = kMotionColumns;
constexpr int kMotionTileColumns = kMotionThreadsOfRow * kMotionColumns - 2 * kMotionHalo;
constexpr int kMotionTileRows = kMotionThreads / kMotionThreadsOfRow * kMotionRows;

}  // namespace vmafhip
