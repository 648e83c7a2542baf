// SpEED on the GPU: sums equal to those of the plain CPU code, bit for bit. Runs with warps of 32 and of 64.
#include "tests/hip_clip.h"

namespace vmafhip {
namespace {

using namespace test;

class SpeedHip : public HipClips {
 protected:
  void expect_chroma(const std::vector<Frame> &frames, const SpeedParams &params = {},
                     const Layout &layout = {}) {
    expect_equal(
        "speed_chroma",
        [&](const hip::Device &device, const PictureFormat &format, int distorted) {
          return make_hip_speed_chroma(device, params, format, distorted);
        },
        [&](const CpuKernels &kernels, const PictureFormat &format, int distorted) {
          return make_cpu_speed_chroma(kernels, params, format, distorted);
        },
        frames, layout);
  }
  // Noise, and the same disturbed.
  void expect_chroma(const PictureFormat &format, const SpeedParams &params = {}, const Layout &layout = {}) {
    const Colours ref = noise(format, 1);
    expect_chroma({{ref, {disturbed(ref, 1 << (format.depth - 3), 3)}}}, params, layout);
  }
  void expect_temporal(const PictureFormat &format, int distorted, const SpeedParams &params,
                       const Layout &layout = {}) {
    expect_equal_clip(
        "speed_temporal",
        [&](const hip::Device &device, const PictureFormat &, int) {
          return make_hip_speed_temporal(device, params, format, distorted);
        },
        [&](const CpuKernels &kernels, const PictureFormat &, int) {
          return make_cpu_speed_temporal(kernels, params, format, distorted);
        },
        format, distorted, 3, layout);
  }
};

// Of the least size, and around the columns that a block reduces, a run of positions and a block of blocks.
TEST_F(SpeedHip, Sizes) {
  for (const auto &[width, height] : std::vector<std::pair<int, int>>{{80, 80},
                                                                      {97, 81},
                                                                      {160, 175},
                                                                      {255, 160},
                                                                      {256, 171},
                                                                      {271, 163},
                                                                      {272, 160},
                                                                      {1104, 96},
                                                                      {1120, 165},
                                                                      {80, 1290},
                                                                      {2190, 163}})
    expect_chroma({width, height, 8, Chroma::c444});
}

TEST_F(SpeedHip, FormatsAndLayouts) {
  for (const auto &[depth, chroma] : {std::pair(8, Chroma::c420),
                                      {8, Chroma::c422},
                                      {8, Chroma::c444},
                                      {10, Chroma::c420},
                                      {12, Chroma::c444},
                                      {16, Chroma::c422}}) {
    const PictureFormat format = {chroma == Chroma::c444 ? 163 : 323, chroma == Chroma::c420 ? 347 : 173,
                                  depth, chroma};
    expect_chroma(format);
    if (chroma == Chroma::c420)
      for (const Layout &layout : odd_layouts(depth)) expect_chroma(format, {}, layout);
  }
}

// Each with samples of a byte, and of two.
TEST_F(SpeedHip, Prescale) {
  SpeedParams params;
  int depth = 8;
  for (const double factor : {0.77, 1.5}) {
    for (const FloatScaling method :
         {FloatScaling::nearest, FloatScaling::bilinear, FloatScaling::bicubic, FloatScaling::lanczos4}) {
      params.prescale = factor;
      params.method = method;
      expect_chroma({factor < 1 ? 213 : 107, factor < 1 ? 192 : 99, depth, Chroma::c444}, params);
      depth = 18 - depth;
    }
    depth = 18 - depth;
  }
}

// Filters of the least and the most taps, and of some between: the device knows no more of them.
TEST_F(SpeedHip, KernelScales) {
  SpeedParams params;
  for (const double scale : {1.0 / 2.25, 2.0 / 3, 1.06667, 1.4746, 24.0 / 10, 360.0 / 97}) {
    params.kernel_scale = scale;
    expect_chroma({163, 147, 8, Chroma::c444}, params);
  }
}

TEST_F(SpeedHip, NoiseAndWeights) {
  for (int mode = 0; mode <= 6; ++mode) {
    SpeedParams params;
    params.weight_mode = mode;
    params.sigma = 0.1 + 0.3 * mode;
    params.floor = mode / 6.0;
    expect_chroma({163, 171, 8, Chroma::c444}, params);
  }
}

// Flat and singular planes among others, in one batch that takes several launches, with several distorted pictures.
TEST_F(SpeedHip, StressInBatches) {
  const PictureFormat format = {166, 164, 8, Chroma::c444};
  const std::vector<Colours> pictures = {
      plain(format, 0, 0, 0),
      plain(format, 0, 255, 255),
      noise(format, 7),
      paint(format, [](int, int x, int y) { return (x / 16 + y / 16) % 2 * 255; }),
      paint(format, [](int p, int x, int y) { return p == 1 ? x : (x * x + 3 * y * y) / 7 & 255; }),
      disturbed(noise(format, 8), 3, 9)};
  std::vector<Frame> frames;
  for (const Colours &ref : pictures) frames.push_back({ref, pictures});
  frames.push_back({pictures[2], {pictures[5], pictures[4]}});  // fewer than the metric was made for
  expect_chroma(frames);
}

TEST_F(SpeedHip, Temporal) {
  for (const bool minus_ref : {false, true}) {
    SpeedParams params;
    params.use_ref_diff = minus_ref;
    expect_temporal({179, 163, 8, Chroma::c420}, 2, params);
    expect_temporal({179, 163, minus_ref ? 10 : 16, Chroma::c420}, 1, params);
    expect_temporal({163, 165, minus_ref ? 8 : 10, Chroma::c420}, 1, params, {.padding = 14, .upside = true});
  }
  for (const int depth : {8, 10}) {
    SpeedParams params;
    params.prescale = 0.7;
    params.method = FloatScaling::bicubic;
    expect_temporal({233, 211, depth, Chroma::c420}, 1, params);
  }
}

}  // namespace
}  // namespace vmafhip
