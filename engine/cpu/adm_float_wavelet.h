// Float ADM's wavelet on vectors: vertical filters of samples or of a low band, then horizontal ones.
//
// Rows between the two filters are kept as even and odd columns, so that a horizontal filter reads vectors side by side.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engine/arith/adm_float.h"
#include "engine/arith/float_samples.h"
#include "engine/cpu/float_transpose.h"
#include "engine/cpu/floats.h"

namespace vmafhip {
namespace {

// Columns 0, 2, 4, ... and 1, 3, 5, ... of a row, with room for one more before and behind.
struct AdmFloatColumns {
  float *even, *odd;

  // Columns beyond the border of a row of `width`.
  void extend(int width) const {
    const int last = (width - 1) / 2;  // of the even ones
    odd[-1] = odd[0];
    if (width % 2 == 0) {
      even[last + 1] = odd[last];
    } else {
      odd[last] = even[last];
      even[last + 1] = odd[last - 1];
    }
  }
};

// 2 * kFloats samples of a row that lie side by side: samples of pictures come as even and odd ones, those of low bands
// as a first and a second half.
struct AdmFloatPair {
  F32 a, b;
};

VMAFHIP_FLOATS_FN AdmFloatPair adm_float_load(const uint8_t *from, float) {
  constexpr int even = std::endian::native == std::endian::little ? 0 : 8;
  const I32 both = load_integers(reinterpret_cast<const uint16_t *>(from));
  return {float_sample(to_real((both >> even) & 255), 1.0f, -kFloatSampleMiddle),
          float_sample(to_real((both >> (8 - even)) & 255), 1.0f, -kFloatSampleMiddle)};
}
VMAFHIP_FLOATS_FN AdmFloatPair adm_float_load(const uint16_t *from, float step) {
  constexpr int even = std::endian::native == std::endian::little ? 0 : 16;
  const I32 both = load_vector<I32>(from);
  return {float_sample(to_real((both >> even) & 65535), step, -kFloatSampleMiddle),
          float_sample(to_real((both >> (16 - even)) & 65535), step, -kFloatSampleMiddle)};
}
VMAFHIP_FLOATS_FN AdmFloatPair adm_float_load(const float *from, float) {
  return {load_floats(from), load_floats(from + kFloats)};
}

template <class Sample>
VMAFHIP_FLOATS_FN void adm_float_store(AdmFloatPair p, const AdmFloatColumns &to, int x) {
  if constexpr (sizeof(Sample) == sizeof(float)) p = {even_lanes(p.a, p.b), odd_lanes(p.a, p.b)};
  store_vector(to.even + x / 2, p.a);
  store_vector(to.odd + x / 2, p.b);
}

template <class Sample>
VMAFHIP_FLOATS_FN void adm_float_columns_at(const Sample *const (&rows)[4], int x, float step, bool detail,
                                            const AdmFloatColumns &low, const AdmFloatColumns &high, int to) {
  const AdmFloatPair r0 = adm_float_load(rows[0] + x, step), r1 = adm_float_load(rows[1] + x, step),
                     r2 = adm_float_load(rows[2] + x, step), r3 = adm_float_load(rows[3] + x, step);
  adm_float_store<Sample>({adm_float_low(r0.a, r1.a, r2.a, r3.a), adm_float_low(r0.b, r1.b, r2.b, r3.b)}, low,
                          to);
  if (detail)
    adm_float_store<Sample>({adm_float_high(r0.a, r1.a, r2.a, r3.a), adm_float_high(r0.b, r1.b, r2.b, r3.b)},
                            high, to);
}

// Vertical filters over four rows; high pass only if `detail`. Rows of pictures are read to their end and no further,
// rows of low bands in whole vectors.
template <class Sample>
void adm_float_columns(const Sample *const (&rows)[4], int width, float step, bool detail,
                       const AdmFloatColumns &low, const AdmFloatColumns &high) {
  constexpr int kStep = 2 * kFloats;
  constexpr bool kPadded = sizeof(Sample) == sizeof(float);
  int x = 0;
  for (; kPadded ? x < width : x + kStep <= width; x += kStep)
    adm_float_columns_at(rows, x, step, detail, low, high, x);
  if (x < width) {
    Sample end[4][kStep] = {};
    const Sample *const ends[4] = {end[0], end[1], end[2], end[3]};
    for (int k = 0; k < 4; k++)
      std::memcpy(end[k], rows[k] + x, static_cast<size_t>(width - x) * sizeof(Sample));
    adm_float_columns_at(ends, 0, step, detail, low, high, x);
  }
  low.extend(width);
  if (detail) high.extend(width);
}

// Horizontal filters around columns j, j + 1, ... of a band.
VMAFHIP_FLOATS_FN F32 adm_float_low_at(const AdmFloatColumns &from, int j) {
  return adm_float_low(load_floats(from.odd + j - 1), load_floats(from.even + j), load_floats(from.odd + j),
                       load_floats(from.even + j + 1));
}
VMAFHIP_FLOATS_FN F32 adm_float_high_at(const AdmFloatColumns &from, int j) {
  return adm_float_high(load_floats(from.odd + j - 1), load_floats(from.even + j), load_floats(from.odd + j),
                        load_floats(from.even + j + 1));
}

}  // namespace
}  // namespace vmafhip
