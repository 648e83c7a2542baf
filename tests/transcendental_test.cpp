// Our own transcendental functions against the C library's in long double, over the ranges that they are defined for.
#include "engine/arith/transcendental.h"

#include <cmath>

#include <gtest/gtest.h>

namespace vmafhip {
namespace {

// From `low` to `high` in steps that are no power of two's.
template <class Check>
void sweep(double low, double high, int steps, Check check) {
  for (int i = 0; i <= steps; ++i) check(low + (high - low) * i / steps);
}

long double relative(long double got, long double want) { return std::fabs((got - want) / want); }

TEST(Transcendental, RootsAndPowers) {
  long double power = 0, root = 0, square = 0;
  sweep(-60, 60, 400009, [&](double exponent) {
    const double x = std::exp2(exponent);
    power = std::max(power, relative(power_12_5(x), std::pow(static_cast<long double>(x), 2.4L)));
    square = std::max(square, relative(quick_root(x), std::sqrt(static_cast<long double>(x))));
    root = std::max(root, relative(cube_root(x), std::cbrt(static_cast<long double>(x))));
  });
  EXPECT_LT(power, 4e-14L);
  EXPECT_LT(root, 2e-13L);
  EXPECT_LT(square, 2e-14L);
  EXPECT_EQ(quick_root(0.0), 0.0);
}

TEST(Transcendental, Arctangent) {
  long double worst = 0;
  sweep(-3.1415, 3.1415, 300007, [&](double angle) {
    const double x = 40 * std::cos(angle), y = 40 * std::sin(angle);
    const long double want = std::atan2(static_cast<long double>(y), static_cast<long double>(x));
    if (want != 0) worst = std::max(worst, relative(arctangent(y, x), want));
  });
  EXPECT_LT(worst, 1e-13L);
  for (double tiny : {1e-30, -1e-30, 1e-3, -1e-3}) EXPECT_NEAR(arctangent(tiny, 1.0) / tiny, 1, 1e-6);
}

TEST(Transcendental, ArctangentOnTheAxes) {
  const double pi = std::acos(-1.0);
  EXPECT_EQ(arctangent(0.0, 0.0), 0);
  EXPECT_EQ(arctangent(0.0, 3.0), 0);
  EXPECT_EQ(arctangent(0.0, -3.0), pi);
  EXPECT_EQ(arctangent(3.0, 0.0), pi / 2);
  EXPECT_EQ(arctangent(-3.0, 0.0), -pi / 2);
  EXPECT_EQ(arctangent(3.0, 3.0), pi / 4);
  EXPECT_EQ(arctangent(-3.0, -3.0), -3 * pi / 4);
}

TEST(Transcendental, SineAndCosine) {
  double of_sine = 0, of_pair = 0;
  sweep(-1.5708, 1.5708, 300007, [&](double angle) {
    const float x = static_cast<float>(angle);
    if (x != 0) of_sine = std::max(of_sine, std::fabs(sine(x) / std::sin(static_cast<double>(x)) - 1));
  });
  sweep(0, 12.566, 300007, [&](double angle) {
    const float x = static_cast<float>(angle);
    const SineCosine<float> got = sine_cosine(x);
    const double exact = x;
    of_pair =
        std::max({of_pair, std::fabs(got.sine - std::sin(exact)), std::fabs(got.cosine - std::cos(exact))});
  });
  EXPECT_LT(of_sine, 2e-7);
  EXPECT_LT(of_pair, 5e-7);
  EXPECT_EQ(sine(0.0f), 0.0f);
}

TEST(Transcendental, ExponentialDecay) {
  double worst = 0;
  sweep(0, 80, 300007, [&](double at) {
    const float x = static_cast<float>(at);
    worst =
        std::max(worst, std::fabs(exponential_decay(x) / std::exp(-static_cast<double>(x)) - 1) / (1 + x));
  });
  EXPECT_LT(worst, 2e-7);
  EXPECT_EQ(exponential_decay(0.0f), 1.0f);
}

}  // namespace
}  // namespace vmafhip
