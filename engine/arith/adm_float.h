// Float ADM: detail loss and additive impairments of luma, as defined by libvmaf's `float_adm`: what adm.h says in
// integers, in f32, with more options.
//
// Each operation is rounded to f32, in the order written; where constants of libvmaf make C evaluate in f64, so do we.
// P-th powers (cubes, by default) are summed in f32 along each row, from the region's left to its right, and row sums
// from top to bottom: every sum has one order, whatever computes it. One thing is not libvmaf's: it divides by means of
// the processor's estimate of a reciprocal, which differs between vendors; here a quotient is a quotient.
#pragma once
#include <cmath>
#include <cstdint>

#include "engine/arith/adm.h"
#include "engine/arith/adm_csf.h"
#include "engine/arith/real.h"

namespace vmafhip {

// Below it the coarsest band has a single row or column and no neighbours; mirrors would have to fold twice.
constexpr int kAdmFloatMinSize = 17;

struct AdmFloatOptions {
  double norm_view_dist = 3.0;                   // viewing distance in picture heights, 0.75 to 24
  int ref_display_height = 1080;                 // lines of the display, 1 to 4320
  int csf_mode = 0;                              // 1 Barten, 2 libvmaf's own, else Watson 97
  double csf_scale = 1.0, csf_diag_scale = 1.0;  // mode 1: factors on h and v, on d; 0 to 50
  // Sensitivities of h and v, of d, by scale; below 0 those of csf_mode.
  double factor[kAdmScales][2] = {{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
  double gain_limit = 100.0;      // 1 to 100; 1 counts no enhancement (NEG)
  double noise_weight = 0.03125;  // 0 to 1500
  bool bypass_masking = false;
  double p_norm = 3.0;      // exponent of pooling, 1 to 20
  double dlm_weight = 0.5;  // weight of adm2 in adm3, 0 to 1
  double min_val = 0.0;     // floor of adm3, 0 to 1
  bool harmonic = false;    // adm3 is the harmonic mean of adm2 and aim
  int skip_aim_scale = -1;  // scale that aim leaves out
  bool skip_scale0 = false;
};

// What is fixed for one scale.
struct AdmFloatScaleParams {
  int width, height;             // of a band
  int left, top, right, bottom;  // region that is pooled, ends exclusive
  float sensitivity[kAdmBands];
  float noise;  // what noise_weight adds to each band
};

struct AdmFloatParams {
  AdmFloatOptions options;
  int width, height;  // of the frame
  float exponent;     // of pooling
  bool cubes;         // exponent is 3
  float gain;         // the gain limit, if
  bool gain_is_f32;   //   it has no more digits than f32
  AdmFloatScaleParams scale[kAdmScales];
};

// Sums over the region, by band.
struct AdmFloatScaleSums {
  float den[kAdmBands], num[kAdmBands], aim[kAdmBands];
};

struct AdmFloatSums {
  AdmFloatScaleSums scale[kAdmScales];
};

// ---- Per sample: wavelet ------------------------------------------------------------------------------------

// Filters over four samples. Samples beyond the border: adm_index().
template <class Real>
VMAFHIP_HD Real adm_float_low(Real a, Real b, Real c, Real d) {
  return ((a * 0.482962913144690f + b * 0.836516303737469f) + c * 0.224143868041857f) -
         d * 0.129409522550921f;
}

template <class Real>
VMAFHIP_HD Real adm_float_high(Real a, Real b, Real c, Real d) {
  return ((c * 0.836516303737469f - (a * 0.129409522550921f + b * 0.224143868041857f)) -
          d * 0.482962913144690f);
}

// ---- Per sample: decoupling ---------------------------------------------------------------------------------

// Are the (h, v) vectors of reference and distorted band less than one degree apart?
template <class Real>
VMAFHIP_HD auto adm_float_same_angle(Real ref_h, Real ref_v, Real dist_h, Real dist_v) {
  constexpr float cos2 = 0.99969541886f;  // f32 of cos^2(1 degree), 0x3f7fec0a
  const Real dot = ref_h * dist_h + ref_v * dist_v;
  const Real ref_norm = ref_h * ref_h + ref_v * ref_v, dist_norm = dist_h * dist_h + dist_v * dist_v;
  return (dot >= 0.0f) & (dot * dot >= (ref_norm * cos2) * dist_norm);
}

// The restored sample: the reference times the ratio of the two, at most 1; if the angles agree, an enhancement of up to
// the gain limit counts as restored as well. libvmaf takes the smaller of f64(restored) * limit and `dist` before it
// rounds to f32, which comes to the same as after; with a limit that fits f32 that product needs no f64 either.
template <bool kGainIsF32, class Real, class Mask>
VMAFHIP_HD Real adm_float_restore(Real ref, Real dist, Mask same_angle, float gain, double gain_limit) {
  const Real zero = splat<Real>(0.0), one = splat<Real>(1.0);
  const Real ratio = minimum(maximum(dist / (ref + 1e-30f), zero), one);
  const Real restored = ratio * ref;
  Real enhanced;
  if constexpr (kGainIsF32)
    enhanced = restored * gain;
  else
    enhanced = narrow(widen(restored) * gain_limit);
  return select(same_angle & (restored > 0.0f), minimum(enhanced, dist),
                select(same_angle & (restored < 0.0f), maximum(enhanced, dist), restored));
}

// ---- Per sample: masking ------------------------------------------------------------------------------------

// A masker's weight on its eight neighbours; `size` is |sample| times sensitivity.
template <class Real>
VMAFHIP_HD Real adm_float_neighbour(Real size) {
  return narrow(widen(size) * 0.0333333351);
}

// The threshold that a band sets: weights of the 3x3 neighbourhood in raster order, the middle from `size` itself.
template <class Real>
VMAFHIP_HD Real adm_float_threshold(Real above_left, Real above, Real above_right, Real left, Real size,
                                    Real right, Real below_left, Real below, Real below_right) {
  const Real before = ((above_left + above) + above_right) + left;
  const Real middle = narrow(widen(before) + widen(size) * 0.0666666701);
  return (((middle + right) + below_left) + below) + below_right;
}

template <class Real>
VMAFHIP_HD Real adm_float_cube(Real v) {
  return v * v * v;
}

// ---- Host: configuration ------------------------------------------------------------------------------------

inline float adm_float_sensitivity(const AdmFloatOptions &options, int scale, int direction) {
  if (options.factor[scale][direction] >= 0) return static_cast<float>(options.factor[scale][direction]);
  const float density = adm_density(options.norm_view_dist, options.ref_display_height);
  switch (options.csf_mode) {
    case 1:
      return adm_barten(density, scale, direction == 0 ? options.csf_scale : options.csf_diag_scale);
    case 2:
      return adm_native(density, scale, direction);
    default:
      return adm_watson(density, scale, direction);
  }
}

// powf() of f32: the C++ overload for them.
inline float adm_float_root(float v, double p_norm) { return std::pow(v, static_cast<float>(1.0 / p_norm)); }

// Frames of at least kAdmFloatMinSize in both directions.
inline AdmFloatParams adm_float_configure(const AdmFloatOptions &options, int width, int height) {
  AdmFloatParams params = {};
  params.options = options;
  params.width = width;
  params.height = height;
  params.exponent = static_cast<float>(options.p_norm);
  params.cubes = options.p_norm == 3.0;
  params.gain = static_cast<float>(options.gain_limit);
  params.gain_is_f32 = static_cast<double>(params.gain) == options.gain_limit;
  for (int s = 0; s < kAdmScales; s++) {
    AdmFloatScaleParams &p = params.scale[s];
    p.width = width = (width + 1) / 2;
    p.height = height = (height + 1) / 2;
    p.left = static_cast<int>(width * 0.1 - 0.5);
    p.top = static_cast<int>(height * 0.1 - 0.5);
    p.right = width - p.left;
    p.bottom = height - p.top;
    for (int band = 0; band < kAdmBands; band++)
      p.sensitivity[band] = adm_float_sensitivity(options, s, band == 2);
    const double area = static_cast<double>(p.right - p.left) * (p.bottom - p.top);
    p.noise = adm_float_root(static_cast<float>(area * options.noise_weight), options.p_norm);
  }
  return params;
}

// ---- Host: scores -------------------------------------------------------------------------------------------

// The root of each band's sum, plus noise, over the three bands.
inline float adm_float_pool(const float sums[kAdmBands], double p_norm, float noise) {
  float total = 0;
  for (int band = 0; band < kAdmBands; band++) total += adm_float_root(sums[band], p_norm) + noise;
  return total;
}

struct AdmFloatScores {
  double adm2, aim, adm3;
  double score[kAdmScales];
  float num[kAdmScales], den[kAdmScales];
  double total_num, total_den;
};

inline AdmFloatScores adm_float_finish(const AdmFloatSums &sums, const AdmFloatParams &params) {
  const AdmFloatOptions &options = params.options;
  AdmFloatScores out = {};
  double aim_num = 0, aim_den = 0;
  for (int s = 0; s < kAdmScales; s++) {
    const AdmFloatScaleSums &sum = sums.scale[s];
    float aim = 0;
    if (s == 0 && options.skip_scale0) {
      out.num[s] = 0;
      out.den[s] = 1e-10f;
    } else {
      const float noise = params.scale[s].noise;
      out.num[s] = adm_float_pool(sum.num, options.p_norm, noise);
      out.den[s] = adm_float_pool(sum.den, options.p_norm, noise);
      aim = adm_float_pool(sum.aim, options.p_norm, 0.0f);
    }
    out.total_num += out.num[s];
    out.total_den += out.den[s];
    if (s != options.skip_aim_scale) {
      aim_num += aim;
      aim_den += out.den[s];
    }
    out.score[s] = static_cast<double>(out.num[s]) / static_cast<double>(out.den[s]);
  }
  const double limit = 1e-10 * (static_cast<double>(params.width) * params.height) / (1920.0 * 1080.0);
  if (out.total_num < limit) out.total_num = 0;
  if (out.total_den < limit) out.total_den = 0;
  // Nothing to lose: only possible without noise.
  out.adm2 = out.total_den == 0 ? 1.0 : out.total_num / out.total_den;
  out.aim = aim_den == 0 ? 0.0 : smaller(aim_num / aim_den, 1.0);
  out.adm3 = options.harmonic
                 ? 2 * out.adm2 * out.aim / (out.adm2 + out.aim)  // of aim, not of 1 - aim, as in libvmaf
                 : options.dlm_weight * out.adm2 + (1 - out.aim) * (1 - options.dlm_weight);
  out.adm3 = larger(out.adm3, options.min_val);
  return out;
}

}  // namespace vmafhip
