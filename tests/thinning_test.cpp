// Which pairs are left out when scoring is slower than the frames: an engine is simulated that scores one pair while
// so many arrive.
#include "gst/vmafhip/thinning.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace vmafhip {
namespace {

struct Outcome {
  std::vector<size_t> gaps;     // pairs left out between one score and the next
  std::vector<size_t> waiting;  // at each score
};

// `arrivals(n)`: pairs that arrive while the n-th one is scored.
template <class Arrivals>
Outcome simulate(Thinning &thinning, int scores, size_t most, Arrivals arrivals, bool had_to_wait = true) {
  Outcome outcome;
  size_t waiting = 1, gap = 0;
  for (int n = 0; n < scores;) {
    if (waiting == 0) {  // the engine waits for the next pair
      waiting = 1;
      continue;
    }
    --waiting;
    if (thinning.leave_out()) {
      ++gap;
      continue;
    }
    thinning.scored(waiting, most, had_to_wait);
    outcome.gaps.push_back(gap);
    outcome.waiting.push_back(waiting);
    gap = 0;
    waiting += arrivals(n++);
  }
  return outcome;
}

// Pairs that arrive at a constant rate of `ratio` for each score.
auto steady(double ratio) {
  return [ratio](int n) { return size_t(std::floor((n + 1) * ratio) - std::floor(n * ratio)); };
}

TEST(Thinning, NoneIsLeftOutWhileTheEngineKeepsUp) {
  for (const double ratio : {0.3, 0.9, 1.0}) {
    Thinning thinning;
    for (const size_t gap : simulate(thinning, 1000, 12, steady(ratio)).gaps) ASSERT_EQ(gap, 0u) << ratio;
  }
}

TEST(Thinning, ABurstPasses) {
  Thinning thinning;
  const Outcome o = simulate(thinning, 1000, 12, [](int n) { return n % 100 == 0 ? 12 : 0; });
  for (const size_t gap : o.gaps) ASSERT_EQ(gap, 0u);
}

// However many wait: the engine has room for them.
TEST(Thinning, NoneIsLeftOutWhileThereIsRoom) {
  Thinning thinning;
  for (const size_t gap : simulate(
                              thinning, 100, 12, [](int) { return 5; }, false)
                              .gaps)
    ASSERT_EQ(gap, 0u);
}

TEST(Thinning, LeavesOutEvenlyAndBoundsTheLag) {
  for (const double ratio : {1.1, 1.25, 1.5, 2.0, 2.5, 3.0, 4.7, 10.0}) {
    Thinning thinning;
    constexpr size_t kMost = 12;
    const Outcome o = simulate(thinning, 1000, kMost, steady(ratio));
    for (size_t n = 0; n < o.gaps.size(); ++n) {
      ASSERT_LE(o.waiting[n], kMost + size_t(6 * ratio)) << ratio << " at " << n;
      if (n < 100) continue;
      // Within one of what an even distribution has.
      ASSERT_GE(o.gaps[n] + 1, size_t(std::floor(ratio) - 1)) << ratio << " at " << n;
      ASSERT_LE(o.gaps[n], size_t(std::ceil(ratio))) << ratio << " at " << n;
      ASSERT_LE(o.waiting[n], kMost + 1) << ratio << " at " << n;
    }
  }
}

TEST(Thinning, WholeRatiosAreExactlyEven) {
  Thinning thinning;
  const Outcome o = simulate(thinning, 400, 12, steady(3));
  for (size_t n = 200; n < o.gaps.size(); ++n) ASSERT_EQ(o.gaps[n], 2u) << n;
}

TEST(Thinning, VerySlowEngine) {
  Thinning thinning;
  constexpr size_t kMost = 30, kRatio = 60;  // one a second at 60 frames/s
  const Outcome o = simulate(thinning, 200, kMost, steady(kRatio));
  for (const size_t waiting : o.waiting) ASSERT_LE(waiting, 3 * kRatio) << "three seconds of lag";
  for (size_t n = 50; n < o.waiting.size(); ++n) {
    ASSERT_LE(o.waiting[n], kRatio + kMost);
    ASSERT_NEAR(double(o.gaps[n]), kRatio - 1, 3);
  }
}

TEST(Thinning, StopsWhenTheEngineIsFastAgain) {
  Thinning thinning;
  simulate(thinning, 300, 12, steady(3));
  const Outcome o = simulate(thinning, 300, 12, steady(0.5));
  size_t left_out = 0;
  for (size_t n = 50; n < o.gaps.size(); ++n) left_out += o.gaps[n];
  EXPECT_EQ(left_out, 0u);
}

}  // namespace
}  // namespace vmafhip
