// Running pools against sums over the whole list, and against the list sorted.
#include "engine/pool.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace vmafhip {
namespace test {
extern std::atomic<uint64_t> allocations;  // count_allocations.cpp
}
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

TEST(RunningPool, StandardDeviationOfThePopulation) {
  EXPECT_TRUE(std::isnan(RunningPool().stddev()));
  EXPECT_EQ(pool_of({42.5}).stddev(), 0);
  EXPECT_EQ(pool_of({2, 4, 4, 4, 5, 5, 7, 9}).stddev(), 2);
  // The naive difference of sums would leave nothing of it.
  EXPECT_NEAR(pool_of({1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16}).stddev(), std::sqrt(22.5), 1e-6);
  for (const double bad : {kInf, -kInf, kNan}) EXPECT_TRUE(std::isnan(pool_of({1, bad, 3, 4}).stddev()));
}

// ---- Percentiles ------------------------------------------------------------------------------------------

double sorted_percentile(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  const double t = p * double(values.size() - 1) / 100, l = std::floor(t), r = std::ceil(t);
  if (l == r) return values[size_t(l)];
  return values[size_t(l)] * (r - t) + values[size_t(r)] * (t - l);
}

const double kPercents[] = {0, 0.01, 1, 5, 25, 50, 75, 99, 99.99, 100};

TEST(Percentile, OfFewValues) {
  EXPECT_TRUE(std::isnan(RunningPool().percentile(50)));
  for (const double p : kPercents) EXPECT_EQ(pool_of({42.5}).percentile(p), 42.5);
  const RunningPool pool = pool_of({40, 10, 30, 20});
  EXPECT_EQ(pool.percentile(0), 10);
  EXPECT_EQ(pool.percentile(50), 25);
  EXPECT_EQ(pool.percentile(100), 40);
  EXPECT_EQ(pool.percentile(5), 10 * (1 - 0.15) + 20 * 0.15);
}

TEST(Percentile, ExactTo4096) {
  std::mt19937 random(1);
  std::vector<double> scores;
  RunningPool pool;
  for (int n = 1; n <= 4096; ++n) {
    scores.push_back(std::ldexp(double(random()), -25) - 20);
    pool.add(scores.back());
    if (n < 50 || n % 400 == 0 || n == 4096) {
      for (const double p : kPercents) EXPECT_EQ(pool.percentile(p), sorted_percentile(scores, p)) << n;
    }
  }
  EXPECT_EQ(pool.percentile_error(), 0);
  pool.add(0);
  EXPECT_GT(pool.percentile_error(), 0);
}

struct Order {
  const char *name;
  std::function<double(int)> value;
};

constexpr int kMany = 1'000'000;

// How scores can come that is hard on a summary of them.
const Order kOrders[] = {
    {"sorted", [](int i) { return i * 1e-4; }},
    {"reversed", [](int i) { return (kMany - i) * 1e-4; }},
    {"sawtooth", [](int i) { return double(i % 997) / 10; }},
    {"outwards", [](int i) { return (i % 2 ? 1 : -1) * std::sqrt(double(i)); }},
    {"growing", [](int i) { return std::exp2(i * 2e-5) - 1; }},
    {"late outlier", [](int i) { return i == kMany - 7 ? -1000.0 : 90 + i % 100 / 10.0; }},
    {"around zero", [](int i) { return (i % 2001 - 1000) * 1e-300; }},
    {"far from zero", [](int i) { return 1e15 + i % 5000; }},
    {"tiny, then huge",
     [](int i) {
       return i < 10'000 || i % 3 ? (i % 2 ? (-1 - i % 1000) * 1e-300 : 1e-320) : i % 500 * 1e298;
     }},
    {"huge", [](int i) { return (i % 2 ? 1 : -1) * 1.7e308 * (i % 1000 / 1000.0); }},
};

