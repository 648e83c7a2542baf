// Structural similarity as defined by libvmaf's `float_ssim` and `float_ms_ssim`: luminance l, contrast c and structure
// s of two planes under a Gaussian window of 11 x 11 samples, at every position where the window fits.
//
// A filtered value is the f64 sum of f32 products in the order of the taps, rounded to f32; rows are filtered first.
// Where the products span less than 53 bits, which is nearly always, that sum is exact, but it has to be taken as
// it stands: E[x^2] - mean^2 cancels, and a sum in f32 would move scores in the sixth digit.
//
// Sums over a plane are a fixed tree, in f64: see SsimSums.
#pragma once
#include <cmath>
#include <cstdint>

#include "engine/arith/real.h"
#include "engine/arith/unroll.h"

namespace vmafhip {

// ---- The window

constexpr int kSsimTaps = 11;
constexpr int kSsimMargin = kSsimTaps - 1;  // by so much there are fewer windows than samples
// The sum is 1.000002, and it is not normalised.
VMAFHIP_TABLE float kSsimWindow[kSsimTaps] = {0.001028f, 0.007599f, 0.036001f, 0.109361f,
                                              0.213006f, 0.266012f, 0.213006f, 0.109361f,
                                              0.036001f, 0.007599f, 0.001028f};

template <class Real>
VMAFHIP_HD WideOf<Real> ssim_tap(Real sample, int tap) {
  return widen(sample * kSsimWindow[tap]);
}

// sample(k): the k-th of the 11 samples under the window.
template <class Real, class Sample>
VMAFHIP_HD Real ssim_window(Sample sample) {
  WideOf<Real> sum = ssim_tap<Real>(sample(0), 0);
  VMAFHIP_UNROLL(11)
  for (int k = 1; k < kSsimTaps; k++) sum = sum + ssim_tap<Real>(sample(k), k);
  return narrow(sum);
}

// ---- One window

constexpr float kSsimK1 = 0.01f * 255, kSsimK2 = 0.03f * 255;
constexpr float kSsimC1 = kSsimK1 * kSsimK1, kSsimC2 = kSsimK2 * kSsimK2, kSsimC3 = kSsimC2 / 2;

// Filtered samples a and b, their squares and their product.
template <class Real>
struct SsimMoments {
  Real a, b, aa, bb, ab;
};

template <class Wide>
struct SsimTerms {
  Wide l, c, s;
};

// The root is libvmaf's f32(sqrt(f64)): a double rounding does no harm to roots, since 53 >= 2 * 24 + 2 bits.
template <class Real>
VMAFHIP_HD SsimTerms<WideOf<Real>> ssim_terms(const SsimMoments<Real> &m) {
  const Real zero = splat<Real>(0);
  const Real mean_aa = m.a * m.a, mean_bb = m.b * m.b;
  const Real variance_a = maximum(m.aa - mean_aa, zero), variance_b = maximum(m.bb - mean_bb, zero);
  const Real covariance = m.ab - m.a * m.b;
  const Real deviations = square_root(variance_a * variance_b);

  SsimTerms<WideOf<Real>> terms;
  terms.l =
      (2.0 * widen(m.a) * widen(m.b) + static_cast<double>(kSsimC1)) / widen(mean_aa + mean_bb + kSsimC1);
  terms.c =
      (2.0 * widen(deviations) + static_cast<double>(kSsimC2)) / widen(variance_a + variance_b + kSsimC2);
  const Real flat = select((covariance < zero) & (deviations <= zero), zero, covariance);
  terms.s = widen((flat + kSsimC3) / (deviations + kSsimC3));
  return terms;
}

// ---- Sums

// Sums over all windows of a plane.
struct SsimSums {
  double l, c, s, lcs;
};

// The windows of a row are taken in blocks of 64 columns. Eight lanes run through the blocks from left to right: to lane
// i is added what a block has in columns i, i + 16, i + 32, i + 48 (added in this order to 0) plus its columns i + 8,
// i + 24, i + 40, i + 56 (likewise). Lanes are folded in halves, and rows added from top to bottom.
constexpr int kSsimBlock = 64, kSsimLanes = 8;

VMAFHIP_HD constexpr int ssim_blocks(int columns) { return (columns + kSsimBlock - 1) / kSsimBlock; }

VMAFHIP_HD double ssim_fold(const double *lane) {
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

// What a metric needs of the four sums.
struct SsimParts {
  bool l, cs, lcs;
};

// ---- Scores, on the host

constexpr int kSsimMaxFactor = 10;
constexpr int kMsSsimScales = 5;
constexpr int kMsSsimMinSize = kSsimTaps << (kMsSsimScales - 1);

struct SsimParams {
  bool multi_scale = false;
  bool lcs = false;  // also means of l, c and s
  int factor = 1;    // by which a single scale is decimated, 1 to 10
};

struct MsSsimSums {
  SsimSums scale[kMsSsimScales];
};

inline int64_t ssim_windows(int width, int height) {
  return static_cast<int64_t>(width - kSsimMargin) * (height - kSsimMargin);
}

inline float ssim_mean(double sum, int64_t windows) {
  return static_cast<float>(sum / static_cast<double>(windows));
}

// Decimation that brings the shorter side near 256.
inline int ssim_automatic_factor(int width, int height) {
  const float ratio = static_cast<float>(static_cast<double>(smaller(width, height)) / 256);
  const int whole = static_cast<int>(ratio);
  return larger(1, static_cast<double>(ratio) - whole >= 0.5 ? whole + 1 : whole);
}

// Of the means of five scales. A negative mean of s gives NaN, which is libvmaf's answer, too.
inline double ms_ssim_score(const float *l, const float *c, const float *s) {
  constexpr float kLuminance[] = {0, 0, 0, 0, 0.1333f};
  constexpr float kOthers[] = {0.0448f, 0.2856f, 0.3001f, 0.2363f, 0.1333f};
  double score = 1;
  for (int i = 0; i < kMsSsimScales; i++) {
    const double luminance = std::pow(static_cast<double>(l[i]), static_cast<double>(kLuminance[i]));
    const double contrast = std::pow(static_cast<double>(c[i]), static_cast<double>(kOthers[i]));
    const double structure = std::pow(static_cast<double>(s[i]), static_cast<double>(kOthers[i]));
    score *= luminance * contrast * structure;
  }
  return score;
}

// The dB of an error of half a sample's square in the whole picture, rounded up: what clip_db allows at most.
inline double ssim_decibel_cap(int width, int height, int depth) {
  const double peak = (1 << depth) - 1;
  const double mse = 0.5 / (static_cast<double>(width) * height);
  return std::ceil(10 * std::log10(peak * peak / mse));
}

// NaN becomes the cap.
inline double ssim_decibels(double score, double cap) {
  const double decibels = -10 * std::log10(1 - score);
  return decibels < cap ? decibels : cap;
}

}  // namespace vmafhip
