// ADM's rows in plain C++, by the definitions of engine/arith/adm.h: what adm_lanes.h has to equal. Loops without
// branches and 64-bit conversions, which compilers turn into vectors of 128 bits.
#pragma once
#include "engine/cpu/adm_rows.h"
#include "engine/cpu/arena.h"

namespace vmafhip {
namespace {

// Stands where adm_lanes.h takes its policy.
struct Plain {
  static constexpr int kWords = 8;
};

// One row of a decoupled signal, weighted by contrast sensitivity. `size`, per band: |csf * sample| at scale 0, where
// it is up to 2^31, |adm_weighted()| at the others. The rest: its weights as a masker, summed over the bands.
struct AdmPlainRow {
  int32_t *size[kAdmBands];
  int32_t *neighbour;  // with one mirrored column on either side
  int32_t *centre;
  int32_t *threshold;  // of the signal that it masks

  // Shares memory with the rows two and three before.
  void take(Arena *arena, size_t count, size_t beyond, const AdmPlainRow *two, const AdmPlainRow *three) {
    for (int band = 0; band < kAdmBands; band++)
      size[band] = two ? two->size[band] : arena->take<int32_t>(count, 0, beyond);
    neighbour = three ? three->neighbour : arena->take<int32_t>(count, 1, beyond);
    centre = two ? two->centre : arena->take<int32_t>(count, 0, beyond);
    threshold = two ? two->threshold : arena->take<int32_t>(count, 0, beyond);
  }
};

template <int kScale>
struct AdmTypes {
  using Sample = int32_t;
  using Row = AdmPlainRow;
};

// ---- Wavelet ------------------------------------------------------------------------------------------------

// Centred samples, p - 2^(depth - 1), fit i16, and their sums i32 at any depth.
VMAFHIP_HD int16_t adm_centred(uint8_t v, int) { return static_cast<int16_t>(v - 128); }
VMAFHIP_HD int16_t adm_centred(uint16_t v, int half) { return static_cast<int16_t>(v - half); }
VMAFHIP_HD int16_t adm_centred(int16_t v, int) { return v; }

// The high one of AdmHalves; unsigned, as samples above the depth's range may lead anywhere.
VMAFHIP_HD int16_t adm_high(int32_t v) {
  return static_cast<int16_t>(static_cast<int32_t>(static_cast<uint32_t>(v) + 32768) >> 16);
}

template <int kScale, class Sample>
void adm_filter_columns(const AdmSourceRows<Sample> &rows, const int32_t (&taps)[4], int count, int depth,
                        const AdmHalves &to) {
  const int middle = 1 << (depth - 1);
  const int16_t t0 = static_cast<int16_t>(taps[0]), t1 = static_cast<int16_t>(taps[1]),
                t2 = static_cast<int16_t>(taps[2]), t3 = static_cast<int16_t>(taps[3]);
  const auto sum = [&](const auto *const *from, int x) __attribute__((always_inline)) {
    return t0 * adm_centred(from[0][x], middle) + t1 * adm_centred(from[1][x], middle) +
           t2 * adm_centred(from[2][x], middle) + t3 * adm_centred(from[3][x], middle);
  };
  int16_t *low = to.low, *high = to.high;
#pragma GCC ivdep
  for (int x = 0; x < count; x++) {
    const int32_t lower = sum(rows.low, x);
    if constexpr (kScale == 0) {
      low[x] = static_cast<int16_t>((lower + middle) >> depth);
    } else {
      int32_t value = lower;
      if constexpr (kScale > 1) value = sum(rows.high, x) + ((lower + 32768) >> 16);
      low[x] = static_cast<int16_t>(value);
      high[x] = adm_high(value);
    }
  }
}

template <class V, int kScale, class Sample>
void adm_columns(const AdmSourceRows<Sample> &rows, int count, int depth, bool detail, const AdmHalves &low,
                 const AdmHalves &high) {
  adm_filter_columns<kScale>(rows, kAdmLow, count, depth, low);
  if (detail) adm_filter_columns<kScale>(rows, kAdmHigh, count, depth, high);
}

// Calls put(i, value) for the columns of `span`.
template <int kScale, class Put>
VMAFHIP_HD void adm_across(const AdmHalves &from, const int32_t (&taps)[4], AdmSpan span, Put put) {
  constexpr int kShift = kAdmHorizontalShift[kScale];
  const int16_t t0 = static_cast<int16_t>(taps[0]), t1 = static_cast<int16_t>(taps[1]),
                t2 = static_cast<int16_t>(taps[2]), t3 = static_cast<int16_t>(taps[3]);
  const int16_t *low = from.low + 2 * span.first, *high = from.high + 2 * span.first;
  const auto sum = [&](const int16_t *row, int i) __attribute__((always_inline)) {
    return t0 * row[2 * i - 1] + t1 * row[2 * i] + t2 * row[2 * i + 1] + t3 * row[2 * i + 2];
  };
#pragma GCC ivdep
  for (int i = 0; i < span.count; i++) {
    const int32_t lower = (sum(low, i) + (1 << (kShift - 1))) >> kShift;
    if constexpr (kScale == 0)
      put(i, lower);
    else
      put(i, static_cast<int32_t>((static_cast<uint32_t>(sum(high, i)) << (16 - kShift)) +
                                  static_cast<uint32_t>(lower)));
  }
}

template <class V, int kScale>
void adm_low_band(const AdmHalves &low, int width, const AdmHalves &to) {
  adm_across<kScale>(
      low, kAdmLow, {0, width}, [&](int x, int32_t value) __attribute__((always_inline)) {
        to.low[x] = static_cast<int16_t>(value);
        if constexpr (kScale > 0) to.high[x] = adm_high(value);
      });
}

template <class V, int kScale>
void adm_detail_bands(const AdmHalves &low, const AdmHalves &high, AdmSpan span, int32_t *const *bands) {
  const auto into = [](int32_t *to) {
    return [to](int i, int32_t value) __attribute__((always_inline)) { to[i] = value; };
  };
  adm_across<kScale>(high, kAdmLow, span, into(bands[0]));
  adm_across<kScale>(low, kAdmHigh, span, into(bands[1]));
  adm_across<kScale>(high, kAdmHigh, span, into(bands[2]));
}

// ---- Decoupling and weights -----------------------------------------------------------------------------------

// a * b + c * d. At scale 0 samples stay below 22,931 in magnitude, so that 32 bits hold the sum; at other scales
// they fit i32 and it fits i64. Unsigned, as samples above the depth's range are garbage, not undefined behaviour.
template <int kScale>
VMAFHIP_HD auto adm_dot(int32_t a, int32_t b, int32_t c, int32_t d) {
  if constexpr (kScale == 0)
    return static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b) +
                                static_cast<uint32_t>(c) * static_cast<uint32_t>(d));
  else
    return static_cast<int64_t>(a) * b + static_cast<int64_t>(c) * d;
}

