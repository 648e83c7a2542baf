// How many lanes there are: as few as the frames that wait need, and no more than memory allows.
#include "engine/hip/lanes.h"

#include <gtest/gtest.h>

#include "tests/hip_run.h"
#include "tests/hipsim_control.h"

namespace vmafhip::hip {
namespace {

constexpr Lanes::Sizes kSizes = {1 << 20, 256, 1};
constexpr int kMost = 3, kBatch = 4;

class HipLanes : public testing::Test {
 protected:
  test::HipSim hipsim_;
  ~HipLanes() override { hipsim_.reset(); }
  std::shared_ptr<Device> device_ = test::open_device();
  const CurrentDevice current_{*device_};
  Lanes lanes_{*device_, kSizes, kMost, kBatch};
};

TEST_F(HipLanes, FramesThatComeOneByOneNeedOne) {
  for (int n = 0; n < 20; ++n) {
    Lane *lane = lanes_.take(1);
    ASSERT_NE(lane, nullptr);
    EXPECT_EQ(lane->most, 1u);
    lanes_.give_back(*lane);
  }
  EXPECT_EQ(lanes_.frames(), 1u);
  EXPECT_EQ(lanes_.take(0), nullptr) << "nothing waits";
}

TEST_F(HipLanes, OneThatWaitsForABusyLaneGetsASecond) {
  ASSERT_NE(lanes_.take(1), nullptr);
  Lane *second = lanes_.take(1);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(lanes_.take(1), nullptr) << "until one is free, or a batch waits";
  lanes_.give_back(*second);
  EXPECT_EQ(lanes_.take(1), second);
  EXPECT_EQ(lanes_.frames(), 2u);
}

TEST_F(HipLanes, BatchesGetLargeLanesUpToTheirNumber) {
  std::vector<Lane *> taken;
  for (int i = 0; i < kMost; ++i) {
    taken.push_back(lanes_.take(kBatch));
    ASSERT_NE(taken.back(), nullptr);
    EXPECT_EQ(taken.back()->most, size_t{kBatch});
  }
  Lane *last = lanes_.take(kBatch);
  ASSERT_NE(last, nullptr) << "better one of them than none";
  EXPECT_EQ(last->most, 1u);
  EXPECT_EQ(lanes_.take(kBatch), nullptr);
  EXPECT_EQ(lanes_.frames(), uint64_t{kMost * kBatch + 1});
  lanes_.give_back(*taken[1]);
  EXPECT_EQ(lanes_.take(1)->most, 1u) << "a single one is made before a large one is used";
  EXPECT_EQ(lanes_.frames(), Lanes::most_frames(kMost, kBatch));
  lanes_.give_back_all();
  EXPECT_EQ(lanes_.take(1)->most, 1u);
  EXPECT_EQ(lanes_.take(2)->most, size_t{kBatch});
  EXPECT_EQ(lanes_.frames(), Lanes::most_frames(kMost, kBatch));
}

TEST_F(HipLanes, WhereMemoryIsShortThereAreFewer) {
  hipsim_.configure("memory=6M");  // a first one of 1 MiB, and one of 4
  Lane *large = lanes_.take(kBatch);
  ASSERT_NE(large, nullptr);
  EXPECT_EQ(large->most, size_t{kBatch});
  Lane *single = lanes_.take(kBatch);
  ASSERT_NE(single, nullptr);
  EXPECT_EQ(single->most, 1u);
  EXPECT_EQ(lanes_.take(kBatch), nullptr);
  lanes_.give_back(*large);
  EXPECT_EQ(lanes_.take(kBatch), large);
  EXPECT_EQ(lanes_.frames(), uint64_t{1 + kBatch});
}

TEST_F(HipLanes, OtherFailuresAreThrown) {
  hipsim_.configure("fail=lost:1");
  EXPECT_THROW(lanes_.take(kBatch), DeviceError);
}

TEST_F(HipLanes, NoneAtAllIsThrown) {
  hipsim_.configure("memory=1M");
  EXPECT_THROW(Lanes(*device_, kSizes, kMost, kBatch), DeviceError);
}

TEST_F(HipLanes, BatchesOfOneKnowNoSmallerLanes) {
  Lanes lanes(*device_, kSizes, 2, 1);
  ASSERT_NE(lanes.take(1), nullptr);
  ASSERT_NE(lanes.take(7), nullptr);
  EXPECT_EQ(lanes.take(1), nullptr);
  EXPECT_EQ(lanes.frames(), 2u);
}

}  // namespace
}  // namespace vmafhip::hip
