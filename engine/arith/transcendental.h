// Transcendental functions of our own, in + - * / and integer operations: the same bits on every CPU and GPU, and as
// many lanes at once as a vector has. Each is defined for the range that its metric needs and says how accurate it is
// there; tests/transcendental_test.cpp holds it to that.
//
// Roots start from an estimate that divides the exponent by shifting the bits of a float as a number, refine it once in
// single precision, and, where a double is asked for, once more in double precision. With z near x^(-1/n), the power
// series of (1 - h)^(-1/n), h = 1 - x z^n, says by how much z is off: no division is needed.
#pragma once
#include "engine/arith/real.h"

namespace vmafhip {

// x^(12/5) = (x z)^3 (1 - h)^(-3/5), x from 2^-60 to 2^60; relative error below 4e-14.
template <class W>
VMAFHIP_HD W power_12_5(W x) {
  const auto single = narrow(x);
  // At most 16 % in x z^5.
  auto z = real_of(1277903859 - truncate(to_real(bits_of(single)) * 0.2f));
  {
    const auto z2 = z * z, h = 1.0f - single * z * (z2 * z2);
    z = z + z * (h * (0.2f + h * (0.12f + h * (0.088f + h * 0.0704f))));
  }
  const W w = widen(z), w2 = w * w, p = x * w, h = 1.0 - p * (w2 * w2);
  const W p3 = p * p * p;
  return p3 + p3 * (h * (0.6 + h * 0.48));
}

// x^(1/3) = x z^2 (1 - h)^(-2/3), x from 2^-60 to 2^60; relative error below 2e-13.
template <class W>
VMAFHIP_HD W cube_root(W x) {
  const auto single = narrow(x);
  // At most 11 % in x z^3.
  auto z = real_of(1419898954 - truncate(to_real(bits_of(single)) * 0.33333333f));
  {
    const auto h = 1.0f - single * z * (z * z);
    z = z + z * (h * (0.33333333f + h * (0.22222222f + h * 0.17283951f)));
  }
  const W w = widen(z), r = x * (w * w), h = 1.0 - r * w;
  return r + r * (h * (2.0 / 3.0 + h * (5.0 / 9.0)));
}

// Square root of 0 or of x from 2^-100 to 2^100; relative error below 2e-14. Vectors of doubles take longer for theirs
// than for one in single precision and a step of Newton's.
template <class W>
VMAFHIP_HD W quick_root(W x) {
  auto single = square_root(narrow(x));
  const W w = widen(single), slope = widen(0.5f / maximum(single, splat<decltype(single)>(1e-20)));
  return w + (x - w * w) * slope;
}

// The angle of (x, y) against the first axis, -pi to pi, 0 for (0, 0); any finite numbers. Error below 1e-13 relative
// to the result. A minimax polynomial serves up to tan(pi/8), steeper directions are turned by pi/4 first.
template <class W>
VMAFHIP_HD W arctangent(W y, W x) {
  constexpr double kPi = 3.141592653589793;
  const W zero = splat<W>(0.0), one = splat<W>(1.0);
  const W width = absolute(x), height = absolute(y);
  const W longer = maximum(width, height), shorter = minimum(width, height);
  const auto turned = shorter > longer * 0.4142135623730950;
  const W num = select(turned, shorter - longer, shorter);
  const W den = select(turned, shorter + longer, longer);
  const W t = num / select(den > zero, den, one), s = t * t;
  W p = splat<W>(0.030662440370424449);
  p = p * s - 0.058745056213078307;
  p = p * s + 0.075637035519151920;
  p = p * s - 0.090783920729434234;
  p = p * s + 0.11110385046148014;
  p = p * s - 0.14285690423839287;
  p = p * s + 0.19999999604891978;
  p = p * s - 0.33333333330803446;
  W angle = t + t * (s * p);
  angle = select(turned, angle + kPi / 4, angle);
  angle = select(height > width, kPi / 2 - angle, angle);
  angle = select(x < zero, kPi - angle, angle);
  return select(y < zero, -angle, angle);
}

// sin x, |x| up to pi/2 and a little more; relative error below 2e-7.
template <class R>
VMAFHIP_HD R sine(R x) {
  const R s = x * x;
  R p = splat<R>(2.6049608630931992e-6);
  p = p * s - 0.00019808953965341116f;
  p = p * s + 0.0083330493310071746f;
  p = p * s - 0.16666657913262156f;
  return x + x * (s * p);
}

template <class R>
struct SineCosine {
  R sine, cosine;
};

// x from 0 to 4 pi; absolute error below 5e-7.
template <class R>
VMAFHIP_HD SineCosine<R> sine_cosine(R x) {
  const auto turns = truncate(x * 0.31830989f + 0.5f);  // half ones
  const R n = to_real(turns);
  const R rest = (x - n * 3.140625f) - n * 9.6765359e-4f;  // the first product is exact
  const R s = rest * rest;
  R p = splat<R>(-2.6049188950469359e-7);
  p = p * s + 2.4760028073023276e-5f;
  p = p * s - 0.0013888358716896618f;
  p = p * s + 0.041666636038724343f;
  p = p * s - 0.49999999352234872f;
  const auto sign = turns << 31;
  return {real_of(bits_of(sine(rest)) ^ sign), real_of(bits_of(1.0f + s * p) ^ sign)};
}

// exp(-x), x from 0 to 80; relative error below 2e-7 (1 + x).
template <class R>
VMAFHIP_HD R exponential_decay(R x) {
  const R y = x * -1.44269504f;
  const auto whole = truncate(y - 0.5f);
  const R f = y - to_real(whole);
  R p = splat<R>(0.00015461444698569129);
  p = p * f + 0.0013400428177615838f;
  p = p * f + 0.0096180566785246381f;
  p = p * f + 0.055503272266703021f;
  p = p * f + 0.24022650922288758f;
  p = p * f + 0.6931472067028326f;
  p = p * f + 1.0f;
  return p * real_of((whole + 127) << 23);
}

}  // namespace vmafhip