// A sample with the sign of the reference divided out, or given back.
VMAFHIP_HD int32_t adm_signed(int32_t v, int32_t sign) { return (v ^ sign) - sign; }

// What adm_restore() restores without enhancement.
template <int kScale>
VMAFHIP_HD int32_t adm_restored(int32_t ref, int32_t dist) {
  if constexpr (kScale == 0)
    return (adm_ratio_small(ref, adm_signed(dist, ref >> 31)) * ref + 16384) >> 15;
  else
    return static_cast<int32_t>((static_cast<int64_t>(adm_ratio(ref, dist)) * ref + 16384) >> 15);
}

// The rest of adm_restore(), without branches. Nothing restored leaves a limit of 0, so that a ratio or a reference of 0
// needs no case of its own.
VMAFHIP_HD int32_t adm_enhanced(int32_t ref, int32_t dist, int32_t restored, bool same_angle,
                                double gain_limit) {
  const int32_t sign = ref >> 31;
  const double limit = adm_signed(restored, sign) * gain_limit;
  const int32_t limited =
      static_cast<int32_t>(smaller(static_cast<double>(larger(adm_signed(dist, sign), 0)), limit));
  const int32_t use = -static_cast<int32_t>(same_angle);
  return (adm_signed(limited, sign) & use) | (restored & ~use);
}

