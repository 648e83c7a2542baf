// Eigenvalues of SpEED's covariance matrices: reduction to tridiagonal form by reflections, then QR steps with implicit
// shift, in single precision. The order of operations is the definition.
//
// Team says who does what can be done side by side. Team::Real holds Team::kLanes neighbours of a row, and
// Team::each(first, last, f) calls f(at) for neighbours at, at + kLanes, ...: on a CPU one after the other, on vectors;
// on a GPU a thread each, before and after which all wait for each other. Team::once(f) is for a single one to do. All else
// each thread does itself: it may store, once, what depends on no other thread, and never changes what it finds. On CPUs what lies
// behind a row's kSpeedOffsets is zero, and there is room for vectors that begin at its last element.
#pragma once
#include <cstdint>

#include "engine/arith/real.h"
#include "engine/arith/speed.h"

namespace vmafhip {

constexpr int kSpeedRow = 40;
using SpeedMatrix = float[kSpeedOffsets][kSpeedRow];

VMAFHIP_HD float speed_hypotenuse(float x, float y) { return square_root(x * x + y * y); }
VMAFHIP_HD float speed_sign(float x) { return x >= 0 ? 1.0f : -1.0f; }

// Symmetric `a` (both triangles) becomes a tridiagonal matrix of the same eigenvalues; `a` is used up. `v` and `x` are
// working memory.
template <class Team>
VMAFHIP_HD void speed_tridiagonal(SpeedMatrix &a, float (&v)[kSpeedRow], float (&x)[kSpeedRow],
                                  float *diagonal, float *beside) {
  using Real = typename Team::Real;
  constexpr int n = kSpeedOffsets;
  for (int i = 0; i < n - 2; i++) {
    const int first = i + 1;
    const float alpha = a[i][first];
    float square = 0;
    for (int r = first + 1; r < n; r++) square += a[i][r] * a[i][r];
    const float rest = square_root(square);
    diagonal[i] = a[i][i];
    if (rest == 0) {
      beside[i] = alpha;
      continue;
    }

    const float beta = -speed_sign(alpha) * speed_hypotenuse(alpha, rest);
    const float tau = (beta - alpha) / beta, q = alpha - beta;
    beside[i] = beta;
    if (tau == 0) continue;
    Team::each(first, n, [&](int at) { Team::store(v + at, Team::load(a[i] + at) / q); });
    v[first] = 1;
    Team::each(first, n, [&](int at) {
      Real sum{};
      for (int j = first; j < n; j++) sum = sum + (Team::load(a[j] + at) * tau) * v[j];
      Team::store(x + at, sum);
    });
    float rho = 0;
    for (int r = first; r < n; r++) rho += x[r] * v[r];
    const float kappa = -0.5f * tau * rho;
    Team::each(first, n,
               [&](int at) { Team::store(x + at, Team::load(x + at) + Team::load(v + at) * kappa); });
    Team::each(first, n, [&](int at) {
      const Real column_v = Team::load(v + at), column_x = Team::load(x + at);
      for (int r = first; r < n; r++)
        Team::store(a[r] + at, Team::load(a[r] + at) - (column_v * x[r] + column_x * v[r]));
    });
  }
  diagonal[n - 2] = a[n - 2][n - 2];
  diagonal[n - 1] = a[n - 1][n - 1];
  beside[n - 2] = a[n - 1][n - 2];
}

// Elements beside the diagonal that are nothing next to it become 0.
VMAFHIP_HD void speed_chop(const float *diagonal, float *beside, int first, int last) {
  for (int i = first; i < last; i++) {
    const double size = absolute(widen(diagonal[i])) + absolute(widen(diagonal[i + 1]));
    if (absolute(widen(beside[i])) < 1e-6 * size) beside[i] = 0;
  }
}

// The eigenvalue of the last 2x2 block that is nearer to its last element.
VMAFHIP_HD float speed_shift(float before, float last, float beside) {
  const float half = (before - last) / 2;
  if (half == 0) return last - absolute(beside);
  const float root = speed_hypotenuse(half, beside);
  return half > 0 ? last - beside * (beside / (half + root)) : last + beside * (beside / (-half + root));
}

// One QR step on `size` elements of the diagonal.
VMAFHIP_HD void speed_qr_step(float *diagonal, float *beside, int size) {
  float mu = speed_shift(diagonal[size - 2], diagonal[size - 1], beside[size - 2]);
  if (1e-6 * absolute(widen(mu)) > absolute(widen(diagonal[0])) + absolute(widen(beside[0]))) mu = 0;
  float x = diagonal[0] - mu, z = beside[0];
  float bk = 0, zk = 0, ap = diagonal[0], bp = beside[0], aq = diagonal[1];
  float bq = size > 2 ? beside[1] : 0;
  for (int k = 0; k < size - 1; k++) {
    float c = 1, s = 0;
    if (z != 0) {
      const bool steep = absolute(z) > absolute(x);
      const float t = steep ? -x / z : -z / x;
      const float u = static_cast<float>(1 / square_root(widen(1 + t * t)));
      s = steep ? u : u * t;
      c = steep ? u * t : u;
    }
    const float bk1 = c * bk - s * zk;
    const float ap1 = c * (c * ap - s * bp) + s * (s * aq - c * bp);
    const float bp1 = c * (s * ap + c * bp) - s * (s * bp + c * aq);
    const float zp1 = -s * bq;
    const float aq1 = s * (s * ap + c * bp) + c * (s * bp + c * aq);
    const float bq1 = c * bq;
    bk = bp1;
    zk = zp1;
    ap = aq1;
    bp = bq1;
    if (k < size - 2) aq = diagonal[k + 2];
    if (k < size - 3) bq = beside[k + 2];
    diagonal[k] = ap1;
    if (k > 0) beside[k - 1] = bk1;
    if (k < size - 2) beside[k + 1] = bp;
    x = bk;
    z = zk;
  }
  diagonal[size - 1] = ap;
  beside[size - 2] = bk;
}

// The diagonal becomes the eigenvalues, in no order of size.
VMAFHIP_HD void speed_diagonalise(float *diagonal, float *beside) {
  int last = kSpeedOffsets - 1;
  speed_chop(diagonal, beside, 0, last);
  for (int steps = 0; last > 0 && steps < 500;) {
    if (beside[last - 1] == 0) {
      last--;
      continue;
    }
    int first = last - 1;
    while (first > 0 && beside[first - 1] != 0) first--;
    speed_qr_step(diagonal + first, beside + first, last - first + 1);
    speed_chop(diagonal + first, beside + first, 0, last - first);
    steps++;
  }
}

}  // namespace vmafhip
