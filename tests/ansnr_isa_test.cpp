// float_ansnr on every instruction set against the plain one, bit for bit, and what the cut into strips must not
// change.
#include "engine/arith/ansnr.h"

#include "tests/colour_run.h"

namespace vmafhip {
namespace {

using namespace test;

std::unique_ptr<Metric> make(const CpuKernels &kernels, const PictureFormat &format, int distorted) {
  return make_cpu_ansnr(kernels, format, distorted);
}

void expect_equal(const Colours &ref, const std::vector<Colours> &dists, const Layout &layout = {}) {
  expect_equal_colours(extractor("float_ansnr"), make, ref, dists, layout);
}

TEST(AnsnrIsa, EverySize) {
  for (int width = 3; width <= 70; ++width)
    for (int depth : {8, 10, 12, 16}) {
      const PictureFormat format = {width, 3 + width % 7, depth, Chroma::c420};
      expect_equal(noise(format, 1), {noise(format, 2)});
    }
  for (int height = 3; height <= 40; ++height) {
    const PictureFormat format = {37, height, 8, Chroma::c420};
    expect_equal(noise(format, 1), {noise(format, 2)});
  }
}

TEST(AnsnrIsa, Extremes) {
  for (int depth : {8, 16}) {
    const PictureFormat format = {75, 20, depth, Chroma::c420};
    const int top = (1 << depth) - 1;
    const Colours board = paint(format, [&](int, int x, int y) { return (x + y) % 2 ? top : 0; });
    expect_equal(board, {plain(format, 0, 0, 0), plain(format, top, 0, 0), board});
  }
}

TEST(AnsnrIsa, AnyLayout) {
  const PictureFormat format = {71, 45, 8, Chroma::c420};
  const Colours a = noise(format, 3), b = noise(format, 4);
  expect_equal(a, {b}, {.padding = 3, .offset = 1});
  expect_equal(a, {b}, {.padding = 10, .upside = true});
}

TEST(AnsnrIsa, Strips) {
  const Extractor &e = extractor("float_ansnr");
  const PictureFormat format = {1100, 801, 8, Chroma::c420};
  const Colours ref = noise(format, 5);
  const std::vector<Colours> dists = {disturbed(ref, 9, 6), noise(format, 7)};
  const StoredColours frame(ref, dists);
  expect_equal(ref, dists);
  for (const CpuKernels *kernels :
       {&plain_kernels(), wide_kernels().empty() ? &plain_kernels() : wide_kernels()[0]}) {
    const auto metric = make(*kernels, format, 2);
    EXPECT_GT(metric->strips(0), 2);
    const auto want = measure_colours(e, *metric, frame.view);
    EXPECT_EQ(measure_colours(e, *metric, frame.view, {.backwards = true, .threads = 3}), want);
    // As if it were one strip.
    const Rubbish scratch(kernels->ansnr->scratch_bytes(format.width));
    std::vector<float> signal(801), noise(801);
    for (int rows : {1, 7, 801}) {
      for (int first = 0; first < 801; first += rows)
        kernels->ansnr->measure({frame.view.ref[0], frame.view.dist[1][0], first, smaller(first + rows, 801),
                                 scratch.get(), signal.data(), noise.data()});
      AnsnrSums sums = {}, expected;
      for (size_t y = 0; y < 801; ++y) {
        sums.signal += signal[y];
        sums.noise += noise[y];
      }
      std::memcpy(&expected, want[1].data(), sizeof expected);
      EXPECT_EQ(sums.signal, expected.signal) << rows;
      EXPECT_EQ(sums.noise, expected.noise) << rows;
    }
  }
}

}  // namespace
}  // namespace vmafhip
