// ADM on the CPU, one pass over the band rows of each scale: wavelet, decoupling, masking weights, and, one row
// later, when the weights of the row below are known, the masked sums.
//
// Only the low band of the next scale exists as a plane; of everything else the last three rows are kept. Detail
// bands are worked out where sums need them: in the region and one sample around it.
#include "engine/arith/adm.h"

#include <cstddef>

#include "engine/cpu/arena.h"
#include "engine/cpu/kernels.h"

namespace vmafhip::VMAFHIP_ISA {
namespace {

constexpr int kRows = 3;  // of the neighbourhood of a masked sample

// Rows of one of the two decoupled signals, and how it masks: sums of weights over the three bands.
struct Signal {
  int32_t *band[kRows][kAdmBands];
  int32_t *neighbour[kRows];  // with one mirrored column on either side
  int32_t *centre[kRows];
};

struct Memory {
  int32_t *low_plane[2][2];           // low bands of this and the next scale: [scale parity][ref or dist]
  int32_t *column_low, *column_high;  // after the vertical filter; one mirrored sample before, two behind
  int32_t *band[2][kAdmBands];        // a row of h, v, d: ref, dist
  int32_t *same_angle;
  int32_t *threshold;
  Signal restored, additive;

  Memory(Arena *arena, int width, int height) {
    const size_t w = static_cast<size_t>(width), h = static_cast<size_t>(height);
    for (int parity = 0; parity < 2; parity++)
      for (int32_t *&plane : low_plane[parity]) {
        const int down = parity + 1;  // scale 0 writes to [0], scale 1 to [1], scale 2 to [0]
        plane = arena->take<int32_t>(((w >> down) + 1) * ((h >> down) + 1));
      }
    column_low = arena->take<int32_t>(w, 1, 2);
    column_high = arena->take<int32_t>(w, 1, 2);
    const size_t half = (w + 1) / 2;
    for (auto &image : band)
      for (int32_t *&row : image) row = arena->take<int32_t>(half);
    same_angle = arena->take<int32_t>(half);
    threshold = arena->take<int32_t>(half);
    Signal *const signals[] = {&restored, &additive};
    for (Signal *signal : signals)
      for (int i = 0; i < kRows; i++) {
        for (int32_t *&row : signal->band[i]) row = arena->take<int32_t>(half);
        signal->neighbour[i] = arena->take<int32_t>(half, 1, 1);
        signal->centre[i] = arena->take<int32_t>(half);
      }
  }
};

// Where a row of detail bands is worked out: columns [first, last).
struct Span {
  int first, last;
};

// ---- Wavelet ------------------------------------------------------------------------------------------------

// Vertical filters of scale 0. Centred samples, p - 2^(depth - 1), fit i16, and their sums i32 at any depth.
template <class Sample>
void columns0(const Sample *const *rows, int width, int depth, int32_t *low, int32_t *high) {
  const int half = 1 << (depth - 1);
#pragma GCC ivdep
  for (int x = 0; x < width; x++) {
    int32_t l = half, h = half;
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
      const int16_t sample = static_cast<int16_t>(rows[k][x] - half);
      l += static_cast<int16_t>(kAdmLow[k]) * sample;
      h += static_cast<int16_t>(kAdmHigh[k]) * sample;
    }
    low[x] = static_cast<int16_t>(l >> depth);
    high[x] = static_cast<int16_t>(h >> depth);
  }
}

template <int kShift>
int32_t filtered(const int64_t sum) {
  return static_cast<int32_t>((sum + half_of(kShift)) >> kShift);
}

template <int kScale>
void columns(const int32_t *const *rows, int width, int32_t *low, int32_t *high) {
  constexpr int kShift = kAdmVerticalShift[kScale];
  for (int x = 0; x < width; x++) {
    int64_t l = 0, h = 0;
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
      l += static_cast<int64_t>(kAdmLow[k]) * rows[k][x];
      h += static_cast<int64_t>(kAdmHigh[k]) * rows[k][x];
    }
    low[x] = filtered<kShift>(l);
    high[x] = filtered<kShift>(h);
  }
}

void extend(int32_t *row, int width) {
  row[-1] = row[adm_index(-1, width)];
  row[width] = row[adm_index(width, width)];
  row[width + 1] = row[adm_index(width + 1, width)];
}

