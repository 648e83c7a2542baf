// Structural similarity's kernels on the simulated device against the CPU, bit for bit.
#include "engine/hip/hip.h"
#include "tests/hip_cpu.h"
#include "tests/ssim_params.h"

namespace vmafhip {
namespace {

using namespace test;

void expect_equal(const SsimParams &params, const std::vector<const FrameView *> &frames) {
  const PlaneView &luma = frames[0]->ref[0];
  const PictureFormat format = {luma.width, luma.height, luma.depth, Chroma::c400};
  const int distorted = static_cast<int>(frames[0]->dist.size());
  const auto cpu = make_cpu_ssim(plain_kernels(), params, format, distorted);
  expect_cpu_sums<double, MsSsimSums>(
      [&](const hip::Device &device) { return hip::make_hip_ssim(device, params, format, distorted); }, *cpu,
      frames,
      std::to_string(format.width) + "x" + std::to_string(format.height) + ", depth " +
          std::to_string(format.depth) + ", factor " + std::to_string(params.factor) +
          (params.multi_scale ? ", multi-scale" : ""));
}

void expect_equal(const SsimParams &params, const Luma &a, const Luma &b, const Layout &layout = {}) {
  const StoredFrame frame({a}, {b}, layout);
  expect_equal(params, {&frame.view});
}

// One window, widths about those of one and two blocks of columns, heights about those of steps and of one and two bands.
TEST(HipSsim, Sizes) {
  for (const auto &[width, height] : {std::pair(11, 11),
                                      {12, 16},
                                      {26, 17},
                                      {18, 63},
                                      {19, 64},
                                      {20, 65},
                                      {73, 12},
                                      {74, 11},
                                      {75, 118},
                                      {82, 119},
                                      {83, 18},
                                      {139, 21}}) {
    const int depth = width % 3 == 0 ? 16 : width % 3 == 1 ? 8 : 10;
    const Luma a = noise(width, height, depth, 1);
    for (const bool lcs : {false, true}) expect_equal(single(1, lcs), a, distorted_from(a, 2));
  }
}

TEST(HipSsim, Factors) {
  for (int factor = 2; factor <= kSsimMaxFactor; ++factor)
    for (int more : {0, 1}) {
      const Luma a = noise(17 * factor + more, 12 * factor + more, more % 2 == 0 ? 8 : 12, 3);
      expect_equal(single(factor, false), a, distorted_from(a, 4));
    }
}

TEST(HipSsim, Scales) {
  for (const auto &[width, height] : {std::pair(176, 176), {177, 181}, {187, 178}}) {
    const Luma a = waves(width, height, width % 2 == 0 ? 8 : 10, 5);
    for (const bool lcs : {false, true}) expect_equal(multi(lcs), a, distorted_from(a, 6));
  }
}

TEST(HipSsim, Stress) {
  for (int depth : {8, 16}) {
    const auto pictures = stress_pictures(45, 20, depth);
    for (const Luma &a : pictures)
      for (const Luma &b : pictures) expect_equal(single(1), a, b);
  }
}

TEST(HipSsim, Layouts) {
  for (int depth : {8, 10}) {
    const Luma a = noise(79, 39, depth, 3), b = distorted_from(a, 4);
    for (const SsimParams &params : {single(1), single(3)}) {
      for (const Layout &layout : odd_layouts(depth)) expect_equal(params, a, b, layout);
    }
  }
  const Luma a = noise(179, 177, 10, 3);
  expect_equal(multi(false), a, distorted_from(a, 4), {.padding = 10, .upside = true});
}

// More frames than one launch takes, with several distorted pictures each.
TEST(HipSsim, Batches) {
  for (const auto &[count, distorted] : {std::pair(70, 1), {24, 3}})
    expect_equal(single(2), WaveFrames(count, distorted, 35, 25).views);
  const Luma a = waves(176, 177, 8, 0), b = waves(176, 177, 8, 1);
  const StoredFrame one({a}, {b, distorted_from(a, 2)}), other({b}, {a, distorted_from(b, 2)});
  expect_equal(multi(false), {&one.view, &other.view});
}

}  // namespace
}  // namespace vmafhip
