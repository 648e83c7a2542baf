// The sums of psnr, float_psnr and float_moment on every instruction set against the plain one, bit for bit.
#include "engine/arith/psnr.h"

#include "tests/colour_run.h"

namespace vmafhip {
namespace {

using namespace test;

void expect_all_equal(const Colours &ref, const std::vector<Colours> &dists, const Layout &layout = {}) {
  const auto check = [&](const char *name, const MakeMetric &make) {
    SCOPED_TRACE(name);
    expect_equal_colours(extractor(name), make, ref, dists, layout);
  };
  check("psnr", [](auto &k, auto &f, int n) { return make_cpu_psnr(k, 3, f, n); });
  check("float_psnr", [](auto &k, auto &f, int n) { return make_cpu_float_psnr(k, f, n); });
  check("float_moment", [](auto &k, auto &f, int n) { return make_cpu_moment(k, f, n); });
}

TEST(PsnrIsa, EveryWidth) {
  for (int width = 2; width <= 140; ++width)
    for (int depth : {8, 10, 12, 16}) {
      const PictureFormat format = {width, 2 + width % 5, depth, Chroma::c420};
      expect_all_equal(noise(format, 1), {noise(format, 2)});
    }
}

// The largest differences, and numbers beyond the depth, which nothing forbids a stream to have.
TEST(PsnrIsa, Extremes) {
  for (int depth : {8, 10, 12, 16}) {
    const PictureFormat format = {203, 5, depth, Chroma::c444};
    const int top = (1 << depth) - 1;
    const Colours black = plain(format, 0, 0, top), white = plain(format, top, top, 0);
    expect_all_equal(black, {white, black});
    if (depth > 8) {
      const Colours beyond =
          paint(format, [](int p, int x, int y) { return (x * 7919 + y * 31 + p) & 65535; });
      expect_all_equal(beyond, {noise(format, 1), beyond});
    }
  }
}

TEST(PsnrIsa, AnyLayout) {
  for (int depth : {8, 10, 16}) {
    const PictureFormat format = {71, 33, depth, Chroma::c422};
    const Colours a = noise(format, 3), b = noise(format, 4);
    expect_all_equal(a, {b}, {.padding = 26});
    expect_all_equal(a, {b}, {.padding = 10, .upside = true});
    if (depth == 8) expect_all_equal(a, {b}, {.padding = 3, .offset = 1});
  }
}

TEST(PsnrIsa, LargePictures) {
  for (int depth : {8, 16}) {
    const PictureFormat format = {1283, 727, depth, Chroma::c420};
    const Colours ref = noise(format, 5);
    expect_all_equal(ref, {disturbed(ref, 4 << (depth - 8), 6), noise(format, 7)});
  }
}

}  // namespace
}  // namespace vmafhip
