// PSNR-HVS-M: squared errors of an integer DCT of 8x8 blocks, weighted by the sensitivity of the eye and reduced by what
// the block's own contrast masks, as defined by libvmaf's `psnr_hvs`.
//
// Blocks begin at every seventh sample. Of each come 64 terms, one a coefficient; a plane's sum is *one* f32 sum over
// all blocks and coefficients in raster order, whose roundings are part of the score: at 1080p an exact sum is 3e-5 of
// it away. All other sums are f32 in raster order within a block.
//
// Templates are over a number and over vectors with a block in each lane. Sums start from zero, products are rounded.
#pragma once
#include <cmath>
#include <cstdint>

#include "engine/arith/real.h"
#include "engine/arith/unroll.h"

namespace vmafhip {

constexpr int kHvsSize = 8;                     // of a block
constexpr int kHvsTerms = kHvsSize * kHvsSize;  // of a block
constexpr int kHvsStep = 7;                     // from block to block
constexpr int kHvsMostDepth = 12;

struct PsnrHvsSums {
  float errors[3];  // per plane
};

VMAFHIP_HD constexpr int hvs_blocks_across(int samples) {
  return samples < kHvsSize ? 0 : (samples - kHvsSize) / kHvsStep + 1;
}

// ---- Tables

// Sensitivity to each coefficient, symmetric; planes Y, Cb, Cr. 4:2:2 and 4:4:4 have 4:2:0's.
VMAFHIP_TABLE float kHvsSensitivity[3][kHvsTerms] = {
    {1.6193873005f,   2.2901594831f,   2.08509755623f,  1.48366094411f,  1.00227514334f,  0.678296995242f,
     0.466224900598f, 0.3265091542f,   2.2901594831f,   1.94321815382f,  2.04793073064f,  1.68731108984f,
     1.2305666963f,   0.868920337363f, 0.61280991668f,  0.436405793551f, 2.08509755623f,  2.04793073064f,
     1.34329019223f,  1.09205635862f,  0.875748795257f, 0.670882927016f, 0.501731932449f, 0.372504254596f,
     1.48366094411f,  1.68731108984f,  1.09205635862f,  0.772819797575f, 0.605636379554f, 0.48309405692f,
     0.380429446972f, 0.295774038565f, 1.00227514334f,  1.2305666963f,   0.875748795257f, 0.605636379554f,
     0.448996256676f, 0.352889268808f, 0.283006984131f, 0.226951348204f, 0.678296995242f, 0.868920337363f,
     0.670882927016f, 0.48309405692f,  0.352889268808f, 0.27032073436f,  0.215017739696f, 0.17408067321f,
     0.466224900598f, 0.61280991668f,  0.501731932449f, 0.380429446972f, 0.283006984131f, 0.215017739696f,
     0.168869545842f, 0.136153931001f, 0.3265091542f,   0.436405793551f, 0.372504254596f, 0.295774038565f,
     0.226951348204f, 0.17408067321f,  0.136153931001f, 0.109083846276f},  // Y
    {1.91113096927f,  2.46074210438f,  1.18284184739f,  1.14982565193f,  1.05017074788f,  0.898018824055f,
     0.74725392039f,  0.615105596242f, 2.46074210438f,  1.58529308355f,  1.21363250036f,  1.38190029285f,
     1.33100189972f,  1.17428548929f,  0.996404342439f, 0.830890433625f, 1.18284184739f,  1.21363250036f,
     0.978712413627f, 1.02624506078f,  1.03145147362f,  0.960060382087f, 0.849823426169f, 0.731221236837f,
     1.14982565193f,  1.38190029285f,  1.02624506078f,  0.861317501629f, 0.801821139099f, 0.751437590932f,
     0.685398513368f, 0.608694761374f, 1.05017074788f,  1.33100189972f,  1.03145147362f,  0.801821139099f,
     0.676555426187f, 0.605503172737f, 0.55002013668f,  0.495804539034f, 0.898018824055f, 1.17428548929f,
     0.960060382087f, 0.751437590932f, 0.605503172737f, 0.514674450957f, 0.454353482512f, 0.407050308965f,
     0.74725392039f,  0.996404342439f, 0.849823426169f, 0.685398513368f, 0.55002013668f,  0.454353482512f,
     0.389234902883f, 0.342353999733f, 0.615105596242f, 0.830890433625f, 0.731221236837f, 0.608694761374f,
     0.495804539034f, 0.407050308965f, 0.342353999733f, 0.295530605237f},  // Cb
    {2.03871978502f,  2.62502345193f,  1.26180942886f,  1.11019789803f,  1.01397751469f,  0.867069376285f,
     0.721500455585f, 0.593906509971f, 2.62502345193f,  1.69112867013f,  1.17180569821f,  1.3342742857f,
     1.28513006198f,  1.13381474809f,  0.962064122248f, 0.802254508198f, 1.26180942886f,  1.17180569821f,
     0.944981930573f, 0.990876405848f, 0.995903384143f, 0.926972725286f, 0.820534991409f, 0.706020324706f,
     1.11019789803f,  1.3342742857f,   0.990876405848f, 0.831632933426f, 0.77418706195f,  0.725539939514f,
     0.661776842059f, 0.587716619023f, 1.01397751469f,  1.28513006198f,  0.995903384143f, 0.77418706195f,
     0.653238524286f, 0.584635025748f, 0.531064164893f, 0.478717061273f, 0.867069376285f, 1.13381474809f,
     0.926972725286f, 0.725539939514f, 0.584635025748f, 0.496936637883f, 0.438694579826f, 0.393021669543f,
     0.721500455585f, 0.962064122248f, 0.820534991409f, 0.661776842059f, 0.531064164893f, 0.438694579826f,
     0.375820256136f, 0.330555063063f, 0.593906509971f, 0.802254508198f, 0.706020324706f, 0.587716619023f,
     0.478717061273f, 0.393021669543f, 0.330555063063f, 0.285345396658f},  // Cr
};

struct HvsMask {
  float of[3][kHvsTerms];
};
constexpr HvsMask make_hvs_mask() {
  HvsMask mask = {};
  for (int p = 0; p < 3; p++)
    for (int k = 0; k < kHvsTerms; k++) {
      const double t = static_cast<double>(kHvsSensitivity[p][k]) * 0.3885746225901003;
      mask.of[p][k] = static_cast<float>(t * t);
    }
  return mask;
}
// How much a coefficient counts as contrast that masks others.
VMAFHIP_TABLE HvsMask kHvsMask = make_hvs_mask();

// ---- DCT. Up to 12 bits no value exceeds 32,764, so that lanes of 16 bits do: the largest, 8 * 4095, is the mean's.

// What a transform consists of, beside sums; engine/cpu/psnr_hvs_words.h has it for vectors.
template <class Int>
struct HvsSteps;
template <>
struct HvsSteps<int32_t> {
  // Half of a, towards zero.
  VMAFHIP_HD int32_t half(int32_t a) { return (a - (a >> 31)) >> 1; }
  // (a * k + 2^14) >> 15, what vector units call a rounded high product.
  VMAFHIP_HD int32_t scale(int32_t a, int k) { return (a * k + (1 << 14)) >> 15; }
};
template <class Int>
VMAFHIP_HD Int hvs_half(Int a) {
  return HvsSteps<Int>::half(a);
}
template <class Int>
VMAFHIP_HD Int hvs_scale(Int a, int k) {
  return HvsSteps<Int>::scale(a, k);
}

template <class Int>
VMAFHIP_HD void hvs_transform(const Int (&a)[8], Int (&out)[8]) {
  // Differences and means of opposite samples.
  Int o1 = a[0] - a[7];
  const Int half1 = hvs_half(o1);
  Int e0 = a[0] - half1;
  const Int sum16 = a[1] + a[6], mean16 = hvs_half(sum16);
  Int o5 = a[6] - mean16;
  Int o3 = a[2] - a[5];
  const Int mean25 = a[2] - hvs_half(o3);
  Int e6 = a[3] + a[4];
  const Int mean34 = hvs_half(e6);
  Int o7 = mean34 - a[4];
  e0 = e0 + mean34;
  e6 = e0 - e6;
  Int e2 = mean16 - mean25;
  Int e4 = e2 - sum16;
  // Rotations of the even half in three shears each; factors are in units of 2^-15.
  e0 = e0 - hvs_scale(e4, 13573);
  e4 = e4 + hvs_scale(e0, 2 * 11585);
  e0 = e0 - hvs_scale(e4, 13573);
  e6 = e6 - hvs_scale(e2, 21895);
  e2 = e2 + hvs_scale(e6, 2 * 15137);
  e6 = e6 - hvs_scale(e2, 21895);
  // The odd half: a rotation, sums and differences, two rotations.
  o3 = o3 + hvs_scale(o5, 19195);
  o5 = o5 + hvs_scale(o3, 2 * 11585);
  o3 = o3 - hvs_scale(o5, 4 * 7489);
  o7 = hvs_half(o5) - o7;
  o5 = o5 - o7;
  o3 = half1 - o3;
  o1 = o1 - o3;
  o7 = o7 + hvs_scale(o1, 3227);
  o1 = o1 - hvs_scale(o7, 6393);
  o7 = o7 + hvs_scale(o1, 3227);
  o5 = o5 + hvs_scale(o3, 4 * 2485);
  o3 = o3 - hvs_scale(o5, 18205);
  o5 = o5 + hvs_scale(o3, 4 * 2485);
  out[0] = e0;
  out[1] = o1;
  out[2] = e2;
  out[3] = o3;
  out[4] = e4;
  out[5] = o5;
  out[6] = e6;
  out[7] = o7;
}

// ---- Masking

// The variances of the four quadrants over that of the block; 0 for a flat block. `load(k)` is sample k; the means are
// exact.
template <class Real, class Load>
VMAFHIP_HD Real hvs_contrast(const Load &load) {
  constexpr float kBlock = 1.0f / 63 * 64, kQuadrant = 1.0f / 15 * 16;
  const Real zero = splat<Real>(0);
  Real quadrant[4] = {zero, zero, zero, zero};
  const auto number = [](int k) {
    return (k >= kHvsTerms / 2 ? 1 : 0) + (k % kHvsSize >= kHvsSize / 2 ? 2 : 0);
  };
  VMAFHIP_UNROLL(64)
  for (int k = 0; k < kHvsTerms; k++) quadrant[number(k)] = quadrant[number(k)] + load(k);
  const Real mean = ((quadrant[0] + quadrant[1]) + (quadrant[2] + quadrant[3])) * (1.0f / 64);
  const Real means[4] = {quadrant[0] * (1.0f / 16), quadrant[1] * (1.0f / 16), quadrant[2] * (1.0f / 16),
                         quadrant[3] * (1.0f / 16)};
  Real block = zero, part[4] = {zero, zero, zero, zero};
  VMAFHIP_UNROLL(64)
  for (int k = 0; k < kHvsTerms; k++) {
    const Real v = load(k), d = v - mean, q = v - means[number(k)];
    block = block + d * d;
    part[number(k)] = part[number(k)] + q * q;
  }
  block = block * kBlock;
  // Top left, bottom left, top right, bottom right.
  const Real sum = part[0] * kQuadrant + part[1] * kQuadrant + part[2] * kQuadrant + part[3] * kQuadrant;
  return select(block > zero, sum / block, block);
}

// The contrast that masks others. `load(k)` is coefficient k, its square exact in 30 bits and rounded once. libvmaf
// takes the root in f64, which gives the same f32.
template <class Real, class Load>
VMAFHIP_HD Real hvs_masking(const Load &load, const float (&mask)[kHvsTerms], Real contrast) {
  Real sum = splat<Real>(0);
  VMAFHIP_UNROLL(64)
  for (int k = 1; k < kHvsTerms; k++) {
    const Real c = load(k);
    sum = sum + (c * c) * mask[k];
  }
  return square_root(sum * contrast) * (1.0f / 32);
}

// The term of coefficient k from the difference of both pictures'.
template <class Real>
VMAFHIP_HD Real hvs_term(Real difference, Real masking, int k, float mask, float sensitivity) {
  Real error = absolute(difference);
  if (k > 0) {
    const Real threshold = masking / mask;
    error = select(error < threshold, splat<Real>(0), error - threshold);
  }
  const Real weighted = error * sensitivity;
  return weighted * weighted;
}

// ---- Scores; once a frame, on the host.

inline double hvs_mean(float errors, int64_t blocks, int depth) {
  const float peak = static_cast<float>((1 << depth) - 1);
  const float mean = errors / static_cast<float>(blocks * kHvsTerms);
  return static_cast<double>(mean / (peak * peak));
}

inline double hvs_decibels(double mean) { return -10.0 * std::log10(mean); }

}  // namespace vmafhip
