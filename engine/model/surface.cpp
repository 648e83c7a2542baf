#include "engine/model/surface.h"

#include <array>

namespace vmafhip {
namespace {

using Powers = std::array<std::array<double, kMaxSurfaceDegree + 1>, kMaxSurfaceInputs>;

Powers chebyshev(int inputs, int degree, const double *u) {
  Powers t;
  for (int i = 0; i < inputs; ++i) {
    t[i][0] = 1;
    t[i][1] = u[i];
    for (int k = 2; k <= degree; ++k) t[i][k] = 2 * u[i] * t[i][k - 1] - t[i][k - 2];
  }
  return t;
}

// Sum over all terms of inputs i, i + 1, ... with total degree up to `left`. `c` moves on past their coefficients.
double sum_terms(const Powers &t, int inputs, int i, int left, const double *&c) {
  double sum = 0;
  if (i + 1 == inputs) {
    for (int k = 0; k <= left; ++k) sum += t[i][k] * *c++;
  } else {
    for (int k = 0; k <= left; ++k) sum += t[i][k] * sum_terms(t, inputs, i + 1, left - k, c);
  }
  return sum;
}

void write_products(const Powers &t, int inputs, int i, int left, double product, double *&out) {
  for (int k = 0; k <= left; ++k) {
    if (i + 1 == inputs)
      *out++ = product * t[i][k];
    else
      write_products(t, inputs, i + 1, left - k, product * t[i][k], out);
  }
}

}  // namespace

double exp_minus(double t) {
  // exp(-t) = exp(-t/64)^64. With t/64 <= 1/4 the series ends below 2^-53 after 12 terms.
  const double x = t / 64;
  double e = 1;
  for (int k = 12; k > 0; --k) e = 1 - x * e / k;
  for (int i = 0; i < 6; ++i) e *= e;
  return e;
}

void surface_basis(int inputs, int degree, const double *u, double *products) {
  write_products(chebyshev(inputs, degree, u), inputs, 0, degree, 1, products);
}

double evaluate(const Surface &surface, std::span<const double> features, bool *extrapolated) {
  std::array<double, kMaxSurfaceInputs> u;
  double exponent = 0;
  for (int i = 0; i < surface.inputs; ++i) {
    const double low = surface.low[i], high = surface.high[i];
    double value = features[static_cast<size_t>(i)];
    if (value < low || value > high) {
      value = value < low ? low : high;
      *extrapolated = true;
    }
    u[i] = (2 * value - low - high) / (high - low);
    exponent += surface.spread[i] * u[i] * u[i];
  }
  const double *c = surface.coefficients;
  const Powers t = chebyshev(surface.inputs, surface.degree, u.data());
  return surface.offset + exp_minus(exponent) * sum_terms(t, surface.inputs, 0, surface.degree, c);
}

}  // namespace vmafhip
