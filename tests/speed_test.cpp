// speed_chroma and speed_temporal: figures of libvmaf and of the definition, every option, planes that have no inverse,
// sizes that are refused.
#include "engine/arith/speed.h"

#include <algorithm>

#include "tests/speed_run.h"

namespace vmafhip {
namespace {

using namespace test;

// ---- Figures. Printed with 12 digits, which say which float it is.

void expect_floats(const std::vector<double> &actual, const std::vector<double> &expected,
                   const std::string &what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (size_t n = 0; n < expected.size(); ++n)
    EXPECT_EQ(static_cast<float>(actual[n]), static_cast<float>(expected[n])) << what << ", frame " << n;
}

TEST(Speed, ChromaEqualsLibvmaf) {
  const Scores at8 = run_colours("speed_chroma", {}, check_clip(8));
  expect_floats(at8.at("speed_chroma_u"), {5.71510457993, 6.51750564575, 10.9380655289}, "u, 8 bits");
  expect_floats(at8.at("speed_chroma_v"), {5.71577692032, 4.03095626831, 7.96435546875}, "v, 8 bits");
  expect_floats(at8.at("speed_chroma_uv"), {5.71544075012, 5.27423095703, 9.45121002197}, "uv, 8 bits");
  const Scores at10 = run_colours("speed_chroma", {}, check_clip(10));
  expect_floats(at10.at("speed_chroma_u"), {5.57459259033, 4.93876647949, 5.48082208633}, "u, 10 bits");
  expect_floats(at10.at("speed_chroma_v"), {6.47686624527, 3.53497958183, 6.06483697891}, "v, 10 bits");
  expect_floats(at10.at("speed_chroma_uv"), {6.02572917938, 4.23687314987, 5.77282953262}, "uv, 10 bits");
}

TEST(Speed, TemporalEqualsLibvmaf) {
  expect_floats(run_colours("speed_temporal", {}, check_clip(8)).at("speed_temporal"),
                {0, 10.5958757401, 11.8087406158}, "8 bits");
  expect_floats(run_colours("speed_temporal", {}, check_clip(10)).at("speed_temporal"),
                {0, 9.41626834869, 8.5659532547}, "10 bits");
}

// What libvmaf's rules give with options, worked out by a plain program, on the first frames of the same clip.
TEST(Speed, ChromaOptionsEqualTheDefinition) {
  struct {
    OptionTexts texts;
    const char *suffix;
    double u, v;
  } const cases[] = {
      {{{"speed_kernelscale", "2"}}, "_ks_2", 8.9750938415527344, 5.5721650123596191},
      {{{"speed_weight_var_mode", "1"}}, "_wvm_1", 1.6499875783920288, 1.0861269235610962},
      {{{"speed_weight_var_mode", "2"}}, "_wvm_2", 1.6803741455078125, 1.0829175710678101},
      {{{"speed_weight_var_mode", "3"}}, "_wvm_3", 1.6654421091079712, 1.0846786499023438},
      {{{"speed_weight_var_mode", "4"}}, "_wvm_4", 3.5496749877929688, 3.1204147338867188},
      {{{"speed_weight_var_mode", "5"}}, "_wvm_5", 2.4688403606414795, 1.8362617492675781},
      {{{"speed_weight_var_mode", "6"}}, "_wvm_6", 4.6317000389099121, 4.4135146141052246},
      {{{"speed_sigma_nn", "0.1"}, {"speed_nn_floor", "0.33"}},
       "_nnf_0.33_snn_0.1",
       5.7208709716796875,
       5.0877194404602051},
      {{{"speed_prescale", "1.5"}}, "_ps_1.5", 11.238694190979004, 10.282918930053711},
      {{{"speed_prescale", "1.5"}, {"speed_prescale_method", "bilinear"}},
       "_ps_1.5_psm_bilinear",
       12.650662422180176,
       9.5230731964111328},
      {{{"speed_prescale", "1.5"}, {"speed_prescale_method", "bicubic"}},
       "_ps_1.5_psm_bicubic",
       11.832090377807617,
       8.3367300033569336},
      {{{"speed_prescale", "1.5"}, {"speed_prescale_method", "lanczos4"}},
       "_ps_1.5_psm_lanczos4",
       11.850568771362305,
       8.4730854034423828},
      {{{"speed_prescale", "4"}, {"speed_prescale_method", "bicubic"}},
       "_ps_4_psm_bicubic",
       17.477706909179688,
       18.08935546875},
  };
  const ColourClip clip = check_clip(8, 1);
  for (const auto &c : cases) {
    const Scores scores = run_colours("speed_chroma", c.texts, clip);
    ASSERT_EQ(scores.size(), 3u) << c.suffix;
    EXPECT_EQ(scores.at(std::string("speed_chroma_u") + c.suffix)[0], c.u) << c.suffix;
    EXPECT_EQ(scores.at(std::string("speed_chroma_v") + c.suffix)[0], c.v) << c.suffix;
    const float both = (static_cast<float>(c.u) + static_cast<float>(c.v)) / 2;
    EXPECT_EQ(scores.at(std::string("speed_chroma_uv") + c.suffix)[0], both) << c.suffix;
  }
}

TEST(Speed, TemporalOptionsEqualTheDefinition) {
  struct {
    OptionTexts texts;
    const char *name;
    double score;
  } const cases[] = {
      {{{"speed_use_ref_diff", "true"}}, "speed_temporal_urd", 6.5074234008789062},
      {{{"speed_prescale", "0.5"}, {"speed_prescale_method", "bicubic"}},
       "speed_temporal_ps_0.5_psm_bicubic",
       5.3606934547424316},
      {{{"speed_kernelscale", "1.4746"}}, "speed_temporal_ks_1.4746", 9.2271709442138672},
  };
  const ColourClip clip = check_clip(10, 2);
  for (const auto &c : cases)
    EXPECT_EQ(run_colours("speed_temporal", c.texts, clip).at(c.name), (std::vector<double>{0, c.score}));
}

TEST(Speed, LargestValueIsForChromaOnly) {
  const ColourClip clip = check_clip(8, 2);
  const Scores chroma = run_colours("speed_chroma", {{"speed_max_val", "5.5"}}, clip);
  EXPECT_EQ(chroma.at("speed_chroma_u_mxv_5.5"), (std::vector<double>{5.5, 5.5}));
  expect_floats(chroma.at("speed_chroma_v_mxv_5.5"), {5.5, 4.03095626831}, "v");
  expect_floats(chroma.at("speed_chroma_uv_mxv_5.5"), {5.5, 5.27423095703}, "uv");
  expect_floats(run_colours("speed_temporal", {{"speed_max_val", "5.5"}}, clip).at("speed_temporal_mxv_5.5"),
                {0, 10.5958757401}, "temporal");
}

// A factor that leaves the size as it is does nothing, and neither does one that is 1 but for rounding.
TEST(Speed, PrescaleOfTheSameSize) {
  const ColourClip clip = check_clip(8, 1);
  const auto u = [&](const char *factor) {
    const OptionTexts texts = {{"speed_prescale", factor}, {"speed_prescale_method", "bicubic"}};
    return run_colours("speed_chroma", texts, clip).begin()->second;
  };
  const auto plain = run_colours("speed_chroma", {}, clip).at("speed_chroma_u");
  EXPECT_EQ(u("1.0009"), plain);
  EXPECT_EQ(u("1.001"), plain);
  EXPECT_NE(u("1.003"), plain);
}

// ---- Planes

// Coloured noise on all scales, so that no covariance is singular.
Colours textured(const PictureFormat &format, uint32_t seed) {
  Noise source(seed);
  std::vector<int> coarse(64 * 64 * 3);
  for (int &v : coarse) v = source.below(1 << format.depth);
  return paint(format, [&](int p, int x, int y) {
    return coarse[static_cast<size_t>((x / 16 % 64 + y / 16 % 64 * 64) * 3 + p)];
  });
}

// The chroma planes of `from` with plane `plane` of one colour.
Colours with_flat(Colours from, int plane) {
  for (int &v : from.planes[static_cast<size_t>(plane)].samples) v = 100;
  return from;
}

struct ChromaScores {
  double u, v, both;
};
ChromaScores chroma(const Colours &ref, const Colours &dist, const OptionTexts &texts = {}) {
  const Extractor &e = extractor("speed_chroma");
  const Options options = parse(e, texts);
  const auto metric = CpuBackend::choose()->make(e, options, ref.format);
  const StoredColours frame(ref, {dist});
  double scores[3] = {-1, -1, -1};
  e.make_scorer(options, ref.format)
      ->add(0, measure_colours(e, *metric, frame.view)[0].data(),
            [&](int output, uint64_t, double value) { scores[output] = value; });
  return {scores[0], scores[1], scores[2]};
}

TEST(Speed, PlanesWithoutInverse) {
  const PictureFormat format = {320, 320, 8, Chroma::c444};
  const Colours ref = textured(format, 1), dist = textured(format, 2);
  const ChromaScores plain = chroma(ref, dist);
  ASSERT_GT(plain.u, 0);
  ASSERT_GT(plain.v, 0);
  EXPECT_EQ(plain.both, (static_cast<float>(plain.u) + static_cast<float>(plain.v)) / 2);
  // Flat in one of the two, or in both: no score of that plane, and the other's for both.
  for (const bool in_ref : {false, true})
    for (const bool in_dist : {false, true}) {
      if (!in_ref && !in_dist) continue;
      const auto pair = [&](int plane) {
        return chroma(in_ref ? with_flat(ref, plane) : ref, in_dist ? with_flat(dist, plane) : dist);
      };
      const ChromaScores no_u = pair(1), no_v = pair(2);
      EXPECT_EQ(no_u.u, 0);
      EXPECT_EQ(no_u.v, plain.v);
      EXPECT_EQ(no_u.both, plain.v);
      EXPECT_EQ(no_v.u, plain.u);
      EXPECT_EQ(no_v.v, 0);
      EXPECT_EQ(no_v.both, plain.u);
    }
  const Colours grey = with_flat(with_flat(ref, 1), 2);
  EXPECT_EQ(chroma(grey, dist).both, 0);
  EXPECT_EQ(chroma(grey, grey).both, 0);
}

TEST(Speed, SamePicturesScoreZero) {
  const Colours picture = textured({320, 320, 10, Chroma::c444}, 3);
  for (const char *mode : {"0", "1", "2", "3", "4"}) {
    const ChromaScores same = chroma(picture, picture, {{"speed_weight_var_mode", mode}});
    EXPECT_EQ(same.u, 0) << mode;
    EXPECT_EQ(same.v, 0) << mode;
  }
  // Two weights of the same value, one rounded to f32 on the way.
  for (const char *mode : {"5", "6"}) {
    const ChromaScores same = chroma(picture, picture, {{"speed_weight_var_mode", mode}});
    EXPECT_GT(same.u, 0) << mode;
    EXPECT_LT(same.u, 1e-3) << mode;
  }
}

// Of odd sizes the last column and row of chroma do not count: here they would make a second column of blocks.
TEST(Speed, ChromaIsRoundedDown) {
  for (const Chroma layout : {Chroma::c420, Chroma::c422}) {
    const PictureFormat odd = {319, 1599, 8, layout}, even = {318, 1598, 8, layout};
    const auto cropped = [&](const Colours &from) {
      return paint(even, [&](int p, int x, int y) { return from.planes[static_cast<size_t>(p)].at(x, y); });
    };
    const Colours ref = textured(odd, 4), dist = textured(odd, 5);
    const ChromaScores whole = chroma(ref, dist), part = chroma(cropped(ref), cropped(dist));
    EXPECT_GT(whole.u, 0);
    EXPECT_EQ(whole.u, part.u);
    EXPECT_EQ(whole.v, part.v);
  }
}

// A frame twice: nothing moves, and there is nothing to compare.
TEST(Speed, StillPicturesHaveNoTemporalScore) {
  const ColourClip pair = check_clip(8, 2);
  const ColourClip still = {{pair.ref[0], pair.ref[0]}, {pair.dist[0], pair.dist[1]}};
  EXPECT_EQ(run_colours("speed_temporal", {}, still).at("speed_temporal"), (std::vector<double>{0, 0}));
}

TEST(Speed, LayoutDoesNotMatter) {
  const ColourClip clip = check_clip(8, 2), deep = check_clip(10, 2);
  for (const char *name : {"speed_chroma", "speed_temporal"}) {
    EXPECT_EQ(run_colours(name, {}, clip, {.padding = 3, .offset = 1}), run_colours(name, {}, clip));
    EXPECT_EQ(run_colours(name, {}, clip, {.padding = 5, .upside = true}), run_colours(name, {}, clip));
    EXPECT_EQ(run_colours(name, {}, deep, {.padding = 6, .upside = true}), run_colours(name, {}, deep));
  }
}

// ---- What is refused

std::string refusal(const char *name, const PictureFormat &format, const OptionTexts &texts = {}) {
  const Extractor &e = extractor(name);
  const Options options = parse(e, texts);
  const Status status = e.check(options);
  return (status.ok() ? e.check(options, format) : status).message();
}

TEST(Speed, Limits) {
  EXPECT_EQ(refusal("speed_temporal", {80, 80, 8, Chroma::c400}), "");
  EXPECT_EQ(refusal("speed_temporal", {79, 80, 8, Chroma::c420}),
            "speed_temporal needs pictures of at least 80x80 samples, they are 79x80");
  EXPECT_EQ(refusal("speed_chroma", {160, 160, 8, Chroma::c420}), "");
  EXPECT_EQ(refusal("speed_chroma", {160, 80, 12, Chroma::c422}), "");
  EXPECT_EQ(refusal("speed_chroma", {80, 80, 16, Chroma::c444}), "");
  EXPECT_EQ(refusal("speed_chroma", {160, 159, 8, Chroma::c420}),
            "speed_chroma needs chroma planes of at least 80x80 samples, they are 80x79");
  EXPECT_EQ(
      refusal("speed_chroma", {160, 160, 8, Chroma::c420}, {{"speed_prescale", "0.5"}}),
      "speed_chroma needs chroma planes of at least 80x80 samples after speed_prescale, they are 40x40");
  EXPECT_EQ(refusal("speed_chroma", {40, 40, 8, Chroma::c420}, {{"speed_prescale", "4"}}), "");
  EXPECT_NE(refusal("speed_chroma", {320, 320, 8, Chroma::c400}), "");
  for (const char *name : {"speed_chroma", "speed_temporal"}) {
    EXPECT_NE(refusal(name, {320, 320, 9, Chroma::c420}), "") << name;
    EXPECT_NE(refusal(name, {320, 320, 8, Chroma::c420}, {{"speed_kernelscale", "1.2"}}), "") << name;
    EXPECT_NE(refusal(name, {320, 320, 8, Chroma::c420}, {{"speed_prescale_method", "cubic"}}), "") << name;
  }
  EXPECT_NE(refusal("speed_chroma", {320, 320, 8, Chroma::c420}, {{"speed_kernelscale", "1.2"}})
                .find("speed_kernelscale must be one of 1, 0.5, 1.5"),
            std::string::npos);
}

TEST(Speed, TemporalReadsWhatItNeeds) {
  const Extractor &e = extractor("speed_temporal");
  const Reads plain = e.reads(parse(e, {})), ref_only = e.reads(parse(e, {{"speed_use_ref_diff", "true"}}));
  EXPECT_TRUE(plain.dist && plain.earlier_dist && plain.earlier[0] && !plain.chroma());
  EXPECT_FALSE(ref_only.dist);
  EXPECT_TRUE(ref_only.earlier_dist);
  EXPECT_TRUE(e.temporal(parse(e, {})));
}

// The smallest picture with a block on the coarse scale has one position in a window: nothing to analyse.
TEST(Speed, SmallestPictures) {
  const PictureFormat format = {80, 80, 8, Chroma::c444};
  const ChromaScores scores = chroma(textured(format, 6), textured(format, 7));
  EXPECT_EQ(scores.u, 0);
  EXPECT_EQ(scores.both, 0);
}

}  // namespace
}  // namespace vmafhip
