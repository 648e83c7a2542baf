// Banding (CAMBI): how many pixels around each pixel have its own code, and how many a code a little brighter or darker.
// All is exact: codes of 10 bits, counts, floats with two roundings, and means of exact sums.
//
// A picture is brought to 10 bits and its target size; a spatial mask keeps what lies in smooth areas; then, on five
// scales, each half of the one before, a mode filter, a contrast value (c-value) for each kept pixel, and the mean of
// the largest.
#pragma once
#include <cstdint>

#include "engine/arith/hd.h"

namespace vmafhip {

constexpr int kCambiScales = 5;
constexpr int kCambiMostContrasts = 32;
constexpr int kCambiMaxCode = 1024;      // 12-bit 4095 rounds up to it
constexpr int kCambiMaxWindow = 65;      // side of the window; its pixels fit the table of reciprocals
constexpr int kCambiMinSize = 216;       // one side at least
constexpr uint16_t kCambiKept = 0x8000;  // flag beside a code: the pixel is in the mask
constexpr int kCambiFraction = 24;  // c-values are multiples of 2^-24: those that are not 0 are 0.5 at least
constexpr int kCambiFirstExponent = 0x3f00;  // upper half of 0.5f; that of the largest c-value is 0x4614

// Weight of a contrast of d + 1 codes.
VMAFHIP_TABLE uint8_t kCambiWeights[kCambiMostContrasts] = {1, 2, 3, 4, 4, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 8,
                                                            8, 8, 8, 8, 8, 8, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9};
VMAFHIP_TABLE int kCambiScaleWeights[kCambiScales] = {16, 8, 4, 2, 1};

// A picture's size when it is analysed, and the window there.
struct CambiTarget {
  int width = 0, height = 0;
  int window = 0;  // odd
};

struct CambiParams {
  int width = 0, height = 0, depth = 8;  // of the pictures
  CambiTarget enc, src;                  // of distorted pictures, of the reference
  bool full_ref = false;
  bool anti_dither = false;
  bool half = false;  // the first scale has half the target's size already
  int contrasts = 4;
  int visible_up_to[kCambiMostContrasts] = {};  // largest code at which a step of d + 1 codes is seen
  int darkest = 0;                              // codes below are too dark to see anything
  double topk = 0.6, max_val = 1000;
};

// What a frame yields for each distorted picture: the mean of the largest c-values, per scale.
struct CambiSums {
  double enc[kCambiScales], src[kCambiScales];
};

// ---- Sizes

VMAFHIP_HD constexpr int cambi_half(int size) { return (size + 1) >> 1; }

// Width or height of a scale.
VMAFHIP_HD constexpr int cambi_scale_size(int size, int scale, bool half) {
  for (int i = 0; i < scale + (half ? 1 : 0); i++) size = cambi_half(size);
  return size;
}

// The window at a target size, from the one that is given for 3840x2160.
VMAFHIP_HD constexpr int cambi_window(int window, int width, int height, bool half) {
  window = static_cast<int>(static_cast<int64_t>(window) * (width + height) / 375 >> 4);
  if (half) window = (window + 1) >> 1;
  return window | 1;
}

// How many of the largest c-values count.
VMAFHIP_HD constexpr int64_t cambi_top(double topk, int width, int height) {
  const int64_t all = static_cast<int64_t>(width) * height;
  const int64_t top = static_cast<int64_t>(topk * static_cast<double>(all));
  return larger<int64_t>(1, smaller(top, all));
}

// ---- Preparation

// Codes beyond the depth's range, which no well-formed picture has, count as its largest.
VMAFHIP_HD constexpr int cambi_code(int sample, int depth) {
  sample = smaller(sample, (1 << depth) - 1);
  return depth < 10 ? sample << (10 - depth)
                    : (sample + static_cast<int>(half_of(depth - 10))) >> (depth - 10);
}

// Samples to take for a target size, by libvmaf's sums of f32: `target` of them.
VMAFHIP_HD void cambi_nearest(int size, int target, int32_t *samples) {
  const float ratio = static_cast<float>(size) / static_cast<float>(target);
  float at = static_cast<float>(static_cast<double>(ratio / 2) - 0.5);
  for (int i = 0; i < target; i++, at += ratio)
    samples[i] = smaller(size - 1, static_cast<int32_t>(static_cast<double>(at) + 0.5));
}

// Pixels of the 7x7 window that equal their right and lower neighbours: more than so many keep the pixel in the middle.
VMAFHIP_HD constexpr int cambi_mask_limit(int width, int height) {
  const int area = (width >> 6) * (height >> 6);
  const int log = area > 1 ? highest_bit(static_cast<uint64_t>(area - 1)) + 1 : 0;  // rounded up
  return (49 + 3 * (log - 11) - 1) >> 1;
}
constexpr int kCambiMaskReach = 3;

// The value that occurs twice, or the smallest. Also of vectors.
template <class T>
VMAFHIP_HD constexpr T cambi_mode(T a, T b, T c) {
  const T low = a < b ? a : b;
  const T other = low < c ? low : c;
  const T bc = b == c ? b : other;
  return ((a == b) | (a == c)) ? a : bc;
}

// ---- c-values

// The f32 nearest to 1/k in nine decimal digits: nearly always the one nearest to 1/k. 0 for k = 0.
VMAFHIP_HD constexpr float cambi_reciprocal(int k) {
  if (k < 1) return 0.0f;
  int64_t power = 100000000;  // 10^8 <= power / k < 10^9
  while (power / k < 100000000) power *= 10;
  const int64_t digits = (power + k / 2) / k;
  return static_cast<float>(static_cast<double>(digits) / static_cast<double>(power));
}

constexpr int kCambiReciprocals = kCambiMaxWindow * kCambiMaxWindow + 1;
struct CambiReciprocals {
  float of[kCambiReciprocals];
};
constexpr CambiReciprocals cambi_reciprocals() {
  CambiReciprocals table{};
  for (int k = 0; k < kCambiReciprocals; k++) table.of[k] = cambi_reciprocal(k);
  return table;
}

// Whether a contrast of d + 1 codes counts at a code. (That `contrasts` is added to the code is libvmaf's.)
VMAFHIP_HD constexpr bool cambi_counts(const CambiParams &p, int code, int d) {
  return code <= p.visible_up_to[d] && code + p.contrasts + d + 1 > p.darkest;
}

// The codes that can have c-values other than 0, and those that can be counted for them.
struct CambiCodes {
  int first, last;
};
VMAFHIP_HD constexpr CambiCodes cambi_codes(const CambiParams &p) {
  int brightest = 0;
  for (int d = 0; d < p.contrasts; d++) brightest = larger(brightest, p.visible_up_to[d]);
  return {larger(0, p.darkest - 3 * p.contrasts + 1), smaller(kCambiMaxCode, brightest + p.contrasts)};
}

// The contrast of `own` pixels of a code to `other` of a code that is d + 1 away.
VMAFHIP_HD float cambi_contrast(int own, int other, int d, const float *reciprocal) {
  return static_cast<float>(kCambiWeights[d] * own * other) * reciprocal[own + other];
}

// ---- Scores

// A sum of c-values: `part` in units of 2^-kCambiFraction, together beyond 64 bits. Exact.
struct CambiSum {
  uint64_t whole = 0, part = 0;
};
constexpr uint64_t kCambiPart = (uint64_t{1} << kCambiFraction) - 1;

// `units` of 2^-kCambiFraction, several times.
VMAFHIP_HD void cambi_add(CambiSum *sum, uint64_t units, uint64_t times = 1) {
  sum->whole += (units >> kCambiFraction) * times;
  sum->part += (units & kCambiPart) * times;
  sum->whole += sum->part >> kCambiFraction;
  sum->part &= kCambiPart;
}
VMAFHIP_HD double cambi_value(const CambiSum &sum) {
  return static_cast<double>(sum.whole) + static_cast<double>(sum.part) / (1 << kCambiFraction);
}

VMAFHIP_HD double cambi_score(const double *means, int window) {
  double score = 0;
  for (int scale = 0; scale < kCambiScales; scale++) score += means[scale] * kCambiScaleWeights[scale];
  return score / (window * window);
}

// Of heat maps: the largest c-value that is shown.
VMAFHIP_HD constexpr int cambi_brightest(const CambiParams &p) {
  int weight = 0;
  for (int d = 0; d < p.contrasts; d++) weight = larger<int>(weight, kCambiWeights[d]);
  return weight * p.enc.window * p.enc.window / 4;
}

// 16-bit grey. Odd windows let a c-value come out a little above the largest that is shown.
VMAFHIP_HD constexpr uint16_t cambi_heat(float c, int brightest) {
  return static_cast<uint16_t>(smaller(static_cast<int>(c * 65535 / static_cast<float>(brightest)), 65535));
}

}  // namespace vmafhip