TEST(Percentile, WithinTheBoundInAnyOrder) {
  for (const Order &order : kOrders) {
    SCOPED_TRACE(order.name);
    RunningPool pool;
    std::vector<double> scores;
    for (int i = 0; i < kMany; ++i) {
      scores.push_back(order.value(i));
      pool.add(scores.back());
      if (i != 4096 && i != 50'000 && i != kMany - 1) continue;
      const auto [least, most] = std::minmax_element(scores.begin(), scores.end());
      const double largest = std::max(std::abs(*least), std::abs(*most));
      const double bound = std::max(*most / 4095 - *least / 4095, largest * 0x1p-50);
      EXPECT_LE(pool.percentile_error(), bound);
      for (const double p : kPercents)
        EXPECT_NEAR(pool.percentile(p), sorted_percentile(scores, p), bound) << i << ", percentile " << p;
      EXPECT_EQ(pool.percentile(0), *least);
      EXPECT_EQ(pool.percentile(100), *most);
    }
  }
}

TEST(Percentile, TheOrderDoesNotMatter) {
  std::vector<double> scores(100'000);
  std::mt19937 random(2);
  for (double &s : scores) s = std::ldexp(double(random()), -26) - 3;
  const RunningPool as_drawn = pool_of(scores);
  std::sort(scores.begin(), scores.end());
  const RunningPool ascending = pool_of(scores);
  std::reverse(scores.begin(), scores.end());
  const RunningPool descending = pool_of(scores);
  EXPECT_GT(as_drawn.percentile_error(), 0);
  for (const double p : kPercents) {
    EXPECT_EQ(as_drawn.percentile(p), ascending.percentile(p)) << p;
    EXPECT_EQ(as_drawn.percentile(p), descending.percentile(p)) << p;
  }
}

TEST(Percentile, WhatRepeatsStaysExact) {
  RunningPool constant, two, mostly_zero;
  for (int i = 0; i < 100'000; ++i) {
    constant.add(93.7);
    two.add(i % 4 ? 97.3 : 12.1);
    mostly_zero.add(i % 10 ? 0 : 5 + i % 7 * 0.3);
  }
  for (const double p : kPercents) EXPECT_EQ(constant.percentile(p), 93.7);
  EXPECT_EQ(constant.percentile_error(), 0);
  EXPECT_EQ(two.percentile(1), 12.1);
  EXPECT_EQ(two.percentile(24), 12.1);
  EXPECT_EQ(two.percentile(50), 97.3);
  for (const double p : {1., 5., 50., 89.}) EXPECT_EQ(mostly_zero.percentile(p), 0);
}

TEST(Percentile, InfinitiesAreTheEnds) {
  for (const int many : {40, 40'000}) {
    RunningPool pool;
    for (int i = 0; i < many; ++i) pool.add(i % 4 == 0 ? -kInf : i % 4 == 1 ? kInf : 20 + i % 2);
    EXPECT_EQ(pool.percentile(1), -kInf);
    EXPECT_NEAR(pool.percentile(40), 20, 0.01);
    EXPECT_NEAR(pool.percentile(60), 21, 0.01);
    EXPECT_EQ(pool.percentile(99), kInf);
  }
  RunningPool none;
  for (int i = 0; i < 5000; ++i) none.add(kInf);
  EXPECT_EQ(none.percentile(50), kInf);
  EXPECT_TRUE(std::isnan(pool_of({-kInf, kInf}).percentile(50)));
}

TEST(Percentile, NanMakesThemNan) {
  RunningPool pool = pool_of({1, kNan, 3});
  EXPECT_TRUE(std::isnan(pool.percentile(50)));
  pool.reset();
  pool.add(4);
  EXPECT_EQ(pool.percentile(50), 4);
}

TEST(Percentile, ResetForgetsTheBinsToo) {
  RunningPool pool;
  for (int i = 0; i < 10'000; ++i) pool.add(i * 1e6);
  pool.reset();
  EXPECT_TRUE(std::isnan(pool.percentile(50)));
  std::vector<double> scores;
  for (int i = 0; i < 5000; ++i) {
    scores.push_back(std::fmod(i * 0.37, 10));
    pool.add(scores.back());
    if (i == 4095) {
      EXPECT_EQ(pool.percentile(5), sorted_percentile(scores, 5));
    }
  }
  EXPECT_NEAR(pool.percentile(5), sorted_percentile(scores, 5), 10 / 4095.);
}

TEST(Percentile, CopiesAreIndependent) {
  for (const int many : {100, 10'000}) {
    RunningPool pool;
    for (int i = 0; i < many; ++i) pool.add(i % 100);
    const RunningPool copy = pool;
    for (int i = 0; i < 2 * many; ++i) pool.add(1000);
    EXPECT_NEAR(copy.percentile(50), 49.5, 0.6);
    EXPECT_EQ(pool.percentile(50), 1000);
  }
}

TEST(RunningPool, TakesNoMemoryBeyondItself) {
  EXPECT_LE(sizeof(RunningPool), 33u * 1024);
  RunningPool pool;
  double sum = 0;
  const uint64_t before = test::allocations;
  for (int i = 0; i < 200'000; ++i) {
    pool.add(i % 4321 * 0.02);
    if (i % 10'000 == 0) sum += pool.percentile(5);
  }
  pool.reset();
  EXPECT_EQ(test::allocations, before);
  EXPECT_GT(sum, 0);
}

}  // namespace
}  // namespace vmafhip
