// How planes go to the device: which copies are one, and when there are enough of them under way. With a driver that does
// nothing (tests/fake_gpu); what arrives is in hip_accelerator_test.cpp.
#include "engine/hip/ring.h"

#include <deque>
#include <optional>
#include <sstream>

#include <gtest/gtest.h>

#include "engine/hip/images.h"
#include "tests/fake_gpu/library.h"

namespace vmafhip::hip {

// In place of the build's.
std::span<const Image> images() {
  static const Image probe = {"probe", nullptr, 0, nullptr, 0};
  return {&probe, 1};
}

namespace {

using Log = std::vector<std::string>;
// Memory of two planes ends where what is made next begins.
constexpr int kWidth = 128, kHeight = 16, kPlane = kWidth * kHeight;

class HipRing : public testing::Test {
 protected:
  void SetUp() override {
    gpu->devices = 1;
    device_ = Device::open(0).value();
    HipBackend::Work work;
    work.format = {kWidth, kHeight, 8, Chroma::c400};
    work.lookback = 0;
    work.ref = work.dist = kLuma;
    upload_.emplace(*device_, 2 * kPlane, 8);
    ring_.emplace(*device_, *upload_, work, 8);
  }
  void TearDown() override {
    ring_.reset();
    upload_.reset();
    device_.reset();
    EXPECT_EQ(gpu->total(), 0);
  }
  // Pinned planes at `ref` and `dist` of the host.
  void upload(uint64_t number, uint64_t ref, uint64_t dist, int stride = kWidth) {
    ASSERT_TRUE(ring_->prepare(0));
    View &view = views_.emplace_back();
    view.frame.index = number;
    view.frame.ref[0] = plane(ref, stride);
    view.dist[0][0] = plane(dist, stride);
    view.frame.dist = view.dist;
    ring_->upload(number, view.frame);
  }
  // The copies since the last time: function, address on the host, bytes or rows.
  Log copies() {
    Log log;
    for (const std::string &call : gpu->take_log()) {
      if (!call.starts_with("hipMemcpy")) continue;
      const std::string name = call.substr(0, call.find('('));
      std::vector<std::string> arguments;
      std::istringstream text(call.substr(name.size() + 1));
      for (std::string argument; std::getline(text, argument, ',');)
        arguments.push_back(argument.substr(argument[0] == ' '));
      log.push_back(name == "hipMemcpyAsync" ? arguments[1] + " " + arguments[2]
                                             : "2D " + arguments[2] + " " + arguments[5]);
    }
    return log;
  }

  static std::string copy_of(uint64_t from, int bytes) {
    std::ostringstream text;
    text << "0x" << std::hex << from << std::dec << " " << bytes;
    return text.str();
  }

  test::FakeHip gpu;
  std::shared_ptr<Device> device_;
  std::optional<UploadMemory> upload_;
  std::optional<Ring> ring_;

 private:
  static PlaneView plane(uint64_t at, int stride) {
    return {reinterpret_cast<const void *>(at), stride, kWidth, kHeight, 8, MemoryKind::pinned};
  }
  struct View {
    FrameView frame;
    std::array<Views, 1> dist;
  };
  std::deque<View> views_;
};

TEST_F(HipRing, CopiesAreSentTogether) {
  gpu->take_log();
  upload(0, 0x10000, 0x20000);
  upload(1, 0x30000, 0x40000);
  EXPECT_EQ(copies(), Log());
  ring_->send();
  EXPECT_EQ(copies(), (Log{"0x10000 2048", "0x20000 2048", "0x30000 2048", "0x40000 2048"}));
  ring_->send();
  EXPECT_EQ(gpu->take_log(), Log()) << "there is nothing to send";
}

TEST_F(HipRing, PlanesOfAPlaceThatLieOneBehindTheOtherAreOneCopy) {
  uint64_t at[4];
  for (int place = 0; place < 4; ++place) at[place] = uint64_t(upload_->of(place));
  gpu->take_log();
  upload(0, at[0], at[0] + kPlane);
  upload(1, at[1] + kPlane, at[1]);
  upload(2, at[2], at[2] + kPlane);
  upload(3, at[3], at[3] + kPlane);
  ring_->send();
  EXPECT_EQ(copies(), (Log{copy_of(at[0], 2 * kPlane), copy_of(at[1] + kPlane, kPlane),
                           copy_of(at[1], kPlane), copy_of(at[2], 2 * kPlane), copy_of(at[3], 2 * kPlane)}))
      << "those of frames are in memory of their own on the device";
}

// Each may be pinned by itself.
TEST_F(HipRing, PlanesElsewhereAreCopiesOfTheirOwn) {
  const auto end = uint64_t(upload_->of(0)) + 2 * kPlane;
  gpu->take_log();
  upload(0, 0x10000, 0x10000 + kPlane);
  upload(1, end - kPlane, end);  // from the last plane of the upload memory on
  ring_->send();
  EXPECT_EQ(copies(),
            (Log{"0x10000 2048", "0x10800 2048", copy_of(end - kPlane, kPlane), copy_of(end, kPlane)}));
}

TEST_F(HipRing, RowsWithGapsAreCopiedByTheirRows) {
  gpu->take_log();
  upload(0, 0x10000, 0x20000, kWidth + 64);
  upload(1, 0x30000, 0x40000);
  upload(2, 0x50000, 0x50000 + kPlane, kWidth + 64);
  EXPECT_EQ(copies(), Log());
  ring_->send();
  EXPECT_EQ(copies(), (Log{"2D 0x10000 16", "2D 0x20000 16", "0x30000 2048", "0x40000 2048", "2D 0x50000 16",
                           "2D 0x50800 16"}));
}

TEST_F(HipRing, IsSendingWhileTwoAreUnderWay) {
  constexpr int kNotReady = 600;
  const auto send = [&](uint64_t number) {
    upload(number, 0x10000, 0x20000);
    ring_->send();
  };
  EXPECT_FALSE(ring_->is_sending());
  gpu->failures["hipEventQuery"] = {0, kNotReady};
  send(0);
  EXPECT_FALSE(ring_->is_sending());
  send(1);
  EXPECT_TRUE(ring_->is_sending());
  gpu->failures["hipEventQuery"] = {1, kNotReady};  // one has arrived
  EXPECT_FALSE(ring_->is_sending());
  send(2);
  EXPECT_TRUE(ring_->is_sending());
  send(3);
  EXPECT_TRUE(ring_->is_sending());
  gpu->failures.clear();
  EXPECT_FALSE(ring_->is_sending());
  gpu->failures["hipEventQuery"] = {0, kNotReady};
  send(4);
  EXPECT_FALSE(ring_->is_sending()) << "all before have arrived";
  send(5);
  ring_->clear();
  EXPECT_FALSE(ring_->is_sending());
  gpu->failures.clear();
}

}  // namespace
}  // namespace vmafhip::hip