// Horizontal filter of columns [first, last) of a band.
template <int kScale>
void filter_row(const int32_t *from, const int32_t (&taps)[4], Span span, int32_t *out) {
  constexpr int kShift = kAdmHorizontalShift[kScale];
  for (int x = span.first; x < span.last; x++) {
    const int32_t *at = from + 2 * x - 1;
    if constexpr (kScale == 0) {
      // 16-bit samples.
      int32_t sum = 1 << (kShift - 1);
#pragma GCC unroll 4
      for (int k = 0; k < 4; k++) sum += static_cast<int16_t>(taps[k]) * static_cast<int16_t>(at[k]);
      out[x] = static_cast<int16_t>(sum >> kShift);
    } else {
      int64_t sum = 0;
#pragma GCC unroll 4
      for (int k = 0; k < 4; k++) sum += static_cast<int64_t>(taps[k]) * at[k];
      out[x] = filtered<kShift>(sum);
    }
  }
}

// ---- Decoupling ---------------------------------------------------------------------------------------------

// a * b + c * d. At scale 0 samples stay below 22,931 in magnitude, so that 32 bits hold the sum; at other scales
// they fit i32 and it fits i64. Unsigned, as samples above the depth's range are garbage, not undefined behaviour.
template <int kScale>
auto dot_product(int32_t a, int32_t b, int32_t c, int32_t d) {
  if constexpr (kScale == 0)
    return static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b) +
                                static_cast<uint32_t>(c) * static_cast<uint32_t>(d));
  else
    return static_cast<int64_t>(a) * b + static_cast<int64_t>(c) * d;
}

template <int kScale>
void compare_angles(const Memory &m, Span span) {
  const int32_t *rh = m.band[0][0], *rv = m.band[0][1], *dh = m.band[1][0], *dv = m.band[1][1];
#pragma GCC ivdep
  for (int x = span.first; x < span.last; x++) {
    const float dot = static_cast<float>(dot_product<kScale>(rh[x], dh[x], rv[x], dv[x]));
    const float ref = static_cast<float>(dot_product<kScale>(rh[x], rh[x], rv[x], rv[x]));
    const float dist = static_cast<float>(dot_product<kScale>(dh[x], dh[x], dv[x], dv[x]));
    m.same_angle[x] = adm_same_angle(dot, ref, dist);
  }
}

// Scale 0: adm_ratio() and adm_restore() without branches, on samples with the sign of ref divided out.
void decouple0(const int32_t *ref, const int32_t *dist, const int32_t *same_angle, double gain_limit,
               Span span, int32_t *restored, int32_t *additive) {
#pragma GCC ivdep
  for (int x = span.first; x < span.last; x++) {
    const int32_t sign = ref[x] >> 31;
    const int32_t along = (dist[x] ^ sign) - sign;
    const int32_t ratio = adm_ratio_small(ref[x], along);
    const int32_t plain = (ratio * ref[x] + 16384) >> 15;
    const double limit = ((plain ^ sign) - sign) * gain_limit;
    const int32_t limited = static_cast<int32_t>(smaller(static_cast<double>(larger(along, 0)), limit));
    // Nothing restored leaves a limit of 0, so that a ratio or a reference of 0 needs no case of its own.
    const int32_t use = -static_cast<int32_t>(same_angle[x] != 0);
    const int32_t value = (((limited ^ sign) - sign) & use) | (plain & ~use);
    restored[x] = static_cast<int16_t>(value);
    additive[x] = static_cast<int16_t>(dist[x] - value);
  }
}

void decouple(const int32_t *ref, const int32_t *dist, const int32_t *same_angle, double gain_limit,
              Span span, int32_t *restored, int32_t *additive) {
  for (int x = span.first; x < span.last; x++) {
    const int32_t value =
        adm_restore(ref[x], dist[x], adm_ratio(ref[x], dist[x]), same_angle[x] != 0, gain_limit);
    restored[x] = value;
    additive[x] = static_cast<int32_t>(static_cast<uint32_t>(dist[x]) - static_cast<uint32_t>(value));
  }
}

// ---- Masking ------------------------------------------------------------------------------------------------

template <int kScale>
void weigh(const Signal &signal, int slot, const AdmScaleParams &p, Span span) {
  const int32_t *h = signal.band[slot][0], *v = signal.band[slot][1], *d = signal.band[slot][2];
  int32_t *neighbour = signal.neighbour[slot], *centre = signal.centre[slot];
  const uint32_t ch = p.csf[0], cv = p.csf[1], cd = p.csf[2];
#pragma GCC ivdep
  for (int x = span.first; x < span.last; x++) {
    AdmMask mh, mv, md;
    if constexpr (kScale == 0) {
      mh = adm_mask0(h[x], ch, 0);
      mv = adm_mask0(v[x], cv, 1);
      md = adm_mask0(d[x], cd, 2);
    } else {
      mh = adm_mask(h[x], ch);
      mv = adm_mask(v[x], cv);
      md = adm_mask(d[x], cd);
    }
    // Unsigned: wraps as libvmaf's i32 does.
    neighbour[x] =
        static_cast<int32_t>(static_cast<uint32_t>(mh.neighbour) + static_cast<uint32_t>(mv.neighbour) +
                             static_cast<uint32_t>(md.neighbour));
    centre[x] = static_cast<int32_t>(static_cast<uint32_t>(mh.centre) + static_cast<uint32_t>(mv.centre) +
                                     static_cast<uint32_t>(md.centre));
  }
  if (p.left == 0) {  // mirrored at the low side, repeated at the high side
    neighbour[-1] = neighbour[1];
    neighbour[p.width] = neighbour[p.width - 1];
  }
}

