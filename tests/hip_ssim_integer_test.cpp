// The integer structural similarity on the GPU: sums equal to those of the plain CPU code, bit for bit.
#include "tests/hip_colours.h"

namespace vmafhip {
namespace {

using namespace test;

class SsimIntegerHip : public HipColours {
 protected:
  void expect_same(const std::vector<Frame> &batch, const Layout &layout = {}) {
    expect_equal("ssim", hip::make_hip_ssim_integer, make_cpu_ssim_integer, batch, layout);
  }
};

// Windows that hang over one border or two; blocks, tiles and lanes of any number of columns and rows.
TEST_F(SsimIntegerHip, Sizes) {
  int height = 1;
  for (const int width :
       {1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 33, 60, 63, 64, 65, 73, 113, 127, 128, 129, 192, 193, 300})
    for (const int depth : {8, 10, 16}) {
      const PictureFormat format = {width, height = height % 21 + 1, depth, Chroma::c400};
      const Colours ref = noise(format, 1);
      expect_same({{ref, {disturbed(ref, 9 << (depth - 8), 2)}}});
    }
}

TEST_F(SsimIntegerHip, Stress) {
  for (const int depth : {8, 9, 12, 16}) {
    const PictureFormat format = {75, 20, depth, Chroma::c400};
    const int top = (1 << depth) - 1;
    const std::vector<Colours> pictures = {
        plain(format, 0, 0, 0),
        plain(format, top, 0, 0),
        plain(format, top / 3, 0, 0),
        noise(format, 7),
        paint(format, [&](int, int x, int y) { return (x + y) % 2 ? top : 0; }),
        paint(format, [&](int, int x, int) { return x % 4 < 2 ? top : 0; })};
    std::vector<Frame> batch;
    for (const Colours &ref : pictures) batch.push_back({ref, pictures});
    expect_same(batch);
  }
}

TEST_F(SsimIntegerHip, Layouts) {
  for (const int depth : {8, 10}) {
    const PictureFormat format = {71, 33, depth, Chroma::c420};
    const std::vector<Frame> frame = {{noise(format, 3), {noise(format, 4)}}};
    for (const Layout &layout : odd_layouts(depth)) expect_same(frame, layout);
  }
}

// More rows than the last kernel has at once.
TEST_F(SsimIntegerHip, ManyRows) {
  const PictureFormat format = {3, 2100, 8, Chroma::c400};
  expect_same({{noise(format, 1), {noise(format, 2)}}});
}

TEST_F(SsimIntegerHip, Batches) { expect_same(uneven_batch({35, 17, 8, Chroma::c420}, 23)); }

}  // namespace
}  // namespace vmafhip
