// Launch arguments of structural similarity: planes of up to kSsimPairs pairs, and planes that are made of others.
#pragma once
#include "engine/arith/ssim.h"
#include "engine/arith/ssim_decimate.h"
#include "kernels/args.h"

namespace vmafhip {

constexpr int kSsimPairs = 64;
constexpr int kSsimPlanes = 96;

// A block walks down a band of windows, a block of the sums' columns (kSsimBlock) wide, some rows at a step: each map of
// samples, squares and products has a thread for each column.
constexpr int kSsimThreads = 5 * kSsimBlock;
constexpr int kSsimBandStep = 8;
constexpr int kSsimRows = 8 * kSsimBandStep - kSsimMargin;

// Sums of rows: threads, and rows of a block.
constexpr int kSsimRowThreads = 256;
constexpr int kSsimSumRows = kSsimRowThreads / kSsimLanes;

// blockIdx: block of columns, band, pair; for the sums of rows: rows, 0, pair.
struct SsimArgs {
  struct Pair {
    DevicePlane ref, dist;
    // What lanes get of blocks: of each row for l, then for c, s and lcs, but those alone that are asked for.
    DeviceAddress<double> parts;
    DeviceAddress<double> rows;  // their sums
  } pairs[kSsimPairs];
  int32_t width, height;
  int32_t sums;  // of rows
  float step;
  SsimParts asked;
};

// The low-pass of 9 x 9: blockIdx: kSsimPlaneThreads columns, kSsimHalfRows rows, plane. The box: kSsimPlaneThreads
// columns, row, plane.
constexpr int kSsimPlaneThreads = 256;
constexpr int kSsimHalfRows = 16;

struct SsimPlaneArgs {
  struct Plane {
    DevicePlane from;
    DeviceAddress<float> to;
  } planes[kSsimPlanes];
  int32_t width, height;  // of `from`
  int32_t to_width, to_height, to_stride;
  int32_t factor;  // of the box
  float step;
};

static_assert(sizeof(SsimArgs) <= 4096 && sizeof(SsimPlaneArgs) <= 4096);

}  // namespace vmafhip
