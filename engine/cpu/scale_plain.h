// Scaling's rows in plain C++, by the definitions of engine/arith/scale.h: what scale_lanes.h has to equal.
#pragma once
#include "engine/arith/scale.h"
#include "engine/cpu/scale.h"

namespace vmafhip {
namespace {

// A filtered row: words. At depth 16, between rows and columns, values have one bit more than words: they
// are 2 * word + bit, and the bits lie in a row of their own.
struct ScaledRow {
  int16_t *words, *bits;  // bits: null where there are none
};

inline int16_t saturate16(int32_t value) {
  return static_cast<int16_t>(smaller(larger(value, -32768), 32767));
}

inline void put_value(const ScaledRow &out, int x, int32_t value) {
  if (out.bits) {
    out.words[x] = static_cast<int16_t>(value >> 1);
    out.bits[x] = static_cast<int16_t>(value & 1);
  } else {
    out.words[x] = saturate16(value);  // of what samples are clamped to anyway
  }
}

// From samples of a row, centred, to values at all outputs. kTaps: 0 if it is only known at run time.
template <int kTaps>
void filter_row_plain(const ScaleAxis &axis, const int16_t *row, const ScaledRow &out, int shift) {
  const int taps = kTaps > 0 ? kTaps : axis.taps;
  for (int x = 0; x < axis.out; x++) {
    const int16_t *from = row + axis.first[x], *weights = axis.weights + ptrdiff_t{x} * axis.stride;
    int32_t sum = 0;
#pragma GCC unroll 6
    for (int k = 0; k < taps; k++) sum += weights[k] * from[k];
    put_value(out, x, scale_round(sum, shift));
  }
}

// From rows of values to samples.
template <int kTaps, bool kBits, class Sample>
void filter_columns_plain(const ScaledRow *rows, const int16_t *weights, int taps, int width, int shift,
                          int depth, Sample *out) {
  if (kTaps > 0) taps = kTaps;
#pragma GCC ivdep
  for (int x = 0; x < width; x++) {
    int32_t sum = 0;
#pragma GCC unroll 6
    for (int k = 0; k < taps; k++) {
      sum += weights[k] * rows[k].words[x];
      if (kBits) sum += weights[k] * (rows[k].words[x] + rows[k].bits[x]);
    }
    out[x] = static_cast<Sample>(scale_sample(scale_round(sum, shift), depth));
  }
}

// The same without a filter.
template <class Sample>
void store_row_plain(const int16_t *row, int width, int depth, Sample *out) {
  for (int x = 0; x < width; x++) out[x] = static_cast<Sample>(scale_sample(row[x], depth));
}

}  // namespace
}  // namespace vmafhip
