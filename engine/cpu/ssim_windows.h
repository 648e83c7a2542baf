// Windows of one strip: rows are filtered into the scratch memory, then columns there, block by block of the
// definition, so that all of a block stays in the nearer caches. Compiled for each instruction set.
#pragma once
#include <cstring>

#include "engine/arith/ssim.h"
#include "engine/cpu/arena.h"
#include "engine/cpu/floats.h"
#include "engine/cpu/ssim_planes.h"
#include "engine/cpu/ssim_sums.h"

namespace vmafhip {
namespace {

// The column filter takes 11 rows at a time.
constexpr int kSsimRows = kSsimStripRows + kSsimMargin;
static_assert(kSsimRows % kSsimTaps == 0);

constexpr int kSsimLine =
    kSsimBlock + kSsimGroup;  // samples under a block's windows, and up to a whole vector
static_assert(kSsimLine >= kSsimBlock + kSsimMargin);

// Filtered maps of a block: of the reference (samples, squares), of a distorted picture (samples, squares, products).
enum SsimMap { kSsimA, kSsimAA, kSsimB, kSsimBB, kSsimAB, kSsimMaps };

struct SsimScratch {
  float *map[kSsimMaps];  // groups of columns one after the other, so that a column is read in order
  // Rows before the filter; two sets in turn, since reading at once across what was just written would stall.
  float *line[2][3];
  double *lanes;  // [distorted picture][row of the strip][part][lane]

