// Who is whose partner, case by case, with the exact outcome. aligner_property_test.cpp has the random ones.
#include <memory>

#include "tests/aligner_run.h"

namespace vmafhip {
namespace {

using namespace test;
using Step = Aligner<int>::Step;

// "0=0 1=1 …" from `first` up to and without `end`, the distorted index shifted.
std::string run_of_pairs(int first, int end, int shift = 0) {
  Verdicts verdicts;
  for (int n = first; n < end; ++n) verdicts.push_back({n, n + shift});
  return text_of(verdicts);
}

Times without(Times times, const std::vector<int> &gone) {
  for (auto n = gone.rbegin(); n != gone.rend(); ++n) times.erase(times.begin() + *n);
  return times;
}

Times rounded_to_ms(Times times) {
  for (int64_t &t : times) t = (t + kMs / 2) / kMs * kMs;
  return times;
}

// ---- Frame rates ------------------------------------------------------------------------------------------

TEST(Aligner, EqualGrids) {
  EXPECT_EQ(aligned_text(grid(100, 1, 25), grid(100, 1, 25)), run_of_pairs(0, 100));
  EXPECT_EQ(aligned_text(grid(100, 1, 1000), grid(100, 1, 1000)), run_of_pairs(0, 100));
}

TEST(Aligner, ConstantOffsetBelowHalfAFrame) {
  EXPECT_EQ(aligned_text(grid(100, 1, 25), grid(100, 1, 25, 19 * kMs)), run_of_pairs(0, 100));
  EXPECT_EQ(aligned_text(grid(100, 1, 25), grid(100, 1, 25, -19 * kMs)), run_of_pairs(0, 100));
}

TEST(Aligner, ContainerRoundsToMilliseconds) {
  for (const int64_t denominator : {24000, 30000, 60000}) {
    const Times exact = grid(3000, 1001, denominator), rounded = rounded_to_ms(exact);
    EXPECT_EQ(aligned_text(exact, rounded), run_of_pairs(0, 3000)) << denominator;
    EXPECT_EQ(aligned_text(rounded, exact), run_of_pairs(0, 3000)) << denominator;
  }
}

TEST(Aligner, Thirty_TwentyFive) {
  // ref  0 33.3 66.7 100 133.3 166.7 | 200 …
  // dist 0 40   80       120   160   | 200 …
  EXPECT_EQ(aligned_text(grid(30, 1, 30), grid(25, 1, 25)),
            "0=0 1=1 2=2 r3 4=3 5=4 "
            "6=5 7=6 8=7 r9 10=8 11=9 "
            "12=10 13=11 14=12 r15 16=13 17=14 "
            "18=15 19=16 20=17 r21 22=18 23=19 "
            "24=20 25=21 26=22 r27 28=23 29=24");
  EXPECT_EQ(aligned_text(grid(12, 1, 25), grid(15, 1, 30)),
            "0=0 1=1 2=2 d3 3=4 4=5 5=6 6=7 7=8 d9 8=10 9=11 10=12 11=13 d14");
}

TEST(Aligner, TwiceTheRate) {
  EXPECT_EQ(aligned_text(grid(8, 1, 60), grid(4, 1, 30)), "0=0 r1 2=1 r3 4=2 r5 6=3 r7");
  EXPECT_EQ(aligned_text(grid(4, 1, 30), grid(8, 1, 60)), "0=0 d1 1=2 d3 2=4 d5 3=6 d7");
  EXPECT_EQ(aligned_text(grid(8, 1, 50), grid(4, 1, 25)), "0=0 r1 2=1 r3 4=2 r5 6=3 r7");
  EXPECT_EQ(aligned_text(grid(4, 1, 25), grid(8, 1, 50)), "0=0 d1 1=2 d3 2=4 d5 3=6 d7");
}

TEST(Aligner, FilmAndItsBroadcastRate) {
  // 24 against 23.976: one reference frame too many in about 41.7 s, in the middle between two distorted ones.
  EXPECT_EQ(aligned_text(grid(1001, 1, 24), grid(1000, 1001, 24000)),
            run_of_pairs(0, 501) + " r501 " + run_of_pairs(502, 1001, -1));
}

TEST(Aligner, VariableRate) {
  EXPECT_EQ(aligned_text(ms({0, 40, 50, 150, 160, 400, 410}), ms({1, 41, 49, 152, 161, 399, 412})),
            run_of_pairs(0, 7));
  // The distorted stream left out frames 2 and 4.
  EXPECT_EQ(aligned_text(ms({0, 40, 50, 150, 160, 400, 410}), ms({0, 40, 150, 400, 410}), 4 * kMs),
            "0=0 1=1 r2 3=2 r4 5=3 6=4");
}

// ---- Missing frames ---------------------------------------------------------------------------------------

TEST(Aligner, LateStart) {
  const Times whole = grid(10, 1, 25);
  EXPECT_EQ(aligned_text(Times(whole.begin() + 3, whole.end()), whole),
            "d0 d1 d2 0=3 1=4 2=5 3=6 4=7 5=8 6=9");
  EXPECT_EQ(aligned_text(whole, Times(whole.begin() + 3, whole.end())),
            "r0 r1 r2 3=0 4=1 5=2 6=3 7=4 8=5 9=6");
}

TEST(Aligner, EarlyEnd) {
  EXPECT_EQ(aligned_text(grid(6, 1, 25), grid(4, 1, 25)), "0=0 1=1 2=2 3=3 r4 r5");
  EXPECT_EQ(aligned_text(grid(4, 1, 25), grid(6, 1, 25)), "0=0 1=1 2=2 3=3 d4 d5");
}

TEST(Aligner, MissingFrames) {
  const Times whole = grid(10, 1, 25);
  EXPECT_EQ(aligned_text(whole, without(whole, {4})), "0=0 1=1 2=2 3=3 r4 5=4 6=5 7=6 8=7 9=8");
  EXPECT_EQ(aligned_text(without(whole, {4}), whole), "0=0 1=1 2=2 3=3 d4 4=5 5=6 6=7 7=8 8=9");
  EXPECT_EQ(aligned_text(whole, without(whole, {3, 4, 5, 6})), "0=0 1=1 2=2 r3 r4 r5 r6 7=3 8=4 9=5");
  EXPECT_EQ(aligned_text(without(whole, {2, 3}), without(whole, {6})),
            "0=0 1=1 d2 d3 2=4 3=5 r4 5=6 6=7 7=8");
  EXPECT_EQ(aligned_text(whole, without(whole, {1})), "0=0 r1 2=1 3=2 4=3 5=4 6=5 7=6 8=7 9=8");
}

TEST(Aligner, DuplicateTimeStamps) {
  EXPECT_EQ(aligned_text(ms({0, 40, 40, 80, 120}), ms({0, 40, 80, 120})), "0=0 1=1 r2 3=2 4=3");
  EXPECT_EQ(aligned_text(ms({0, 40, 80, 120}), ms({0, 40, 40, 80, 120})), "0=0 1=1 d2 2=3 3=4");
  EXPECT_EQ(aligned_text(ms({0, 40, 40, 80}), ms({0, 40, 40, 80})), "0=0 1=1 2=2 3=3");
  EXPECT_EQ(aligned_text(ms({0, 0, 40}), ms({0, 40})), "0=0 r1 2=1");
  EXPECT_EQ(aligned_text(ms({0, 40, 40, 80}), ms({2, 42, 82})), "0=0 r1 2=1 3=2");
  EXPECT_EQ(aligned_text(ms({2, 42, 82}), ms({0, 40, 40, 80})), "0=0 d1 1=2 2=3");
  EXPECT_EQ(aligned_text(ms({0, 40, 40, 80}), ms({2, 42, 42, 82})), "0=0 1=1 2=2 3=3");
  // However large the tolerance, frames to spare take no other's partner.
  EXPECT_EQ(aligned_text(ms({2, 42, 82, 122}), ms({0, 40, 40, 40, 40, 80, 120}), 1000 * kMs),
            "0=0 d1 d2 d3 1=4 2=5 3=6");
}

// ---- Ties and neighbours ----------------------------------------------------------------------------------

TEST(Aligner, TiesGoToTheEarlier) {
  EXPECT_EQ(aligned_text(ms({0, 40}), ms({20}), 20 * kMs), "0=0 r1");  // between two references
  EXPECT_EQ(aligned_text(ms({20}), ms({0, 40}), 20 * kMs), "0=0 d1");  // between two distorted
  EXPECT_EQ(aligned_text(ms({0, 40, 80}), ms({20, 60, 100})), "0=0 1=1 2=2");
  EXPECT_EQ(aligned_text(ms({20, 60, 100}), ms({0, 40, 80})), "0=0 1=1 2=2");
  EXPECT_EQ(aligned_text(ms({0, 20, 40, 60}), ms({10, 50})), "0=0 r1 2=1 r3");
}

TEST(Aligner, NearerSuccessorTakesThePartner) {
  EXPECT_EQ(aligned_text(ms({0, 30}), ms({18}), 100 * kMs), "r0 1=0");
  EXPECT_EQ(aligned_text(ms({18}), ms({0, 30}), 100 * kMs), "d0 0=1");
}

TEST(Aligner, SuccessorWithANearerPartnerLeavesIt) {
  EXPECT_EQ(aligned_text(ms({0, 30}), ms({18, 31}), 100 * kMs), "0=0 1=1");
  EXPECT_EQ(aligned_text(ms({18, 31}), ms({0, 30}), 100 * kMs), "0=0 1=1");
  // … but not for one that is as far.
  EXPECT_EQ(aligned_text(ms({0, 30}), ms({18, 42}), 100 * kMs), "r0 1=0 d1");
}

// ---- Tolerance --------------------------------------------------------------------------------------------

TEST(Aligner, ToleranceIsInclusive) {
  EXPECT_EQ(aligned_text({0}, {1000}, 1000), "0=0");
  EXPECT_EQ(aligned_text({0}, {1001}, 1000), "r0 d0");
  EXPECT_EQ(aligned_text({1001}, {0}, 1000), "d0 r0");
}

TEST(Aligner, ToleranceZeroTakesEqualTimesOnly) {
  EXPECT_EQ(aligned_text({0, 40, 80, 120}, {0, 41, 80, 119}, 0), "0=0 r1 d1 2=2 d3 r3");
}

TEST(Aligner, HugeTolerance) {
  const int64_t all = INT64_MAX;
  EXPECT_EQ(aligned_text(ms({0, 40}), ms({1000}), all), "r0 1=0");
  EXPECT_EQ(aligned_text(ms({1000}), ms({0, 40}), all), "d0 0=1");
  EXPECT_EQ(aligned_text(ms({0}), ms({1'000'000}), all), "0=0");
  EXPECT_EQ(aligned_text(grid(50, 1, 25), grid(50, 1, 25), all), run_of_pairs(0, 50));
}

TEST(Aligner, MeasuredToleranceIsHalfTheShorterInterval) {
  // 20 ms, whichever side has the 40 ms.
  EXPECT_EQ(aligned_text(ms({0, 40, 80}), ms({20, 220})), "0=0 r1 r2 d1");
  EXPECT_EQ(aligned_text(ms({0, 40, 80}), ms({21, 221})), "r0 1=0 r2 d1");
  EXPECT_EQ(aligned_text(ms({0, 200}), ms({100, 140})), "r0 d0 d1 r1");
}

TEST(Aligner, SingleFrames) {
  EXPECT_EQ(aligned_text(ms({5}), ms({5})), "0=0");
  EXPECT_EQ(aligned_text(ms({0}), ms({20})), "0=0");  // nothing tells an interval: 25 frames/s
  EXPECT_EQ(aligned_text(ms({0}), ms({21})), "r0 d0");
  EXPECT_EQ(aligned_text(ms({0}), ms({2, 12})), "0=0 d1");  // one side tells: 5 ms
  EXPECT_EQ(aligned_text(ms({0}), ms({6, 16})), "r0 d0 d1");
}

TEST(Aligner, NegativeTimes) {
  EXPECT_EQ(aligned_text(grid(10, 1, 25, -200 * kMs), grid(10, 1, 25, -200 * kMs)), run_of_pairs(0, 10));
  EXPECT_EQ(aligned_text(grid(5, 1, 25, -80 * kMs), grid(5, 1, 25)), "r0 r1 2=0 3=1 4=2 d3 d4");
}

TEST(Aligner, EmptyStreams) {
  EXPECT_EQ(aligned_text({}, {}), "");
  EXPECT_EQ(aligned_text(ms({0, 40}), {}), "r0 r1");
  EXPECT_EQ(aligned_text({}, ms({0, 40})), "d0 d1");
}

// ---- Other ways -------------------------------------------------------------------------------------------

TEST(Aligner, OrderLooksAtNoTimes) {
  const Aligner<int> by_order(SyncMode::order);
  EXPECT_EQ(text_of(align(by_order, ms({0, 40, 80}), ms({5000, 100, 0}))), "0=0 1=1 2=2");
  EXPECT_EQ(text_of(align(by_order, ms({0, 0, 0, 0, 0}), ms({0, 0, 0}))), "0=0 1=1 2=2 r3 r4");
  EXPECT_EQ(text_of(align(by_order, ms({7}), ms({0, 0, 0}))), "0=0 d1 d2");
  EXPECT_EQ(text_of(align(by_order, {}, {})), "");
}

TEST(Aligner, OrderAsksForNoMoreThanOneFrameOfEachSide) {
  Aligner<int> aligner(SyncMode::order);
  EXPECT_EQ(aligner.step().step, Step::need_ref);
  aligner.push(Side::ref, {0, 0});
  EXPECT_EQ(aligner.step().step, Step::need_dist);
  aligner.push(Side::dist, {0, 0});
  EXPECT_EQ(aligner.step().step, Step::pair);
}

TEST(Aligner, EqualTimesNeedNoFurtherFrame) {
  Aligner<int> aligner;
  aligner.push(Side::ref, {0, 7});
  aligner.push(Side::dist, {0, 7});
  EXPECT_EQ(aligner.step().step, Step::pair);
}

TEST(Aligner, HurryDecidesWithWhatIsHere) {
  Aligner<int> aligner;
  EXPECT_EQ(aligner.step(true).step, Step::need_ref);  // nothing at all
  aligner.push(Side::ref, {0, 0});
  EXPECT_EQ(aligner.step().step, Step::need_dist);
  EXPECT_EQ(aligner.step(true).step, Step::drop_ref);
  aligner.push(Side::dist, {0, 0});
  EXPECT_EQ(aligner.step(true).step, Step::drop_dist);

  aligner.push(Side::ref, {1, 40 * kMs});
  aligner.push(Side::dist, {1, 45 * kMs});
  EXPECT_EQ(aligner.step().step, Step::need_ref);  // its successor might be nearer
  EXPECT_EQ(aligner.step(true).step, Step::pair);
}

TEST(Aligner, StreamGoesOnAfterItsEnd) {
  Aligner<int> aligner;
  aligner.end(Side::dist);
  aligner.push(Side::ref, {0, 0});
  EXPECT_EQ(aligner.step().step, Step::drop_ref);
  aligner.reopen(Side::dist);
  aligner.push(Side::ref, {1, 40});
  EXPECT_EQ(aligner.step().step, Step::need_dist);
  aligner.push(Side::dist, {0, 40});
  EXPECT_EQ(aligner.step().step, Step::pair);
}

TEST(Aligner, RestartOfOneSideForgetsItsFramesOnly) {
  Aligner<int> aligner;
  aligner.push(Side::ref, {0, 0});
  aligner.push(Side::ref, {1, 40 * kMs});
  aligner.push(Side::dist, {0, 0});
  aligner.push(Side::dist, {1, 40 * kMs});
  aligner.end(Side::dist);
  aligner.restart(Side::dist);
  EXPECT_EQ(aligner.step().step, Step::need_dist);  // its end is forgotten too
  aligner.push(Side::dist, {2, 40 * kMs});
  aligner.push(Side::dist, {3, 80 * kMs});
  auto decision = aligner.step();
  EXPECT_EQ(decision.step, Step::drop_ref);
  EXPECT_EQ(decision.ref->data, 0);
  decision = aligner.step();
  EXPECT_EQ(decision.step, Step::pair);
  EXPECT_EQ(decision.ref->data, 1);
  EXPECT_EQ(decision.dist->data, 2);
}

TEST(Aligner, RestartForgetsTheInterval) {
  Aligner<int> aligner;
  for (int n = 0; n < 8; ++n) {  // 8 ms on both sides: a tolerance of 4 ms
    aligner.push(Side::ref, {n, 8 * n * kMs});
    aligner.push(Side::dist, {n, 8 * n * kMs});
    EXPECT_EQ(aligner.step().step, Step::pair);
  }
  for (const Side side : {Side::ref, Side::dist}) aligner.restart(side);
  for (const int n : {0, 1}) {  // 100 ms on both: 50 ms
    aligner.push(Side::ref, {n, 100 * n * kMs});
    aligner.push(Side::dist, {n, (100 * n + 30) * kMs});
  }
  EXPECT_EQ(aligner.step().step, Step::pair);
}

TEST(Aligner, HoldsFramesThatCanOnlyBeMoved) {
  Aligner<std::unique_ptr<int>> aligner;
  aligner.push(Side::ref, {std::make_unique<int>(1), 0});
  aligner.push(Side::dist, {std::make_unique<int>(2), 0});
  const auto decision = aligner.step();
  ASSERT_TRUE(decision.ref && decision.dist);
  EXPECT_EQ(*decision.ref->data, 1);
  EXPECT_EQ(*decision.dist->data, 2);
}

// ---- Time that moves on without frames (GAP events) -------------------------------------------------------

TEST(Reached, FrameIsGivenUpOnceNoPartnerCanCome) {
  Aligner<int> a(SyncMode::timestamp, 10 * kMs);
  a.push(Side::ref, {0, 100 * kMs});
  EXPECT_EQ(a.step().step, Step::need_dist);
  a.advance(Side::dist, 110 * kMs);  // one at 110 ms may still come
  EXPECT_EQ(a.step().step, Step::need_dist);
  a.advance(Side::dist, 110 * kMs + 1);
  EXPECT_EQ(a.step().step, Step::drop_ref);
  EXPECT_EQ(a.step().step, Step::need_ref);

  Aligner<int> b(SyncMode::timestamp, 10 * kMs);
  b.push(Side::dist, {0, 100 * kMs});
  b.advance(Side::ref, 120 * kMs);
  EXPECT_EQ(b.step().step, Step::drop_dist);
}

// Nothing has come yet on either side.
TEST(Reached, EitherSideMayBeAhead) {
  for (const Side ahead : {Side::ref, Side::dist}) {
    Aligner<int> a(SyncMode::timestamp, 10 * kMs);
    a.advance(ahead, 500 * kMs);
    EXPECT_EQ(a.step().step, ahead == Side::ref ? Step::need_dist : Step::need_ref);
    a.push(other(ahead), {0, 100 * kMs});
    EXPECT_EQ(a.step().step, ahead == Side::ref ? Step::drop_dist : Step::drop_ref);
  }
}

TEST(Reached, SuccessorThatCannotBeNearerIsNotAwaited) {
  for (const int64_t reached : {119, 120}) {
    Aligner<int> a(SyncMode::timestamp, 15 * kMs);
    a.push(Side::ref, {0, 100 * kMs});
    a.push(Side::dist, {0, 110 * kMs});
    EXPECT_EQ(a.step().step, Step::need_ref);
    a.advance(Side::ref, reached * kMs);  // at 119 ms it would be nearer to 110 than 100 is
    EXPECT_EQ(a.step().step, reached < 120 ? Step::need_ref : Step::pair);
  }
}

TEST(Reached, PartnersOwnSuccessorIsNotAwaited) {
  // 108 is nearer to 110 than 100 is, unless a distorted frame nearer to 108 follows.
  for (const int64_t reached : {109, 110}) {
    Aligner<int> a(SyncMode::timestamp, 15 * kMs);
    a.push(Side::ref, {0, 100 * kMs});
    a.push(Side::ref, {1, 108 * kMs});
    a.push(Side::dist, {0, 110 * kMs});
    EXPECT_EQ(a.step().step, Step::need_dist);
    a.advance(Side::dist, reached * kMs);
    EXPECT_EQ(a.step().step, reached < 110 ? Step::need_dist : Step::drop_ref);
  }
}

TEST(Reached, NeverGoesBackAndEndsWithTheStream) {
  Aligner<int> a(SyncMode::timestamp, 10 * kMs);
  a.advance(Side::dist, 500 * kMs);
  a.advance(Side::dist, 50 * kMs);
  a.push(Side::ref, {0, 100 * kMs});
  EXPECT_EQ(a.step().step, Step::drop_ref);
  a.end(Side::dist);
  a.reopen(Side::dist);  // another stream, whose times begin anew
  a.push(Side::ref, {1, 100 * kMs});
  EXPECT_EQ(a.step().step, Step::need_dist);
}

TEST(Reached, MeansNothingByOrder) {
  Aligner<int> a(SyncMode::order);
  a.push(Side::ref, {0, 0});
  a.advance(Side::dist, 5000 * kMs);
  EXPECT_EQ(a.step().step, Step::need_dist);
}

// ---- Times that are out of order --------------------------------------------------------------------------

// Every frame gets one verdict, in its stream's order.
// A recording that loops, a source that starts again: both streams do so, one somewhat earlier than the other.
TEST(Aligner, TimesThatBeginAnewOnBothSides) {
  const int64_t hour = 3600'000 * kMs;
  const auto with = [&](int frames_of_the_hour) {
    Times times = grid(frames_of_the_hour, 1, 25, hour), anew = grid(50, 1, 25);
    times.insert(times.end(), anew.begin(), anew.end());
    return times;
  };
  const std::string same = run_of_pairs(0, 100) + " " + run_of_pairs(100, 150);
  EXPECT_EQ(aligned_text(with(100), with(100)), same);
  // What the other still has of the time before finds no partner.
  EXPECT_EQ(aligned_text(with(98), with(100)), run_of_pairs(0, 98) + " d98 d99 " + run_of_pairs(98, 148, 2));
  EXPECT_EQ(aligned_text(with(100), with(98)),
            run_of_pairs(0, 98) + " r98 r99 " + run_of_pairs(100, 150, -2));
}

TEST(Aligner, TimesThatJumpBackOnOneSideAloneAreWaitedFor) {
  // The distorted stream jumps back by two seconds for good: it is back after these, or after what was given up to
  // see whether the reference does the same.
  Times dist = grid(100, 1, 25), again = grid(500, 1, 25, 2'000 * kMs);
  dist.insert(dist.end(), again.begin(), again.end());
  const Verdicts verdicts = align(grid(500, 1, 25), dist);
  int partners = 0;
  for (const Verdict &v : verdicts)
    if (v.ref >= 0 && v.dist >= 0) {
      ++partners;
      EXPECT_EQ(v.dist, v.ref < 100 ? v.ref : v.ref + 50);
    }
  EXPECT_GE(partners, 100 + 400 - 5 * 25 - 1);
}

TEST(Aligner, TimesThatJumpBackAreSurvived) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    Times times[2];
    std::vector<Side> arrivals;
    for (Times &t : times)
      for (int n = 0; n < 30; ++n) t.push_back((n + int64_t(random() % 5) - 2) * 20 * kMs);
    for (int n = 0; n < 31; ++n) arrivals.insert(arrivals.end(), {Side::ref, Side::dist});
    int next_ref = 0, next_dist = 0;
    for (const Verdict &v : align(Aligner<int>(), times[0], times[1], arrivals)) {
      if (v.ref >= 0) {
        ASSERT_EQ(v.ref, next_ref++);
      }
      if (v.dist >= 0) {
        ASSERT_EQ(v.dist, next_dist++);
      }
    }
    ASSERT_EQ(next_ref, 30);
    ASSERT_EQ(next_dist, 30);
  }
}

}  // namespace
}  // namespace vmafhip
