// Float ADM on every instruction set against the plain one, bit for bit, and what the cut into strips must not change.
#include <string>

#include "engine/arith/adm_float.h"
#include "engine/arith/power.h"
#include "tests/adm_isa_run.h"

namespace vmafhip {
namespace {

using namespace test;

std::unique_ptr<Metric> make(const CpuKernels &kernels, const AdmFloatOptions &options, const Luma &like,
                             int distorted = 1) {
  return make_cpu_adm_float(kernels, adm_float_configure(options, like.width, like.height),
                            {like.width, like.height, like.depth, Chroma::c400}, distorted);
}

std::vector<AdmFloatSums> sums_of(const CpuKernels &kernels, const AdmFloatOptions &options,
                                  const StoredFrame &frame, const Luma &like, Order order = {}) {
  const auto metric = make(kernels, options, like, static_cast<int>(frame.view.dist.size()));
  return measure_sums<AdmFloatSums>(*metric, frame.view, order);
}

// Compares bits, since sums may be infinite.
std::string describe(const AdmFloatSums &got, const AdmFloatSums &want) {
  for (int s = 0; s < kAdmScales; ++s)
    for (int band = 0; band < kAdmBands; ++band) {
      const auto differ = [&](const char *what, float a, float b) {
        if (vmafhip::bits_of(a) == vmafhip::bits_of(b)) return std::string();
        return what + (" of scale " + std::to_string(s)) + ", band " + std::to_string(band) + ": " +
               std::to_string(a) + ", not " + std::to_string(b);
      };
      const AdmFloatScaleSums &a = got.scale[s], &b = want.scale[s];
      for (const std::string &text :
           {differ("den", a.den[band], b.den[band]), differ("num", a.num[band], b.num[band]),
            differ("aim", a.aim[band], b.aim[band])})
        if (!text.empty()) return text;
    }
  return "";
}

// All instruction sets give the sums of the plain one.
void expect_equal(const Luma &ref, const Luma &dist, const AdmFloatOptions &options,
                  const Layout &layout = {}) {
  const StoredFrame frame({ref}, {dist}, layout);
  const auto want = sums_of(plain_kernels(), options, frame, ref);
  for (const CpuKernels *kernels : wide_kernels()) {
    const auto got = sums_of(*kernels, options, frame, ref);
    EXPECT_EQ(describe(got[0], want[0]), "")
        << kernels->isa << ", " << ref.width << "x" << ref.height << ", depth " << ref.depth;
  }
}

TEST(AdmFloatIsa, EveryWidth) {
  for (int width = 17; width <= 170; ++width) {
    const int height = 17 + width % 7, depth = width % 2 ? 8 : 10;
    const Luma ref = noise(width, height, depth, static_cast<uint32_t>(width));
    expect_equal(ref, distorted_from(ref, 2), {});
    const Luma wave = waves(width, height, depth + 2 * (width % 3 == 0 && depth == 10), 0);
    expect_equal(wave, distorted_from(wave, 3), {});
  }
}

TEST(AdmFloatIsa, EveryHeight) {
  for (int height = 17; height <= 100; ++height) {
    const Luma ref = waves(41, height, 8, height);
    expect_equal(ref, distorted_from(ref, 2), {});
  }
}

TEST(AdmFloatIsa, EveryDepthAndOption) {
  for (int depth : {8, 10, 12, 16}) {
    const Luma ref = noise(101, 67, depth, 1), wave = waves(101, 67, depth, 0);
    for (const AdmFloatOptions &options : adm_float_variants()) {
      expect_equal(ref, distorted_from(ref, 2), options);
      expect_equal(ref, noise(101, 67, depth, 9), options);
      expect_equal(wave, distorted_from(wave, 3), options);
    }
  }
}

// Flat, saturated, checkerboards, stripes, full-range noise: all against all.
TEST(AdmFloatIsa, Stress) {
  for (int depth : {8, 16}) {
    std::vector<Luma> pictures = stress_pictures(99, 70, depth);
    const int top = (1 << depth) - 1;
    for (int period : {2, 4, 8, 16})  // extreme contrast at each scale
      pictures.push_back(
          paint(99, 70, depth, [&](int x, int y) { return (x / period + y / period) % 2 ? top : 0; }));
    for (const Luma &ref : pictures)
      for (const Luma &dist : pictures) {
        expect_equal(ref, dist, {});
        AdmFloatOptions limited;
        limited.gain_limit = 1;
        limited.p_norm = 20;  // beyond f32
        limited.csf_mode = 2;
        expect_equal(ref, dist, limited);
      }
  }
}

TEST(AdmFloatIsa, AnyLayout) {
  for (int depth : {8, 10}) {
    const Luma ref = noise(71, 45, depth, 3), dist = noise(71, 45, depth, 4);
    expect_equal(ref, dist, {}, {.padding = 26});
    expect_equal(ref, dist, {}, {.padding = 10, .upside = true});
    if (depth == 8) {
      expect_equal(ref, dist, {}, {.padding = 3, .offset = 1});
    }
  }
}

TEST(AdmFloatIsa, LargePictures) {
  for (const auto &[width, height, depth] :
       std::vector<std::tuple<int, int, int>>{{1920, 1080, 8}, {1283, 727, 10}, {16384, 40, 12}}) {
    const Luma ref = waves(width, height, depth, 0);
    expect_equal(ref, distorted_from(ref, 5), {});
  }
}

// Powers that are pooled, also where f32 ends.
TEST(AdmFloatIsa, Powers) {
  Noise source(8);
  for (const CpuKernels *kernels : all_kernels())
    for (int i = 0; i < 300000; ++i) {
      const float exponent = 1 + static_cast<float>(source.below(1901)) / 100;
      const float v =
          vmafhip::real_of(static_cast<int32_t>(source.next() << 7 | source.below(128)) & 0x7fffffff);
      if (!(v <= 3e38f)) continue;
      ASSERT_EQ(vmafhip::bits_of(kernels->adm_float->power(v, exponent)),
                vmafhip::bits_of(real_power(v, exponent)))
          << kernels->isa << ": " << v << " to the power of " << exponent;
    }
}

// Strips in any order and on several threads, and as many strips as the size asks for.
TEST(AdmFloatIsa, StripsInAnyOrder) {
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

TEST(AdmFloatIsa, StripsFollowThePicturesSize) {
  const auto strips = [](int width, int height) {
    const Luma like(width, height, 8);
    const auto metric = make(plain_kernels(), {}, like);
    std::vector<int> out;
    for (int stage = 0; stage < metric->stages(); ++stage) out.push_back(metric->strips(stage));
    return out;
  };
  EXPECT_EQ(strips(1920, 1080), (std::vector<int>{12, 3, 1, 1, 1}));
  EXPECT_EQ(strips(17, 17), (std::vector<int>{1, 1, 1, 1, 1}));
  EXPECT_EQ(strips(3840, 2160), (std::vector<int>{46, 12, 3, 1, 1}));
}

// The whole picture in one strip gives what many give.
TEST(AdmFloatIsa, StripsDoNotMatter) {
  for (const auto &[width, height] : std::vector<std::pair<int, int>>{{300, 200}, {120, 29}}) {
    const Luma ref = noise(width, height, 10, 3);
    const StoredFrame frame({ref}, {distorted_from(ref, 5)});
    const AdmFloatParams params = adm_float_configure({}, ref.width, ref.height);
    for (const CpuKernels *all : all_kernels()) {
      const AdmFloatKernels &kernels = *all->adm_float;
      const auto measure = [&](int rows) {
        const Rubbish memory(kernels.frame_bytes(params, 1));
        for (int scale = 0; scale < kAdmScales; ++scale)
          for (int first = 0; first < params.scale[scale].height; first += rows) {
            const int last = smaller(first + rows, params.scale[scale].height);
            const Rubbish scratch(kernels.scratch_bytes(params, 1));  // nothing left of the strip before
            kernels.measure({frame.view, params, 1, scale, first, last, memory.get(), scratch.get()});
          }
        AdmFloatSums sums;
        kernels.total(params, 1, 1, memory.get(), reinterpret_cast<std::byte *>(&sums));
        return sums;
      };
      const AdmFloatSums whole = measure(1000);
      EXPECT_GT(whole.scale[3].num[2], 0.0f);
      for (int rows : {1, 2, 3, 7, 20, 64})
        EXPECT_EQ(describe(measure(rows), whole), "") << all->isa << ", " << rows;
    }
  }
}

TEST(AdmFloatIsa, SeveralDistortedPictures) {
  for (const AdmFloatOptions &options : adm_float_variants())
    for (const CpuKernels *kernels : all_kernels())
      expect_sums_as_alone<AdmFloatSums>(
          *kernels, [&](const Luma &like, int distorted) { return make(*kernels, options, like, distorted); },
          describe);
}

}  // namespace
}  // namespace vmafhip
