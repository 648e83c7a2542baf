// psnr_hvs on every instruction set against the plain one, bit for bit, and what strips and threads must not change.
#include "engine/arith/psnr_hvs.h"

#include "tests/colour_run.h"

namespace vmafhip {
namespace {

using namespace test;

std::unique_ptr<Metric> make(const CpuKernels &kernels, const PictureFormat &format, int distorted) {
  return make_cpu_psnr_hvs(kernels, format, distorted);
}

void expect_equal(const Colours &ref, const std::vector<Colours> &dists, const Layout &layout = {}) {
  expect_equal_colours(extractor("psnr_hvs"), make, ref, dists, layout);
}

// Of 1 to about 100 blocks, so that the last vector has any number of them.
TEST(PsnrHvsIsa, EverySize) {
  for (int width = 8; width <= 76; ++width)
    for (int depth : {8, 10, 12}) {
      const PictureFormat format = {width, 8 + width % 40, depth, Chroma::c444};
      const Colours ref = noise(format, 1);
      expect_equal(ref, {disturbed(ref, 3 << (depth - 8), 2)});
    }
}

TEST(PsnrHvsIsa, Extremes) {
  for (int depth : {8, 12}) {
    const PictureFormat format = {75, 40, depth, Chroma::c444};
    const int top = (1 << depth) - 1;
    const Colours board = paint(format, [&](int, int x, int y) { return (x + y) % 2 ? top : 0; });
    expect_equal(board, {plain(format, 0, 0, 0), plain(format, top, top, top), board, noise(format, 1)});
  }
}

// Numbers beyond the depth, which nothing forbids a stream to have.
TEST(PsnrHvsIsa, BeyondTheDepth) {
  const PictureFormat format = {75, 40, 10, Chroma::c422};
  expect_equal(paint(format, [](int p, int x, int y) { return (x * 7919 + y * 3301 + p) & 65535; }),
               {noise(format, 1)});
}

TEST(PsnrHvsIsa, AnyLayout) {
  for (int depth : {8, 10}) {
    const PictureFormat format = {71, 45, depth, Chroma::c420};
    const Colours a = noise(format, 3), b = noise(format, 4);
    expect_equal(a, {b}, {.padding = 26});
    expect_equal(a, {b}, {.padding = 10, .upside = true});
    if (depth == 8) expect_equal(a, {b}, {.padding = 3, .offset = 1});
  }
}

// Several bands, the last ones of chroma empty or short.
TEST(PsnrHvsIsa, StripsInAnyOrder) {
  const Extractor &e = extractor("psnr_hvs");
  for (Chroma chroma : {Chroma::c420, Chroma::c422, Chroma::c444}) {
    const PictureFormat format = {611, 403, 8, chroma};
    const Colours ref = noise(format, 5);
    const std::vector<Colours> dists = {disturbed(ref, 9, 6), ref, noise(format, 7)};
    const StoredColours frame(ref, dists);
    expect_equal(ref, dists);
    const auto metric = make(plain_kernels(), format, 3);
    EXPECT_GT(metric->stages(), 4);
    const auto want = measure_colours(e, *metric, frame.view);
    EXPECT_EQ(measure_colours(e, *metric, frame.view, {.backwards = true}), want);
    EXPECT_EQ(measure_colours(e, *metric, frame.view, {.threads = 4}), want);
    for (size_t d = 0; d < dists.size(); ++d) {
      const StoredColours one(ref, {dists[d]});
      EXPECT_EQ(measure_colours(e, *make(plain_kernels(), format, 1), one.view)[0], want[d]) << d;
    }
    EXPECT_EQ(want[1], Bytes(sizeof(PsnrHvsSums)));
  }
}

}  // namespace
}  // namespace vmafhip
