// ADM on every instruction set against the plain one, bit for bit, and what the cut into strips must not change.
#include <array>
#include <cmath>
#include <string>

#include "engine/arith/adm.h"
#include "tests/adm_isa_run.h"
#include "tests/adm_pictures.h"

namespace vmafhip {
namespace {

using namespace test;

std::unique_ptr<Metric> make(const CpuKernels &kernels, const AdmOptions &options, const Luma &like,
                             int distorted = 1) {
  return make_cpu_adm(kernels, {adm_configure(options, like.width, like.height)},
                      {like.width, like.height, like.depth, Chroma::c400}, distorted);
}

std::vector<AdmSums> sums_of(const CpuKernels &kernels, const AdmOptions &options, const StoredFrame &frame,
                             const Luma &like, Order order = {}) {
  const auto metric = make(kernels, options, like, static_cast<int>(frame.view.dist.size()));
  return measure_sums<AdmSums>(*metric, frame.view, order);
}

std::string describe(const AdmSums &got, const AdmSums &want) {
  for (int s = 0; s < kAdmScales; ++s)
    for (int band = 0; band < kAdmBands; ++band) {
      const AdmScaleSums &a = got.scale[s], &b = want.scale[s];
      const std::string at = " of scale " + std::to_string(s) + ", band " + std::to_string(band) + ": ";
      if (a.num[band] != b.num[band])
        return "num" + at + std::to_string(a.num[band]) + ", not " + std::to_string(b.num[band]);
      if (a.aim[band] != b.aim[band])
        return "aim" + at + std::to_string(a.aim[band]) + ", not " + std::to_string(b.aim[band]);
      if (a.den[band] != b.den[band])
        return "den" + at + std::to_string(a.den[band]) + ", not " + std::to_string(b.den[band]);
    }
  return "";
}

// All instruction sets give the sums of the plain one.
void expect_equal(const Luma &ref, const Luma &dist, const AdmOptions &options, const Layout &layout = {}) {
  const StoredFrame frame({ref}, {dist}, layout);
  const auto want = sums_of(plain_kernels(), options, frame, ref);
  for (const CpuKernels *kernels : wide_kernels()) {
    const auto got = sums_of(*kernels, options, frame, ref);
    EXPECT_EQ(describe(got[0], want[0]), "")
        << kernels->isa << ", " << ref.width << "x" << ref.height << ", depth " << ref.depth;
  }
}

// Options whose arithmetic differs.
std::vector<AdmOptions> variants() {
  std::vector<AdmOptions> out(10);
  out[1].gain_limit = 1;
  out[2].gain_limit = 1.05;
  out[3].gain_limit = 3.7;
  out[4].csf_mode = 2;
  out[5].csf_mode = 3;
  out[5].norm_view_dist = 5;
  out[6].norm_view_dist = 24;
  out[6].ref_display_height = 4320;
  out[7].norm_view_dist = 0.75;
  out[7].ref_display_height = 4320;
  out[8].skip_aim = true;
  out[9].skip_scale0 = true;
  return out;
}

TEST(AdmIsa, EveryWidth) {
  for (int width = 33; width <= 160; ++width) {
    const int height = 33 + width % 7, depth = width % 2 ? 8 : 10;
    const Luma ref = noise(width, height, depth, static_cast<uint32_t>(width));
    expect_equal(ref, distorted_from(ref, 2), {});
    const Luma wave = waves(width, height, depth, 0);
    expect_equal(wave, distorted_from(wave, 3), {});
  }
}

TEST(AdmIsa, EveryHeight) {
  for (int height = 33; height <= 100; ++height) {
    const Luma ref = waves(41, height, 8, height);
    expect_equal(ref, distorted_from(ref, 2), {});
  }
}

TEST(AdmIsa, EveryDepthAndOption) {
  for (int depth = 8; depth <= 16; ++depth) {
    const Luma ref = noise(101, 67, depth, 1), wave = waves(101, 67, depth, 0);
    for (const AdmOptions &options : variants()) {
      expect_equal(ref, distorted_from(ref, 2), options);
      expect_equal(ref, noise(101, 67, depth, 9), options);
      expect_equal(wave, distorted_from(wave, 3), options);
    }
  }
}

// Flat, saturated, checkerboards, stripes, full-range noise: all against all. Additive parts wrap at 16 bits,
// weights too, squares reach 32 bits.
TEST(AdmIsa, Stress) {
  for (int depth : {8, 9, 10, 12, 16}) {
    std::vector<Luma> pictures = stress_pictures(99, 70, depth);
    const int top = (1 << depth) - 1;
    for (int period : {2, 3, 4, 8, 16, 32})  // extreme contrast at each scale
      pictures.push_back(
          paint(99, 70, depth, [&](int x, int y) { return (x / period + y / period) % 2 ? top : 0; }));
    pictures.push_back(paint(99, 70, depth, [&](int x, int y) { return (x ^ y) & 4 ? top : 0; }));
    pictures.push_back(paint(99, 70, depth, [&](int x, int y) { return y % 8 < 4 && x % 2 ? top : 0; }));
    for (const Luma &ref : pictures)
      for (const Luma &dist : pictures) {
        expect_equal(ref, dist, {});
        AdmOptions limited;
        limited.gain_limit = 1;
        expect_equal(ref, dist, limited);
      }
  }
}

// Black and white at random: the largest band samples that there are, of either sign.
TEST(AdmIsa, ExtremeNoise) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const int depth = 8 + static_cast<int>(seed % 9), top = (1 << depth) - 1, block = 1 << (seed % 4);
    const Luma ref = black_and_white(140, 90, depth, block, 2 * seed),
               dist = black_and_white(140, 90, depth, block, 2 * seed + 1);
    for (const AdmOptions &options : variants()) expect_equal(ref, dist, options);
    const Luma inverse = paint(140, 90, depth, [&](int x, int y) { return top - ref.at(x, y); });
    expect_equal(ref, inverse, {});
  }
}

