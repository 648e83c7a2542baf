// Windows and the frame rate: what is cut where.
#include "gst/vmafhip/window.h"

#include <gtest/gtest.h>

#include <string>

#include "gst/vmafhip/frame_rate.h"

namespace vmafhip {
namespace {

std::string text(const std::optional<WindowClock::Span> &span) {
  return span ? std::to_string(span->start) + "-" + std::to_string(span->stop) : "";
}
std::string reach(WindowClock &clock, int64_t time, uint64_t duration = 4) {
  const auto passed = clock.reach(time, duration);
  return text(passed.window) + "|" + text(passed.empty);
}

TEST(Window, CutAtMultiplesOfTheLength) {
  WindowClock clock(100);
  EXPECT_TRUE(clock.opens(250));
  EXPECT_EQ(reach(clock, 250), "|");  // the first is 200-300
  EXPECT_EQ(reach(clock, 299), "|");
  EXPECT_TRUE(clock.opens(300));
  EXPECT_FALSE(clock.opens(299));
  EXPECT_EQ(reach(clock, 300), "200-300|");
  EXPECT_EQ(reach(clock, 350), "|");
  EXPECT_EQ(reach(clock, 400), "300-400|");
}

TEST(Window, EmptyOnesAreToldAsOne) {
  WindowClock clock(100);
  reach(clock, 0);
  EXPECT_EQ(reach(clock, 250), "0-100|100-200");
  EXPECT_EQ(reach(clock, 3'600'000'000'000'000), "200-300|300-3600000000000000");
}

TEST(Window, LateFramesChangeNothing) {
  WindowClock clock(100);
  reach(clock, 50);
  reach(clock, 150);
  EXPECT_TRUE(clock.before(60));
  EXPECT_FALSE(clock.before(100));
  EXPECT_EQ(reach(clock, 60), "|");
  EXPECT_EQ(reach(clock, 200), "100-200|");
}

TEST(Window, TheLastEndsWithItsLastFrame) {
  WindowClock clock(100);
  EXPECT_EQ(text(clock.finish()), "");
  reach(clock, 110, 40);
  reach(clock, 130, 40);
  EXPECT_EQ(text(clock.finish()), "100-170");
  EXPECT_EQ(text(clock.finish()), "");
  reach(clock, 190, 40);  // not beyond the window
  EXPECT_EQ(text(clock.finish()), "100-200");
  reach(clock, 190, ~uint64_t(0) - 1);
  EXPECT_EQ(text(clock.finish()), "100-200");
  reach(clock, 190, 0);
  EXPECT_EQ(text(clock.finish()), "100-190");
  reach(clock, 190, 40);
  reach(clock, 200, 0);  // what the window before held is over
  EXPECT_EQ(text(clock.finish()), "200-200");
  reach(clock, 130);
  reach(clock, 230);
  reach(clock, 160);  // late: the window does not end before it began
  EXPECT_EQ(text(clock.finish()), "200-234");
}

TEST(Window, BeforeTimeZero) {
  WindowClock clock(100);
  EXPECT_EQ(reach(clock, -150), "|");
  EXPECT_EQ(reach(clock, -100), "-200--100|");
  EXPECT_EQ(reach(clock, 0), "-100-0|");
}

TEST(Window, NoneWithoutLength) {
  WindowClock clock;
  EXPECT_EQ(reach(clock, 0), "|");
  EXPECT_FALSE(clock.opens(1'000'000));
  EXPECT_EQ(reach(clock, 1'000'000), "|");
  EXPECT_EQ(text(clock.finish()), "");
}

TEST(Window, OfAnyLength) {
  WindowClock clock(~uint64_t(0));
  EXPECT_EQ(reach(clock, 1'000'000'000), "|");
  EXPECT_EQ(text(clock.finish()), "0-1000000004");
}

constexpr int64_t kMs = 1'000'000;

TEST(FrameRate, CountsTheLastSeconds) {
  FrameRate rate;
  EXPECT_FALSE(rate.per_second(0));
  int64_t now = 7'000'000 * kMs;
  for (int i = 0; i < 250; ++i, now += 40 * kMs) rate.add(now);
  EXPECT_NEAR(*rate.per_second(now), 25, 0.2);
  for (int i = 0; i < 100; ++i, now += 20 * kMs) rate.add(now);  // two seconds at 50
  EXPECT_NEAR(*rate.per_second(now), (3 * 25 + 2 * 50) / 5., 0.5);
  EXPECT_NEAR(*rate.per_second(now + 2500 * kMs), (2 * 50 + 0.5 * 25) / 5., 0.5);
  EXPECT_EQ(*rate.per_second(now + 5500 * kMs), 0);  // it has stopped
  EXPECT_EQ(*rate.per_second(now + 3'600'000 * kMs), 0);
  now += 3'600'000 * kMs;
  for (int i = 0; i < 250; ++i, now += 40 * kMs) rate.add(now);
  EXPECT_NEAR(*rate.per_second(now), 25, 0.2);
}

TEST(FrameRate, AtTheStart) {
  FrameRate rate;
  int64_t now = 1000 * kMs;
  rate.add(now);
  EXPECT_FALSE(rate.per_second(now + 400 * kMs));
  for (int i = 1; i < 30; ++i) rate.add(now + i * 40 * kMs);
  EXPECT_NEAR(*rate.per_second(now + 1000 * kMs), 25, 0.5);
}

}  // namespace
}  // namespace vmafhip
