// Decimation by engine/arith/ssim_decimate.h, rows of the output one after the other. Compiled for each instruction set.
#pragma once
#include "engine/arith/ssim_decimate.h"
#include "engine/cpu/arena.h"
#include "engine/cpu/float_transpose.h"
#include "engine/cpu/floats.h"
#include "engine/cpu/ssim_planes.h"

namespace vmafhip {
namespace {

// ---- Box

struct SsimBoxScratch {
  float *row;
  float *exact;     // sums of columns, and of these beyond the borders
  double *rounded;  // the same for factors that are no power of 2

  SsimBoxScratch(Arena *arena, int width) {
    const size_t size = static_cast<size_t>(width);
    row = arena->take<float>(size, 0, kFloats);
    exact = arena->take<float>(size, kSsimMaxFactor, kFloats + kSsimMaxFactor);
    rounded = arena->take<double>(size, kSsimMaxFactor, kFloats + kSsimMaxFactor);
  }
};

VMAFHIP_FLOATS_FN void ssim_add_row(const float *row, int width, float, bool first, float *sum) {
  for (int x = 0; x < width; x += kFloats)
    store_vector(sum + x, first ? load_floats(row + x) : load_floats(sum + x) + load_floats(row + x));
}
VMAFHIP_FLOATS_FN void ssim_add_row(const float *row, int width, float weight, bool first, double *sum) {
  for (int x = 0; x < width; x += kDoubles) {
    const F64 product = widen(load_half(row + x) * weight);
    store_vector(sum + x, first ? product : load_doubles(sum + x) + product);
  }
}

// Sum: float where sums without the weight are exact, else double.
template <class Sum>
void ssim_box(const SsimDecimateStrip &strip, const SsimBoxScratch &m, Sum *sum) {
  const int f = strip.factor, before = f / 2, width = strip.from.width, height = strip.from.height;
  const float weight = ssim_box_weight(f), last_weight = sizeof(Sum) == sizeof(float) ? weight : 1.0f;
  for (int y = strip.first; y < strip.last; y++) {
    for (int v = 0; v < f; v++) {
      ssim_read(strip.from, 0, repeat_border(y * f + v - before, height), width, m.row);
      ssim_add_row(m.row, width, weight, v == 0, sum);
    }
    for (int i = 1; i <= f; i++) {
      sum[-i] = sum[i - 1];
      sum[width - 1 + i] = sum[width - i];
    }
    float *to = strip.to + y * strip.stride;
    for (int x = 0; x < strip.width; x++) {
      const Sum *from = sum + static_cast<ptrdiff_t>(x) * f - before;
      Sum total = from[0];
      for (int u = 1; u < f; u++) total += from[u];
      to[x] = static_cast<float>(total) * last_weight;
    }
  }
}

// ---- Low-pass of 9 x 9

// Rows come in pairs 2p, 2p + 1. To output y come rows 0 and 1 of the table from pair y - 2, rows 2 and 3 from pair
// y - 1, and so on, row 8 from pair y + 2: four outputs are under way at a time.
constexpr int kSsimUnderWay = 4;

struct SsimHalfScratch {
  float *row;
  float *even[2], *odd[2];  // the pair's samples in even and in odd columns, from column -4 on
  double *sum[kSsimUnderWay];

  SsimHalfScratch(Arena *arena, int width) {
    const size_t size = static_cast<size_t>(width), half = size / 2 + 1;
    constexpr size_t kBeyond = 4 * kFloats;
    row = arena->take<float>(size, kSsimHalfReach, kBeyond);
    for (float *&samples : even) samples = arena->take<float>(half, 0, kBeyond);
    for (float *&samples : odd) samples = arena->take<float>(half, 0, kBeyond);
    for (double *&s : sum) s = arena->take<double>(half, 0, kFloats);
  }
};

VMAFHIP_FLOATS_FN void ssim_split(const float *from, int count, float *even, float *odd) {
  for (int x = 0; x < count; x += kFloats) {
    const F32 low = load_floats(from + 2 * x), high = load_floats(from + 2 * x + kFloats);
    store_vector(even + x, even_lanes(low, high));
    store_vector(odd + x, odd_lanes(low, high));
  }
}

inline void ssim_half(const SsimDecimateStrip &strip, const SsimHalfScratch &m) {
  const int width = strip.from.width, height = strip.from.height;
  double *sum[kSsimUnderWay] = {m.sum[0], m.sum[1], m.sum[2], m.sum[3]};
  for (int pair = strip.first - 2; pair < strip.last + 2; pair++) {
    for (int i = 0; i < 2; i++) {
      // The last pair's second row is not needed and may be beyond what a mirror reaches.
      const int y = repeat_border(smaller(2 * pair + i, 2 * height - 1), height);
      ssim_read(strip.from, 0, y, width, m.row);
      for (int k = 1; k <= kSsimHalfReach; k++) {
        m.row[-k] = m.row[k - 1];
        m.row[width - 1 + k] = m.row[width - k];
      }
      ssim_split(m.row - kSsimHalfReach, strip.width + kSsimHalfReach, m.even[i], m.odd[i]);
    }
    float *to = pair - 2 >= strip.first ? strip.to + (pair - 2) * strip.stride : nullptr;
    for (int x = 0; x < strip.width; x += kDoubles) {
      const auto row = [&](int i, int row_class) {
        return ssim_half_row<Half>(
            row_class, [&](int u) { return load_half((u % 2 == 0 ? m.even[i] : m.odd[i]) + x + u / 2); });
      };
      const F64 r0 = row(0, 0), r2 = row(0, 2), r4 = row(0, 4), r1 = row(1, 1), r3 = row(1, 3);
      if (to) store_vector(to + x, narrow(load_doubles(sum[3] + x) + r0));
      store_vector(sum[3] + x, load_doubles(sum[2] + x) + r2 + r1);
      store_vector(sum[2] + x, load_doubles(sum[1] + x) + r4 + r3);
      store_vector(sum[1] + x, load_doubles(sum[0] + x) + r2 + r3);
      store_vector(sum[0] + x, r0 + r1);
    }
  }
}

}  // namespace
}  // namespace vmafhip
