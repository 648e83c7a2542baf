// float_vif by the book: one pixel after the other, every rule of libvmaf's in its own order, also those that change
// nothing. What the engine has to equal, bit for bit.
#pragma once
#include <cmath>
#include <vector>

#include "engine/arith/vif_float.h"
#include "tests/float_book.h"

namespace vmafhip::test {

inline std::vector<float> book_gaussian(int length, float sigma) {
  std::vector<float> taps(static_cast<size_t>(length));
  float total = 0;
  for (int i = 0; i < length; ++i) {
    const int x = i - (length - 1) / 2;
    const float num = static_cast<float>(std::exp(-0.5 * x / sigma * x / sigma));
    const float den = static_cast<float>(1 / (sigma * std::sqrt(2 * M_PI)));
    taps[static_cast<size_t>(i)] = num / den;
    total += taps[static_cast<size_t>(i)];
  }
  for (float &tap : taps) tap /= total;
  return taps;
}

inline float book_log2(float x) {
  if (x == 0) return -INFINITY;
  if (x < 0) return NAN;
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const int exponent = static_cast<int>(bits >> 23 & 255) - 127;
  bits = (bits & 0x7fffff) | 0x3f800000;
  float t;
  std::memcpy(&t, &bits, sizeof t);
  t -= 1;
  float v = 0;
  for (const float c :
       {-0.012671635276421f, 0.064841182402670f, -0.157048836463065f, 0.257167726303123f, -0.353800560300520f,
        0.480131410397451f, -0.721314327952201f, 1.442694803896991f, 0.0f})
    v = v * t + c;
  return static_cast<float>(exponent) + v;
}

inline VifFloatSums book_vif(FloatPlane ref, FloatPlane dist, const VifFloatParams &p) {
  VifFloatSums sums = {};
  const float eps = 1e-10f;
  const float most =
      static_cast<float>(static_cast<double>(std::pow(static_cast<float>(p.noise), 2.0f)) / 65025);
  for (int s = p.skip_scale0 ? 1 : 0; s < 4; ++s) {
    const double size = ((1 << (4 - s)) + 1) * p.kernel_scale;
    int length = static_cast<int>(std::ceil(static_cast<float>(size)));
    if (length % 2 == 0) ++length;
    length = std::max(length, 3);
    const std::vector<float> taps = book_gaussian(length, static_cast<float>(length) / 5.0f);
    if (s > 0)
      for (FloatPlane *plane : {&ref, &dist}) {
        const FloatPlane filtered = book_filter(*plane, nullptr, taps);
        FloatPlane half(plane->width / 2, plane->height / 2);
        for (int y = 0; y < half.height; ++y)
          for (int x = 0; x < half.width; ++x) half.at(x, y) = filtered.at(2 * x, 2 * y);
        *plane = half;
      }
    const FloatPlane m1 = book_filter(ref, nullptr, taps), m2 = book_filter(dist, nullptr, taps);
    const FloatPlane rr = book_filter(ref, &ref, taps), dd = book_filter(dist, &dist, taps),
                     rd = book_filter(ref, &dist, taps);
    for (int y = 0; y < ref.height; ++y) {
      float row_num = 0, row_den = 0;
      for (int x = 0; x < ref.width; ++x) {
        float s1 = std::max(rr.at(x, y) - m1.at(x, y) * m1.at(x, y), 0.0f);
        const float s2 = std::max(dd.at(x, y) - m2.at(x, y) * m2.at(x, y), 0.0f);
        const float s12 = rd.at(x, y) - m1.at(x, y) * m2.at(x, y);
        float g = s12 / (s1 + eps), sv = s2 - g * s12;
        if (s1 < eps) {
          g = 0;
          sv = s2;
          s1 = 0;
        }
        if (s2 < eps) g = sv = 0;
        if (g < 0) {
          sv = s2;
          g = 0;
        }
        sv = std::max(sv, eps);
        g = std::min(g, static_cast<float>(p.gain_limit));
        const float product = g * g * s1;
        float num = book_log2(
            static_cast<float>(1 + static_cast<double>(product) / (static_cast<double>(sv) + p.noise)));
        float den = book_log2(static_cast<float>(1 + static_cast<double>(s1) / p.noise));
        if (s12 < 0) num = 0;
        if (s1 < p.noise) {
          num = 1 - s2 * most;
          den = 1;
        }
        row_num += num;
        row_den += den;
      }
      sums.num[s] += row_num;
      sums.den[s] += row_den;
    }
  }
  return sums;
}

}  // namespace vmafhip::test
