// Contrast sensitivity of the eye to wavelet bands: Watson's model of 1997, which integer and float ADM share, and the
// two others that float ADM has. All on the host, once; f32 and f64 alternate as in libvmaf.
#pragma once
#include <cmath>

namespace vmafhip {

// Samples a degree of visual angle, from the viewing distance in heights of a display of so many lines.
inline float adm_density(double norm_view_dist, int ref_display_height) {
  constexpr double pi = 3.14159265358979323846;
  return static_cast<float>(norm_view_dist * ref_display_height * pi / 180.0);
}

// Sensitivity at a scale for the bands h and v (direction 0) or d (1): the inverse of the quantisation step that is
// just visible at the band's spatial frequency.
inline float adm_watson(float density, int scale, int direction) {
  constexpr float a = 0.495f, k = 0.466f, f0 = 0.401f;
  constexpr float g[2] = {1.0f, 0.534f};
  constexpr float amplitude[2][4] = {{0.67234f, 0.41317f, 0.22727f, 0.11792f},
                                     {0.72709f, 0.49428f, 0.28688f, 0.15214f}};
  const double band = static_cast<double>(1 << (scale + 1)) * f0 * g[direction] / density;
  const volatile float t = static_cast<float>(std::log10(band));
  const volatile float kt = k * t;
  const volatile float u = kt * t;
  const volatile float step =
      static_cast<float>((2.0 * a) * std::pow(10.0, static_cast<double>(u)) / amplitude[direction][scale]);
  return 1.0f / step;
}

// Cycles a degree that a scale's bands begin at.
inline float adm_frequency(float density, int scale) { return density / static_cast<float>(2 << scale); }

// libvmaf's own curve; the band d counts as finer by 1 / 0.7.
inline float adm_native(float density, int scale, int direction) {
  float f = adm_frequency(density, scale);
  if (direction == 1) f = static_cast<float>(f / 0.7);
  return static_cast<float>((0.31 + 0.69 * f) * std::exp(-0.29 * f));
}

// Barten's model as adapted for a range of luminances, at 100 cd/m2: its four parameters lie between those at 20 and at
// 150, on a logarithmic scale of luminance.
inline float adm_barten(float density, int scale, double gain) {
  constexpr float luminance = 100, left = 20, right = 150;
  constexpr float at_left[4] = {0.334278f, 3.79542f, 1.07327f, 6.4635f};
  constexpr float at_right[4] = {0.394533f, 2.7755f, 1.16577f, 7.45665f};
  const auto position = [](float l) { return static_cast<float>(std::log10(static_cast<double>(l))); };
  const float x = position(luminance), xl = position(left), xr = position(right);
  float p[4];
  for (int k = 0; k < 4; k++) p[k] = at_left[k] + (at_right[k] - at_left[k]) / (xr - xl) * (x - xl);

  const float f = adm_frequency(density, scale), pf = p[0] * f, f7 = f / 7;
  const float a = static_cast<float>(1 + std::pow(static_cast<double>(pf), static_cast<double>(p[1])));
  const double inner = 1 - std::exp(-std::pow(static_cast<double>(f7), 2.0));
  const float b = static_cast<float>(1 / std::pow(inner, static_cast<double>(p[2])));
  const float ab = a * b;
  const float c = static_cast<float>(p[3] / std::sqrt(static_cast<double>(ab)));

  // Modulation transfer of the eye's optics, and the share of rods at this luminance.
  constexpr double weight[4] = {0.424838596301290, 0.572435103936480, 0.000167576239164937,
                                0.00255872352306433};
  constexpr double decay[4] = {0.028, 0.37, 37, 360};
  float transfer = 0;
  for (int k = 0; k < 4; k++) transfer = static_cast<float>(transfer + weight[k] * std::exp(-decay[k] * f));
  const float ratio = static_cast<float>(4.0627 / luminance);
  const float rods =
      static_cast<float>(30.162 * std::pow(std::pow(static_cast<double>(ratio), 1.6596) + 1, -0.2712));
  const float product = c * transfer * rods;
  return static_cast<float>(product * gain);
}

}  // namespace vmafhip
