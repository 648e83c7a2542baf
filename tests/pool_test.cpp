// Running pools against sums over the whole list.
#include "engine/pool.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace vmafhip {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

RunningPool pool_of(const std::vector<double> &scores) {
  RunningPool pool;
  for (double s : scores) pool.add(s);
  return pool;
}

TEST(RunningPool, EmptyIsNan) {
  const RunningPool pool;
  EXPECT_EQ(pool.count(), 0u);
  for (const PoolMethod m : {PoolMethod::mean, PoolMethod::min, PoolMethod::max, PoolMethod::harmonic_mean})
    EXPECT_TRUE(std::isnan(pool.get(m)));
}

TEST(RunningPool, OneScore) {
  const RunningPool pool = pool_of({42.5});
  EXPECT_EQ(pool.get(PoolMethod::mean), 42.5);
  EXPECT_EQ(pool.get(PoolMethod::min), 42.5);
  EXPECT_EQ(pool.get(PoolMethod::max), 42.5);
  EXPECT_NEAR(pool.get(PoolMethod::harmonic_mean), 42.5, 1e-12);
}

TEST(RunningPool, AsTheDefinitionSays) {
  std::vector<double> scores;
  for (int i = 0; i < 1000; ++i) scores.push_back(50 + 50 * std::sin(i * 0.7));
  const RunningPool pool = pool_of(scores);
  double sum = 0, reciprocals = 0;
  for (double s : scores) {
    sum += s;
    reciprocals += 1 / (s + 1);
  }
  EXPECT_EQ(pool.count(), 1000u);
  EXPECT_EQ(pool.get(PoolMethod::mean), sum / 1000);
  EXPECT_EQ(pool.get(PoolMethod::min), *std::min_element(scores.begin(), scores.end()));
  EXPECT_EQ(pool.get(PoolMethod::max), *std::max_element(scores.begin(), scores.end()));
  EXPECT_EQ(pool.get(PoolMethod::harmonic_mean), 1000 / reciprocals - 1);
}

TEST(RunningPool, NegativeScores) {
  const RunningPool pool = pool_of({-3, -2, 4});
  EXPECT_EQ(pool.get(PoolMethod::min), -3);
  EXPECT_EQ(pool.get(PoolMethod::max), 4);
  EXPECT_NEAR(pool.get(PoolMethod::mean), -1.0 / 3, 1e-15);
  EXPECT_NEAR(pool.get(PoolMethod::harmonic_mean), 3 / (-0.5 - 1 + 0.2) - 1, 1e-12);
}

TEST(RunningPool, InfinityPassesThrough) {
  const RunningPool pool = pool_of({30, kInf, 40});
  EXPECT_EQ(pool.get(PoolMethod::mean), kInf);
  EXPECT_EQ(pool.get(PoolMethod::min), 30);
  EXPECT_EQ(pool.get(PoolMethod::max), kInf);
  EXPECT_EQ(pool.get(PoolMethod::harmonic_mean), 3 / (1 / 31.0 + 0 + 1 / 41.0) - 1);
  EXPECT_EQ(pool_of({kInf, kInf}).get(PoolMethod::harmonic_mean), kInf);
}

TEST(RunningPool, NanComparesAsInLibvmaf) {
  const RunningPool later = pool_of({30, kNan, 40});
  EXPECT_TRUE(std::isnan(later.get(PoolMethod::mean)));
  EXPECT_TRUE(std::isnan(later.get(PoolMethod::harmonic_mean)));
  EXPECT_EQ(later.get(PoolMethod::min), 30);
  EXPECT_EQ(later.get(PoolMethod::max), 40);
  const RunningPool first = pool_of({kNan, 30, 40});
  EXPECT_TRUE(std::isnan(first.get(PoolMethod::min)));
  EXPECT_TRUE(std::isnan(first.get(PoolMethod::max)));
}

TEST(RunningPool, ResetForgets) {
  RunningPool pool = pool_of({1, 2, kNan});
  pool.reset();
  EXPECT_EQ(pool.count(), 0u);
  EXPECT_TRUE(std::isnan(pool.get(PoolMethod::max)));
  pool.add(7);
  EXPECT_EQ(pool.get(PoolMethod::mean), 7);
  EXPECT_EQ(pool.get(PoolMethod::min), 7);
}

}  // namespace
}  // namespace vmafhip
