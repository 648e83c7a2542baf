// Scaling on the CPU: a strip of a plane. Input rows are filtered as they are needed and kept while they are.
#include "engine/cpu/scale.h"

#include <cstring>

#include "engine/arith/scale.h"
#include "engine/cpu/arena.h"
#include "engine/cpu/lanes.h"

#if VMAFHIP_LANES
#include "engine/cpu/scale_lanes.h"
#else
#include "engine/cpu/scale_plain.h"
#endif

namespace vmafhip::VMAFHIP_ISA {
namespace {

#if VMAFHIP_LANES
using V = Lanes;
#else
// Stands where scale_lanes.h takes its policy.
struct V {};

template <class V>
void filter_row(const ScaleAxis &axis, const int16_t *row, const ScaledRow &out, int shift) {
  switch (axis.taps) {
    case 2:
      return filter_row_plain<2>(axis, row, out, shift);
    case 4:
      return filter_row_plain<4>(axis, row, out, shift);
    case 6:
      return filter_row_plain<6>(axis, row, out, shift);
    default:
      return filter_row_plain<0>(axis, row, out, shift);
  }
}

template <class V, class Sample>
void filter_columns(const ScaledRow *rows, const int16_t *weights, int taps, int width, int shift, int depth,
                    Sample *out) {
  if (rows[0].bits) return filter_columns_plain<0, true>(rows, weights, taps, width, shift, depth, out);
  switch (taps) {
    case 2:
      return filter_columns_plain<2, false>(rows, weights, taps, width, shift, depth, out);
    case 4:
      return filter_columns_plain<4, false>(rows, weights, taps, width, shift, depth, out);
    case 6:
      return filter_columns_plain<6, false>(rows, weights, taps, width, shift, depth, out);
    default:
      return filter_columns_plain<0, false>(rows, weights, taps, width, shift, depth, out);
  }
}
#endif

size_t whole_groups(int count) {
  return static_cast<size_t>((count + kScaleGroup - 1) / kScaleGroup * kScaleGroup);
}

struct Scratch {
  int before, after;  // inputs beyond the borders that rows are filtered from
  int16_t *row;       // an input row, centred
  ScaledRow *ring;    // filtered rows; that of input row r is number r % rows
  ScaledRow *taps;    // the rows that an output row is made from
  int rows;

  Scratch(Arena *arena, const ScalePlan &plan) {
    const ScaleAxis &x = plan.x;
    before = x.taps > 0 ? larger(0, -x.first[0]) : 0;
    after = x.taps > 0 ? larger(0, x.first[x.out - 1] + x.taps - x.in) + kScaleBeyond : 0;
    row = arena->take<int16_t>(static_cast<size_t>(x.in), static_cast<size_t>(before),
                               static_cast<size_t>(after));
    rows = larger(1, plan.y.taps);
    ring = arena->take<ScaledRow>(static_cast<size_t>(rows));
    taps = arena->take<ScaledRow>(static_cast<size_t>(rows));
    const bool bits = scale_middle_bits(plan.from_depth) > 15 && x.taps > 0 && plan.y.taps > 0;
    for (int i = 0; i < rows; i++) {
      int16_t *words = arena->take<int16_t>(whole_groups(x.out));
      int16_t *extra = bits ? arena->take<int16_t>(whole_groups(x.out)) : nullptr;
      if (words) ring[i] = {words, extra};
    }
  }
};

// Step 0 is one that is only known at run time.
template <class In, int kStep>
void centre_row(const std::byte *from, int step, int width, int low_bits, int centre, int16_t *out) {
  if (kStep > 0) step = kStep;
  for (int x = 0; x < width; x++) {
    In value;  // through memcpy: a buffer may put words at odd addresses
    std::memcpy(&value, from + static_cast<size_t>(x) * static_cast<size_t>(step) * sizeof(In), sizeof value);
    out[x] = static_cast<int16_t>((value >> low_bits) - centre);
  }
}

template <class In>
void centre_row(const ScaleStrip &strip, int y, int16_t *out) {
  const Plane &plane = strip.plane;
  const auto *from = static_cast<const std::byte *>(plane.data) + y * plane.stride;
  const int centre = scale_centre(strip.plan.from_depth);
  const auto convert = plane.step == 1   ? centre_row<In, 1>
                       : plane.step == 2 ? centre_row<In, 2>
                                         : centre_row<In, 0>;
  convert(from, plane.step, plane.width, strip.low_bits, centre, out);
}

// Row y of the input as columns are filtered from it.
void make_row(const ScaleStrip &strip, const Scratch &m, int y, int shift, const ScaledRow &out) {
  const ScalePlan &plan = strip.plan;
  int16_t *row = plan.x.taps > 0 ? m.row : out.words;
  if (plan.from_depth == 8)
    centre_row<uint8_t>(strip, y, row);
  else
    centre_row<uint16_t>(strip, y, row);
  if (plan.x.taps == 0) return;
  for (int i = 1; i <= m.before; i++) row[-i] = row[0];
  for (int i = 0; i < m.after; i++) row[plan.x.in + i] = row[plan.x.in - 1];
  filter_row<V>(plan.x, row, out, shift);
}

template <class Sample>
void scale(const ScaleStrip &strip, const Scratch &m) {
  const ScalePlan &plan = strip.plan;
  const ScaleAxis &y_axis = plan.y;
  const int width = plan.x.out, height = y_axis.in, depth = plan.to_depth;
  const bool both = plan.x.taps > 0 && y_axis.taps > 0;
  const int only = scale_only_shift(plan.from_depth, depth);
  const int rows_shift = both ? scale_rows_shift(plan.from_depth) : only;
  const int columns_shift = both ? scale_columns_shift(plan.from_depth, depth) : only;
  int next = 0;  // input row
  for (int y = strip.first; y < strip.last; y++) {
    Sample *out = reinterpret_cast<Sample *>(strip.out) + static_cast<size_t>(y) * static_cast<size_t>(width);
    if (y_axis.taps == 0) {
      make_row(strip, m, y, rows_shift, m.ring[0]);
      if (plan.x.taps == 0)
        for (int x = 0; x < width; x++)
          m.ring[0].words[x] *= static_cast<int16_t>(1 << (depth - plan.from_depth));
      store_row_plain(m.ring[0].words, width, depth, out);
      continue;
    }
    const auto row_of_tap = [&](int k) { return smaller(larger(y_axis.first[y] + k, 0), height - 1); };
    next = larger(next, row_of_tap(0));
    for (const int last = row_of_tap(y_axis.taps - 1); next <= last; next++)
      make_row(strip, m, next, rows_shift, m.ring[next % m.rows]);
    for (int k = 0; k < y_axis.taps; k++) m.taps[k] = m.ring[row_of_tap(k) % m.rows];
    filter_columns<V>(m.taps, y_axis.weights + ptrdiff_t{y} * y_axis.stride, y_axis.taps, width,
                      columns_shift, depth, out);
  }
}

size_t scratch_bytes(const ScalePlan &plan) {
  Arena arena(nullptr);
  Scratch memory(&arena, plan);
  return arena.used();
}

void scale_strip(const ScaleStrip &strip) {
  Arena arena(strip.scratch);
  const Scratch memory(&arena, strip.plan);
  if (strip.plan.to_depth == 8)
    scale<uint8_t>(strip, memory);
  else
    scale<uint16_t>(strip, memory);
}

}  // namespace

extern const ScaleKernels scale_kernels = {scratch_bytes, scale_strip};

}  // namespace vmafhip::VMAFHIP_ISA
