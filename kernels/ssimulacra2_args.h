// Launch arguments of SSIMULACRA 2, and where its planes lie in a frame's memory.
//
// Planes are of floats. Those of one kind are laid out alike: scale by scale, and in a scale one channel after the other.
#pragma once
#include "engine/arith/ssimulacra2.h"
#include "kernels/args.h"

namespace vmafhip {

// What is blurred of each channel: a, a^2, b, b^2, ab.
constexpr int kSsimulacra2Lines = 5;
// Sums over columns and the whole picture: maps and their 4th powers, of each channel.
constexpr int kSsimulacra2ScaleSums = kSsimulacra2Channels * 2 * kSsimulacra2Maps;

struct Ssimulacra2Plane {
  int32_t width, height;
  int32_t stride;  // floats from row to row, a multiple of kSsimulacra2Stride
  int32_t row_block,
      column_block;  // numbers of the scale's first blocks when rows, and when columns are blurred
  int32_t columns;   // where the scale's sums of columns begin, in doubles
  int64_t at;        // where the scale's planes begin, in floats, if there is one a channel
};

struct Ssimulacra2Layout {
  Ssimulacra2Plane scale[kSsimulacra2Scales];
  int32_t scales;
};

GPU_BOTH inline int64_t ssimulacra2_plane_floats(const Ssimulacra2Plane &plane) {
  return static_cast<int64_t>(plane.stride) * plane.height;
}

// ---- Colours: a thread takes 2x2 pixels of a scale and makes one of the next scale of them.

struct Ssimulacra2Source {
  DevicePlane planes[3];
  DeviceAddress<float> xyb;  // of all scales
  DeviceAddress<float> rgb;  // the same, scale 0 as if it were there
};
constexpr int kSsimulacra2Sources = 56;

struct Ssimulacra2ColourArgs {
  Ssimulacra2Source sources[kSsimulacra2Sources];
  Ssimulacra2Plane from, to;  // this scale and the next; to.width 0: there is none
  Ssimulacra2Range range;
  DeviceAddress<const Ssimulacra2Piece> curve;
  int32_t chroma_shift_x, chroma_shift_y;
};
static_assert(sizeof(Ssimulacra2ColourArgs) <= 4096);
constexpr int kSsimulacra2ColourThreads = 128;

// ---- Blurs and maps

struct Ssimulacra2Pair {
  DeviceAddress<const float> ref, dist;  // XYB of all scales
  DeviceAddress<float> lines;  // blurred along rows; where one plane is in `at`, kSsimulacra2Lines are here
  DeviceAddress<double> columns;  // sums: scale, channel, map, column (as many as the stride)
  DeviceAddress<double> sums;     // Ssimulacra2Sums
};

// Of the kernels that blur and of the one that sums.
struct Ssimulacra2PairArgs {
  Ssimulacra2Pair pairs[kMostPairs];
  Ssimulacra2Layout layout;
};
static_assert(sizeof(Ssimulacra2PairArgs) <= 4096);

constexpr int kSsimulacra2Stride = 32;
// Rows, or columns, of a block, one a thread.
constexpr int kSsimulacra2BlurThreads = 64;
// Columns that a block reads and writes at once while it goes along its rows.
constexpr int kSsimulacra2Tile = 16;

}  // namespace vmafhip
