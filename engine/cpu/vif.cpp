// VIF on the CPU, one pass over the rows of each scale: column sums of the window's rows, row sums of those in
// short blocks, statistics, and on every other row the samples of the next scale.
//
// All scales and depths are one case: 16-bit samples, whose squares are cut into 16-bit halves so that no sum
// of products needs more than 32 bits: sum(F * q) = 2^16 * sum(F * high(q)) + sum(F * low(q)). At 8 bits the
// finest scale has a shorter way for its column sums.
#include "engine/arith/vif.h"

#include <cstddef>

#include "engine/cpu/arena.h"
#include "engine/cpu/kernels.h"

namespace vmafhip::VMAFHIP_ISA {
namespace {

constexpr int kPad = kVifMaxRadius;
constexpr int kBlock = 128;  // columns whose row sums stay in the first-level cache
constexpr int kRing = 2 * kVifMaxRadius + 1;

// Column sums of one row, with kPad mirrored columns on either side.
struct Columns {
  uint16_t *mean_ref, *mean_dist;
  uint16_t *ref_high, *ref_low, *dist_high, *dist_low, *cross_high,
      *cross_low;  // halves of squares and product
};

struct Memory {
  uint16_t *ring[2][kRing];        // rows of the finest scale, ref and dist, converted
  uint16_t *plane[2][kVifScales];  // coarser scales, rows next to each other; [0] unused
  Columns columns;
  int32_t *sums_ref, *sums_dist;  // see columns8_squares()
  uint16_t *even, *odd;           // column sums for the next scale, each with kPad mirrored ones around

