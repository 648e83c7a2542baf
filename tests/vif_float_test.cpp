// Float VIF: an evaluation by the book, options, limits, scores.
#include "engine/arith/vif_float.h"

#include "tests/colour_run.h"
#include "tests/metric_run.h"
#include "tests/vif_float_book.h"

namespace vmafhip {
namespace {

using namespace test;

VifFloatParams params_of(const OptionTexts &texts) {
  const Options options = parse(extractor("float_vif"), texts);
  VifFloatParams p;
  p.gain_limit = options.real("vif_enhn_gain_limit");
  p.kernel_scale = options.real("vif_kernelscale");
  p.noise = options.real("vif_sigma_nsq");
  p.skip_scale0 = options.boolean("vif_skip_scale0");
  return p;
}

VifFloatSums engine_sums(const Luma &ref, const Luma &dist, const OptionTexts &texts,
                         const Layout &layout = {}) {
  const Extractor &e = extractor("float_vif");
  VifFloatSums sums;
  std::memcpy(&sums, measure(e, parse(e, texts), {ref}, {dist}, layout)[0].data(), sizeof sums);
  return sums;
}

std::string text_of(const VifFloatSums &sums) {
  std::string out;
  for (int s = 0; s < kVifFloatScales; ++s) {
    char text[64];
    std::snprintf(text, sizeof text, " %a/%a", static_cast<double>(sums.num[s]),
                  static_cast<double>(sums.den[s]));
    out += text;
  }
  return out;
}

void expect_book(const Luma &ref, const Luma &dist, const OptionTexts &texts) {
  const VifFloatSums want = book_vif(to_floats(ref), to_floats(dist), params_of(texts));
  EXPECT_EQ(text_of(engine_sums(ref, dist, texts)), text_of(want))
      << ref.width << "x" << ref.height << ", " << ref.depth << " bits, "
      << parse(extractor("float_vif"), texts).suffix();
}

Luma graded(const Luma &from, int percent, int grain) {
  Noise source(3);
  const int top = (1 << from.depth) - 1;
  return paint(from.width, from.height, from.depth, [&](int x, int y) {
    const int moved =
        (from.at(x, y) - top / 2) * percent / 100 + top / 2 + source.below(grain * (top / 255) + 1);
    return std::clamp(moved, 0, top);
  });
}

// Slopes, edges, and a part that is flat but for a little grain.
Luma scene(int width, int height, int depth) {
  Noise source(5);
  const int step = 1 << (depth - 8);
  return paint(width, height, depth, [&](int x, int y) {
    const int v = x > width / 2 ? 90 : 40 + (3 * x + 2 * y) % 97 + 60 * ((x / 7 + y / 9) % 2);
    return v * step + source.below(3 * step);
  });
}

TEST(VifFloat, EqualsTheBook) {
  for (int depth : {8, 10, 12, 16})
    for (const auto &[width, height] :
         std::vector<std::pair<int, int>>{{16, 16}, {17, 19}, {35, 66}, {131, 47}}) {
      const Luma ref = scene(width, height, depth);
      expect_book(ref, graded(ref, 70, 9), {});
      expect_book(ref, graded(ref, 180, 2), {});
      expect_book(graded(ref, 50, 30), ref, {});
    }
}

TEST(VifFloat, EqualsTheBookUnderStress) {
  for (int depth : {8, 16}) {
    const auto pictures = stress_pictures(41, 33, depth);
    for (const Luma &a : pictures)
      for (const Luma &b : pictures) expect_book(a, b, {});
  }
}

// Noises whose reciprocal is exact and others, none, and less than what counts as flat.
TEST(VifFloat, EqualsTheBookWithAnyOption) {
  const Luma ref = scene(75, 60, 10), dist = graded(ref, 140, 6),
             flat = paint(75, 60, 10, [](int, int) { return 400; });
  for (const char *noise : {"2", "1", "0.5", "4", "0.4", "3.3", "5", "0", "0.000000000001"}) {
    expect_book(ref, dist, {{"vif_sigma_nsq", noise}});
    expect_book(dist, ref, {{"vif_sigma_nsq", noise}, {"vif_enhn_gain_limit", "1"}});
    expect_book(flat, ref, {{"vif_sigma_nsq", noise}});
    expect_book(ref, flat, {{"vif_sigma_nsq", noise}});
    expect_book(flat, flat, {{"vif_sigma_nsq", noise}});
  }
  for (const double scale : kKernelScales) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", scale);
    expect_book(ref, dist, {{"vif_kernelscale", text}});
  }
  expect_book(ref, dist, {{"vif_skip_scale0", "true"}});
  expect_book(ref, dist, {{"vif_skip_scale0", "true"}, {"vif_kernelscale", "2"}});
}

TEST(VifFloat, EqualsTheBookRescaled) {
  const struct {
    const char *factor;
    int width, height;
  } cases[] = {{"0.3", 67, 55}, {"0.5", 48, 33}, {"1.25", 33, 24}, {"4", 13, 17}};
  for (const char *method : {"nearest", "bilinear", "bicubic", "lanczos4"})
    for (const auto &[factor, width, height] : cases) {
      // Limits are another matter: sums exist for anything that is larger than the filters after rescaling.
      const Luma ref = scene(width, height, 10), dist = graded(ref, 130, 4);
      const double f = std::stod(factor);
      const auto resized = [&, w = width, h = height](const Luma &from) {
        return book_resize(to_floats(from), static_cast<int>(w * f + 0.5), static_cast<int>(h * f + 0.5),
                           method);
      };
      const OptionTexts texts = {{"vif_prescale", factor}, {"vif_prescale_method", method}};
      EXPECT_EQ(text_of(engine_sums(ref, dist, texts)), text_of(book_vif(resized(ref), resized(dist), {})))
          << method << ", " << factor;
    }
}

// A factor that leaves the size as it is changes nothing.
TEST(VifFloat, RescalingToTheSameSizeIsNone) {
  const Luma ref = scene(40, 30, 8), dist = graded(ref, 130, 4);
  EXPECT_EQ(text_of(engine_sums(ref, dist, {{"vif_prescale", "1.01"}, {"vif_prescale_method", "lanczos4"}})),
            text_of(engine_sums(ref, dist, {})));
}

// 33 taps reach across two vectors of columns; 65 across the first chunk of them.
TEST(VifFloat, EqualsTheBookWhereFiltersAreAsLargeAsThePicture) {
  for (const auto &[kernel_scale, size] :
       std::vector<std::pair<const char *, int>>{{"0.5", 16}, {"1.5", 24}, {"2", 32}, {"3.71134", 56}}) {
    const OptionTexts texts = {{"vif_kernelscale", kernel_scale}};
    EXPECT_EQ(vif_float_min_size(params_of(texts)), size) << kernel_scale;
    for (int more : {0, 1, 5}) {
      const Luma ref = scene(size + more, size, 8);
      expect_book(ref, graded(ref, 70, 9), texts);
    }
  }
}

// The figures of libvmaf for its check clips have 12 digits.
TEST(VifFloat, EqualsLibvmaf) {
  const double expected[2][3][4] = {{{0.773946464599, 0.992728549654, 0.996804416488, 0.998039790541},
                                     {0.773366770612, 0.992844188198, 0.996865147208, 0.998076807423},
                                     {0.774034788197, 0.992975209488, 0.996974369132, 0.998195630093}},
                                    {{0.80555158485, 0.992887972852, 0.996578936394, 0.997943532829},
                                     {0.805480599285, 0.992983658594, 0.996662705189, 0.99799160045},
                                     {0.805271614842, 0.99286656952, 0.996552944056, 0.997926589109}}};
  for (const int depth : {8, 10})
    for (int n = 0; n < 3; ++n) {
      const CheckPair pair = check_pair(depth, n);
      const Scores scores = run("float_vif", {}, {pair.ref.planes[0]}, {pair.dist.planes[0]});
      for (int s = 0; s < kVifFloatScales; ++s)
        EXPECT_NEAR(scores.at("vif_scale" + std::to_string(s))[0], expected[depth > 8][n][s], 6e-13)
            << depth << " bits, frame " << n << ", scale " << s;
    }
}

TEST(VifFloat, LayoutDoesNotMatter) {
  for (int depth : {8, 10}) {
    const Luma ref = scene(53, 41, depth), dist = graded(ref, 120, 9);
    const std::string want = text_of(engine_sums(ref, dist, {}));
    EXPECT_EQ(text_of(engine_sums(ref, dist, {}, {.padding = 14})), want);
    EXPECT_EQ(text_of(engine_sums(ref, dist, {}, {.padding = 6, .upside = true})), want);
    if (depth == 8) {
      EXPECT_EQ(text_of(engine_sums(ref, dist, {}, {.padding = 3, .offset = 1})), want);
    }
  }
}

TEST(VifFloat, ScoresAreRatiosOfTheSums) {
  VifFloatSums sums = {{10, 20, 30, 0}, {40, 40, 40, 40}};
  VifFloatParams params;
  params.min_val[1] = 0.75;
  params.min_val[3] = 0.5;
  const VifFloatScores scores = vif_float_finish(sums, params);
  EXPECT_EQ(scores.score[0], 0.25);
  EXPECT_EQ(scores.score[1], 0.75);
  EXPECT_EQ(scores.score[2], 0.75);
  EXPECT_EQ(scores.score[3], 0.5);
  EXPECT_EQ(scores.total, 60.0 / 160.0);
  // A loss beyond all information: scale 0 has no smallest value.
  sums.num[0] = -20;
  EXPECT_EQ(vif_float_finish(sums, params).score[0], -0.5);
}

TEST(VifFloat, SkippedScale) {
  const Luma ref = scene(64, 64, 8), dist = graded(ref, 80, 5);
  const Scores all = run("float_vif", {{"debug", "true"}}, {ref}, {dist});
  const Scores rest = run("float_vif", {{"debug", "true"}, {"vif_skip_scale0", "true"}}, {ref}, {dist});
  EXPECT_EQ(rest.at("vif_scale0_ssclz")[0], 0);
  EXPECT_EQ(rest.at("vif_num_scale0_ssclz")[0], 0);
  EXPECT_EQ(rest.at("vif_den_scale0_ssclz")[0], -1);
  EXPECT_EQ(rest.at("vif_scale2_ssclz"), all.at("vif_scale2"));
  EXPECT_EQ(rest.at("vif_den_ssclz")[0], all.at("vif_den")[0] - all.at("vif_den_scale0")[0]);
}

TEST(VifFloat, Names) {
  const Luma ref = scene(48, 48, 8);
  const OptionTexts texts = {
      {"vif_scale1_min_val", "0.125"}, {"vif_sigma_nsq", "1"}, {"vif_enhn_gain_limit", "1.5"}};
  const Scores scores = run("float_vif", texts, {ref}, {ref});
  EXPECT_EQ(scores.size(), 4u);
  EXPECT_EQ(scores.count("vif_scale3_egl_1.5_s1miv_0.125_snsq_1"), 1u);
  const OptionTexts scaled = {{"vif_prescale", "0.6"}, {"vif_prescale_method", "bilinear"}};
  EXPECT_EQ(run("float_vif", scaled, {ref}, {ref}).count("vif_scale0_ps_0.6_pm_bilinear"), 1u);
  EXPECT_EQ(run("float_vif", {{"debug", "true"}}, {ref}, {ref}).size(), 15u);
}

TEST(VifFloat, RefusesWhatItIsNotDefinedFor) {
  const Extractor &e = extractor("float_vif");
  const auto said = [&](const OptionTexts &texts, const PictureFormat &format) {
    return e.check(parse(e, texts), format).message();
  };
  EXPECT_EQ(said({}, {16, 16, 8, Chroma::c400}), "");
  EXPECT_EQ(said({}, {400, 15, 8, Chroma::c420}),
            "float_vif needs at least 16x16 samples, the picture is 400x15");
  EXPECT_EQ(said({}, {64, 64, 9, Chroma::c420}),
            "float_vif needs 8, 10, 12 or 16 bits a sample, the picture is 64x64 at 9 bits");
  EXPECT_EQ(said({{"vif_kernelscale", "3"}}, {39, 400, 8, Chroma::c420}),
            "float_vif needs at least 40x40 samples at this vif_kernelscale, the picture is 39x400");
  EXPECT_EQ(
      said({{"vif_prescale", "0.25"}}, {60, 400, 8, Chroma::c420}),
      "float_vif needs at least 16x16 samples at this vif_kernelscale, the picture is 60x400, 15x100 after "
      "vif_prescale");
  EXPECT_EQ(said({{"vif_prescale", "4"}}, {8192, 8192, 8, Chroma::c420}), "");
  EXPECT_EQ(
      said({{"vif_prescale", "4"}}, {400, 8193, 8, Chroma::c420}),
      "float_vif needs at most 32768x32768 samples, the picture is 400x8193, 1600x32772 after vif_prescale");
  EXPECT_EQ(
      e.check(parse(e, {{"vif_prescale_method", "area"}})).message(),
      "float_vif: option vif_prescale_method must be nearest, bilinear, bicubic or lanczos4, not \"area\"");
  EXPECT_TRUE(e.check(parse(e, {{"vif_kernelscale", "1.5005"}})).ok());
  EXPECT_EQ(
      e.check(parse(e, {{"vif_kernelscale", "1.2"}})).message(),
      "float_vif: option vif_kernelscale must be one of 1, 0.5, 1.5, 2, 0.666667, 2.4, 3.71134, 1.33333, "
      "1.16667, 1.25, 1.41667, 1.66667, 3, 0.444444, 1.4746, 1.54, 1.6, 1.06667, 0.711111, 0.74074, 1.11111");
}

}  // namespace
}  // namespace vmafhip
