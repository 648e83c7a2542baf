// SSIMULACRA 2 on the GPU: sums equal to those of the plain CPU code, bit for bit.
#include "tests/hip_colours.h"

namespace vmafhip {
namespace {

using namespace test;

class Ssimulacra2Hip : public HipColours {
 protected:
  void expect_sums(const std::vector<Frame> &batch, const Layout &layout = {},
                   const Ssimulacra2Params &params = {}) {
    expect_equal(
        "ssimulacra2",
        [=](auto &device, auto &f, int n) { return hip::make_hip_ssimulacra2(device, params, f, n); },
        [=](auto &k, auto &f, int n) { return make_cpu_ssimulacra2(k, params, f, n); }, batch, layout);
  }
};

constexpr Chroma kChromas[] = {Chroma::c420, Chroma::c422, Chroma::c444};

// Around the sizes of tiles and blocks, even and odd, of one scale and more.
TEST_F(Ssimulacra2Hip, Widths) {
  for (const int width :
       {8, 9, 11, 12, 13, 15, 16, 17, 28, 29, 31, 32, 33, 63, 64, 65, 127, 129, 159, 160, 161}) {
    const PictureFormat format = {width, 8 + width % 11, width % 2 ? 8 : 10, kChromas[width % 3]};
    expect_sums({{noise(format, 1), {noise(format, 2)}}});
  }
}

TEST_F(Ssimulacra2Hip, Heights) {
  for (const int height : {8, 9, 10, 14, 15, 16, 17, 31, 33, 63, 64, 65, 66, 130, 160, 161}) {
    const PictureFormat format = {9 + height % 12, height, 8, kChromas[height % 3]};
    expect_sums({{noise(format, 1), {noise(format, 2)}}});
  }
}

// All six scales; wider than a block of colours.
TEST_F(Ssimulacra2Hip, AllScales) {
  const PictureFormat format = {265, 227, 8, Chroma::c420};
  ASSERT_EQ(ssimulacra2_scales(format.width, format.height), kSsimulacra2Scales);
  const Colours ref = noise(format, 1);
  expect_sums({{ref, {disturbed(ref, 9, 2)}}});
}

// Sizes that are odd on one scale and even on those before, where the border repeats a pixel of that scale.
TEST_F(Ssimulacra2Hip, BordersOfScales) {
  for (const auto &[width, height] : {std::pair(34, 38), {36, 68}, {72, 40}, {70, 66}, {136, 144}}) {
    const PictureFormat format = {width, height, 8, Chroma::c420};
    expect_sums({{noise(format, 1), {noise(format, 2)}}});
  }
}

TEST_F(Ssimulacra2Hip, Depths) {
  for (int depth = 8; depth <= 16; ++depth) {
    const PictureFormat format = {37, 21, depth, Chroma::c420};
    const Colours ref = noise(format, 1);
    expect_sums({{ref, {disturbed(ref, 3 << (depth - 8), 3)}}});
  }
}

TEST_F(Ssimulacra2Hip, Matrices) {
  const PictureFormat format = {21, 19, 8, Chroma::c422};
  for (const int matrix : {0, 1, 2, 3})
    expect_sums({{noise(format, 1), {noise(format, 2)}}}, {}, {.yuv_matrix = matrix});
}

// Corners of the colour cube; numbers beyond the depth, which nothing forbids a stream to have.
TEST_F(Ssimulacra2Hip, Extremes) {
  const PictureFormat format = {37, 20, 8, Chroma::c444};
  const auto corners = [&](uint32_t seed) {
    Noise source(seed);
    return paint(format, [&](int, int, int) { return source.below(2) * 255; });
  };
  for (uint32_t seed = 0; seed < 3; ++seed) expect_sums({{corners(seed), {corners(seed + 100)}}});
  expect_sums({{plain(format, 0, 0, 0), {plain(format, 255, 255, 255), plain(format, 16, 128, 128)}}});
  const PictureFormat wide = {33, 19, 10, Chroma::c420};
  expect_sums(
      {{paint(wide, [](int p, int x, int y) { return (x * 7919 + y * 31 + p) & 65535; }), {noise(wide, 1)}}});
}

TEST_F(Ssimulacra2Hip, Layouts) {
  for (const int depth : {8, 10}) {
    const PictureFormat format = {35, 19, depth, Chroma::c420};
    const std::vector<Frame> frame = {{noise(format, 3), {noise(format, 4)}}};
    for (const Layout &layout : odd_layouts(depth)) expect_sums(frame, layout);
  }
}

// Further distorted pictures have blocks of other sizes.
TEST_F(Ssimulacra2Hip, DistortedPictures) {
  for (const int height : {64, 65, 192, 193}) {
    const PictureFormat format = {18, height, 8, Chroma::c420};
    expect_sums({{noise(format, 1), {noise(format, 2), noise(format, 3), noise(format, 4)}}});
  }
}

// More pairs and pictures than a launch takes; in some frames fewer distorted pictures than in others.
TEST_F(Ssimulacra2Hip, Batches) { expect_sums(uneven_batch({17, 9, 8, Chroma::c420}, 18)); }

}  // namespace
}  // namespace vmafhip
