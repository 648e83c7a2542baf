// CIEDE2000 on every instruction set against the plain one, bit for bit, and what the cut into strips must not change.
#include "tests/colour_run.h"

namespace vmafhip {
namespace {

using namespace test;

MakeMetric metric_of(bool plain_422 = false) {
  return [=](const CpuKernels &kernels, const PictureFormat &format, int distorted) {
    return make_cpu_ciede(kernels, {plain_422}, format, distorted);
  };
}

void expect_equal(const Colours &ref, const std::vector<Colours> &dists, const Layout &layout = {}) {
  expect_equal_colours(extractor("ciede"), metric_of(), ref, dists, layout);
}

TEST(CiedeIsa, EverySize) {
  for (int width = 1; width <= 140; ++width)
    for (Chroma chroma : {Chroma::c420, Chroma::c422, Chroma::c444}) {
      const PictureFormat format = {width, 1 + width % 5, width % 2 ? 8 : 10, chroma};
      expect_equal(noise(format, 1), {noise(format, 2)});
    }
}

TEST(CiedeIsa, Plain422) {
  for (int width : {2, 31, 64, 101}) {
    const PictureFormat format = {width, 4, 8, Chroma::c422};
    expect_equal_colours(extractor("ciede"), metric_of(true), noise(format, 1), {noise(format, 2)});
  }
}

TEST(CiedeIsa, EveryDepth) {
  for (int depth : {8, 10, 12, 16}) {
    const PictureFormat format = {203, 41, depth, Chroma::c420};
    const Colours ref = noise(format, 1);
    expect_equal(ref, {noise(format, 2), disturbed(ref, 3, 3), ref});
  }
}

// Corners of the colour cube, greys, and opposite hues.
TEST(CiedeIsa, Extremes) {
  const PictureFormat format = {67, 3, 8, Chroma::c444};
  const int values[] = {0, 1, 16, 127, 128, 129, 254, 255};
  const auto corners = [&](uint32_t seed) {
    Noise source(seed);
    return paint(format, [&](int, int, int) { return values[source.below(8)]; });
  };
  for (uint32_t seed = 0; seed < 20; ++seed) expect_equal(corners(seed), {corners(seed + 100)});
}

TEST(CiedeIsa, AnyLayout) {
  for (int depth : {8, 10}) {
    const PictureFormat format = {71, 9, depth, Chroma::c420};
    const Colours ref = noise(format, 3), dist = noise(format, 4);
    expect_equal(ref, {dist}, {.padding = 26});
    expect_equal(ref, {dist}, {.padding = 10, .upside = true});
    if (depth == 8) expect_equal(ref, {dist}, {.padding = 3, .offset = 1});
  }
}

TEST(CiedeIsa, StripsInAnyOrder) {
  const PictureFormat format = {700, 501, 8, Chroma::c420};
  const Colours ref = noise(format, 1);
  const StoredColours frame(ref, {noise(format, 2), disturbed(ref, 9, 3)});
  const std::vector<const CpuKernels *> all = all_kernels();
  const Extractor &e = extractor("ciede");
  const auto metric_for = [&](const CpuKernels &kernels) { return metric_of()(kernels, format, 2); };
  const auto want = measure_colours(e, *metric_for(plain_kernels()), frame.view);
  ASSERT_GT(metric_for(plain_kernels())->strips(0), 2);
  for (const CpuKernels *kernels : all) {
    const auto metric = metric_for(*kernels);
    EXPECT_EQ(measure_colours(e, *metric, frame.view, {.backwards = true}), want) << kernels->isa;
    EXPECT_EQ(measure_colours(e, *metric, frame.view, {.threads = 4}), want) << kernels->isa;
    // Strips of one row.
    const CiedeShape shape = ciede_shape(format.width, format.height, true, true, false);
    const Rubbish scratch(kernels->ciede->scratch_bytes(format.width));
    std::vector<double> rows(2 * 501);
    for (int y = 0; y < 501; ++y)
      kernels->ciede->strip({frame.view, shape, y, y + 1, rows.data(), scratch.get()});
    CiedeSums second;
    for (size_t y = 0; y < 501; ++y) second.difference += rows[501 + y];
    EXPECT_EQ(std::memcmp(&second, want[1].data(), sizeof second), 0) << kernels->isa;
  }
}

}  // namespace
}  // namespace vmafhip
