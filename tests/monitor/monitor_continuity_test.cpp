// Running times that jump by an hour, and what is taken out of them.
#include <gtest/gtest.h>

#include "examples/monitor/continuity.h"

namespace {

using monitor::Continuity;

constexpr int64_t kSecond = Continuity::kSecond, kHour = 3600 * kSecond, kFrame = kSecond / 25;

// A stream of 25 frames a second; its times as they come out, with the offset added.
struct Stream {
  Continuity &continuity;
  size_t side;
  int64_t time = 0, wall = 0, offset = 0;

  int64_t next(int64_t step = kFrame, int64_t silence = kFrame) {
    time += step;
    wall += silence;
    if (const auto changed = continuity.frame(side, time, wall)) offset = *changed;
    return time + offset;
  }
};

TEST(ContinuityTest, AStreadyStreamStaysAsItIs) {
  Continuity continuity;
  Stream stream{continuity, 0};
  for (int n = 1; n <= 100; ++n) EXPECT_EQ(stream.next(), n * kFrame);
  EXPECT_EQ(stream.next(30 * kSecond), 100 * kFrame + 30 * kSecond);  // a gap
  EXPECT_EQ(stream.next(-kSecond), 100 * kFrame + 29 * kSecond);      // out of order: the element's business
}

TEST(ContinuityTest, AnHourEitherWay) {
  Continuity continuity;
  Stream stream{continuity, 0};
  stream.next();
  stream.next();
  EXPECT_EQ(stream.next(kHour + kFrame), 3 * kFrame);
  EXPECT_EQ(stream.next(), 4 * kFrame);
  EXPECT_EQ(stream.next(-kHour + kFrame), 5 * kFrame);
  EXPECT_EQ(stream.next(-kHour + kFrame), 6 * kFrame);
  EXPECT_EQ(stream.next(), 7 * kFrame);
}

// As a demuxer does it when time stamps go back to before its segment: running time is at its start again.
TEST(ContinuityTest, AFewSecondsBack) {
  Continuity continuity;
  Stream ref{continuity, 0}, dist{continuity, 1};
  for (int n = 0; n < 250; ++n) EXPECT_EQ(ref.next(), dist.next());
  EXPECT_EQ(dist.next(-dist.time), ref.next());
  EXPECT_EQ(dist.next(), ref.next());
}

TEST(ContinuityTest, BothStreamsKeepTheirDistanceWhateverIsLostAtTheJump) {
  for (const int64_t hour : {kHour, -kHour}) {
    Continuity continuity;
    Stream ref{continuity, 0}, dist{continuity, 1};
    for (int n = 0; n < 10; ++n) EXPECT_EQ(ref.next(), dist.next());
    ref.next(hour);
    // Meanwhile the other one has not jumped yet, and then loses two frames where it does.
    dist.next();
    ref.next();
    ref.next();
    EXPECT_EQ(dist.next(hour + 2 * kFrame), ref.next());
    EXPECT_EQ(dist.next(), ref.next());
    // And back.
    ref.next(-hour);
    EXPECT_EQ(dist.next(-hour), ref.time + ref.offset);
    EXPECT_EQ(ref.offset, dist.offset);
  }
}

TEST(ContinuityTest, TimeThatHasReallyPassedIsNoJump) {
  Continuity continuity;
  Stream stream{continuity, 0};
  stream.next();
  EXPECT_EQ(stream.next(kHour, kHour), kFrame + kHour);
}

TEST(ContinuityTest, GapsThatAreJumps) {
  Continuity continuity;
  EXPECT_FALSE(continuity.jumps(0, kHour));  // where it begins
  continuity.frame(0, kSecond, 0);
  EXPECT_TRUE(continuity.jumps(0, kHour));
  EXPECT_TRUE(continuity.jumps(0, -kHour));
  EXPECT_FALSE(continuity.jumps(0, 30 * kSecond));
  EXPECT_FALSE(continuity.jumps(1, kHour));
}

TEST(ContinuityTest, OnlyOneStreamJumps) {
  Continuity continuity;
  Stream ref{continuity, 0}, dist{continuity, 1};
  for (int n = 0; n < 5; ++n) ref.next(), dist.next();
  EXPECT_EQ(dist.next(kHour), ref.next());
  EXPECT_EQ(dist.next(), ref.next());
}

}  // namespace
