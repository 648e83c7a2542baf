// Launch arguments of SSIMULACRA 2, and where its planes lie in a frame's memory.
//
// Planes are of floats. Those of one kind are laid out alike: scale by scale, and in a scale one channel after the other.
#pragma once
#include "engine/arith/ssimulacra2.h"
#include "kernels/args.h"

namespace vmafhip {

// What is blurred of each channel: a, a^2, b, b^2, ab. Distorted pictures of a frame share the first two.
constexpr int kSsimulacra2Lines = 5, kSsimulacra2RefLines = 2;
// Sums over columns and the whole picture: maps and their 4th powers, of each channel.
constexpr int kSsimulacra2ScaleSums = kSsimulacra2Channels * 2 * kSsimulacra2Maps;

struct Ssimulacra2Plane {
  int32_t width, height;
  int32_t stride;   // floats from row to row, a multiple of kSsimulacra2Stride
  int32_t columns;  // where the scale's sums of columns begin, in doubles
  int64_t at;       // where the scale's planes begin, in floats, if there is one a channel
  struct Channel {
    int64_t ref_lines, lines;  // where what is blurred begins, in floats
    // Numbers of its first blocks when rows are blurred, of the first and of further distorted pictures, and columns.
    int32_t row_block, further_row_block, column_block;
    int32_t artefacts_alone;  // of the lines there are only a and b
  } channel[kSsimulacra2Channels];
};

struct Ssimulacra2Layout {
  Ssimulacra2Plane scale[kSsimulacra2Scales];
  int32_t scales;
};

GPU_BOTH inline int64_t ssimulacra2_plane_floats(const Ssimulacra2Plane &plane) {
  return static_cast<int64_t>(plane.stride) * plane.height;
}

// ---- Colours: a thread takes 4x4 pixels, a block a square of these, of which it makes all scales.

struct Ssimulacra2Source {
  DevicePlane planes[3];
  DeviceAddress<float> xyb;  // of all scales
};
constexpr int kSsimulacra2Sources = 48;

struct Ssimulacra2ColourArgs {
  Ssimulacra2Source sources[kSsimulacra2Sources];
  Ssimulacra2Layout layout;
  Ssimulacra2Range range;
  DeviceAddress<const Ssimulacra2Piece> curve;
  int32_t chroma_shift_x, chroma_shift_y;
};
static_assert(sizeof(Ssimulacra2ColourArgs) <= 4096);
constexpr int kSsimulacra2ColourSide = 16,
              kSsimulacra2ColourThreads = kSsimulacra2ColourSide * kSsimulacra2ColourSide;
constexpr int kSsimulacra2ColourTile = 4 * kSsimulacra2ColourSide;  // pixels
static_assert(kSsimulacra2ColourTile % (1 << (kSsimulacra2Scales - 1)) == 0);

// ---- Blurs and maps

struct Ssimulacra2Pair {
  DeviceAddress<const float> ref, dist;  // XYB of all scales
  DeviceAddress<float> ref_lines,
      lines;                      // blurred along rows: of the reference alone, and of the distorted picture
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
// Lines that have a thread each in a block of the kernels that blur, times kSsimulacra2Group: of all, and of those that a
// further distorted picture adds. A block takes kSsimulacra2Group rows, or columns; where there are fewer lines, more.
constexpr int kSsimulacra2Group = 64;
constexpr int kSsimulacra2BlurThreads = kSsimulacra2Lines * kSsimulacra2Group;
constexpr int kSsimulacra2MoreThreads = (kSsimulacra2Lines - kSsimulacra2RefLines) * kSsimulacra2Group;
// Columns that a block reads and writes at once while it goes along its rows.
constexpr int kSsimulacra2Tile = 16;

// Lines of a plane with all maps, or with artefacts alone: from the first, or from the first of a further distorted picture.
GPU_BOTH constexpr int ssimulacra2_lines(bool artefacts_alone, bool further) {
  return artefacts_alone ? (further ? 1 : 2) : kSsimulacra2Lines - (further ? kSsimulacra2RefLines : 0);
}
GPU_BOTH constexpr int ssimulacra2_group(bool artefacts_alone, bool further) {
  return (further ? kSsimulacra2MoreThreads : kSsimulacra2BlurThreads) /
         ssimulacra2_lines(artefacts_alone, further);
}

}  // namespace vmafhip
