// float_ansnr on the GPU: sums equal to those of the plain CPU code, bit for bit.
#include "tests/hip_colours.h"

namespace vmafhip {
namespace {

using namespace test;

class AnsnrHip : public HipColours {
 protected:
  void expect_same(const std::vector<Frame> &batch, const Layout &layout = {}) {
    expect_equal("float_ansnr", hip::make_hip_ansnr, make_cpu_ansnr, batch, layout);
  }
};

TEST_F(AnsnrHip, Sizes) {
  int height = 1;
  for (const int width : {3, 4, 5, 17, 62, 63, 64, 65, 66, 67, 127, 128, 129, 200})
    for (const int depth : {8, 10, 12, 16}) {
      const PictureFormat format = {width, 3 + (height = height % 67 + 1), depth, Chroma::c400};
      expect_same({{noise(format, 1), {noise(format, 2)}}});
    }
}

TEST_F(AnsnrHip, Extremes) {
  for (const int depth : {8, 16}) {
    const PictureFormat format = {75, 20, depth, Chroma::c420};
    const int top = (1 << depth) - 1;
    const Colours board = paint(format, [&](int, int x, int y) { return (x + y) % 2 ? top : 0; });
    expect_same({{board, {plain(format, 0, 0, 0), plain(format, top, 0, 0), board}}});
    expect_same({{plain(format, top / 2, 0, 0), {plain(format, top / 2, 0, 0)}}});
    if (depth == 16) expect_same({{plain(format, 1 << 15, 0, 0), {plain(format, 1 << 15, 0, 0)}}});
  }
}

// Numbers beyond the depth, which nothing forbids a stream to have.
TEST_F(AnsnrHip, BeyondTheDepth) {
  const PictureFormat format = {75, 40, 10, Chroma::c400};
  expect_same(
      {{paint(format, [](int, int x, int y) { return (x * 7919 + y * 3301) & 65535; }), {noise(format, 1)}}});
}

TEST_F(AnsnrHip, Layouts) {
  const PictureFormat format = {71, 45, 8, Chroma::c420};
  const std::vector<Frame> frame = {{noise(format, 3), {noise(format, 4)}}};
  expect_same(frame, {.padding = 3, .offset = 1});
  expect_same(frame, {.padding = 10, .upside = true});
}

// More rows than the last kernel has at once.
TEST_F(AnsnrHip, ManyRows) {
  const PictureFormat format = {5, 2100, 8, Chroma::c400};
  expect_same({{noise(format, 1), {noise(format, 2)}}});
}

TEST_F(AnsnrHip, Batches) { expect_same(uneven_batch({35, 17, 8, Chroma::c420}, 23)); }

}  // namespace
}  // namespace vmafhip