template <int kScale>
void adm_weigh_row(const AdmPlainRow &row, int count, const AdmScaleParams &p, bool masks) {
  int32_t *h = row.size[0], *v = row.size[1], *d = row.size[2];
  int32_t *neighbour = row.neighbour, *centre = row.centre;
  const uint32_t ch = p.csf[0], cv = p.csf[1], cd = p.csf[2];
  if (masks) {
#pragma GCC ivdep
    for (int i = 0; i < count; i++) {
      AdmMask mh, mv, md;
      if constexpr (kScale == 0) {
        mh = adm_mask0(h[i], ch, 0);
        mv = adm_mask0(v[i], cv, 1);
        md = adm_mask0(d[i], cd, 2);
      } else {
        mh = adm_mask(h[i], ch);
        mv = adm_mask(v[i], cv);
        md = adm_mask(d[i], cd);
      }
      // Unsigned: wraps as libvmaf's i32 does.
      neighbour[i] =
          static_cast<int32_t>(static_cast<uint32_t>(mh.neighbour) + static_cast<uint32_t>(mv.neighbour) +
                               static_cast<uint32_t>(md.neighbour));
      centre[i] = static_cast<int32_t>(static_cast<uint32_t>(mh.centre) + static_cast<uint32_t>(mv.centre) +
                                       static_cast<uint32_t>(md.centre));
    }
  }
  for (int band = 0; band < kAdmBands; band++) {
    int32_t *size = row.size[band];
    const uint32_t csf = p.csf[band];
#pragma GCC ivdep
    for (int i = 0; i < count; i++) {
      const int32_t weighted = kScale == 0 ? static_cast<int32_t>(csf * static_cast<uint32_t>(size[i]))
                                           : adm_weighted(size[i], csf);
      size[i] = static_cast<int32_t>(magnitude(weighted));
    }
  }
}

template <class V, int kScale>
void adm_decouple(const int32_t *const *ref, const int32_t *const *dist, int count, const AdmScaleParams &p,
                  bool aim, const AdmDecoupledRow<AdmPlainRow, int32_t> *rows, int limits) {
  // What does not depend on the limit waits in the rows of the last one, which are filled last.
  const AdmDecoupledRow<AdmPlainRow, int32_t> &last = rows[limits - 1];
  int32_t *same_angle = last.additive->centre;
  const int32_t *rh = ref[0], *rv = ref[1], *dh = dist[0], *dv = dist[1];
#pragma GCC ivdep
  for (int i = 0; i < count; i++) {
    const float dot = static_cast<float>(adm_dot<kScale>(rh[i], dh[i], rv[i], dv[i]));
    const float ref_norm = static_cast<float>(adm_dot<kScale>(rh[i], rh[i], rv[i], rv[i]));
    const float dist_norm = static_cast<float>(adm_dot<kScale>(dh[i], dh[i], dv[i], dv[i]));
    same_angle[i] = adm_same_angle(dot, ref_norm, dist_norm);
  }
  for (int band = 0; band < kAdmBands; band++) {
    const int32_t *o = ref[band], *d = dist[band];
    int32_t *plain = last.restored->size[band];
#pragma GCC ivdep
    for (int i = 0; i < count; i++) plain[i] = adm_restored<kScale>(o[i], d[i]);
  }
  for (const AdmDecoupledRow<AdmPlainRow, int32_t> *row = rows; row <= &last; row++) {
    for (int band = 0; band < kAdmBands; band++) {
      const int32_t *o = ref[band], *d = dist[band], *plain = last.restored->size[band];
      int32_t *r = row->restored->size[band], *a = row->additive->size[band];
      const double gain_limit = row->limit.value;
#pragma GCC ivdep
      for (int i = 0; i < count; i++) {
        const int32_t value = adm_enhanced(o[i], d[i], plain[i], same_angle[i] != 0, gain_limit);
        const uint32_t rest = static_cast<uint32_t>(d[i]) - static_cast<uint32_t>(value);
        r[i] = kScale == 0 ? static_cast<int16_t>(value) : value;
        a[i] = kScale == 0 ? static_cast<int16_t>(rest) : static_cast<int32_t>(rest);
      }
    }
    adm_weigh_row<kScale>(*row->additive, count, p, true);
    adm_weigh_row<kScale>(*row->restored, count, p, aim);
  }
}

