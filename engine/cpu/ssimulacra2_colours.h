// SSIMULACRA 2's colours, a row of a strip at a time: samples to linear RGB, that to XYB and to the next scale's.
// Everything is local to the including file: it is compiled once per instruction set.
#pragma once
#include "engine/cpu/colour_rows.h"
#include "engine/cpu/float_transpose.h"
#include "engine/cpu/ssimulacra2.h"
#include "engine/cpu/ssimulacra2_memory.h"

namespace vmafhip {
namespace {

struct RgbRow {
  const float *plane[3];
};

// Columns [first, first + count) of row y of a picture.
template <class Sample>
void read_codes(const Ssimulacra2Scale &work, const Views &views, int y, int first, int count,
                float *const *to) {
  read_samples(row_of<Sample>(views[0], y) + first, count, count, to[0]);
  for (size_t p = 1; p < 3; p++) {
    const Sample *row = row_of<Sample>(views[p], y >> work.chroma_shift_y);
    if (work.chroma_shift_x)
      read_doubled(row + first / 2, count, views[p].width - first / 2, to[p]);
    else
      read_samples(row + first, count, count, to[p]);
  }
}

// Through the curve, `count` of them rounded up to whole vectors.
void decode(const float *positions, int count, const Ssimulacra2Piece *curve, uint64_t *pieces, float *to) {
  static_assert(sizeof(Ssimulacra2Piece) == sizeof(uint64_t));
  for (int x = 0; x < count; x++)
    std::memcpy(pieces + x, curve + static_cast<int32_t>(positions[x]), sizeof *pieces);
  for (int x = 0; x < count; x += kFloats) {
    const F32 position = load_floats(positions + x);
    const F32 low = load_vector<F32>(pieces + x), high = load_vector<F32>(pieces + x + kFloats / 2);
    store_vector(to + x,
                 even_lanes(low, high) + odd_lanes(low, high) * (position - to_real(truncate(position))));
  }
}

// Linear RGB of row y of a picture on scale 0.
void read_rgb(const Ssimulacra2Scale &work, const Ssimulacra2Memory &m, const Views &views, int y, int first,
              int count, float *const *to) {
  if (views[0].depth == 8)
    read_codes<uint8_t>(work, views, y, first, count, m.coded);
  else
    read_codes<uint16_t>(work, views, y, first, count, m.coded);
  const int whole = (count + kFloats - 1) / kFloats * kFloats;
  for (float *row : m.coded)
    for (int x = count; x < whole; x++) row[x] = 0;
  for (int x = 0; x < whole; x += kFloats) {
    const Ssimulacra2Colour<F32> colour = ssimulacra2_coded(
        load_floats(m.coded[0] + x), load_floats(m.coded[1] + x), load_floats(m.coded[2] + x), work.range);
    for (int p = 0; p < 3; p++) store_vector(m.coded[p] + x, ssimulacra2_position(colour.plane[p]));
  }
  for (int p = 0; p < 3; p++) decode(m.coded[p], whole, work.curve, m.pieces, to[p]);
}

// `count` pixels; the columns after them are zeros, as the blur has it beyond the border.
void put_xyb(const RgbRow &rgb, int count, float *const *to) {
  for (int x = 0; x < count; x += kFloats) {
    const Ssimulacra2Colour<F32> xyb = ssimulacra2_xyb<F32>(
        {load_floats(rgb.plane[0] + x), load_floats(rgb.plane[1] + x), load_floats(rgb.plane[2] + x)});
    for (int c = 0; c < kChannels; c++) store_vector(to[c] + x, xyb.plane[c]);
  }
  for (int c = 0; c < kChannels; c++)
    for (int x = count; x < kStripWidth; x++) to[c][x] = 0;
}

// A row of the next scale from `count` pixels of two rows.
void put_half(const RgbRow &top, const RgbRow &bottom, int count, float *const *to) {
  for (int p = 0; p < 3; p++) {
    const float *a = top.plane[p], *b = bottom.plane[p];
    int x = 0;
    for (; x + 2 * kFloats <= count; x += 2 * kFloats) {
      const F32 a0 = load_floats(a + x), a1 = load_floats(a + x + kFloats);
      const F32 b0 = load_floats(b + x), b1 = load_floats(b + x + kFloats);
      store_vector(to[p] + x / 2, ssimulacra2_half(even_lanes(a0, a1), odd_lanes(a0, a1), even_lanes(b0, b1),
                                                   odd_lanes(b0, b1)));
    }
    for (; x < count; x += 2) {
      const int right = smaller(x + 1, count - 1);
      to[p][x / 2] = ssimulacra2_half(a[x], a[right], b[x], b[right]);
    }
  }
}

// Row y of a strip of all pictures into the ring; beyond the picture it is zeros.
void read_row(const Ssimulacra2Scale &work, const Ssimulacra2Memory &m, int picture, int y, int first) {
  float *to[kChannels];
  for (int c = 0; c < kChannels; c++) to[c] = m.ring_row(picture, c, y);
  const int count = y < work.height ? larger(0, smaller(kStripWidth, work.width - first)) : 0;
  const Ssimulacra2Picture &from = work.pictures[picture];
  RgbRow rows[2];  // the row above and this one
  const ptrdiff_t stride = ssimulacra2_stride(work.width), plane = stride * work.height;
  for (int back = 0; back < 2; back++) {
    const int row = larger(0, y - back);
    for (int p = 0; p < 3; p++)
      rows[1 - back].plane[p] =
          from.rgb ? from.rgb + p * plane + row * stride + first : m.rgb + (row % 2 * 3 + p) * kStripWidth;
  }
  if (count > 0 && !from.rgb) {
    float *const own[] = {m.rgb + y % 2 * 3 * kStripWidth, m.rgb + (y % 2 * 3 + 1) * kStripWidth,
                          m.rgb + (y % 2 * 3 + 2) * kStripWidth};
    read_rgb(work, m, *from.samples, y, first, count, own);
  }
  put_xyb(rows[1], count, to);

  const bool last = y == work.height - 1;
  if (count > 0 && from.half && (y % 2 == 1 || last)) {
    const ptrdiff_t half = ssimulacra2_stride((work.width + 1) / 2);
    float *const below[] = {from.half, from.half + half * ((work.height + 1) / 2),
                            from.half + 2 * half * ((work.height + 1) / 2)};
    float *row[3];
    for (int p = 0; p < 3; p++) row[p] = below[p] + y / 2 * half + first / 2;
    put_half(rows[y % 2 == 1 ? 0 : 1], rows[1], count, row);
  }

  // Columns of the strip before, which outputs still need, and those that the next strip will.
  float *edge = m.edge_of(y) + picture * kChannels * kAhead;
  for (int c = 0; c < kChannels; c++, edge += kAhead)
    for (int i = 0; i < kAhead; i++) {
      to[c][i - kAhead] = first > 0 ? edge[i] : 0;
      edge[i] = to[c][kStripWidth - kAhead + i];
    }
}

}  // namespace
}  // namespace vmafhip
