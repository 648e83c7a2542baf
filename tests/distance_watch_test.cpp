// FrameInterval and DistanceWatch: what is measured of the streams' clocks.
#include "gst/vmafhip/distance_watch.h"

#include <random>

#include <gtest/gtest.h>

#include "tests/aligner_run.h"

namespace vmafhip {
namespace {

using namespace test;

int64_t median_of(const Times &times) {
  FrameInterval interval;
  for (int64_t t : times) interval.add(t);
  return interval.median();
}

TEST(FrameInterval, UnknownBelowTwoFrames) {
  EXPECT_EQ(median_of({}), 0);
  EXPECT_EQ(median_of({5}), 0);
  EXPECT_EQ(median_of({5, 5, 5}), 0);
  EXPECT_EQ(median_of({5, 12}), 7);
}

TEST(FrameInterval, GapsDoNotFoolIt) {
  EXPECT_EQ(median_of(ms({0, 40, 80, 1000, 1040, 9000, 9040})), 40 * kMs);
  // One of two intervals is a gap: the shorter counts.
  EXPECT_EQ(median_of(ms({0, 40, 1000})), 40 * kMs);
  EXPECT_EQ(median_of(ms({0, 960, 1000})), 40 * kMs);
}

TEST(FrameInterval, DuplicatesAndStepsBackDoNotCount) {
  EXPECT_EQ(median_of(ms({0, 40, 40, 40, 40, 80, 120})), 40 * kMs);
  EXPECT_EQ(median_of(ms({0, 40, 80, 0, 40, 80, 0, 40})), 40 * kMs);
  EXPECT_EQ(median_of(ms({80, 40, 0})), 0);
}

TEST(FrameInterval, FollowsTheLastFrames) {
  Times times = grid(100, 1, 25);
  for (int n = 1; n <= 15; ++n) times.push_back(times[99] + n * 20 * kMs);
  EXPECT_EQ(median_of(times), 20 * kMs);
}

// ---- DistanceWatch ----------------------------------------------------------------------------------------

// How often it speaks, the end included.
int warnings(const Times &distances) {
  DistanceWatch watch;
  int said = 0;
  for (int64_t d : distances) said += watch.add(d);
  return said + watch.finish();
}

// Distances of the pairs of two streams.
Times distances_of(const Times &ref, const Times &dist) {
  Times distances;
  for (const Verdict &v : align(ref, dist))
    if (v.ref >= 0 && v.dist >= 0) distances.push_back(dist[size_t(v.dist)] - ref[size_t(v.ref)]);
  return distances;
}

// n distances of which every `every`th is off by 3 ms.
Times some_off(int n, int every) {
  Times distances;
  for (int i = 0; i < n; ++i) distances.push_back(i % every == 0 ? 3 * kMs : 0);
  return distances;
}

TEST(DistanceWatch, DifferentRates) {
  EXPECT_EQ(warnings(distances_of(grid(300, 1, 30), grid(250, 1, 25))), 1);
  EXPECT_EQ(warnings(distances_of(grid(250, 1, 25), grid(300, 1, 30))), 1);
  EXPECT_EQ(warnings(distances_of(grid(120, 1, 24), grid(150, 1, 30))), 1);
  EXPECT_EQ(warnings(distances_of(grid(600, 1, 60), grid(300, 1, 30))), 0);
}

TEST(DistanceWatch, ConstantOffsetIsFine) {
  EXPECT_EQ(warnings(Times(1000, 0)), 0);
  EXPECT_EQ(warnings(Times(1000, 15 * kMs)), 0);
  EXPECT_EQ(warnings(Times(1000, -15 * kMs)), 0);
}

TEST(DistanceWatch, RoundingIsFine) {
  const Times exact = grid(1000, 1001, 30000);
  Times rounded = exact;
  for (int64_t &t : rounded) t = t / kMs * kMs;
  EXPECT_EQ(warnings(distances_of(exact, rounded)), 0);

  std::mt19937 random(1);
  std::uniform_int_distribution<int64_t> jitter(-2 * kMs, 2 * kMs);
  Times distances;
  for (int i = 0; i < 1000; ++i) distances.push_back(7 * kMs + jitter(random) / 2 + jitter(random) / 2);
  EXPECT_EQ(warnings(distances), 0);
}

TEST(DistanceWatch, MoreThanFivePercent) {
  EXPECT_EQ(warnings(some_off(1000, 25)), 0);  // 4 %
  EXPECT_EQ(warnings(some_off(1000, 20)), 0);  // 5 %
  EXPECT_EQ(warnings(some_off(1000, 16)), 1);  // more
}

TEST(DistanceWatch, ExactlyTwoMillisecondsAreFine) {
  Times distances(100, 0);
  for (size_t i = 0; i < 49; ++i) distances[i] = 2 * kMs;
  EXPECT_EQ(warnings(distances), 0);
  for (size_t i = 0; i < 49; ++i) distances[i] = 2 * kMs + 1;
  EXPECT_EQ(warnings(distances), 1);
}

TEST(DistanceWatch, SpeaksAtTheEndOfTheLotAndOnce) {
  DistanceWatch watch;
  for (int lot = 0; lot < 5; ++lot)
    for (size_t i = 0; i < DistanceWatch::kLot; ++i) {
      const bool now = lot == 2 && i == DistanceWatch::kLot - 1;
      ASSERT_EQ(watch.add(lot >= 2 && i % 2 ? 10 * kMs : 0), now) << lot << " " << i;
    }
  EXPECT_FALSE(watch.finish());
}

TEST(DistanceWatch, LastLotMayBeShort) {
  EXPECT_EQ(warnings(some_off(int(DistanceWatch::kFewest), 4)), 1);
  EXPECT_EQ(warnings(some_off(int(DistanceWatch::kFewest) - 1, 4)), 0);  // too few to tell
  EXPECT_EQ(warnings({}), 0);
}

}  // namespace
}  // namespace vmafhip
