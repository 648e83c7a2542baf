// Integer ssim: the fork's figures, an evaluation by the book in 64-bit integers, and the same bits on every instruction
// set, from any strip and with any number of distorted pictures.
#include "engine/arith/ssim_integer.h"

#include <cmath>

#include "tests/isa_run.h"

namespace vmafhip {
namespace {

using namespace test;

// All in raster order, as the fork has it; `peak_squared` as given.
double plain_score(const Luma &ref, const Luma &dist, double peak_squared) {
  const int64_t taps[] = {2, 9, 28, 55, 68, 55, 28, 9, 2};
  double above = 0, below = 0;
  for (int y = 0; y < ref.height; ++y)
    for (int x = 0; x < ref.width; ++x) {
      int64_t weight = 0, a = 0, b = 0, square_a = 0, square_b = 0, product = 0;
      for (int v = std::max(0, y - 4); v <= std::min(ref.height - 1, y + 4); ++v)
        for (int u = std::max(0, x - 4); u <= std::min(ref.width - 1, x + 4); ++u) {
          const int64_t k = taps[v - y + 4] * taps[u - x + 4], s = ref.at(u, v), d = dist.at(u, v);
          weight += k;
          a += k * s;
          b += k * d;
          square_a += k * s * s;
          square_b += k * d * d;
          product += k * s * d;
        }
      const double w = static_cast<double>(weight), mx = static_cast<double>(a), my = static_cast<double>(b);
      const double xx = static_cast<double>(square_a), yy = static_cast<double>(square_b);
      const double xy = static_cast<double>(product);
      const double c1 = peak_squared * (0.01 * 0.01) * w * w, c2 = peak_squared * (0.03 * 0.03) * w * w;
      const double mx2 = mx * mx, mxy = mx * my, my2 = my * my;
      above += w * (2 * mxy + c1) * (c2 + 2 * (xy * w - mxy)) /
               ((mx2 + my2 + c1) * (xx * w - mx2 + yy * w - my2 + c2));
      below += w;
    }
  return above / below;
}

double plain_score(const Luma &ref, const Luma &dist) {
  const double peak = (1 << ref.depth) - 1;
  return plain_score(ref, dist, peak * peak);
}

double engine_score(const Luma &ref, const Luma &dist, const Layout &layout = {}) {
  return run("ssim", {}, {ref}, {dist}, layout).at("ssim").at(0);
}

void expect_near(double actual, double expected, const std::string &what) {
  // Only sums over the picture have another order.
  EXPECT_LE(std::abs(actual - expected), 1e-14 + 1e-13 * std::abs(expected))
      << what << ": " << actual << ", " << expected;
}

TEST(SsimInteger, EqualsTheBook) {
  for (int depth : {8, 9, 10, 12, 16})
    for (const auto &[width, height] : std::vector<std::pair<int, int>>{
             {1, 1}, {1, 9}, {3, 2}, {8, 4}, {16, 16}, {65, 11}, {20, 130}, {130, 20}}) {
      const std::string what =
          std::to_string(width) + "x" + std::to_string(height) + ", " + std::to_string(depth) + " bits";
      const Luma a = noise(width, height, depth, 1);
      expect_near(engine_score(a, distorted_from(a, 2)), plain_score(a, distorted_from(a, 2)), what);
      for (const Luma &b : stress_pictures(width, height, depth))
        expect_near(engine_score(a, b), plain_score(a, b), what);
      for (const Luma &b : stress_pictures(width, height, depth))
        EXPECT_NEAR(engine_score(b, b), 1, 1e-15) << what;
    }
}

// The fork's own 16-bit figures come from a peak that wrapped in 32 bits; they are not wanted.
TEST(SsimInteger, PeakOf16BitsDoesNotWrap) {
  const Luma a = waves(64, 40, 16, 0), b = distorted_from(a, 1);
  const double score = engine_score(a, b);
  expect_near(score, plain_score(a, b, 65535.0 * 65535.0), "16 bits");
  EXPECT_GT(std::abs(score - plain_score(a, b, -131071.0)), 1e-3);
}

TEST(SsimInteger, WeightsOfLines) {
  for (int n = 1; n <= 20; ++n)
    for (int i = 0; i < n; ++i) {
      int sum = 0;
      const int taps[] = {2, 9, 28, 55, 68, 55, 28, 9, 2};
      for (int k = 0; k < 9; ++k) sum += i + k - 4 >= 0 && i + k - 4 < n ? taps[k] : 0;
      EXPECT_EQ(ssim_integer_weight(i, n), sum) << i << " of " << n;
    }
}

TEST(SsimInteger, LayoutDoesNotMatter) {
  for (int depth : {8, 10}) {
    const Luma a = noise(71, 45, depth, 3), b = distorted_from(a, 4);
    const double plain = engine_score(a, b);
    EXPECT_EQ(engine_score(a, b, {.padding = 14}), plain);
    EXPECT_EQ(engine_score(a, b, {.padding = 6, .upside = true}), plain);
    if (depth == 8) {
      EXPECT_EQ(engine_score(a, b, {.padding = 3, .offset = 1}), plain);
    }
  }
}

TEST(SsimInteger, AnySizeAndDepth) {
  const Extractor &e = extractor("ssim");
  EXPECT_TRUE(e.check(parse(e, {}), {1, 1, 8, Chroma::c400}).ok());
  EXPECT_TRUE(e.check(parse(e, {}), {16384, 3, 16, Chroma::c420}).ok());
  EXPECT_FALSE(e.check(parse(e, {}), {64, 64, 7, Chroma::c420}).ok());
}

// ---- Instruction sets

std::vector<SsimIntegerSums> sums_of(const CpuKernels &kernels, const StoredFrame &frame, Order order = {}) {
  const PlaneView &ref = frame.view.ref[0];
  const auto metric = make_cpu_ssim_integer(kernels, {ref.width, ref.height, ref.depth, Chroma::c400},
                                            static_cast<int>(frame.view.dist.size()));
  return measure_sums<SsimIntegerSums>(*metric, frame.view, order);
}

void expect_equal(const Luma &a, const Luma &b) {
  const StoredFrame frame({a}, {b});
  const auto want = sums_of(plain_kernels(), frame);
  for (const CpuKernels *kernels : wide_kernels())
    EXPECT_TRUE(same_sums(sums_of(*kernels, frame), want))
        << kernels->isa << ", " << a.width << "x" << a.height << ", depth " << a.depth;
}

TEST(SsimIntegerIsa, EverySize) {
  for (int width = 1; width <= 150; ++width)
    for (int depth : {8, 10, 16}) {
      const Luma a = noise(width, 1 + width % 13, depth, 1);
      expect_equal(a, distorted_from(a, 2));
    }
  for (int height = 1; height <= 30; ++height) expect_equal(noise(23, height, 8, 1), noise(23, height, 8, 2));
}

TEST(SsimIntegerIsa, Stress) {
  for (int depth = 8; depth <= 16; ++depth) {
    const auto pictures = stress_pictures(75, 20, depth);
    for (const Luma &a : pictures)
      for (const Luma &b : pictures) expect_equal(a, b);
  }
}

TEST(SsimIntegerIsa, StripsInAnyOrderAndManyPictures) {
  const std::vector<const CpuKernels *> all = all_kernels();
  for (int depth : {8, 10}) {
    const Luma a = waves(301, 263, depth, 0);
    const std::vector<Luma> distorted = {waves(301, 263, depth, 1), distorted_from(a, 2), a};
    const StoredFrame frame({a}, distorted);
    for (const CpuKernels *kernels : all) {
      const auto want = sums_of(*kernels, frame);
      EXPECT_TRUE(same_sums(sums_of(*kernels, frame, {.backwards = true}), want));
      EXPECT_TRUE(same_sums(sums_of(*kernels, frame, {.threads = 4}), want));
      for (size_t d = 0; d < distorted.size(); ++d) {
        const StoredFrame alone({a}, {distorted[d]});
        EXPECT_TRUE(same_sums(sums_of(*kernels, alone), {want[d]})) << d;
      }
    }
  }
}

}  // namespace
}  // namespace vmafhip
