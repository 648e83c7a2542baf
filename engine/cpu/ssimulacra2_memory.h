// SSIMULACRA 2's working memory on the CPU. A scale is done in strips of columns, from the left, and these in bands of
// rows, from the top, so that what the recursions carry along stays in the second-level cache: along columns it is kept
// for a strip, along rows it is put by between a strip and the next.
// Everything is local to the including file: it is compiled once per instruction set.
#pragma once
#include "engine/arith/ssimulacra2.h"
#include "engine/cpu/arena.h"
#include "engine/cpu/floats.h"

namespace vmafhip {
namespace {

constexpr int kBlock = 16;        // rows of a band, columns of a block
constexpr int kStripBlocks = 16;  // blocks of a strip
constexpr int kStripWidth = kStripBlocks * kBlock;
constexpr int kChannels = kSsimulacra2Channels, kMaps = kSsimulacra2Maps;
constexpr int kAhead = kSsimulacra2Ahead, kWindow = kSsimulacra2Window;
static_assert(kBlock % kFloats == 0);

// A recursion's state for kBlock lines, and the inputs of the last kWindow steps.
constexpr int kStateFloats = 6 * kBlock, kPastFloats = kWindow * kBlock;

// Lines that are blurred, of each channel: a, a^2, and b, b^2, ab for each distorted picture.
constexpr int lines_of(int distorted) { return 2 + 3 * distorted; }
// Of a or b itself.
constexpr bool is_mean(int line) { return line == 0 || (line >= 2 && line % 3 == 2); }

// The XYB rows of a strip: a band and the rows before it that outputs still need, each with columns of the strip before.
constexpr int kRingRows = kBlock + kAhead, kRingLead = 16;
constexpr int kRingWidth = kRingLead + kStripWidth;

struct Ssimulacra2Memory {
  int pictures, lines;
  float *ring;       // [picture][channel][row % kRingRows][kRingWidth]
  float *rgb;        // [row % 2][R, G, B][kStripWidth]
  float *coded[3];   // Y, U, V or positions on the curve of R, G, B
  uint64_t *pieces;  // of the curve, kStripWidth
  float *across;     // [band][channel][line] states along rows
  float *past;       // [band][channel][picture] inputs along rows
  float *edge;       // [row][picture][channel][kAhead] last columns of the strip before
  float *down;       // [block][channel][line] states along columns, then past inputs
  double *columns;   // [block][channel][distorted][map][kBlock] sums
  double *lanes;     // [channel][distorted][map][kSumLanes]
  float *blurred;    // [line][kBlock][kBlock]

  Ssimulacra2Memory(Arena *arena, int height, int distorted)
      : pictures(1 + distorted), lines(lines_of(distorted)) {
    const size_t bands = static_cast<size_t>(bands_of(height)), all = static_cast<size_t>(lines) * kChannels,
                 planes = static_cast<size_t>(pictures) * kChannels,
                 sums = static_cast<size_t>(distorted) * kChannels * 2 * kMaps;
    ring = arena->take<float>(planes * kRingRows * kRingWidth);
    rgb = arena->take<float>(2 * 3 * kStripWidth);
    for (float *&row : coded) row = arena->take<float>(kStripWidth);
    pieces = arena->take<uint64_t>(kStripWidth);
    across = arena->take<float>(bands * all * kStateFloats);
    past = arena->take<float>(bands * planes * kPastFloats);
    edge = arena->take<float>(bands * kBlock * planes * kAhead);
    down = arena->take<float>(kStripBlocks * all * (kStateFloats + kPastFloats));
    columns = arena->take<double>(kStripBlocks * sums * kBlock);
    lanes = arena->take<double>(sums * kSumLanes);
    blurred = arena->take<float>(static_cast<size_t>(lines) * kBlock * kBlock);
  }

  // Steps of a recursion over n samples, in blocks.
  static int bands_of(int n) { return (n + kAhead + kBlock - 1) / kBlock; }

  // From the strip's first column on.
  float *ring_row(int picture, int channel, int y) const {
    return ring + ((picture * kChannels + channel) * kRingRows + y % kRingRows) * kRingWidth + kRingLead;
  }
  float *across_of(int band, int channel) const {
    return across + (static_cast<ptrdiff_t>(band) * kChannels + channel) * lines * kStateFloats;
  }
  float *past_of(int band, int channel) const {
    return past + (static_cast<ptrdiff_t>(band) * kChannels + channel) * pictures * kPastFloats;
  }
  float *edge_of(int y) const { return edge + static_cast<ptrdiff_t>(y) * pictures * kChannels * kAhead; }
  float *down_of(int block, int channel) const {
    return down + (block * kChannels + channel) * lines * (kStateFloats + kPastFloats);
  }
  double *columns_of(int block, int channel) const {
    return columns + (block * kChannels + channel) * (pictures - 1) * 2 * kMaps * kBlock;
  }
};

}  // namespace
}  // namespace vmafhip
