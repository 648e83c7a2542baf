// Float ADM's kernels on the simulated device against the CPU, bit for bit.
#include "engine/hip/hip.h"
#include "tests/adm_isa_run.h"
#include "tests/hip_cpu.h"

namespace vmafhip {
namespace {

using namespace test;

void expect_equal(const std::vector<const FrameView *> &frames, const AdmFloatOptions &options) {
  const PlaneView &luma = frames[0]->ref[0];
  const PictureFormat format = {luma.width, luma.height, luma.depth, Chroma::c400};
  const int distorted = static_cast<int>(frames[0]->dist.size());
  const AdmFloatParams params = adm_float_configure(options, format.width, format.height);
  const auto cpu = make_cpu_adm_float(plain_kernels(), params, format, distorted);
  expect_cpu_sums<float, AdmFloatSums>(
      [&](const hip::Device &device) { return hip::make_hip_adm_float(device, params, format, distorted); },
      *cpu, frames,
      std::to_string(format.width) + "x" + std::to_string(format.height) + ", depth " +
          std::to_string(format.depth));
}

void expect_equal(const Luma &ref, const Luma &dist, const AdmFloatOptions &options = {},
                  const Layout &layout = {}) {
  const StoredFrame frame({ref}, {dist}, layout);
  expect_equal({&frame.view}, options);
}

// Bands of odd and even sizes at all scales, regions that reach the border and others, and of one and two steps.
TEST(HipAdmFloat, Sizes) {
  for (const auto &[width, height] : {std::pair(17, 17),
                                      {18, 29},
                                      {33, 21},
                                      {63, 40},
                                      {64, 41},
                                      {159, 34},
                                      {162, 33},
                                      {163, 23},
                                      {330, 37}}) {
    const Luma ref = waves(width, height, width % 2 ? 8 : 10, width);
    expect_equal(ref, distorted_from(ref, static_cast<uint32_t>(width)));
  }
}

TEST(HipAdmFloat, DepthsAndLayouts) {
  for (int depth : {8, 10, 12, 16}) {
    const Luma ref = noise(71, 45, depth, 1), dist = distorted_from(ref, 4);
    for (const Layout &layout : odd_layouts(depth)) expect_equal(ref, dist, {}, layout);
  }
}

TEST(HipAdmFloat, Options) {
  for (int depth : {8, 12})
    for (const AdmFloatOptions &options : adm_float_variants()) {
      const Luma ref = noise(91, 47, depth, 1), wave = waves(91, 47, depth, 0);
      expect_equal(ref, distorted_from(ref, 2), options);
      expect_equal(wave, distorted_from(wave, 3), options);
    }
}

TEST(HipAdmFloat, Stress) {
  for (int depth : {8, 16}) {
    std::vector<Luma> pictures = stress_pictures(45, 35, depth);
    const int top = (1 << depth) - 1;
    for (int period : {2, 4, 8, 16})  // extreme contrast at each scale
      pictures.push_back(
          paint(45, 35, depth, [&](int x, int y) { return (x / period + y / period) % 2 ? top : 0; }));
    for (const Luma &a : pictures)
      for (const Luma &b : pictures) expect_equal(a, b);
  }
}

TEST(HipAdmFloat, Batches) {
  for (const auto &[count, distorted] : {std::pair(70, 1), {26, 3}, {2, 18}})
    expect_equal(WaveFrames(count, distorted, 35, 19).views, {});
}

}  // namespace
}  // namespace vmafhip
