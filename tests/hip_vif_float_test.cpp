// Float VIF's kernels on the simulated device against the CPU, bit for bit.
#include "engine/hip/hip.h"
#include "tests/hip_cpu.h"

namespace vmafhip {
namespace {

using namespace test;

void expect_equal(const std::vector<const FrameView *> &frames, const VifFloatParams &params) {
  const PlaneView &luma = frames[0]->ref[0];
  const PictureFormat format = {luma.width, luma.height, luma.depth, Chroma::c400};
  const int distorted = static_cast<int>(frames[0]->dist.size());
  const auto cpu = make_cpu_vif_float(plain_kernels(), params, format, distorted);
  expect_cpu_sums<float, VifFloatSums>(
      [&](const hip::Device &device) { return hip::make_hip_vif_float(device, params, format, distorted); },
      *cpu, frames,
      std::to_string(format.width) + "x" + std::to_string(format.height) + ", depth " +
          std::to_string(format.depth) + ", kernel scale " + std::to_string(params.kernel_scale) +
          ", noise " + std::to_string(params.noise));
}

void expect_equal(const Luma &ref, const Luma &dist, const VifFloatParams &params = {},
                  const Layout &layout = {}) {
  const StoredFrame frame({ref}, {dist}, layout);
  expect_equal({&frame.view}, params);
}

// Smallest pictures, and widths about those of one and two steps of each scale.
TEST(HipVifFloat, Sizes) {
  for (const auto &[width, height] : {std::pair(16, 16),
                                      {17, 31},
                                      {33, 18},
                                      {61, 45},
                                      {239, 17},
                                      {240, 16},
                                      {241, 16},
                                      {497, 33},
                                      {500, 19},
                                      {1001, 16}}) {
    const Luma ref = waves(width, height, width % 2 ? 8 : 10, width);
    expect_equal(ref, distorted_from(ref, static_cast<uint32_t>(width)));
  }
}

TEST(HipVifFloat, DepthsAndLayouts) {
  for (int depth : {8, 10, 12, 16}) {
    const Luma ref = waves(71, 45, depth, 1), dist = distorted_from(ref, 4);
    for (const Layout &layout : odd_layouts(depth)) expect_equal(ref, dist, {}, layout);
  }
}

TEST(HipVifFloat, Options) {
  VifFloatParams variants[6];
  variants[0].gain_limit = 1;
  variants[1].noise = 0;
  variants[2].noise = 0.4;
  variants[3].skip_scale0 = true;
  variants[4].kernel_scale = 0.5;
  variants[5].kernel_scale = 0.5;
  variants[5].skip_scale0 = true;
  const Luma ref = waves(131, 47, 8, 3), flat = paint(131, 47, 8, [](int, int) { return 77; });
  for (const VifFloatParams &params : variants) {
    expect_equal(ref, distorted_from(ref, 9), params);
    expect_equal(flat, distorted_from(ref, 9), params);
    expect_equal(ref, flat, params);
  }
}

// Lengths that the compiler does not know.
TEST(HipVifFloat, KernelScales) {
  for (double scale : kKernelScales) {
    VifFloatParams params;
    params.kernel_scale = scale;
    const int size = vif_float_min_size(params);
    for (int depth : {8, 10}) {
      const Luma ref = waves(size + 7, size, depth, 3);
      expect_equal(ref, distorted_from(ref, 9), params);
    }
  }
}

TEST(HipVifFloat, Rescaling) {
  for (const FloatScaling method :
       {FloatScaling::nearest, FloatScaling::bilinear, FloatScaling::bicubic, FloatScaling::lanczos4})
    for (const double factor : {0.6, 1.7, 3.1})
      for (int depth : {8, 10}) {
        VifFloatParams params;
        params.prescale = factor;
        params.prescale_method = method;
        if (depth == 10) params.kernel_scale = 0.5;
        const Luma ref = waves(83, 35, depth, 3);
        expect_equal(ref, distorted_from(ref, 9), params);
      }
}

TEST(HipVifFloat, Stress) {
  for (int depth : {8, 16}) {
    const auto pictures = stress_pictures(45, 19, depth);
    for (const Luma &a : pictures)
      for (const Luma &b : pictures) expect_equal(a, b);
  }
}

TEST(HipVifFloat, Batches) {
  for (const auto &[count, distorted] : {std::pair(70, 1), {26, 3}, {2, 35}})
    expect_equal(WaveFrames(count, distorted, 35, 17).views, {});
}

}  // namespace
}  // namespace vmafhip