  explicit SsimScratch(Arena *arena, int distorted) {
    for (float *&m : map) m = arena->take<float>(size_t{kSsimGroups} * kSsimRows * kSsimGroup);
    for (auto &set : line)
      for (float *&l : set) l = arena->take<float>(kSsimLine);
    lanes = arena->take<double>(static_cast<size_t>(distorted) * kSsimStripRows * 4 * kSsimLanes);
  }
};

// ---- Rows

// Windows that do not exist are filtered, too, and left out of the sums.
inline void ssim_read_line(const SsimPlane &plane, int x, int y, int count, float *to) {
  ssim_read(plane, x, y, count, to);
  for (int i = count; i < kSsimLine; i++) to[i] = 0;
}

VMAFHIP_FLOATS_FN void ssim_multiply(const float *a, const float *b, float *to) {
  for (int x = 0; x < kSsimLine; x += kFloats) store_vector(to + x, load_floats(a + x) * load_floats(b + x));
}

VMAFHIP_FLOATS_FN float *ssim_group(float *map, int group) {
  return map + static_cast<ptrdiff_t>(group) * kSsimRows * kSsimGroup;
}

inline void ssim_filter_row(const float *line, int groups, int row, float *map) {
  for (int g = 0; g < groups; g++) {
    float *to = ssim_group(map, g) + row * kSsimGroup;
    const float *from = line + g * kSsimGroup;
    for (int x = 0; x < kSsimGroup; x += kDoubles)
      store_vector(to + x, ssim_window<Half>([&](int k) { return load_half(from + x + k); }));
  }
}

// ---- Columns

// Row `Row` modulo 11: it adds to the sums of the 11 windows that it is under, of which one is complete.
template <int Row>
VMAFHIP_FLOATS_FN void ssim_column_steps(F64 *sum, float *at) {
  float *row = at + Row * kSsimGroup;
  const Half sample = load_half(row);
#pragma GCC unroll 10
  for (int k = 1; k < kSsimTaps; k++) {
    F64 &window = sum[(Row - k + kSsimTaps) % kSsimTaps];
    window = window + ssim_tap(sample, k);
  }
  store_vector(row, narrow(sum[(Row + 1) % kSsimTaps]));
  sum[Row] = ssim_tap(sample, 0);
  if constexpr (Row + 1 < kSsimTaps) ssim_column_steps<Row + 1>(sum, at);
}

// The window that begins at row y is left in row y + 10.
inline void ssim_filter_columns(float *map, int groups, int rows) {
  for (int g = 0; g < groups; g++)
    for (int x = 0; x < kSsimGroup; x += kDoubles) {
      F64 sum[kSsimTaps] = {};
      float *at = ssim_group(map, g) + x;
      for (int y = 0; y < rows; y += kSsimTaps) ssim_column_steps<0>(sum, at + y * kSsimGroup);
    }
}

// ---- Sums

VMAFHIP_FLOATS_FN I32 ssim_first_lanes(int count) {
  I32 lane = {};
  for (int i = 0; i < kFloats; i++) lane[i] = i;
  return lane < count;
}

VMAFHIP_FLOATS_FN WideMask ssim_widen_mask(I32 m) {
  const Wide w = widen(select(m, splat<F32>(1), splat<F32>(0)));
  return w > Wide::make(F64{}, F64{});
}

template <bool L, bool CS, bool LCS>
void ssim_sum_rows(const SsimScratch &m, int columns, int rows, double *lanes) {
  for (int y = 0; y < rows; y++) {
    SsimBlockSum l, c, s, lcs;
    for (int g = 0; g * kSsimGroup < columns; g++)
#pragma GCC unroll 4
      for (int v = 0; v < kSsimGroup / kFloats; v++) {
        const int x = g * kSsimGroup + v * kFloats;
        const auto load = [&](int map) {
          return load_floats(ssim_group(m.map[map], g) + (y + kSsimMargin) * kSsimGroup + v * kFloats);
        };
        SsimTerms<Wide> t =
            ssim_terms<F32>({load(kSsimA), load(kSsimB), load(kSsimAA), load(kSsimBB), load(kSsimAB)});
        Wide product = (t.l * t.c) * t.s;
        if (x + kFloats > columns) {
          const WideMask inside = ssim_widen_mask(ssim_first_lanes(columns - x));
          const Wide zero = splat<Wide>(0);
          t = {select(inside, t.l, zero), select(inside, t.c, zero), select(inside, t.s, zero)};
          product = select(inside, product, zero);
        }
        if (L) SsimBlockSum::add(&l, v, t.l);
        if (CS) SsimBlockSum::add(&c, v, t.c);
        if (CS) SsimBlockSum::add(&s, v, t.s);
        if (LCS) SsimBlockSum::add(&lcs, v, product);
      }
    double *lane = lanes + static_cast<ptrdiff_t>(y) * 4 * kSsimLanes;
    if (L) SsimBlockSum::to_lanes(l, lane);
    if (CS) SsimBlockSum::to_lanes(c, lane + kSsimLanes);
    if (CS) SsimBlockSum::to_lanes(s, lane + 2 * kSsimLanes);
    if (LCS) SsimBlockSum::to_lanes(lcs, lane + 3 * kSsimLanes);
  }
}

inline void ssim_sum_rows(const SsimParts &parts, const SsimScratch &m, int columns, int rows,
                          double *lanes) {
  if (parts.lcs && parts.l)
    ssim_sum_rows<true, true, true>(m, columns, rows, lanes);
  else if (parts.lcs)
    ssim_sum_rows<false, false, true>(m, columns, rows, lanes);
  else if (parts.l)
    ssim_sum_rows<true, true, false>(m, columns, rows, lanes);
  else
    ssim_sum_rows<false, true, false>(m, columns, rows, lanes);
}

// ---- The strip

inline void ssim_window_strip(const SsimWindowStrip &strip) {
  Arena arena(strip.scratch);
  const SsimScratch m(&arena, strip.distorted);
  const SsimPlane &a = strip.planes[0];
  const int windows = a.width - kSsimMargin, rows = strip.last - strip.first;
  const int filtered = (rows + kSsimMargin + kSsimTaps - 1) / kSsimTaps * kSsimTaps;
  const ptrdiff_t lanes_size = ptrdiff_t{kSsimStripRows} * 4 * kSsimLanes;
  std::memset(m.lanes, 0, static_cast<size_t>(strip.distorted * lanes_size) * sizeof(double));

  for (int x = 0; x < windows; x += kSsimBlock) {
    const int columns = smaller(kSsimBlock, windows - x), samples = columns + kSsimMargin;
    const int groups = (columns + kSsimGroup - 1) / kSsimGroup;
    // Rows are read one ahead of the filter.
    const auto filter = [&](int first_map, int maps, const auto &read) {
      for (int y = 0; y <= rows + kSsimMargin; y++) {
        if (y < rows + kSsimMargin) read(strip.first + y, m.line[y % 2]);
        for (int i = 0; y > 0 && i < maps; i++)
          ssim_filter_row(m.line[(y - 1) % 2][i], groups, y - 1, m.map[first_map + i]);
      }
      for (int i = 0; i < maps; i++) ssim_filter_columns(m.map[first_map + i], groups, filtered);
    };
    filter(kSsimA, 2, [&](int y, float *const *line) {
      ssim_read_line(a, x, y, samples, line[0]);
      ssim_multiply(line[0], line[0], line[1]);
    });
    for (int d = 0; d < strip.distorted; d++) {
      const SsimPlane &b = strip.planes[1 + d];
      filter(kSsimB, 3, [&](int y, float *const *line) {
        alignas(64) float of_a[kSsimLine];
        ssim_read_line(a, x, y, samples, of_a);
        ssim_read_line(b, x, y, samples, line[0]);
        ssim_multiply(line[0], line[0], line[1]);
        ssim_multiply(of_a, line[0], line[2]);
      });
      ssim_sum_rows(strip.parts, m, columns, rows, m.lanes + d * lanes_size);
    }
  }
  for (int d = 0; d < strip.distorted; d++)
    for (int y = 0; y < rows; y++) {
      const double *lane = m.lanes + d * lanes_size + static_cast<ptrdiff_t>(y) * 4 * kSsimLanes;
      strip.rows[d * strip.of_next + strip.first + y] = {ssim_fold(lane), ssim_fold(lane + kSsimLanes),
                                                         ssim_fold(lane + 2 * kSsimLanes),
                                                         ssim_fold(lane + 3 * kSsimLanes)};
    }
}

}  // namespace
}  // namespace vmafhip
