// How the kernels of the float metrics cut planes. Their sums go along each row from left to right and then over the
// rows: a block takes a band of rows and walks along it, so that the sums of its rows need no other block.
#pragma once
#include "engine/arith/float_filter.h"
#include "kernels/args.h"

namespace vmafhip {

// At each step a thread takes a column of the band, the filters' radius on both sides among them; for row sums it takes
// kFloatTileRun neighbouring columns of one row.
constexpr int kFloatTileThreads = 256;
constexpr int kFloatTileRows = 8;
constexpr int kFloatTileRun = 8;
constexpr int kFloatTileRuns = kFloatTileThreads / kFloatTileRows;  // of a row; not all of them are in use
static_assert(kFloatTileRuns * kFloatTileRun == kFloatTileThreads);

VMAFHIP_HD constexpr int float_tile_bands(int height) {
  return (height + kFloatTileRows - 1) / kFloatTileRows;
}

// Columns of results at a step. kLength: taps, or 0 for a filter whose length the kernel is told at run time, which
// reads up to three columns beyond the last tap.
template <int kLength>
VMAFHIP_HD constexpr int float_tile_columns(int radius) {
  return (kFloatTileThreads - (kLength == 0 ? 4 : 0) - 2 * radius) / kFloatTileRun * kFloatTileRun;
}

// Where planes of floats have their rows, in floats: rows begin at multiples of 16 bytes.
VMAFHIP_HD constexpr int float_plane_stride(int width) { return (width + 3) / 4 * 4; }

}  // namespace vmafhip
