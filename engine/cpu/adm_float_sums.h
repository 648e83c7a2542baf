// Sums in f32 along a row, of the bands h, v, d side by side: each in the order of the columns, whatever the vectors
// that the terms come in.
#pragma once
#include <utility>

#include "engine/cpu/floats.h"

namespace vmafhip {
namespace {

// Sums of h, v and d; the last is 0.
using AdmFloatBands = float __attribute__((vector_size(16)));

// Within 128-bit blocks: floats 0 0 1 1 (from = 0) or 2 2 3 3 of a and b in turns.
template <int from, int... lane>
VMAFHIP_FLOATS_FN F32 adm_float_interleave(F32 a, F32 b, std::integer_sequence<int, lane...>) {
  return __builtin_shufflevector(a, b, (lane / 4 * 4 + from + lane % 4 / 2 + lane % 2 * kFloats)...);
}
// Within 128-bit blocks: two floats of a from `from` on, then the same of b.
template <int from, int... lane>
VMAFHIP_FLOATS_FN F32 adm_float_halves(F32 a, F32 b, std::integer_sequence<int, lane...>) {
  return __builtin_shufflevector(a, b, (lane / 4 * 4 + from + lane % 2 + lane % 4 / 2 * kFloats)...);
}

// Adds the first `count` terms of each band to its sum, one after the other.
VMAFHIP_FLOATS_FN AdmFloatBands adm_float_add(AdmFloatBands sum, F32 h, F32 v, F32 d, int count) {
  constexpr auto lanes = std::make_integer_sequence<int, kFloats>();
  const F32 hv01 = adm_float_interleave<0>(h, v, lanes), hv23 = adm_float_interleave<2>(h, v, lanes);
  const F32 d01 = adm_float_interleave<0>(d, F32{}, lanes), d23 = adm_float_interleave<2>(d, F32{}, lanes);
  // Term 4 * block + i of all bands is block `block` of column[i].
  alignas(64) float column[4][kFloats];
  store_vector(column[0], adm_float_halves<0>(hv01, d01, lanes));
  store_vector(column[1], adm_float_halves<2>(hv01, d01, lanes));
  store_vector(column[2], adm_float_halves<0>(hv23, d23, lanes));
  store_vector(column[3], adm_float_halves<2>(hv23, d23, lanes));
  const auto term = [&](int i) __attribute__((always_inline)) {
    return load_vector<AdmFloatBands>(column[i % 4] + i / 4 * 4);
  };
  if (count >= kFloats) {
#pragma GCC unroll 16
    for (int i = 0; i < kFloats; i++) sum += term(i);
  } else {
    for (int i = 0; i < count; i++) sum += term(i);
  }
  return sum;
}

}  // namespace
}  // namespace vmafhip