// Threshold along a row from the weights of the rows above, here and below.
void sum_weights(const Signal &signal, int above, int here, int below, const AdmScaleParams &p,
                 int32_t *threshold) {
  const int32_t *a = signal.neighbour[above], *b = signal.neighbour[here], *c = signal.neighbour[below];
  const int32_t *centre = signal.centre[here];
#pragma GCC ivdep
  for (int x = p.left; x < p.right; x++) {
    uint32_t sum = static_cast<uint32_t>(centre[x]);
    for (int i = -1; i <= 1; i++) sum += static_cast<uint32_t>(a[x + i]) + static_cast<uint32_t>(c[x + i]);
    sum += static_cast<uint32_t>(b[x - 1]) + static_cast<uint32_t>(b[x + 1]);
    threshold[x] = static_cast<int32_t>(sum);
  }
}

template <int kScale, int kBand>
int64_t masked_row(const int32_t *signal, const int32_t *threshold, const AdmScaleParams &p) {
  constexpr int kSquareShift = adm_square_shift(kScale, kBand);
  const uint32_t csf = p.csf[kBand];
  const int shift = p.col_shift[kBand];
  uint64_t sum = 0;
  for (int x = p.left; x < p.right; x++) {
    const uint32_t t = static_cast<uint32_t>(threshold[x]);
    const int32_t above = kScale == 0 ? adm_above0(signal[x], csf, t, kBand) : adm_above(signal[x], csf, t);
    sum += adm_cube_offset(above, kSquareShift, shift);
  }
  const uint64_t offset = (uint64_t{1} << 63) >> shift;
  return static_cast<int64_t>(sum - offset * static_cast<uint64_t>(p.right - p.left));
}

// Adds one row of `signal`, masked by `masker`.
template <int kScale>
void add_masked(const Signal &signal, const Signal &masker, int y, const AdmScaleParams &p,
                int32_t *threshold, int64_t *sums) {
  const int above = y > 0 ? y - 1 : 1, below = y + 1 < p.height ? y + 1 : p.height - 1;
  const int slot = y % kRows;
  sum_weights(masker, above % kRows, slot, below % kRows, p, threshold);
  const int64_t rows[kAdmBands] = {masked_row<kScale, 0>(signal.band[slot][0], threshold, p),
                                   masked_row<kScale, 1>(signal.band[slot][1], threshold, p),
                                   masked_row<kScale, 2>(signal.band[slot][2], threshold, p)};
  for (int band = 0; band < kAdmBands; band++)
    sums[band] += (rows[band] + half_of(p.row_shift)) >> p.row_shift;
}

template <int kScale>
void add_den(int32_t *const *ref, const AdmScaleParams &p, uint64_t *sums) {
  for (int band = 0; band < kAdmBands; band++) {
    const int32_t *row = ref[band];
    uint64_t sum = 0;
    for (int x = p.left; x < p.right; x++)
      sum += kScale == 0 ? adm_cube_den0(row[x]) : adm_cube_den(row[x], kScale, p.den_col_shift);
    sums[band] += (sum + static_cast<uint64_t>(half_of(p.den_row_shift))) >> p.den_row_shift;
  }
}

// ---- Scales -------------------------------------------------------------------------------------------------

struct Source {
  PlaneView view;            // scale 0
  const int32_t *low_plane;  // other scales
};

