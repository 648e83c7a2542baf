// A fitted response surface: what a regression model answers to a frame's features, as a polynomial of our own.
//
//   u_i = position of feature i in [low_i, high_i], mapped to [-1, 1]
//   y   = offset + exp(-sum spread_i * u_i^2) * P(u)
//
// P has total degree `degree` in the basis T_k1(u_1) * ... * T_kn(u_n), T_k Chebyshev's polynomials. The exponential
// is the part of a sum of Gaussians that is common to all of them: what it leaves over is smooth enough for a
// polynomial of low degree. y is the score in VMAF points, before transform and clip.
#pragma once
#include <cstddef>
#include <span>

namespace vmafhip {

inline constexpr int kMaxSurfaceInputs = 8, kMaxSurfaceDegree = 12;

struct Surface {
  int inputs, degree;
  const double *low, *high, *spread;  // per input
  double offset;
  const double
      *coefficients;  // surface_size(); k1 outermost, each k ascending from 0 while their sum <= degree
};

// Number of coefficients: (inputs + degree)! / (inputs! degree!).
constexpr size_t surface_size(int inputs, int degree) {
  size_t size = 1;
  for (int i = 1; i <= inputs; ++i) size = size * static_cast<size_t>(degree + i) / static_cast<size_t>(i);
  return size;
}

// y at the features, or at the nearest point of the box if they lie outside; `extrapolated` is then set. Uses no
// libm and one order of operations: the same bits on every machine. NaN in, NaN out.
double evaluate(const Surface &surface, std::span<const double> features, bool *extrapolated);

// The parts of evaluate(), for the tool that fits P.
//
// All products T_k1(u_1) * ... * T_kn(u_n) in the order of the coefficients.
void surface_basis(int inputs, int degree, const double *u, double *products);
// exp(-t), t in 0..16, to 1e-13 relative.
double exp_minus(double t);

}  // namespace vmafhip
