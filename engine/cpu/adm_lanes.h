// ADM's rows on vectors. The plain form of the same rows, by the definitions of engine/arith/adm.h, is adm_plain.h.
//
// V is a policy (lanes_avx2.h, lanes_avx512.h). Scale 0 has lanes of 16 bits, where its samples fit, the others of 32. Loops run
// over whole vectors: rows of scratch and frame memory have room for them, and lanes beyond a row's end are cut off where a
// sum is taken.
#pragma once
#include "engine/cpu/adm_sums_lanes.h"
#include "engine/cpu/adm_wavelet_lanes.h"

namespace vmafhip {
namespace {

template <int kScale>
struct AdmTypes {
  using Sample = int32_t;
  using Row = AdmCoarseRow;
};
template <>
struct AdmTypes<0> {
  using Sample = int16_t;
  using Row = AdmFineRow;
};

template <class V, int kScale>
void adm_decouple(const int16_t *const *ref, const int16_t *const *dist, int count, const AdmScaleParams &p,
                  bool aim, const AdmDecoupledRow<AdmFineRow, int16_t> *rows, int limits) {
  adm_fine_decouple<V>(ref, dist, count, p, aim, rows, limits);
}
template <class V, int kScale>
void adm_decouple(const int32_t *const *ref, const int32_t *const *dist, int count, const AdmScaleParams &p,
                  bool aim, const AdmDecoupledRow<AdmCoarseRow, int32_t> *rows, int limits) {
  adm_coarse_decouple<V>(ref, dist, count, p, aim, rows, limits);
}

// Scales 1 to 3 limit what is restored, not the reference.
template <class V>
bool adm_reach(const int32_t *const *, int, const AdmGainLimit &, int32_t *const *) {
  return false;
}

}  // namespace
}  // namespace vmafhip