// One row of bands: low into the next scale's plane, detail into m.band if `detail` is not empty.
template <int kScale>
void transform_row(const Source &source, int image, int y, int width, int height, Span detail,
                   const Memory &m) {
  const int band_width = (width + 1) / 2;
  int rows[4];
  for (int k = 0; k < 4; k++) rows[k] = adm_index(2 * y - 1 + k, height);
  if constexpr (kScale == 0) {
    const PlaneView &view = source.view;
    if (view.depth == 8) {
      const uint8_t *const at[4] = {row_of<uint8_t>(view, rows[0]), row_of<uint8_t>(view, rows[1]),
                                    row_of<uint8_t>(view, rows[2]), row_of<uint8_t>(view, rows[3])};
      columns0(at, width, 8, m.column_low, m.column_high);
    } else {
      const uint16_t *const at[4] = {row_of<uint16_t>(view, rows[0]), row_of<uint16_t>(view, rows[1]),
                                     row_of<uint16_t>(view, rows[2]), row_of<uint16_t>(view, rows[3])};
      columns0(at, width, view.depth, m.column_low, m.column_high);
    }
  } else {
    const int32_t *at[4];
    for (int k = 0; k < 4; k++) at[k] = source.low_plane + static_cast<ptrdiff_t>(rows[k]) * width;
    columns<kScale>(at, width, m.column_low, m.column_high);
  }
  extend(m.column_low, width);
  extend(m.column_high, width);

  if constexpr (kScale + 1 < kAdmScales) {
    int32_t *low = m.low_plane[kScale % 2][image] + static_cast<ptrdiff_t>(y) * band_width;
    filter_row<kScale>(m.column_low, kAdmLow, {0, band_width}, low);
  }
  filter_row<kScale>(m.column_high, kAdmLow, detail, m.band[image][0]);
  filter_row<kScale>(m.column_low, kAdmHigh, detail, m.band[image][1]);
  filter_row<kScale>(m.column_high, kAdmHigh, detail, m.band[image][2]);
}

template <int kScale>
void run_scale(const Source &ref, const Source &dist, int width, int height, const AdmParams &params,
               const Memory &m, AdmScaleSums *sums) {
  const AdmScaleParams &p = params.scale[kScale];
  const bool skip = kScale == 0 && params.options.skip_scale0;
  const Span around = {larger(p.left - 1, 0), smaller(p.right + 1, p.width)};
  for (int y = 0; y < p.height; y++) {
    const bool needed = !skip && y >= p.top - 1 && y <= p.bottom;
    const Span detail = needed ? around : Span{0, 0};
    if (!needed && kScale + 1 == kAdmScales) continue;
    transform_row<kScale>(ref, 0, y, width, height, detail, m);
    transform_row<kScale>(dist, 1, y, width, height, detail, m);
    if (!needed) continue;

    const int slot = y % kRows;
    if (y >= p.top && y < p.bottom) add_den<kScale>(m.band[0], p, sums->den);
    compare_angles<kScale>(m, around);
    for (int band = 0; band < kAdmBands; band++) {
      const auto function = kScale == 0 ? decouple0 : decouple;
      function(m.band[0][band], m.band[1][band], m.same_angle, params.options.gain_limit, around,
               m.restored.band[slot][band], m.additive.band[slot][band]);
    }
    weigh<kScale>(m.additive, slot, p, around);
    if (!params.options.skip_aim) weigh<kScale>(m.restored, slot, p, around);

    // The row above now has all its neighbours; the last row of the band is its own neighbour below.
    const int last = y + 1 == p.height ? y : y - 1;
    for (int row = y - 1; row <= last; row++) {
      if (row < p.top || row >= p.bottom) continue;
      add_masked<kScale>(m.restored, m.additive, row, p, m.threshold, sums->num);
      if (!params.options.skip_aim)
        add_masked<kScale>(m.additive, m.restored, row, p, m.threshold, sums->aim);
    }
  }
}

}  // namespace

size_t adm_scratch_bytes(int width, int height) {
  Arena arena(nullptr);
  Memory memory(&arena, width, height);
  return arena.used();
}

void adm(const PlaneView &ref, const PlaneView &dist, const AdmParams &params, std::byte *scratch,
         AdmSums *sums) {
  Arena arena(scratch);
  const Memory m(&arena, ref.width, ref.height);
  *sums = AdmSums();
  const AdmScaleParams *p = params.scale;
  run_scale<0>({ref, nullptr}, {dist, nullptr}, ref.width, ref.height, params, m, &sums->scale[0]);
  run_scale<1>({{}, m.low_plane[0][0]}, {{}, m.low_plane[0][1]}, p[0].width, p[0].height, params, m,
               &sums->scale[1]);
  run_scale<2>({{}, m.low_plane[1][0]}, {{}, m.low_plane[1][1]}, p[1].width, p[1].height, params, m,
               &sums->scale[2]);
  run_scale<3>({{}, m.low_plane[0][0]}, {{}, m.low_plane[0][1]}, p[2].width, p[2].height, params, m,
               &sums->scale[3]);
}

}  // namespace vmafhip::VMAFHIP_ISA
