// Rows that ADM's steps hand on to each other.
#pragma once
#include <cstddef>
#include <cstdint>

#include "engine/arith/adm.h"

namespace vmafhip {
namespace {

// cos^2 of one degree, as adm_same_angle() has it.
constexpr float kAdmCos2 = 0.99969541886f;

// A row of filtered samples as 16-bit halves, sample = 65536 * high + low with low signed, so that filters of both
// are multiply-adds of 16-bit pairs. Samples of magnitude up to 2^31 - 2^15 - 1 fit; those of ADM stay below
// 2.11e9. After the filters of scale 0, and in its low band, samples fit 16 bits and there is no high half.
struct AdmHalves {
  int16_t *low, *high;
};

// The four rows that a vertical filter reads: of a picture (scale 0) or of a low band, `high` from scale 2 on.
template <class Sample>
struct AdmSourceRows {
  using Type = Sample;
  const Sample *low[4];
  const int16_t *high[4];
};

// Columns of a band that are worked out; rows of bands begin with the first of them.
struct AdmSpan {
  int first, count;
};

// One row of a decoupled signal, weighted by contrast sensitivity. `size`, per band: |csf * sample| at scale 0, where
// it is up to 2^31, |adm_weighted()| at the others. The rest: its weights as a masker, summed over the bands.
struct AdmSignalRow {
  int32_t *size[kAdmBands];
  int32_t *neighbour;  // with one mirrored column on either side
  int32_t *centre;
};

struct AdmGainLimit {
  double value;
  int32_t whole;  // the same if it is a whole number, else 0,
  int32_t most;   //   and what it can be multiplied by

  explicit AdmGainLimit(double limit) : value(limit), whole(static_cast<int32_t>(limit)), most(0) {
    if (whole != limit || whole < 1) whole = 0;
    if (whole > 0) most = INT32_MAX / whole;
  }
};

// One row of a distorted picture, decoupled with one gain limit.
struct AdmDecoupledRow {
  AdmGainLimit limit;
  AdmSignalRow restored, additive;
};

// What masks a row: weights on neighbours in the rows above, here and below, and on the sample itself.
struct AdmMaskRows {
  const int32_t *above, *here, *below;
  const int32_t *centre;
};

// A number as a type, for lambdas that need it as a constant.
template <int n>
struct AdmNumber {
  static constexpr int value = n;
};

}  // namespace
}  // namespace vmafhip