// Pictures made of a filter's signs reach the largest samples of the coarsest scale that there are, and with them the
// largest squares, and sums of products beyond what f64 holds exactly.
TEST(AdmIsa, LargestSampleOfTheCoarsestScale) {
  const auto signs = [](int depth, const int32_t(&down)[4], const int32_t(&across)[4]) {
    const auto rows = coarsest_weights(160, 5, down), columns = coarsest_weights(160, 5, across);
    return paint(160, 160, depth, [&](int x, int y) {
      return rows[static_cast<size_t>(y)] * columns[static_cast<size_t>(x)] > 0 ? (1 << depth) - 1 : 0;
    });
  };
  AdmOptions options;
  options.csf_mode = 2;
  for (int depth : {8, 10, 16}) {
    const Luma flat = paint(160, 160, depth, [&](int, int) { return 1 << (depth - 1); });
    for (const Luma &picture : {signs(depth, kAdmHigh, kAdmLow), signs(depth, kAdmLow, kAdmHigh),
                                signs(depth, kAdmHigh, kAdmHigh)}) {
      const Luma inverse =
          paint(160, 160, depth, [&](int x, int y) { return (1 << depth) - 1 - picture.at(x, y); });
      for (const Luma &dist : {picture, inverse, flat}) {
        expect_equal(picture, dist, options);
        expect_equal(dist, picture, options);
      }
    }
  }
}

// Angles within some 1e-4 of one degree, where the definition's roundings decide. With ref = f(x) + g(y) the bands h and v
// see g and f alone; more contrast of f turns their vectors, by one degree at most if it is 1.0355 times as much, and
// by nearly that for all of about the same size.
TEST(AdmIsa, AnglesOfAboutOneDegree) {
  constexpr int kWidth = 330, kHeight = 200;
  const auto wave = [](int at, int period) { return at / period % 2 ? 1 : -1; };
  for (const int period : {1, 2, 4, 8, 16})
    for (const double gain : {1.0354, 1.0355, 1.0356, 1.0358, 1.04})
      for (int depth : {10, 16}) {
        const auto picture = [&](double of_f) {
          return paint(kWidth, kHeight, depth, [&](int x, int y) {
            const double unit = 0.19 * (1 << depth);
            const double f = wave(x, period) * (0.9 + 0.2 * x / kWidth), g = wave(y, period);
            return (1 << (depth - 1)) + static_cast<int>(std::lround(unit * (of_f * f + g)));
          });
        };
        const Luma ref = picture(1), dist = picture(gain);
        expect_equal(ref, dist, {});
        expect_equal(dist, ref, {});
      }
}

// Restored samples beyond what a division is needed for, and weights that wrap, alone in a row and next to small ones.
TEST(AdmIsa, LargeSamplesAmongSmallOnes) {
  for (const AdmOptions &options : variants())
    for (uint32_t seed = 0; seed < 2; ++seed) {
      const Luma grain = noise(200, 120, 8, seed);
      Noise source(seed + 100);
      std::vector<int> spots;
      for (int i = 0; i < 40; ++i) spots.push_back(source.below(200 * 120));
      const auto picture = [&](int top, int amount) {
        return paint(200, 120, 8, [&](int x, int y) {
          for (const int spot : spots)
            if (spot % 200 / 4 == x / 4 && spot / 200 / 4 == y / 4) return (x / 2 + y / 2) % 2 ? top : 0;
          return 128 + grain.at(x, y) * amount / 255;
        });
      };
      expect_equal(picture(255, 10), picture(255, 20), options);
      expect_equal(picture(255, 10), picture(190, 3), options);
      expect_equal(picture(200, 40), picture(255, 20), options);
    }
}

TEST(AdmIsa, AnyLayout) {
  for (int depth : {8, 10}) {
    const Luma ref = noise(71, 45, depth, 3), dist = noise(71, 45, depth, 4);
    expect_equal(ref, dist, {}, {.padding = 26});
    expect_equal(ref, dist, {}, {.padding = 10, .upside = true});
    if (depth == 8) {
      expect_equal(ref, dist, {}, {.padding = 3, .offset = 1});
    }
  }
}

