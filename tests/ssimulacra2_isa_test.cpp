// SSIMULACRA 2 on every instruction set against the plain one, bit for bit, and several distorted pictures at once.
#include "tests/colour_run.h"

namespace vmafhip {
namespace {

using namespace test;

std::unique_ptr<Metric> make(const CpuKernels &kernels, const PictureFormat &format, int distorted) {
  return make_cpu_ssimulacra2(kernels, {}, format, distorted);
}

void expect_equal(const Colours &ref, const std::vector<Colours> &dists, const Layout &layout = {}) {
  expect_equal_colours(extractor("ssimulacra2"), make, ref, dists, layout);
}

TEST(Ssimulacra2Isa, EverySize) {
  constexpr Chroma kChromas[] = {Chroma::c420, Chroma::c422, Chroma::c444};
  for (int width = 8; width <= 80; ++width) {
    const PictureFormat format = {width, 8 + width % 11, width % 2 ? 8 : 10, kChromas[width % 3]};
    expect_equal(noise(format, 1), {noise(format, 2)});
  }
  for (int width : {251, 252, 253, 256, 257, 508, 509, 523}) {
    const PictureFormat format = {width, 9, 8, Chroma::c420};
    expect_equal(noise(format, 1), {noise(format, 2)});
  }
  for (int height = 8; height <= 50; ++height) {
    const PictureFormat format = {21, height, 8, Chroma::c420};
    expect_equal(noise(format, 1), {noise(format, 2)});
  }
}

TEST(Ssimulacra2Isa, EveryDepth) {
  for (int depth = 8; depth <= 16; ++depth) {
    const PictureFormat format = {103, 71, depth, Chroma::c420};
    const Colours ref = noise(format, 1);
    expect_equal(ref, {disturbed(ref, 3 << (depth - 8), 3)});
  }
}

TEST(Ssimulacra2Isa, Extremes) {
  const PictureFormat format = {67, 40, 8, Chroma::c444};
  const auto corners = [&](uint32_t seed) {
    Noise source(seed);
    return paint(format, [&](int, int, int) { return source.below(2) * 255; });
  };
  for (uint32_t seed = 0; seed < 4; ++seed) expect_equal(corners(seed), {corners(seed + 100)});
  expect_equal(plain(format, 0, 0, 0), {plain(format, 255, 255, 255), plain(format, 16, 128, 128)});
}

TEST(Ssimulacra2Isa, AnyLayout) {
  for (int depth : {8, 10}) {
    const PictureFormat format = {71, 29, depth, Chroma::c420};
    const Colours ref = noise(format, 3), dist = noise(format, 4);
    expect_equal(ref, {dist}, {.padding = 26});
    expect_equal(ref, {dist}, {.padding = 10, .upside = true});
    if (depth == 8) expect_equal(ref, {dist}, {.padding = 3, .offset = 1});
  }
}

TEST(Ssimulacra2Isa, SeveralDistortedPictures) {
  const PictureFormat format = {301, 67, 8, Chroma::c420};
  const Colours ref = noise(format, 1);
  const std::vector<Colours> dists = {disturbed(ref, 9, 2), ref, noise(format, 3)};
  expect_equal(ref, dists);
  const Extractor &e = extractor("ssimulacra2");
  const StoredColours all(ref, dists);
  const auto together = measure_colours(e, *make(plain_kernels(), format, 3), all.view);
  for (size_t d = 0; d < 3; ++d) {
    const StoredColours one(ref, {dists[d]});
    EXPECT_EQ(measure_colours(e, *make(plain_kernels(), format, 1), one.view)[0], together[d]) << d;
    // Fewer pictures than there is memory for.
    EXPECT_EQ(measure_colours(e, *make(plain_kernels(), format, 3), one.view)[0], together[d]) << d;
  }
}

}  // namespace
}  // namespace vmafhip
