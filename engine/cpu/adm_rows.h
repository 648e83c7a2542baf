// Rows that ADM's steps hand on to each other.
#pragma once
#include <cstddef>
#include <cstdint>

#include "engine/arith/adm.h"

namespace vmafhip {
namespace {

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
  // Rows that the next band row reads as well, or null: to be fetched from afar meanwhile.
  const Sample *next_low[2];
  const int16_t *next_high[2];

  [[gnu::always_inline]] void fetch(int x, bool halves) const {
    for (int k = 0; k < 2; k++)
      if (next_low[k]) {
        __builtin_prefetch(next_low[k] + x);
        if (halves) __builtin_prefetch(next_high[k] + x);
      }
  }
};

// Columns of a band that are worked out; rows of bands begin with the first of them.
struct AdmSpan {
  int first, count;
};

struct AdmGainLimit {
  double value;
  int32_t whole;  // the same if it is a whole number, else 0

  explicit AdmGainLimit(double limit) : value(limit), whole(static_cast<int32_t>(limit)) {
    if (whole != limit || whole < 1) whole = 0;
  }
};

// One row of a distorted picture, decoupled with one gain limit.
template <class Row, class Sample>
struct AdmDecoupledRow {
  AdmGainLimit limit;
  Sample *const *reach;  // adm_reach(), or null if the limit is 1 or nothing needs it
  Row *restored, *additive;
};

// The rows whose weights mask a row.
template <class Row>
struct AdmMaskers {
  const Row *above, *here, *below;
};

}  // namespace
}  // namespace vmafhip
