// Float motion's kernels on the simulated device against the CPU, bit for bit.
#include "engine/hip/hip.h"
#include "tests/hip_cpu.h"

namespace vmafhip {
namespace {

using namespace test;

std::string name_of(const MotionFloatParams &params, const PictureFormat &format) {
  return std::to_string(format.width) + "x" + std::to_string(format.height) + ", depth " +
         std::to_string(format.depth) + ", filter " + std::to_string(params.filter_size) +
         (params.add_scale1 ? ", two sizes" : "");
}

void expect_equal(const std::vector<const FrameView *> &frames, const MotionFloatParams &params,
                  Chroma chroma = Chroma::c400) {
  const PlaneView &luma = frames[0]->ref[0];
  const PictureFormat format = {luma.width, luma.height, luma.depth, chroma};
  const int distorted = static_cast<int>(frames[0]->dist.size());
  const auto cpu = make_cpu_motion_float(plain_kernels(), params, format, distorted);
  expect_cpu_sums<float, MotionFloatSums>(
      [&](const hip::Device &device) {
        return hip::make_hip_motion_float(device, params, format, distorted);
      },
      *cpu, frames, name_of(params, format));
}

void expect_equal(const Luma &earlier, const Luma &current, const MotionFloatParams &params = {},
                  const Layout &layout = {}) {
  const StoredFrame frame({current, earlier}, {current}, layout);
  expect_equal({&frame.view}, params);
}

std::vector<MotionFloatParams> variants() {
  std::vector<MotionFloatParams> all(4);
  all[1].filter_size = 1;
  all[2].filter_size = 3;
  all[3].add_scale1 = true;
  return all;
}

TEST(HipMotionFloat, Sizes) {
  for (const MotionFloatParams &params : variants())
    for (const auto &[width, height] :
         {std::pair(3, 3), {4, 17}, {21, 4}, {248, 9}, {249, 8}, {256, 7}, {517, 33}}) {
      const int depth = width % 2 ? 8 : 10;
      expect_equal(noise(width, height, depth, 1), noise(width, height, depth, 2), params);
    }
}

TEST(HipMotionFloat, DepthsAndLayouts) {
  for (const MotionFloatParams &params : variants())
    for (int depth : {8, 10, 12, 16}) {
      const Luma a = noise(71, 19, depth, 3), b = noise(71, 19, depth, 4);
      expect_equal(a, b, params, {.padding = 26});
      expect_equal(a, b, params, {.padding = 10, .upside = true});
    }
}

TEST(HipMotionFloat, Stress) {
  for (int depth : {8, 16}) {
    const auto pictures = stress_pictures(45, 11, depth);
    for (const Luma &a : pictures)
      for (const Luma &b : pictures) expect_equal(a, b);
  }
}

// The first frame has nothing before it, wherever it is in a batch; distorted pictures all get the same sums.
TEST(HipMotionFloat, Batches) {
  const std::vector<Luma> dists = {noise(67, 21, 8, 5), noise(67, 21, 8, 6)};
  std::vector<std::unique_ptr<StoredFrame>> stored;
  std::vector<const FrameView *> frames;
  for (uint32_t i = 0; i < 40; ++i) {
    std::vector<Luma> refs = {noise(67, 21, 8, 100 + i)};
    if (i != 3) refs.push_back(noise(67, 21, 8, 99 + i));
    stored.push_back(std::make_unique<StoredFrame>(refs, dists));
    frames.push_back(&stored.back()->view);
  }
  for (const MotionFloatParams &params : variants()) expect_equal(frames, params);
}

// Chroma of odd sizes is rounded down.
TEST(HipMotionFloat, Chroma) {
  MotionFloatParams params;
  params.add_chroma = true;
  for (const bool add_scale1 : {false, true}) {
    params.add_scale1 = add_scale1;
    const Luma luma = noise(75, 41, 10, 1), before = noise(75, 41, 10, 2);
    std::vector<StoredLuma> chroma;
    for (uint32_t i = 0; i < 4; ++i) chroma.emplace_back(noise(38, 21, 10, 3 + i), Layout{.padding = 4});
    StoredFrame frame({luma, before}, {luma});
    for (size_t p = 1; p < 3; ++p) {
      frame.view.ref[p] = chroma[p - 1].view();
      frame.view.earlier[0][p] = chroma[p + 1].view();
    }
    expect_equal({&frame.view}, params, Chroma::c420);
  }
}

TEST(HipMotionFloat, ForcedZero) {
  MotionFloatParams params;
  params.force_zero = true;
  StoredFrame frame({noise(33, 21, 8, 1), noise(33, 21, 8, 2)}, {noise(33, 21, 8, 1)});
  expect_equal({&frame.view}, params);
  frame.view.ref = {};  // nothing is read, so nothing is there
  frame.view.earlier = {};
  const auto device = open_device();
  const hip::Stream stream(*device);
  const auto metric = hip::make_hip_motion_float(*device, params, {33, 21, 8, Chroma::c400}, 1);
  const DeviceFrames on_device(stream, {&frame.view});
  const MotionFloatSums none = {},
                        got = measure_on<MotionFloatSums>(stream, *metric, on_device.frames())[0][0];
  EXPECT_EQ(difference<float>(got, none), "");
}

}  // namespace
}  // namespace vmafhip