// What adm_lanes.h prepares of a row, this works out where it is needed.
template <class V>
bool adm_reach(const int32_t *const *, int, const AdmGainLimit &, int32_t *const *) {
  return false;
}
template <class V>
void adm_beside(const AdmPlainRow &, int) {}

// ---- Sums ---------------------------------------------------------------------------------------------------

template <int kScale, int kBand>
int64_t adm_masked_band(const int32_t *size, const int32_t *threshold, int count, int shift) {
  constexpr int kThresholdShift = kScale == 0 ? adm_threshold_shift0(kBand) : 0;
  uint64_t sum = 0;
  for (int i = 0; i < count; i++) {
    const uint32_t limit = static_cast<uint32_t>(threshold[i]) << kThresholdShift;
    const int32_t above = larger(static_cast<int32_t>(static_cast<uint32_t>(size[i]) - limit), 0);
    sum += adm_cube_offset(above, adm_square_shift(kScale, kBand), shift);
  }
  const uint64_t offset = (uint64_t{1} << 63) >> shift;
  return static_cast<int64_t>(sum - offset * static_cast<uint64_t>(count));
}

template <class V, int kScale>
void adm_masked_row(const AdmPlainRow &signal, const AdmMaskers<AdmPlainRow> &by, int begin, int count,
                    const AdmScaleParams &p, int64_t *rows) {
  const int32_t *above = by.above->neighbour + begin, *here = by.here->neighbour + begin,
                *below = by.below->neighbour + begin, *centre = by.here->centre + begin;
  int32_t *threshold = by.here->threshold;
#pragma GCC ivdep
  for (int i = 0; i < count; i++) {
    uint32_t sum = static_cast<uint32_t>(centre[i]);
    for (int k = -1; k <= 1; k++)
      sum += static_cast<uint32_t>(above[i + k]) + static_cast<uint32_t>(below[i + k]);
    sum += static_cast<uint32_t>(here[i - 1]) + static_cast<uint32_t>(here[i + 1]);
    threshold[i] = static_cast<int32_t>(sum);
  }
  rows[0] = adm_masked_band<kScale, 0>(signal.size[0] + begin, threshold, count, p.col_shift[0]);
  rows[1] = adm_masked_band<kScale, 1>(signal.size[1] + begin, threshold, count, p.col_shift[1]);
  rows[2] = adm_masked_band<kScale, 2>(signal.size[2] + begin, threshold, count, p.col_shift[2]);
}

template <class V, int kScale>
uint64_t adm_den_row(const int32_t *ref, int begin, int count, const AdmScaleParams &p) {
  uint64_t sum = 0;
  for (int i = begin; i < begin + count; i++)
    sum += kScale == 0 ? adm_cube_den0(ref[i]) : adm_cube_den(ref[i], kScale, p.den_col_shift);
  return sum;
}

}  // namespace
}  // namespace vmafhip
