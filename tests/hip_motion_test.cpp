// Motion on the GPU: sums equal to those of the plain CPU code, bit for bit, whatever the size, depth, memory layout and
// batch, and which frame is compared with which. Runs with warps of 32 and of 64.
#include <string>

#include "engine/arith/motion.h"
#include "engine/hip/hip.h"
#include "tests/hip_run.h"
#include "tests/isa_run.h"

namespace vmafhip {
namespace {

using namespace test;

PictureFormat format_of(const Luma &luma) { return {luma.width, luma.height, luma.depth, Chroma::c400}; }

class MotionHip : public HipTest {
 protected:
  // Sums of frames 0, 1, ... of a stream, `batch` at a time, with `distorted` pictures, which do not count.
  std::vector<uint64_t> measure(const MotionParams &params, const std::vector<Luma> &clip, size_t batch,
                                const Layout &layout = {}, size_t distorted = 1) {
    const auto metric =
        hip::make_hip_motion(*device_, params, format_of(clip[0]), static_cast<int>(distorted));
    std::vector<StoredLuma> stored;
    for (const Luma &luma : clip) stored.emplace_back(luma, layout);
    const std::vector<Views> dist(distorted);
    DeviceFrames memory(stream_);
    for (size_t f = 0; f < clip.size(); ++f) {
      FrameView frame;
      frame.index = f;
      frame.ref[0] = stored[f].view();
      frame.dist = dist;
      for (size_t back = 1; back <= 2 && back <= f; ++back)
        frame.earlier[back - 1][0] = stored[f - back].view();
      memory.add(frame);
    }
    std::vector<uint64_t> out;
    for (size_t first = 0; first < clip.size(); first += batch) {
      const auto all = std::span(memory.frames()).subspan(first);
      const auto some = all.first(std::min(batch, all.size()));
      const std::vector<hip::DeviceFrame> frames(some.begin(), some.end());
      for (const auto &sums : measure_on<MotionSums>(stream_, *metric, frames)) {
        EXPECT_EQ(sums.size(), distorted);
        for (const MotionSums &of_picture : sums) EXPECT_EQ(of_picture.sad, sums[0].sad);
        out.push_back(sums[0].sad);
      }
    }
    return out;
  }
};

std::vector<uint64_t> cpu_sums(const MotionParams &params, const std::vector<Luma> &clip) {
  const auto metric = make_cpu_motion(plain_kernels(), params, format_of(clip[0]), 1);
  std::vector<uint64_t> out;
  for (size_t f = 0; f < clip.size(); ++f) {
    std::vector<Luma> refs;
    for (size_t back = 0; back <= 2 && back <= f; ++back) refs.push_back(clip[f - back]);
    const StoredFrame frame(refs, {clip[f]});
    out.push_back(measure_sums<MotionSums>(*metric, frame.view)[0].sad);
  }
  return out;
}

std::vector<Luma> moving(int width, int height, int depth, int frames) {
  std::vector<Luma> clip;
  for (int f = 0; f < frames; ++f)
    clip.push_back(f % 3 == 2 ? noise(width, height, depth, static_cast<uint32_t>(f))
                              : waves(width, height, depth, 5 * f));
  return clip;
}

// Of the least size and around the columns and rows that a block takes.
TEST_F(MotionHip, Sizes) {
  std::vector<std::pair<int, int>> sizes;
  for (int n = kMotionMinSize; n <= 40; ++n) {
    sizes.emplace_back(n, 3 + n % 5);
    sizes.emplace_back(3 + n % 7, n);
  }
  for (int width : {247, 248, 249, 255, 256, 257, 495, 496, 497, 744, 800}) sizes.emplace_back(width, 19);
  sizes.emplace_back(20, 300);
  for (const auto &[width, height] : sizes)
    for (int depth : {8, 10}) {
      const auto clip = moving(width, height, depth, 2);
      EXPECT_EQ(measure({}, clip, 2), cpu_sums({}, clip)) << width << "x" << height << ", depth " << depth;
    }
}

TEST_F(MotionHip, DepthsAndExtremes) {
  for (int depth = 8; depth <= 16; ++depth) {
    std::vector<Luma> clip;  // every picture after every other
    const auto pictures = stress_pictures(37, 22, depth);
    for (const Luma &a : pictures)
      for (const Luma &b : pictures) {
        clip.push_back(a);
        clip.push_back(b);
      }
    EXPECT_EQ(measure({}, clip, 7), cpu_sums({}, clip)) << "depth " << depth;
  }
}

TEST_F(MotionHip, LayoutDoesNotMatter) {
  for (int depth : {8, 12}) {
    const int word = depth > 8 ? 2 : 1;
    const auto clip = moving(41, 23, depth, 3);
    const auto want = cpu_sums({}, clip);
    for (const Layout &layout : {Layout{.padding = 7 * word}, Layout{.padding = 3 * word, .offset = word},
                                 Layout{.padding = 6 * word, .upside = true, .offset = 3 * word}})
      EXPECT_EQ(measure({}, clip, 3, layout), want);
  }
}

// Frames without one to be compared with have the sum 0, as do all if that is asked for.
TEST_F(MotionHip, WindowsAndBatches) {
  const auto clip = moving(43, 20, 8, 40);
  MotionParams wide, none;
  wide.five_frame_window = true;
  none.force_zero = true;
  const auto want = cpu_sums({}, clip), want_wide = cpu_sums(wide, clip);
  EXPECT_EQ(want[0], 0u);
  EXPECT_NE(want[1], 0u);
  EXPECT_EQ(want_wide[1], 0u);
  EXPECT_NE(want_wide[2], want[2]);
  static_assert(40 > kMostPairs + 2);
  for (size_t batch : {1, 2, 3, 5, 40}) {
    EXPECT_EQ(measure({}, clip, batch), want) << "batch " << batch;
    EXPECT_EQ(measure(wide, clip, batch), want_wide) << "batch " << batch;
  }
  EXPECT_EQ(measure({}, clip, 40, {}, 3), want);
  EXPECT_EQ(measure(none, clip, 4), std::vector<uint64_t>(clip.size(), 0));
}

}  // namespace
}  // namespace vmafhip