TEST(AdmIsa, LargePictures) {
  for (const auto &[width, height, depth] :
       std::vector<std::tuple<int, int, int>>{{1920, 1080, 8}, {1283, 727, 10}, {2051, 515, 12}}) {
    const Luma ref = waves(width, height, depth, 0);
    expect_equal(ref, distorted_from(ref, 5), {});
  }
}

// Strips in any order and on several threads, and as many strips as the size asks for.
TEST(AdmIsa, StripsInAnyOrder) {
  const Luma ref = waves(1100, 800, 8, 0);
  const StoredFrame frame({ref}, {distorted_from(ref, 5)});
  for (const CpuKernels *kernels : all_kernels()) {
    const auto metric = make(*kernels, {}, ref);
    EXPECT_GT(metric->strips(0), 3);
    const auto want = sums_of(*kernels, {}, frame, ref);
    EXPECT_TRUE(same_sums(sums_of(*kernels, {}, frame, ref, {.backwards = true}), want)) << kernels->isa;
    EXPECT_TRUE(same_sums(sums_of(*kernels, {}, frame, ref, {.threads = 4}), want)) << kernels->isa;
  }
}

TEST(AdmIsa, StripsFollowThePicturesSize) {
  const auto strips = [](int width, int height) {
    const Luma like(width, height, 8);
    const auto metric = make(plain_kernels(), {}, like);
    std::vector<int> out;
    for (int stage = 0; stage < metric->stages(); ++stage) out.push_back(metric->strips(stage));
    return out;
  };
  EXPECT_EQ(strips(1920, 1080), (std::vector<int>{12, 3, 1, 1}));
  EXPECT_EQ(strips(33, 33), (std::vector<int>{1, 1, 1, 1}));
  EXPECT_EQ(strips(3840, 2160), (std::vector<int>{46, 12, 3, 1}));
}

// A strip is no finer than the sums: the whole picture in one strip gives what many give.
TEST(AdmIsa, StripsDoNotMatter) {
  const Luma ref = noise(300, 200, 10, 3);
  const StoredFrame frame({ref}, {distorted_from(ref, 5)});
  const AdmParams params = adm_configure({}, ref.width, ref.height);
  for (const CpuKernels *kernels : all_kernels()) {
    const Rubbish memory(kernels->adm->frame_bytes(params, 1)),
        scratch(kernels->adm->scratch_bytes(params, 1, 1));
    const auto measure = [&](int rows) {
      AdmSums total = {};
      for (int scale = 0; scale < kAdmScales; ++scale)
        for (int first = 0; first < params.scale[scale].height; first += rows) {
          AdmSums part;
          const int last = smaller(first + rows, params.scale[scale].height);
          kernels->adm->measure({frame.view, params, &params.options.gain_limit, 1, 1, scale, first, last,
                                 memory.get(), scratch.get(), &part.scale[scale]});
          add_integer_sums<AdmSums>(reinterpret_cast<std::byte *>(&total),
                                    reinterpret_cast<const std::byte *>(&part));
        }
      return total;
    };
    const AdmSums whole = measure(1000);
    for (int rows : {1, 2, 3, 7, 20, 64})
      EXPECT_EQ(describe(measure(rows), whole), "") << kernels->isa << ", " << rows;
  }
}

// Whatever comes first, and sets of options with the same limit too.
TEST(AdmIsa, SetsOfOptionsAreAsManyRuns) {
  constexpr double kLimits[][4] = {{100, 1, 1.05, 1}, {1, 100, 1, 2}, {3.7, 3.7, 3.7, 3.7}};
  using OfSets = std::array<AdmSums, std::size(kLimits[0])>;
  for (int depth : {8, 10, 16})
    for (const bool skip : {false, true}) {
      const Luma ref = waves(161, 90, depth, 2);
      const std::vector<Luma> dists = {distorted_from(ref, 1), noise(161, 90, depth, 3),
                                       black_and_white(161, 90, depth, 2, 5)};
      const StoredFrame frame({ref}, dists);
      for (const auto &limits : kLimits) {
        std::vector<AdmParams> sets;
        for (const double limit : limits) {
          AdmOptions options;
          options.gain_limit = limit;
          options.skip_aim = skip;
          sets.push_back(adm_configure(options, ref.width, ref.height));
        }
        for (const CpuKernels *kernels : all_kernels()) {
          const auto metric = make_cpu_adm(*kernels, sets, {161, 90, depth, Chroma::c400}, 3);
          const auto got = measure_sums<OfSets>(*metric, frame.view);
          for (size_t s = 0; s < sets.size(); ++s) {
            const auto want = sums_of(*kernels, sets[s].options, frame, ref);
            for (size_t d = 0; d < dists.size(); ++d)
              EXPECT_EQ(describe(got[d][s], want[d]), "")
                  << kernels->isa << ", picture " << d << ", limit " << limits[s] << " of " << limits[0];
          }
        }
      }
    }
}

TEST(AdmIsa, SeveralDistortedPictures) {
  for (const AdmOptions &options : variants())
    for (const CpuKernels *kernels : all_kernels())
      expect_sums_as_alone<AdmSums>(
          *kernels, [&](const Luma &like, int distorted) { return make(*kernels, options, like, distorted); },
          describe);
}

}  // namespace
}  // namespace vmafhip
