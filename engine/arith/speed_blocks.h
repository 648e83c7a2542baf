// Each block's variance and entropy: QR decomposition of SpEED's covariance matrix by reflections, then the solution for
// as many blocks as Team::Real has lanes. The order of operations is the definition; Team is explained in speed_eigen.h.
// Team::multiply(left, right, first, column) does what speed_multiply() does for all columns from `column` on.
#pragma once
#include "engine/arith/speed_eigen.h"

namespace vmafhip {

// K = q' r.
struct SpeedFactors {
  SpeedMatrix q, r;
};

// sums[i] = sum over m of left[i][m] * right[m], from `first` on, for the columns of one Real; i from `first` too.
template <class Team>
VMAFHIP_HD void speed_multiply(const SpeedMatrix &left, SpeedMatrix &right, int first, int at) {
  using Real = typename Team::Real;
  Real column[kSpeedOffsets];
  for (int m = first; m < kSpeedOffsets; m++) column[m] = Team::load(right[m] + at);
  for (int i = first; i < kSpeedOffsets; i++) {
    Real sum{};
    for (int m = first; m < kSpeedOffsets; m++) sum = sum + column[m] * left[i][m];
    Team::store(right[i] + at, sum);
  }
}

// False if the matrix cannot be solved. `z` and `h` are working memory.
template <class Team>
VMAFHIP_HD bool speed_factorise(const SpeedMatrix &k, SpeedFactors &f, SpeedMatrix &z, SpeedMatrix &h,
                                float (&v)[kSpeedRow]) {
  using Real = typename Team::Real;
  constexpr int n = kSpeedOffsets;
  Team::each(0, n, [&](int at) {
    for (int i = 0; i < n; i++) {
      Team::store(z[i] + at, Team::load(k[i] + at));
      Team::store(f.q[i] + at, Real{});
    }
  });
  Team::once([&] {
    for (int i = 0; i < n; i++) f.q[i][i] = 1;
  });

  // Reflection H = 1 - 2vv' leaves rows and columns before `first` alone: they are left out of sums.
  for (int first = 0; first < n - 1; first++) {
    float square = 0;
    for (int i = first; i < n; i++) square += z[i][first] * z[i][first];
    const float head = z[first][first] + speed_sign(k[first][first]) * square_root(square);
    square = head * head;
    for (int i = first + 1; i < n; i++) square += z[i][first] * z[i][first];
    const float norm = square_root(square);
    Team::once([&] {
      v[first] = head;
      for (int i = first + 1; i < n; i++) v[i] = z[i][first];
    });
    Team::each(first, n, [&](int at) { Team::store(v + at, Team::load(v + at) / norm); });
    Team::each(first, n, [&](int at) {
      const Real column = Team::load(v + at);
      for (int i = first; i < n; i++) Team::store(h[i] + at, column * (-2 * v[i]));
    });
    Team::once([&] {
      for (int i = first; i < n; i++) h[i][i] += 1;
    });
    Team::multiply(h, z, first, first + 1);
    Team::multiply(h, f.q, first, 0);
  }

  Team::each(0, n, [&](int at) {
    for (int i = 0; i < n; i++) {
      Real sum{};
      for (int m = 0; m < n; m++) sum = sum + Team::load(k[m] + at) * f.q[i][m];
      Team::store(f.r[i] + at, sum);
    }
  });
  for (int i = 0; i < n; i++)
    if (absolute(widen(f.r[i][i])) < 1e-6) return false;
  return true;
}

// s = y' K^-1 y / 25 of the blocks in the lanes of y. `x`: as many elements, working memory.
template <class Team, class Column>
VMAFHIP_HD typename Team::Real speed_variance(const SpeedFactors &f, const Column &y, Column &x) {
  using Real = typename Team::Real;
  constexpr int n = kSpeedOffsets;
  for (int i = 0; i < n; i++) {
    Real sum{};
    for (int m = 0; m < n; m++) sum = sum + y[m] * f.q[i][m];
    x[i] = sum;
  }
  for (int i = n - 1; i >= 0; i--) {
    Real rest = x[i];
    for (int m = i + 1; m < n; m++) rest = rest - x[m] * f.r[i][m];
    x[i] = rest / f.r[i][i];
  }
  Real s{};
  for (int m = 0; m < n; m++) s = s + x[m] * y[m] / 25.0f;
  return s;
}

// Sum over eigenvalues, each term in f64 and each sum rounded to f32.
template <class Team>
VMAFHIP_HD typename Team::Real speed_entropy(const float *eigenvalues, float sigma, typename Team::Real s) {
  using Real = typename Team::Real;
  Real sum{};
  for (int m = 0; m < kSpeedOffsets; m++) {
    const Real variance = s * maximum(eigenvalues[m], 0.0f) + sigma;
    sum = Team::rounded(Team::wide(sum) + (Team::log2(Team::wide(variance)) + kLog2TwoPiE));
  }
  return sum;
}

}  // namespace vmafhip