  Memory(Arena *arena, int width, int height) {
    const size_t w = static_cast<size_t>(width);
    for (int image = 0; image < 2; image++) {
      for (uint16_t *&row : ring[image]) row = arena->take<uint16_t>(w);
      plane[image][0] = nullptr;
      for (int s = 1; s < kVifScales; s++)
        plane[image][s] = arena->take<uint16_t>((w >> s) * static_cast<size_t>(height >> s));
    }
    uint16_t **rows[] = {&columns.mean_ref,  &columns.mean_dist, &columns.ref_high,   &columns.ref_low,
                         &columns.dist_high, &columns.dist_low,  &columns.cross_high, &columns.cross_low};
    for (uint16_t **row : rows) *row = arena->take<uint16_t>(w, kPad, kPad);
    sums_ref = arena->take<int32_t>(w);
    sums_dist = arena->take<int32_t>(w);
    even = arena->take<uint16_t>(w / 2 + 1, kPad, kPad);
    odd = arena->take<uint16_t>(w / 2 + 1, kPad, kPad);
  }
};

// Window of rows around the current one, mirrored at the border.
struct Window {
  const uint16_t *ref[kRing], *dist[kRing];
};

// Rounded 2^-16 of a sum that was taken over high and low halves.
inline uint32_t join(uint32_t high, uint32_t low) { return high + ((low + 32768) >> 16); }

// ---- Column sums, 8-bit samples of the finest scale ---------------------------------------------------------
//
// Samples are centred, p - 128, so that the squares of two rows with the same tap fit 16 bits together. `sums` are
// the centred means, not shifted: what the product needs to get back to samples from 0.

constexpr uint16_t kBias = 32767;  // keeps the sum of two products of centred samples non-negative

constexpr uint32_t taps_of_half_window() {
  uint32_t sum = 0;
  for (int k = 0; k <= kVifMaxRadius; k++) sum += kVifTaps[0][k];
  return sum;
}

void columns8_squares(const uint16_t *const *rows, int width, int32_t *sums, uint16_t *mean, uint16_t *high,
                      uint16_t *low) {
#pragma GCC ivdep
  for (int x = 0; x < width; x++) {
    int32_t sum = 0;
    uint32_t square = 0;
#pragma GCC unroll 9
    for (int k = 0; k < kVifMaxRadius; k++) {
      const int16_t a = static_cast<int16_t>(rows[k][x]),
                    b = static_cast<int16_t>(rows[2 * kVifMaxRadius - k][x]);
      sum += static_cast<int16_t>(kVifTaps[0][k]) * static_cast<int16_t>(a + b);
      square += static_cast<uint32_t>(kVifTaps[0][k]) * static_cast<uint16_t>(a * a + b * b);
    }
    const int16_t c = static_cast<int16_t>(rows[kVifMaxRadius][x]);
    sum += static_cast<int16_t>(kVifTaps[0][kVifMaxRadius]) * c;
    square += static_cast<uint32_t>(kVifTaps[0][kVifMaxRadius]) * static_cast<uint16_t>(c * c);
    // Back to samples from 0: p^2 = (p - 128)^2 + 256 (p - 128) + 128^2.
    square += 256 * static_cast<uint32_t>(sum) + (1u << 30);
    sums[x] = sum;
    mean[x] = static_cast<uint16_t>(static_cast<uint32_t>(sum + (128 << 16) + 128) >> 8);
    high[x] = static_cast<uint16_t>(square >> 16);
    low[x] = static_cast<uint16_t>(square);
  }
}

void columns8_product(const uint16_t *const *ref, const uint16_t *const *dist, const int32_t *sums_ref,
                      const int32_t *sums_dist, int width, uint16_t *high, uint16_t *low) {
#pragma GCC ivdep
  for (int x = 0; x < width; x++) {
    uint32_t product = 0;
#pragma GCC unroll 9
    for (int k = 0; k < kVifMaxRadius; k++) {
      const int16_t a = static_cast<int16_t>(ref[k][x]),
                    b = static_cast<int16_t>(ref[2 * kVifMaxRadius - k][x]);
      const int16_t c = static_cast<int16_t>(dist[k][x]),
                    d = static_cast<int16_t>(dist[2 * kVifMaxRadius - k][x]);
      product += static_cast<uint32_t>(kVifTaps[0][k]) * static_cast<uint16_t>(a * c + b * d + kBias);
    }
    const int16_t a = static_cast<int16_t>(ref[kVifMaxRadius][x]),
                  c = static_cast<int16_t>(dist[kVifMaxRadius][x]);
    product += static_cast<uint32_t>(kVifTaps[0][kVifMaxRadius]) * static_cast<uint16_t>(a * c + kBias);
    product +=
        128 * static_cast<uint32_t>(sums_ref[x] + sums_dist[x]) + (1u << 30) - kBias * taps_of_half_window();
    high[x] = static_cast<uint16_t>(product >> 16);
    low[x] = static_cast<uint16_t>(product);
  }
}

// ---- Column sums, 16-bit samples ----------------------------------------------------------------------------

template <int kScale>
void columns16_mean(const uint16_t *const *rows, int width, uint16_t *mean) {
  constexpr int kTaps = kVifTapCount[kScale];
#pragma GCC ivdep
  for (int x = 0; x < width; x++) {
    uint32_t sum = 32768;
#pragma GCC unroll 17
    for (int k = 0; k < kTaps; k++) sum += static_cast<uint32_t>(kVifTaps[kScale][k]) * rows[k][x];
    mean[x] = static_cast<uint16_t>(sum >> 16);
  }
}

template <int kScale>
void columns16_product(const uint16_t *const *a, const uint16_t *const *b, int width, uint16_t *high,
                       uint16_t *low) {
  constexpr int kTaps = kVifTapCount[kScale];
#pragma GCC ivdep
  for (int x = 0; x < width; x++) {
    uint32_t sum_high = 0, sum_low = 0;
#pragma GCC unroll 17
    for (int k = 0; k < kTaps; k++) {
      const uint32_t product = static_cast<uint32_t>(a[k][x]) * b[k][x];
      sum_high += static_cast<uint32_t>(kVifTaps[kScale][k]) * static_cast<uint16_t>(product >> 16);
      sum_low += static_cast<uint32_t>(kVifTaps[kScale][k]) * static_cast<uint16_t>(product);
    }
    const uint32_t sum = join(sum_high, sum_low);
    high[x] = static_cast<uint16_t>(sum >> 16);
    low[x] = static_cast<uint16_t>(sum);
  }
}

template <int kScale>
void columns16(const Window &window, int width, const Columns &out) {
  columns16_mean<kScale>(window.ref, width, out.mean_ref);
  columns16_mean<kScale>(window.dist, width, out.mean_dist);
  columns16_product<kScale>(window.ref, window.ref, width, out.ref_high, out.ref_low);
  columns16_product<kScale>(window.dist, window.dist, width, out.dist_high, out.dist_low);
  columns16_product<kScale>(window.ref, window.dist, width, out.cross_high, out.cross_low);
}

void columns8(const Window &window, int width, const Memory &memory) {
  const Columns &out = memory.columns;
  columns8_squares(window.ref, width, memory.sums_ref, out.mean_ref, out.ref_high, out.ref_low);
  columns8_squares(window.dist, width, memory.sums_dist, out.mean_dist, out.dist_high, out.dist_low);
  columns8_product(window.ref, window.dist, memory.sums_ref, memory.sums_dist, width, out.cross_high,
                   out.cross_low);
}

// ---- Row sums and statistics --------------------------------------------------------------------------------

template <int kScale>
void row_sums(const uint16_t *from, int count, uint32_t *out) {
  constexpr int kTaps = kVifTapCount[kScale];
  from -= kTaps / 2;
#pragma GCC ivdep
  for (int x = 0; x < count; x++) {
    uint32_t sum = 0;
#pragma GCC unroll 17
    for (int k = 0; k < kTaps; k++) sum += static_cast<uint32_t>(kVifTaps[kScale][k]) * from[x + k];
    out[x] = sum;
  }
}

template <int kScale>
void row_sums(const uint16_t *high, const uint16_t *low, int count, uint32_t *out) {
  alignas(64) uint32_t sum_low[kBlock];
  row_sums<kScale>(high, count, out);
  row_sums<kScale>(low, count, sum_low);
  for (int x = 0; x < count; x++) out[x] = join(out[x], sum_low[x]);
}

template <int kScale>
void add_row(const Columns &columns, int width, const uint16_t *log_table, double gain_limit,
             VifScaleSums *sums) {
  alignas(64) uint32_t mean_ref[kBlock], mean_dist[kBlock], ref[kBlock], dist[kBlock], cross[kBlock];
  VifScaleSums local;
  for (int at = 0; at < width; at += kBlock) {
    const int count = smaller(kBlock, width - at);
    row_sums<kScale>(columns.mean_ref + at, count, mean_ref);
    row_sums<kScale>(columns.mean_dist + at, count, mean_dist);
    row_sums<kScale>(columns.ref_high + at, columns.ref_low + at, count, ref);
    row_sums<kScale>(columns.dist_high + at, columns.dist_low + at, count, dist);
    row_sums<kScale>(columns.cross_high + at, columns.cross_low + at, count, cross);
    for (int x = 0; x < count; x++) {
      const VifStatistics s = vif_statistics(mean_ref[x], mean_dist[x], ref[x], dist[x], cross[x]);
      ref[x] = static_cast<uint32_t>(s.ref);
      dist[x] = static_cast<uint32_t>(s.dist);
      cross[x] = static_cast<uint32_t>(s.cross);
    }
    for (int x = 0; x < count; x++) {
      const VifStatistics s = {static_cast<int32_t>(ref[x]), static_cast<int32_t>(dist[x]),
                               static_cast<int32_t>(cross[x])};
      vif_add_pixel(s, log_table, gain_limit, &local);
    }
  }
  sums->num_log += local.num_log;
  sums->den_log += local.den_log;
  sums->num_low += local.num_low;
  sums->den_low += local.den_low;
}

void mirror_columns(uint16_t *row, int width) {
  for (int i = 1; i <= kPad; i++) {
    row[-i] = row[reflect(-i, width)];
    row[width - 1 + i] = row[reflect(width - 1 + i, width)];
  }
}

void mirror_columns(const Columns &c, int width) {
  uint16_t *const rows[] = {c.mean_ref,  c.mean_dist, c.ref_high,   c.ref_low,
                            c.dist_high, c.dist_low,  c.cross_high, c.cross_low};
  for (uint16_t *row : rows) mirror_columns(row, width);
}

// ---- Next scale ---------------------------------------------------------------------------------------------

// One row of scale kNext from the window of kScale around an even row. Centred: samples are p - 128 at 8 bits.
template <int kNext, bool kCentred8>
void decimate(const uint16_t *const *window, int width, const Memory &memory, uint16_t *out) {
  constexpr int kTaps = kVifTapCount[kNext];
  const uint16_t *const *rows = window + (kVifTapCount[kNext - 1] - kTaps) / 2;
  uint16_t *even = memory.even, *odd = memory.odd;
  uint16_t *sums = memory.columns.mean_ref;  // not in use yet
  if constexpr (kCentred8) {
#pragma GCC ivdep
    for (int x = 0; x < width; x++) {
      int32_t sum = (128 << 16) + 128;
#pragma GCC unroll 9
      for (int k = 0; k < kTaps; k++)
        sum += static_cast<int16_t>(kVifTaps[kNext][k]) * static_cast<int16_t>(rows[k][x]);
      sums[x] = static_cast<uint16_t>(static_cast<uint32_t>(sum) >> 8);
    }
  } else {
    columns16_mean<kNext>(rows, width, sums);
  }
  // Output column i is centred at 2i: even columns meet the even taps if the radius is even, odd ones the others.
  mirror_columns(sums, width);
  constexpr int kRadius = kTaps / 2;
  constexpr int kReach = kRadius / 2 + 1;
  const int half = width / 2;
  for (int i = -kReach; i < half + kReach && 2 * i + 1 < width + kPad; i++) {
    even[i] = sums[2 * i];
    odd[i] = sums[2 * i + 1];
  }
#pragma GCC ivdep
  for (int i = 0; i < half; i++) {
    uint32_t sum = 32768;
#pragma GCC unroll 9
    for (int k = -kRadius; k <= kRadius; k++) {
      const uint16_t sample = k % 2 == 0 ? even[i + k / 2] : odd[i + (k - 1) / 2];
      sum += static_cast<uint32_t>(kVifTaps[kNext][k + kRadius]) * sample;
    }
    out[i] = static_cast<uint16_t>(sum >> 16);
  }
}

// ---- Scales -------------------------------------------------------------------------------------------------

// Row y of a picture as the column sums want it: centred at 8 bits, else moved up to 16 bits.
void convert_row(const PlaneView &plane, int y, uint16_t *out) {
  if (plane.depth == 8) {
    const uint8_t *row = row_of<uint8_t>(plane, y);
    for (int x = 0; x < plane.width; x++) out[x] = static_cast<uint16_t>(row[x] - 128);
  } else {
    const uint16_t *row = row_of<uint16_t>(plane, y);
    const int up = 16 - plane.depth;
    for (int x = 0; x < plane.width; x++) out[x] = static_cast<uint16_t>(row[x] << up);
  }
}

template <int kScale>
void coarse_scale(int width, int height, const VifParams &params, const uint16_t *log_table,
                  const Memory &memory, VifScaleSums *sums) {
  constexpr int kTaps = kVifTapCount[kScale];
  for (int y = 0; y < height; y++) {
    Window window;
    for (int k = 0; k < kTaps; k++) {
      const ptrdiff_t at = static_cast<ptrdiff_t>(reflect(y - kTaps / 2 + k, height)) * width;
      window.ref[k] = memory.plane[0][kScale] + at;
      window.dist[k] = memory.plane[1][kScale] + at;
    }
    if constexpr (kScale + 1 < kVifScales) {
      if (y % 2 == 0 && y / 2 < height / 2) {
        const ptrdiff_t at = static_cast<ptrdiff_t>(y / 2) * (width / 2);
        decimate<kScale + 1, false>(window.ref, width, memory, memory.plane[0][kScale + 1] + at);
        decimate<kScale + 1, false>(window.dist, width, memory, memory.plane[1][kScale + 1] + at);
      }
    }
    columns16<kScale>(window, width, memory.columns);
    mirror_columns(memory.columns, width);
    add_row<kScale>(memory.columns, width, log_table, params.gain_limit, sums);
  }
}

template <bool k8>
void finest_scale(const PlaneView &ref, const PlaneView &dist, const VifParams &params,
                  const uint16_t *log_table, const Memory &memory, VifScaleSums *sums) {
  const int width = ref.width, height = ref.height;
  int converted = 0;
  for (int y = 0; y < height; y++) {
    for (; converted < height && converted <= y + kVifMaxRadius; converted++) {
      convert_row(ref, converted, memory.ring[0][converted % kRing]);
      convert_row(dist, converted, memory.ring[1][converted % kRing]);
    }
    Window window;
    for (int k = 0; k < kRing; k++) {
      const int slot = reflect(y - kVifMaxRadius + k, height) % kRing;
      window.ref[k] = memory.ring[0][slot];
      window.dist[k] = memory.ring[1][slot];
    }
    if (y % 2 == 0 && y / 2 < height / 2) {
      const ptrdiff_t at = static_cast<ptrdiff_t>(y / 2) * (width / 2);
      decimate<1, k8>(window.ref, width, memory, memory.plane[0][1] + at);
      decimate<1, k8>(window.dist, width, memory, memory.plane[1][1] + at);
    }
    if (params.skip_scale0) continue;
    if constexpr (k8)
      columns8(window, width, memory);
    else
      columns16<0>(window, width, memory.columns);
    mirror_columns(memory.columns, width);
    add_row<0>(memory.columns, width, log_table, params.gain_limit, sums);
  }
}

}  // namespace

size_t vif_scratch_bytes(int width, int height) {
  Arena arena(nullptr);
  Memory memory(&arena, width, height);
  return arena.used();
}

void vif(const PlaneView &ref, const PlaneView &dist, const VifParams &params, const uint16_t *log_table,
         std::byte *scratch, VifSums *sums) {
  Arena arena(scratch);
  const Memory memory(&arena, ref.width, ref.height);
  *sums = VifSums();
  if (ref.depth == 8)
    finest_scale<true>(ref, dist, params, log_table, memory, &sums->scale[0]);
  else
    finest_scale<false>(ref, dist, params, log_table, memory, &sums->scale[0]);
  coarse_scale<1>(ref.width >> 1, ref.height >> 1, params, log_table, memory, &sums->scale[1]);
  coarse_scale<2>(ref.width >> 2, ref.height >> 2, params, log_table, memory, &sums->scale[2]);
  coarse_scale<3>(ref.width >> 3, ref.height >> 3, params, log_table, memory, &sums->scale[3]);
}

}  // namespace vmafhip::VMAFHIP_ISA
