// on-missing=repeat: which distorted frame a viewer sees when a reference frame has no partner.
#include "gst/vmafhip/on_screen.h"

#include <gtest/gtest.h>

namespace vmafhip {
namespace {

struct Frame {
  int64_t time;
  int number;
};

TEST(OnScreen, NothingBeforeTheFirst) {
  OnScreen<Frame> screen;
  EXPECT_FALSE(screen.at(0));
  screen.show({100, 1});
  EXPECT_FALSE(screen.at(99));
  ASSERT_TRUE(screen.at(100));
  EXPECT_EQ(screen.at(100)->number, 1);
}

TEST(OnScreen, TheLastOneStandsUntilTheNext) {
  OnScreen<Frame> screen;
  screen.show({100, 1});
  EXPECT_EQ(screen.at(1'000'000)->number, 1);
  screen.show({140, 2});
  EXPECT_EQ(screen.at(141)->number, 2);
}

TEST(OnScreen, AtTheEndForItsDuration) {
  OnScreen<Frame> screen;
  screen.show({100, 1});
  EXPECT_TRUE(screen.at(139, 40));
  EXPECT_FALSE(screen.at(140, 40));
  EXPECT_FALSE(screen.at(100, 0)) << "no duration, nothing to see";
  screen.clear();
  EXPECT_FALSE(screen.at(120));
}

}  // namespace
}  // namespace vmafhip
