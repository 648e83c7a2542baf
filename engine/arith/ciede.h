// CIEDE2000: the colour difference that viewers see, a pixel, averaged over the picture.
//
//   samples -> R'G'B' -> linear RGB -> XYZ -> L*a*b*      in doubles; the result of each cube root and L*, a*, b* are
//                                                         rounded to float
//   two L*a*b* -> difference                              chroma and hue from doubles, each rounded to float, the rest
//                                                         in floats
//   score = 45 - 20 log10(mean difference)                decibels: higher is better, infinite if nothing differs
//
// Where small differences are taken of large numbers (lightness, chroma, hue) these are rounded to float exactly where
// libvmaf rounds them: its own roundings decide the digits there. Elsewhere floats lose 1e-7 of a difference.
//
// Order of the sum: a row by lane_sum.h, then rows from the top.
#pragma once
#include "engine/arith/lane_sum.h"
#include "engine/arith/transcendental.h"

namespace vmafhip {

struct CiedeParams {
  bool plain_422 = false;
};

struct CiedeSums {
  double difference = 0;  // summed over the picture
};

// ---- Where the chroma of a pixel is

struct CiedeShape {
  int width = 0, height = 0;                // luma
  int chroma_width = 0, chroma_height = 0;  // samples that count: where luma is odd, the last one is left out
  bool half_width = false, half_height = false;
  // libvmaf's 4:2:2: rows are halved in place of columns. Column x lies x samples into memory whose rows are
  // `stride` samples apart, zeros between them, and so may lie in the next row.
  bool swapped = false;
  int stride = 0;
};

VMAFHIP_HD CiedeShape ciede_shape(int width, int height, bool half_width, bool half_height, bool swapped) {
  CiedeShape s = {width, height, width, height, half_width, half_height, swapped, 0};
  if (half_width) s.chroma_width = larger(1, width / 2);
  if (half_height) s.chroma_height = larger(1, height / 2);
  s.stride = (s.chroma_width + 31) / 32 * 32;
  return s;
}

// Row of chroma that holds column x of row y; columns run from x on, to the next multiple of `stride` if swapped.
VMAFHIP_HD int ciede_chroma_row(const CiedeShape &s, int x, int y) {
  const int row = s.swapped ? y / 2 + x / s.stride : s.half_height ? y / 2 : y;
  return smaller(row, s.chroma_height - 1);
}

// ---- L*a*b*

// Limited range is assumed whatever the picture's is; nothing is clamped.
struct CiedeRange {
  double black, grey, luma;
  double r_cr, g_cb, g_cr, b_cb;
};
VMAFHIP_HD CiedeRange ciede_range(int depth) {
  const double unit = static_cast<double>(1 << (depth - 8)), chroma = 1 / (224 * unit);
  return {16 * unit,        128 * unit,       1 / (219 * unit), 1.28033 * chroma,
          0.21482 * chroma, 0.38059 * chroma, 2.12798 * chroma};
}

template <class R>
struct CiedeLab {
  R l, a, b;
};

// R', G' or B'.
template <int channel, class R>
VMAFHIP_HD WideOf<R> ciede_coded(R luma, R cb, R cr, const CiedeRange &range) {
  const WideOf<R> grey = (widen(luma) - range.black) * range.luma;
  if constexpr (channel == 0) return grey + (widen(cr) - range.grey) * range.r_cr;
  if constexpr (channel == 2) return grey + (widen(cb) - range.grey) * range.b_cb;
  return grey - (widen(cb) - range.grey) * range.g_cb - (widen(cr) - range.grey) * range.g_cr;
}

// Linear RGB is in units of 1.055^-2.4, which the curve's power part so needs no factor for.
constexpr double kCiedeUnit = 0.87941546140212992;

template <class W>
VMAFHIP_HD W ciede_linear(W c) {
  // Below the threshold the power is not used, but evaluated.
  const W power = power_12_5(maximum(c + 0.055, splat<W>(0.0625)));
  return select(c > splat<W>(10.0 / 255.0), power, c * (1.0 / 12.92 / kCiedeUnit));
}

// X, Y or Z in units of the white point, D65; BT.709's primaries.
template <int axis, class W>
VMAFHIP_HD W ciede_tristimulus(W r, W g, W b) {
  constexpr double kX = kCiedeUnit / 0.95047, kY = kCiedeUnit, kZ = kCiedeUnit / 1.08883;
  constexpr double k[3][3] = {
      {kX * 0.4124564390896921, kX * 0.357576077643909, kX * 0.18043748326639894},
      {kY * 0.21267285140562248, kY * 0.715152155287818, kY * 0.07217499330655958},
      {kZ * 0.019333895582329317, kZ * 0.119192025881303, kZ * 0.9503040785363677},
  };
  return r * k[axis][0] + g * k[axis][1] + b * k[axis][2];
}

template <class W>
VMAFHIP_HD auto ciede_response(W t) {
  const W root = cube_root(maximum(t, splat<W>(0.0078125)));
  const W line = t * (24389.0 / 27.0 / 116.0) + 16.0 / 116.0;
  return narrow(select(t > splat<W>(216.0 / 24389.0), root, line));
}

template <class R>
VMAFHIP_HD CiedeLab<R> ciede_lab(R luma, R cb, R cr, const CiedeRange &range) {
  const auto r = ciede_linear(ciede_coded<0>(luma, cb, cr, range));
  const auto g = ciede_linear(ciede_coded<1>(luma, cb, cr, range));
  const auto b = ciede_linear(ciede_coded<2>(luma, cb, cr, range));
  const auto fx = widen(ciede_response(ciede_tristimulus<0>(r, g, b)));
  const auto fy = widen(ciede_response(ciede_tristimulus<1>(r, g, b)));
  const auto fz = widen(ciede_response(ciede_tristimulus<2>(r, g, b)));
  return {narrow(fy * 116.0 - 16.0), narrow((fx - fy) * 500.0), narrow((fy - fz) * 200.0)};
}

// ---- Difference

template <class R>
VMAFHIP_HD R ciede_length(R a, R b) {
  const auto x = widen(a), y = widen(b);
  return narrow(quick_root(x * x + y * y));
}

// 0 to 2 pi.
template <class R>
VMAFHIP_HD R ciede_hue(R a, R b) {
  const R angle = narrow(arctangent(widen(b), widen(a)));
  return select(angle < 0.0f, narrow(widen(angle) + 6.283185307179586), angle);
}

// 1 - 0.17 cos(h - 30) + 0.24 cos(2 h) + 0.32 cos(3 h + 6) - 0.20 cos(4 h - 63), h in radians, the others in degrees:
// by the theorems of addition from the sine and the cosine of h.
template <class R>
VMAFHIP_HD R ciede_hue_weight(R hue) {
  const SineCosine<R> one = sine_cosine(hue);
  const R s1 = one.sine, c1 = one.cosine;
  const R s2 = 2.0f * s1 * c1, c2 = 1.0f - 2.0f * s1 * s1;
  const R s3 = s2 * c1 + c2 * s1, c3 = c2 * c1 - s2 * s1;
  const R s4 = 2.0f * s2 * c2, c4 = 1.0f - 2.0f * s2 * s2;
  return 1.0f - (0.147224319f * c1 + 0.085f * s1) + 0.24f * c2 + (0.318247006f * c3 - 0.0334491082f * s3) -
         (0.0907980999f * c4 + 0.178201305f * s4);
}

// Weights: lightness 0.65, chroma 1, hue 4. The hue of a grey does not count, for its chroma is a factor.
template <class R>
VMAFHIP_HD R ciede_difference(const CiedeLab<R> &p, const CiedeLab<R> &q) {
  constexpr float kPi = 3.14159274f;  // lies above pi: what is above pi is not below this
  constexpr double kTurn = 6.283185307179586, kPower = 6103515625.0;  // 2 pi; 25^7
  // a* is stretched near grey.
  const auto mean = widen((ciede_length(p.a, p.b) + ciede_length(q.a, q.b)) * 0.5f);
  const auto square = mean * mean, power = square * square * (square * mean);
  const auto stretch = 1.0 - quick_root(power / (power + kPower));
  const R ap = narrow(widen(p.a) + widen(p.a * 0.5f) * stretch);
  const R aq = narrow(widen(q.a) + widen(q.a * 0.5f) * stretch);
  const R cp = ciede_length(ap, p.b), cq = ciede_length(aq, q.b);
  const R chroma = (cp + cq) * 0.5f;

  const R hp = ciede_hue(ap, p.b), hq = ciede_hue(aq, q.b);
  const R step = hq - hp;
  const auto far = absolute(step) >= kPi;
  const auto back = widen(step);
  const R turn = select(far, narrow(select(back < widen(splat<R>(0.0)), back + kTurn, back - kTurn)), step);
  const R hue_sum = hp + hq, hue = select(far, hue_sum + 6.2831853f, hue_sum) * 0.5f;

  const R off = (p.l + q.l) * 0.5f - 50.0f, off2 = off * off;
  const R lightness_weight = 1.0f + 0.015f * off2 / square_root(20.0f + off2);
  const R chroma_weight = 1.0f + 0.045f * chroma;
  const R hue_weight = 1.0f + 0.015f * chroma * ciede_hue_weight(hue);

  // Blues turn: an ellipse that leans.
  const R from_blue = (hue * 57.2957795f - 275.0f) * 0.04f;
  const R lean = 1.04719755f * exponential_decay(minimum(from_blue * from_blue, splat<R>(40.0)));
  const R c2 = chroma * chroma, c7 = c2 * c2 * (c2 * chroma);
  const R rotation = -2.0f * square_root(c7 / (c7 + static_cast<float>(kPower))) * sine(lean);

  const R l = (q.l - p.l) / (0.65f * lightness_weight);
  const R c = (cq - cp) / chroma_weight;
  const R h = 2.0f * square_root(cp * cq) * sine(turn * 0.5f) / (4.0f * hue_weight);
  return square_root(l * l + c * c + h * h + rotation * c * h);
}

}  // namespace vmafhip
