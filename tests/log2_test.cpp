// log2_of() against the C library, and its vectors against its numbers.
#include "engine/arith/log2.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/cpu/floats.h"
#include "tests/metric_run.h"

namespace vmafhip {
namespace {

double wide_noise(test::Noise &source) {
  const uint64_t bits = uint64_t{source.next()} << 40 ^ uint64_t { source.next() } << 20 ^ source.next();
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

TEST(Log2, IsAccurate) {
  test::Noise source(1);
  double worst = 0;
  const auto check = [&](double x) {
    const double exact = std::log2(x), error = std::fabs(log2_of(x) - exact);
    worst = std::max(worst, error / std::max(std::fabs(exact), 1.0));
    ASSERT_LE(error, 0x1p-51 * std::max(std::fabs(exact), 1.0)) << x;
  };
  for (int i = 0; i < 200000; ++i) {
    const double x = std::fabs(wide_noise(source));
    if (std::isnormal(x)) check(x);
    check(0.25 + i / 100000.0);
    check(1 + i * 1e-9);
  }
  for (double x : {1.0, 0.70710678118654752, 0.70710678118654746, 1.4142135623730951, 1.4142135623730949,
                   std::numeric_limits<double>::min(), std::numeric_limits<double>::max()})
    check(x);
  for (int e = -1022; e <= 1023; ++e) ASSERT_EQ(log2_of(std::ldexp(1.0, e)), e);
}

TEST(Log2, SpecialValues) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(log2_of(kInfinity), kInfinity);
  EXPECT_EQ(log2_of(0.0), -kInfinity);
  EXPECT_EQ(log2_of(-0.0), -kInfinity);
  EXPECT_EQ(log2_of(std::numeric_limits<double>::denorm_min()), -kInfinity);
  for (double x : {-1.0, -1e-300, -kInfinity, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_TRUE(std::isnan(log2_of(x))) << x;
}

TEST(Log2, VectorsEqualNumbers) {
  test::Noise source(2);
  for (int i = 0; i < 20000; ++i) {
    F64 v;
    for (int lane = 0; lane < kFloats / 2; ++lane) v[lane] = wide_noise(source);
    const F64 logs = log2_of(v);
    for (int lane = 0; lane < kFloats / 2; ++lane) {
      const double one = log2_of(static_cast<double>(v[lane]));
      ASSERT_TRUE(logs[lane] == one || (std::isnan(logs[lane]) && std::isnan(one))) << v[lane];
    }
  }
}

}  // namespace
}  // namespace vmafhip
