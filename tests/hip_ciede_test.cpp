// CIEDE2000 on the GPU: sums equal to those of the plain CPU code, bit for bit.
#include "tests/hip_colours.h"

namespace vmafhip {
namespace {

using namespace test;

class CiedeHip : public HipColours {
 protected:
  void expect_sums(const std::vector<Frame> &batch, const Layout &layout = {}, bool plain_422 = false) {
    expect_equal(
        "ciede", [=](auto &device, auto &f, int n) { return hip::make_hip_ciede(device, {plain_422}, f, n); },
        [=](auto &k, auto &f, int n) { return make_cpu_ciede(k, {plain_422}, f, n); }, batch, layout);
  }
};

// Rows of one pixel and more, of full lanes and of some, with chroma where each sampling has it.
TEST_F(CiedeHip, Sizes) {
  int height = 0;
  for (const int width : {1, 2, 3, 31, 33, 62, 63, 64, 65, 66, 67, 95, 97, 127, 128, 129, 131, 199})
    for (const Chroma chroma : {Chroma::c420, Chroma::c422, Chroma::c444}) {
      const PictureFormat format = {width, height = height % 7 + 1, width % 3 ? 8 : 10, chroma};
      expect_sums({{noise(format, 1), {noise(format, 2)}}});
    }
}

// libvmaf's 4:2:2 differs from the plain one; both are as on the CPU.
TEST_F(CiedeHip, Plain422) {
  for (const int width : {1, 2, 31, 64, 101})
    for (const int depth : {8, 12}) {
      const PictureFormat format = {width, 5, depth, Chroma::c422};
      expect_sums({{noise(format, 1), {noise(format, 2)}}}, {}, true);
    }
}

// Doubles hold sums of some floats exactly, in any order. Not so of thousands, half of them large, half as small as there
// are: near this colour a step of Cr is 1e-5. Tall pictures have more rows than the last sum takes at once.
TEST_F(CiedeHip, OrderOfSums) {
  constexpr int kColour[] = {9275, 64977, 25357};
  for (const auto &[width, height] : {std::pair{60000, 1}, {3, 9000}}) {
    const PictureFormat format = {width, height, 16, Chroma::c444};
    Noise source(1);
    const auto picture = [&](bool distorted) {
      return paint(format, [&](int p, int x, int y) {
        const int n = x + y, near = kColour[p] + (distorted && p == 2 ? n % 7 : 0);
        return (n >> 6 ^ n) % 2 ? near : source.below(65536);
      });
    };
    const Colours ref = picture(false);
    expect_sums({{ref, {picture(true)}}});
  }
}

TEST_F(CiedeHip, Depths) {
  for (const int depth : {8, 10, 12, 16}) {
    const PictureFormat format = {83, 21, depth, Chroma::c420};
    const Colours ref = noise(format, 1);
    expect_sums({{ref, {noise(format, 2), disturbed(ref, 3, 3), ref}}});
  }
}

// Corners of the colour cube, greys and opposite hues; numbers beyond the depth, which nothing forbids a stream to have.
TEST_F(CiedeHip, Extremes) {
  const PictureFormat format = {67, 3, 8, Chroma::c444};
  const int values[] = {0, 1, 16, 127, 128, 129, 254, 255};
  const auto corners = [&](uint32_t seed) {
    Noise source(seed);
    return paint(format, [&](int, int, int) { return values[source.below(8)]; });
  };
  for (uint32_t seed = 0; seed < 12; ++seed) expect_sums({{corners(seed), {corners(seed + 100)}}});
  const PictureFormat wide = {67, 9, 10, Chroma::c420};
  expect_sums(
      {{paint(wide, [](int p, int x, int y) { return (x * 7919 + y * 31 + p) & 65535; }), {noise(wide, 1)}}});
}

TEST_F(CiedeHip, Layouts) {
  for (const int depth : {8, 10}) {
    const PictureFormat format = {71, 9, depth, Chroma::c420};
    const std::vector<Frame> frame = {{noise(format, 3), {noise(format, 4)}}};
    for (const Layout &layout : odd_layouts(depth)) expect_sums(frame, layout);
  }
}

// More pairs than a launch takes; in some frames fewer distorted pictures than in others.
TEST_F(CiedeHip, Batches) { expect_sums(uneven_batch({37, 5, 8, Chroma::c420}, 17, 4)); }

}  // namespace
}  // namespace vmafhip
