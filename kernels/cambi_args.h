// Launch arguments of banding: one launch works on up to kMostPairs pictures, blockIdx.z, of one target size.
#pragma once
#include "engine/arith/cambi.h"
#include "kernels/args.h"

namespace vmafhip {

// ---- From samples to filtered codes with kCambiKept

struct CambiPrepareArgs {
  struct Picture {
    DevicePlane from;
    DeviceAddress<uint16_t> to;  // the first scale
  } pictures[kMostPairs];
  DeviceAddress<const int32_t> columns, rows;  // samples to take; null: all
  int32_t width, height;                       // of the target
  int32_t depth;
  int32_t step;  // 2: the first scale has half the target's size
  int32_t plane_width, plane_height, plane_stride;
  int32_t mask_limit;
  bool anti_dither;
};
static_assert(sizeof(CambiPrepareArgs) <= 4096);

constexpr int kCambiThreads = 256;
// Pixels of the target that a block works on.
constexpr int kCambiTileColumns = 64, kCambiTileRows = 16;

struct CambiHalveArgs {
  struct Picture {
    DeviceAddress<const uint16_t> from;
    DeviceAddress<uint16_t> to;
  } pictures[kMostPairs];
  int32_t from_stride;
  int32_t width, height, stride;
};
static_assert(sizeof(CambiHalveArgs) <= 4096);
constexpr int kCambiHalveColumns = 64, kCambiHalveRows = kCambiThreads / kCambiHalveColumns;

// ---- c-values

// A block is a warp, which has a strip of as many columns as it has threads, and walks down some rows of it. It does codes
// that lie close together: those of one share of the codes.
struct CambiCountArgs {
  struct Picture {
    DeviceAddress<const uint16_t> planes;
    DeviceAddress<float> values;  // zeroed
  } pictures[kMostPairs];
  struct Scale {
    int64_t plane_at, values_at;  // where it begins
    int32_t width, height, stride;
    int32_t strips, rows;  // of a block
    int32_t first_block;   // blockIdx.x
  } scales[kCambiScales];
  DeviceAddress<const float> reciprocals;  // cambi_reciprocal()
  int32_t reach;                           // of the window, on each side
  CambiCodes codes;                        // cambi_codes()
  int32_t brightest;                       // code that can have a c-value
  int32_t share;                           // codes that a block does
  int32_t contrasts, darkest;
  int32_t visible_up_to[kCambiMostContrasts];
};
static_assert(sizeof(CambiCountArgs) <= 4096);

// Counts of so many codes fit the memory of a block. Those that are compared with its own are among them.
GPU_BOTH constexpr int cambi_counted_codes(int warp_size) { return warp_size == 32 ? 136 : 96; }
static_assert(cambi_counted_codes(64) > 2 * kCambiMostContrasts);
// How many columns of a row each thread looks at, those of the window beside the strip among them.
GPU_BOTH constexpr int cambi_scans(int warp_size, int reach) {
  return 1 + (2 * reach + warp_size - 1) / warp_size;
}

// ---- The mean of the largest

// The smallest of the largest, digit by digit: of the first 16 bits, counted from below those of the smallest c-value, and
// twice of 8 further bits.
constexpr int kCambiDigits = 3, kCambiFirstDigits = 2048, kCambiOtherDigits = 256;
GPU_BOTH constexpr int cambi_digit_shift(int digit) { return 16 - 8 * digit; }
struct CambiDigits {
  uint32_t first[kCambiFirstDigits], others[kCambiDigits - 1][kCambiOtherDigits];
};

// What a scale of a picture comes to.
struct CambiFound {
  CambiSum above;     // of the values that are larger than the smallest
  uint64_t smallest;  // how many of the smallest count
  uint32_t bits;      // of the smallest; 0: all values count
};

struct CambiPoolArgs {
  struct Picture {
    DeviceAddress<const float> values;
    DeviceAddress<CambiDigits> digits;  // of each scale, zeroed
    DeviceAddress<CambiFound> found;    // of each scale, zeroed
  } pictures[kMostPairs];
  struct Scale {
    int64_t values_at;
    uint64_t top;
    uint32_t count;        // of values, in fours
    uint32_t first_block;  // blockIdx.x
  } scales[kCambiScales];
  int32_t digit;  // that is looked for
};
static_assert(sizeof(CambiPoolArgs) <= 4096);
// Values that a block takes, in fours.
constexpr uint32_t kCambiPoolFours = 16 * kCambiThreads;

}  // namespace vmafhip
