// Memory for pictures on their way to the GPU: as much as is used, pinned as far as that can be had.
#include "engine/hip/upload_memory.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "tests/hip_run.h"
#include "tests/hipsim_control.h"

namespace vmafhip::hip {
namespace {

constexpr size_t kBytes = aligned(100 * 1000);

class HipUploadMemory : public testing::Test {
 protected:
  ~HipUploadMemory() override { hipsim_.reset(); }
  test::HipSim hipsim_;
  std::shared_ptr<Device> device_ = test::open_device();
  const CurrentDevice current_{*device_};
};

TEST_F(HipUploadMemory, EachPlaceHasItsOwn) {
  UploadMemory memory(*device_, kBytes, 5);
  EXPECT_EQ(memory.pinned_bytes(), kBytes);
  std::set<std::byte *> blocks;
  for (int place = 0; place < 5; ++place) {
    std::byte *block = memory.of(place);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % kAlign, 0u);
    EXPECT_EQ(memory.of(place), block);
    for (std::byte *other : blocks) EXPECT_GE(std::abs(block - other), ptrdiff_t(kBytes));
    blocks.insert(block);
  }
  EXPECT_EQ(memory.pinned_bytes(), 5 * kBytes);
}

TEST_F(HipUploadMemory, AsMuchAsIsUsed) {
  UploadMemory memory(*device_, kBytes, 7);
  for (const auto &[place, made] :
       std::vector<std::pair<int, uint64_t>>{{0, 1}, {1, 2}, {3, 4}, {2, 4}, {5, 7}, {6, 7}}) {
    memory.of(place);
    EXPECT_EQ(memory.pinned_bytes(), made * kBytes) << place;
  }
}

// Of large pieces the large pages are told that they are made of.
TEST_F(HipUploadMemory, WholeLargePages) {
  constexpr size_t kBlock = 3'000'000 / kAlign * kAlign, kLarge = 2 << 20;
  UploadMemory memory(*device_, kBlock, 4);
  memory.of(1);
  EXPECT_EQ(memory.pinned_bytes(), 2 * kBlock);
  memory.of(2);
  EXPECT_EQ(memory.pinned_bytes(), 2 * kBlock + 3 * kLarge);
}

TEST_F(HipUploadMemory, ThreadsThatComeTogetherGetTheSame) {
  for (int round = 0; round < 20; ++round) {
    UploadMemory memory(*device_, kBytes, 2);
    std::vector<std::byte *> got(4);
    std::vector<std::thread> threads;
    for (std::byte *&block : got) threads.emplace_back([&memory, &block] { block = memory.of(1); });
    for (std::thread &thread : threads) thread.join();
    for (const std::byte *block : got) EXPECT_EQ(block, got[0]);
    EXPECT_EQ(memory.pinned_bytes(), 2 * kBytes);
  }
}

TEST_F(HipUploadMemory, OtherMemoryWhereNoneCanBePinned) {
  UploadMemory memory(*device_, kBytes, 3);
  hipsim_.configure("fail=host:1+");
  std::byte *block = memory.of(2);
  ASSERT_NE(block, nullptr);
  EXPECT_NE(block, memory.of(0));
  EXPECT_NE(block, memory.of(1));
  EXPECT_NE(memory.of(1), memory.of(0));
  block[kBytes - 1] = std::byte{7};
  EXPECT_EQ(memory.pinned_bytes(), kBytes);
}

// More than addresses go.
TEST_F(HipUploadMemory, NullWhereThereIsNone) {
  constexpr int kPlaces = 1 << 30;
  UploadMemory memory(*device_, size_t{1} << 20, kPlaces);
  EXPECT_EQ(memory.of(kPlaces - 1), nullptr);
  EXPECT_EQ(memory.of(kPlaces / 2), nullptr);
  EXPECT_NE(memory.of(1), nullptr);
  EXPECT_EQ(memory.pinned_bytes(), size_t{2} << 20);
}

TEST_F(HipUploadMemory, NoMemoryAtAll) {
  constexpr size_t kTooMuch = size_t{1} << 46;
  hipsim_.configure("fail=host:1");
  EXPECT_THROW(UploadMemory(*device_, kBytes, 3), DeviceError);
  hipsim_.reset();
  // Address space is all that the first block of a simulated runtime takes, but not so much of it.
  EXPECT_THROW(UploadMemory(*device_, kTooMuch, 3), DeviceError);
}

TEST_F(HipUploadMemory, NothingToUpload) {
  UploadMemory memory(*device_, 0, 3);
  EXPECT_EQ(memory.of(2), nullptr);
  EXPECT_EQ(memory.pinned_bytes(), 0u);
}

}  // namespace
}  // namespace vmafhip::hip
