// Rescaling of float planes, as speed, float_vif and float_motion do it before they measure: nearest, bilinear, bicubic
// and Lanczos with 9 taps. Not the scaling of pictures (scale.h), which is integer.
//
// An output sample is a sum over rows of taps and, in each row, over columns of taps, of (row weight * column weight) *
// sample in f32. Weights and positions depend on one coordinate alone and are made once, on the host. The borders keep
// libvmaf's quirk: bilinear weights are taken after mirroring, so that it extrapolates at the first sample.
#pragma once
#include <cmath>
#include <cstdint>

#include "engine/arith/hd.h"

namespace vmafhip {

enum class FloatScaling : uint8_t { nearest, bilinear, bicubic, lanczos4 };

constexpr int kFloatScaleMostTaps = 9;

VMAFHIP_HD constexpr int float_scale_taps(FloatScaling method) {
  switch (method) {
    case FloatScaling::nearest:
      return 1;
    case FloatScaling::bilinear:
      return 2;
    case FloatScaling::bicubic:
      return 4;
    default:
      return kFloatScaleMostTaps;
  }
}

// Samples that become of `size` samples.
VMAFHIP_HD constexpr int float_scaled_size(int size, double factor) {
  return static_cast<int>(size * factor + 0.5);
}

// What one output coordinate reads, and with which weights.
struct FloatScalePosition {
  int32_t index[kFloatScaleMostTaps];
  float weight[kFloatScaleMostTaps];
};

// Mirror about the border sample, within planes of any size.
VMAFHIP_HD int32_t float_scale_mirror(float at, int size) {
  const float last = static_cast<float>(size - 1);
  const float folded = at < 0 ? -at : at > last ? 2 * last - at : at;
  return smaller(larger(static_cast<int32_t>(folded), 0), size - 1);
}

inline float bicubic_weight(float t) {
  constexpr float a = -0.75f;
  if (t < 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  if (t < 2) return (((t - 5) * t + 8) * t - 4) * a;
  return 0;
}

inline float lanczos4_weight(float t) {
  constexpr double pi = 3.14159265358979323846;
  if (t == 0) return 1;
  if (!(t > -4 && t < 4)) return 0;
  return static_cast<float>(4 * std::sin(pi * t) * std::sin(pi * t / 4) / (pi * pi * t * t));
}

// Of output `at` of `size` that are made from `from`.
inline FloatScalePosition float_scale_position(FloatScaling method, int at, int size, int from) {
  FloatScalePosition p = {};
  const float ratio = static_cast<float>(from) / static_cast<float>(size);
  if (method == FloatScaling::nearest) {
    p.index[0] = smaller(static_cast<int32_t>(static_cast<float>(at) * ratio), from - 1);
    p.weight[0] = 1;
    return p;
  }
  const float centre = static_cast<float>((at + 0.5) * static_cast<double>(ratio) - 0.5);
  const float base = std::floor(centre), d = centre - base;
  switch (method) {
    case FloatScaling::bilinear:
      p.index[0] = float_scale_mirror(base, from);
      p.index[1] = float_scale_mirror(std::ceil(centre), from);
      p.weight[1] = centre - static_cast<float>(p.index[0]);
      p.weight[0] = 1 - p.weight[1];
      break;
    case FloatScaling::bicubic:
      for (int i = 0; i < 4; i++) {
        p.index[i] = float_scale_mirror(base + static_cast<float>(i - 1), from);
        p.weight[i] = bicubic_weight(std::fabs(static_cast<float>(i - 1) - d));
      }
      break;
    default:
      for (int i = 0; i < 9; i++) {
        p.index[i] = float_scale_mirror(base + static_cast<float>(i - 4), from);
        p.weight[i] = lanczos4_weight(static_cast<float>(i - 4) - d);
      }
  }
  return p;
}

// The sum of one output sample, or of a vector of them.
template <class Real>
struct FloatScaleSum {
  Real value{}, weight{};

  VMAFHIP_HD void add(FloatScaleSum &sum, Real column_weight, float row_weight, Real sample) {
    const Real weight = column_weight * row_weight;
    sum.value = sum.value + weight * sample;
    sum.weight = sum.weight + weight;
  }
  // Only Lanczos' weights do not add up to 1.
  VMAFHIP_HD Real result(const FloatScaleSum &sum, FloatScaling method) {
    return method == FloatScaling::lanczos4 ? sum.value / sum.weight : sum.value;
  }
};

}  // namespace vmafhip
