// Additive-noise signal-to-noise ratios, as defined by libvmaf's `float_ansnr`: the noise is what is left when a
// smoothed reference is subtracted from a more smoothed distorted picture.
//
// All is f32, and so are the sums: along each row from left to right, then of the rows from the first to the last.
#pragma once
#include <cmath>
#include <cstdint>

#include "engine/arith/real.h"
#include "engine/arith/unroll.h"

namespace vmafhip {

constexpr int kAnsnrRadius = 2;  // of the larger filter
constexpr int kAnsnrMinSize = kAnsnrRadius + 1;

struct AnsnrSums {
  float signal, noise;
};

template <int kLength>
struct AnsnrFilter {
  float tap[kLength][kLength];
};
VMAFHIP_TABLE AnsnrFilter<3> kAnsnrReference = {{{1 / 16.0f, 2 / 16.0f, 1 / 16.0f},
                                                 {2 / 16.0f, 4 / 16.0f, 2 / 16.0f},
                                                 {1 / 16.0f, 2 / 16.0f, 1 / 16.0f}}};
VMAFHIP_TABLE AnsnrFilter<5> kAnsnrDistorted = {
    {{2 / 571.0f, 7 / 571.0f, 12 / 571.0f, 7 / 571.0f, 2 / 571.0f},
     {7 / 571.0f, 31 / 571.0f, 52 / 571.0f, 31 / 571.0f, 7 / 571.0f},
     {12 / 571.0f, 52 / 571.0f, 127 / 571.0f, 52 / 571.0f, 12 / 571.0f},
     {7 / 571.0f, 31 / 571.0f, 52 / 571.0f, 31 / 571.0f, 7 / 571.0f},
     {2 / 571.0f, 7 / 571.0f, 12 / 571.0f, 7 / 571.0f, 2 / 571.0f}}};

// The mirror beyond the border: the first sample is not repeated, the last one is. |i| < n needed.
VMAFHIP_HD constexpr int ansnr_mirror(int i, int n) { return i < 0 ? -i : i >= n ? 2 * n - 1 - i : i; }

// `load(i, j)` is the sample i - kLength / 2 rows down and j - kLength / 2 columns to the right. Each row of taps has
// its own sum.
template <class Real, int kLength, class Load>
VMAFHIP_HD Real ansnr_filter(const AnsnrFilter<kLength> &filter, const Load &load) {
  Real total;
  VMAFHIP_UNROLL(5)
  for (int i = 0; i < kLength; i++) {
    Real sum = filter.tap[i][0] * load(i, 0);
    VMAFHIP_UNROLL(5)
    for (int j = 1; j < kLength; j++) sum = sum + filter.tap[i][j] * load(i, j);
    total = i == 0 ? sum : total + sum;
  }
  return total;
}

// ---- Scores; once a frame, on the host.

inline double ansnr_score(const AnsnrSums &sums, double cap) {
  if (sums.noise == 0) return cap;
  const float ratio = sums.signal / sums.noise;
  return 10.0 * std::log10(static_cast<double>(ratio));
}

inline double anpsnr_score(const AnsnrSums &sums, double peak, double samples, double cap) {
  return smaller(10.0 * std::log10(peak * peak * samples / larger(static_cast<double>(sums.noise), 1e-10)),
                 cap);
}

}  // namespace vmafhip
