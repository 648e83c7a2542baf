// psnr_hvs on the GPU: sums equal to those of the plain CPU code, bit for bit.
#include "kernels/psnr_hvs_args.h"
#include "tests/hip_colours.h"

namespace vmafhip {
namespace {

using namespace test;

class PsnrHvsHip : public HipColours {
 protected:
  void expect_same(const std::vector<Frame> &batch, const Layout &layout = {}) {
    expect_equal("psnr_hvs", hip::make_hip_psnr_hvs, make_cpu_psnr_hvs, batch, layout);
  }
};

// Of 1 to some hundred blocks.
TEST_F(PsnrHvsHip, Sizes) {
  int height = 0;
  for (const int width : {8, 14, 15, 16, 40, 71, 76, 141, 232, 239})
    for (const int depth : {8, 10, 12}) {
      const PictureFormat format = {width, 8 + (height = (height + 11) % 40), depth, Chroma::c444};
      const Colours ref = noise(format, 1);
      expect_same({{ref, {disturbed(ref, 3 << (depth - 8), 2)}}});
    }
}

TEST_F(PsnrHvsHip, Chroma) {
  for (const Chroma chroma : {Chroma::c420, Chroma::c422, Chroma::c444}) {
    const PictureFormat format = {101, 71, 8, chroma};
    const Colours ref = noise(format, 1);
    expect_same({{ref, {disturbed(ref, 20, 2)}}});
  }
}

// No error at all, the smallest, the largest, and errors that begin late in the picture.
TEST_F(PsnrHvsHip, Extremes) {
  for (const int depth : {8, 12}) {
    const PictureFormat format = {175, 140, depth, Chroma::c444};
    const int top = (1 << depth) - 1;
    const Colours board = paint(format, [&](int, int x, int y) { return (x + y) % 2 ? top : 0; });
    Colours one = board, late = board;
    for (Luma &plane : one.planes) plane.at(3, 3) ^= 1;
    for (Luma &plane : late.planes)
      for (int x = 0; x < 175; ++x) plane.at(x, 135) ^= x % 7;
    expect_same({{board, {plain(format, 0, 0, 0), plain(format, top, top, top), board, noise(format, 1)}},
                 {board, {one, late}}});
  }
}

// Numbers beyond the depth, which nothing forbids a stream to have.
TEST_F(PsnrHvsHip, BeyondTheDepth) {
  const PictureFormat format = {75, 40, 10, Chroma::c422};
  expect_same({{paint(format, [](int p, int x, int y) { return (x * 7919 + y * 3301 + p) & 65535; }),
                {noise(format, 1)}}});
}

TEST_F(PsnrHvsHip, Layouts) {
  for (const int depth : {8, 10}) {
    const PictureFormat format = {71, 45, depth, Chroma::c420};
    const std::vector<Frame> frame = {{noise(format, 3), {noise(format, 4)}}};
    for (const Layout &layout : odd_layouts(depth)) expect_same(frame, layout);
  }
}

// Several bands, in chroma fewer blocks to each.
TEST_F(PsnrHvsHip, Bands) {
  const PictureFormat format = {1003, 1001, 8, Chroma::c420};
  ASSERT_GT(hvs_blocks_across(format.width) * hvs_blocks_across(format.height), kHvsBandBlocks);
  const Colours ref = noise(format, 1);
  expect_same({{ref, {disturbed(ref, 30, 2)}}});
}

// More distorted pictures than a launch takes, and references that it divides.
TEST_F(PsnrHvsHip, Batches) { expect_same(uneven_batch({35, 29, 8, Chroma::c420}, 23)); }

}  // namespace
}  // namespace vmafhip
