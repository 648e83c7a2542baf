// Float VIF: visual information fidelity of luma on four scales, as defined by libvmaf's `float_vif`.
//
// Scale 0 is the picture, rescaled if wished; scale s is scale s - 1 filtered by the Gaussian of scale s and halved.
// On each scale the same Gaussian gives local means, variances and the covariance, and these per pixel the
// information that the reference carries and the part of it that survives in the distorted picture. Samples are in
// steps of 8 bits whatever the depth, less 128. Everything per pixel is f32, but for two quotients.
//
// Sums: f32, along each row from left to right, then over the rows from top to bottom.
#pragma once
#include <cmath>

#include "engine/arith/float_filter.h"
#include "engine/arith/float_scale.h"
#include "engine/arith/real.h"

namespace vmafhip {

constexpr int kVifFloatScales = 4;
// The coarsest scale has to be larger than its filter's radius, which is at least 1.
constexpr int kVifFloatMinSize = 16;
constexpr float kVifFloatEpsilon = 1e-10f;  // keeps the gain finite

struct VifFloatParams {
  double gain_limit = 100.0;             // 1 to 100; 1 counts no enhancement (NEG)
  double kernel_scale = 1.0;             // one of kKernelScales
  double noise = 2.0;                    // variance of the model's visual noise, 0 to 5
  double min_val[kVifFloatScales] = {};  // of scales 1 to 3, 0 to 1
  bool skip_scale0 = false;
  double prescale = 1.0;  // 0.1 to 4: size of scale 0 for that of the picture
  FloatScaling prescale_method = FloatScaling::nearest;
};

// Longest side of scale 0.
constexpr int kVifFloatMostSamples = 32768;

// What a pixel's terms need, made once.
struct VifFloatTerms {
  double noise;
  float reciprocal;  // of the noise if it is a power of two, else 0
  float flat_below;  // variances of the reference below it, i.e. below the noise, count as flat
  float flat_slope;  // what a flat place loses for each unit of distorted variance
  float gain_limit;
};

inline VifFloatTerms vif_float_terms(const VifFloatParams &params) {
  VifFloatTerms terms;
  terms.noise = params.noise;
  int exponent;
  const bool exact = std::frexp(params.noise, &exponent) == 0.5;
  terms.reciprocal = exact ? static_cast<float>(1 / params.noise) : 0.0f;
  const float noise = static_cast<float>(params.noise);
  // The least f32 that is not below the noise: f32 numbers are below one just if they are below the other.
  terms.flat_below = noise < params.noise ? std::nextafter(noise, 10.0f) : noise;
  const float square = noise * noise;
  terms.flat_slope = static_cast<float>(static_cast<double>(square) / 65025);
  terms.gain_limit = static_cast<float>(params.gain_limit);
  return terms;
}

inline FloatFilter vif_float_filter(int scale, double kernel_scale) {
  const int length = filter_length(scale, kernel_scale);
  return gaussian_filter(length, static_cast<float>(length) / 5.0f);
}

// Samples that scale 0 must have in each direction: each filter needs more of them than its radius, on the scale that it
// measures and on the one before, which it halves.
inline int vif_float_min_size(const VifFloatParams &params) {
  int size = kVifFloatMinSize;
  for (int s = 0; s < kVifFloatScales; s++) {
    const int needed = filter_min_size(filter_length(s, params.kernel_scale));
    if (s > 0 || !params.skip_scale0) size = larger(size, needed << s);
  }
  return size;
}

// ---- Per pixel. T: float, or a vector of them -----------------------------------------------------------------

// About log2(x) for x >= 1: of the mantissa 1 + t a polynomial in t, highest power first, without a constant.
VMAFHIP_TABLE float kVifFloatLog2[8] = {-0.012671635276421f, 0.064841182402670f,  -0.157048836463065f,
                                        0.257167726303123f,  -0.353800560300520f, 0.480131410397451f,
                                        -0.721314327952201f, 1.442694803896991f};

// The exponent of infinity is 128.
template <class T>
VMAFHIP_HD T vif_float_log2(T x) {
  const IntOf<T> bits = bits_of(x);
  const T t = real_of((bits & 0x7fffff) | 0x3f800000) - 1.0f;
  T v = splat<T>(kVifFloatLog2[0]);
#pragma GCC unroll 8
  for (int k = 1; k < 8; k++) v = v * t + kVifFloatLog2[k];
  return to_real(((bits >> 23) & 255) - 127) + v * t;
}

template <class T>
struct VifFloatReference {
  T mean;
  T variance;  // 0 below kVifFloatEpsilon
  T information;
};

template <class T>
VMAFHIP_HD T vif_float_variance(T mean, T square) {
  const T variance = square - mean * mean;
  return select(variance < kVifFloatEpsilon, splat<T>(0), variance);
}

// From the filtered samples and their filtered squares.
template <class T>
VMAFHIP_HD VifFloatReference<T> vif_float_reference(T mean, T square, const VifFloatTerms &terms) {
  VifFloatReference<T> out;
  out.mean = mean;
  out.variance = vif_float_variance(mean, square);
  T ratio;
  if (terms.reciprocal != 0) {
    // In f32 as in f64: the product is exact, and wherever the sum in f64 is not, it is far from halfway between two
    // f32 numbers.
    ratio = 1.0f + out.variance * terms.reciprocal;
  } else {
    ratio = narrow(1.0 + widen(out.variance) / terms.noise);
    // 0 / 0, of which processors make different bits.
    if (terms.noise == 0) ratio = select(ratio == ratio, ratio, splat<T>(real_of(0x7fc00000)));
  }
  out.information = select(out.variance < terms.flat_below, splat<T>(1), vif_float_log2(ratio));
  return out;
}

// What survives of the information. Without gain, i.e. where either picture is flat or they are opposed, that is
// log2(1) = 0 whatever the noise of the distorted picture.
template <class T>
VMAFHIP_HD T vif_float_surviving(const VifFloatReference<T> &ref, T mean, T square, T product,
                                 const VifFloatTerms &terms) {
  const T variance = vif_float_variance(mean, square), covariance = product - ref.mean * mean;
  const T gain = covariance / (ref.variance + kVifFloatEpsilon);
  const T rest = maximum(variance - gain * covariance, splat<T>(kVifFloatEpsilon));
  const T limited = minimum(gain, splat<T>(terms.gain_limit));
  const auto none = (covariance < 0) | (ref.variance == 0) | (variance == 0);
  const T kept = select(none, splat<T>(0), limited * limited * ref.variance);
  const T log = vif_float_log2(narrow(1.0 + widen(kept) / (widen(rest) + terms.noise)));
  return select(ref.variance < terms.flat_below, 1.0f - variance * terms.flat_slope, log);
}

// ---- Per frame ------------------------------------------------------------------------------------------------

// Of one distorted picture; 0 where a scale is skipped.
struct VifFloatSums {
  float num[kVifFloatScales], den[kVifFloatScales];
};

struct VifFloatScores {
  double score[kVifFloatScales];
  double num[kVifFloatScales], den[kVifFloatScales];
  double total_num, total_den, total;
};

inline VifFloatScores vif_float_finish(const VifFloatSums &sums, const VifFloatParams &params) {
  VifFloatScores out = {};
  if (params.skip_scale0) out.den[0] = -1;
  for (int s = params.skip_scale0 ? 1 : 0; s < kVifFloatScales; s++) {
    out.num[s] = static_cast<double>(sums.num[s]);
    out.den[s] = static_cast<double>(sums.den[s]);
    out.score[s] = out.num[s] / out.den[s];
    if (s > 0) out.score[s] = larger(out.score[s], params.min_val[s]);
    out.total_num += out.num[s];
    out.total_den += out.den[s];
  }
  out.total = out.total_den == 0 ? 1.0 : out.total_num / out.total_den;
  return out;
}

}  // namespace vmafhip
