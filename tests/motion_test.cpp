// Motion: libvmaf's figures, an evaluation by the book, and scores that come as soon as they can.
#include "engine/arith/motion.h"

#include <algorithm>
#include <stdexcept>

#include "tests/metric_run.h"

namespace vmafhip {
namespace {

using namespace test;

const std::vector<Expected> kDepth8Frame1 = {{"VMAF_integer_feature_motion_sad_score", 30.875482584635417},
                                             {"integer_motion", 30.875482584635417},
                                             {"integer_motion2", 30.875482584635417},
                                             {"integer_motion3", 30.875482584635417}};

const std::vector<Expected> kDepth8Frame2 = {{"VMAF_integer_feature_motion_sad_score", 31.036190592447916},
                                             {"integer_motion", 31.036190592447916},
                                             {"integer_motion2", 30.490179850260418},
                                             {"integer_motion3", 30.490179850260418}};

const std::vector<Expected> kDepth10Frame1 = {{"VMAF_integer_feature_motion_sad_score", 30.875482584635417},
                                              {"integer_motion", 30.875482584635417},
                                              {"integer_motion2", 30.875482584635417},
                                              {"integer_motion3", 30.875482584635417}};

const std::vector<Expected> kDepth16Frame1 = {{"VMAF_integer_feature_motion_sad_score", 30.875482584635417},
                                              {"integer_motion", 30.875482584635417},
                                              {"integer_motion2", 30.875482584635417},
                                              {"integer_motion3", 30.875482584635417}};

const OptionTexts kDebug = {{"debug", "true"}};

TEST(Motion, EqualsLibvmaf) {
  const Scores at8 = run("motion", kDebug, formula_refs(4, 8), formula_dists(4, 8));
  expect_scores(at8, 1, kDepth8Frame1);
  expect_scores(at8, 2, kDepth8Frame2);
  expect_scores(run("motion", kDebug, formula_refs(4, 10), formula_dists(4, 10)), 1, kDepth10Frame1);
  expect_scores(run("motion", kDebug, formula_refs(4, 16), formula_dists(4, 16)), 1, kDepth16Frame1);
}

TEST(Motion, EqualsLibvmafInTheFiveFrameWindow) {
  const OptionTexts options = {{"motion_five_frame_window", "true"},
                               {"motion_moving_average", "true"},
                               {"motion_blend_factor", "0.3"},
                               {"motion_blend_offset", "10"}};
  const Scores scores = run("motion", options, formula_refs(4, 8), formula_dists(4, 8));
  const auto values = [&](const char *name) {
    return scores.at(std::string(name) + "_mbf_0.3_mbo_10_mffw_mma");
  };
  EXPECT_EQ(values("VMAF_integer_feature_motion_sad_score"),
            (std::vector<double>{0, 0, 27.276972656249999, 27.37935302734375}));
  EXPECT_EQ(values("integer_motion2"), (std::vector<double>{0, 0, 27.37935302734375, 27.37935302734375}));
  EXPECT_EQ(values("integer_motion3"), (std::vector<double>{15.183091796874999, 15.183091796874999,
                                                            15.198448852539062, 15.213805908203124}));
}

// ---- Evaluation by the book -----------------------------------------------------------------------------

uint64_t plain_sad(const Luma &earlier, const Luma &current) {
  const int64_t taps[] = {3571, 16004, 26386, 16004, 3571};
  const int w = current.width, h = current.height, depth = current.depth;
  std::vector<std::vector<int64_t>> columns(h, std::vector<int64_t>(w));
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      int64_t sum = int64_t{1} << (depth - 1);
      for (int k = -2; k <= 2; ++k) {
        const int row = mirror(y + k, h);
        sum += taps[k + 2] * (earlier.at(x, row) - current.at(x, row));
      }
      columns[y][x] = sum >> depth;
    }
  uint64_t sad = 0;
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      int64_t sum = 32768;
      for (int k = -2; k <= 2; ++k) sum += taps[k + 2] * columns[y][mirror(x + k, w)];
      sad += static_cast<uint64_t>(std::abs(sum >> 16));
    }
  return sad;
}

uint64_t engine_sad(const Luma &earlier, const Luma &current, const Layout &layout = {}) {
  const Extractor &e = extractor("motion");
  MotionSums sums;
  const std::vector<Luma> pictures = {earlier, current};
  std::memcpy(&sums, measure(e, parse(e, {}), pictures, pictures, layout)[1].data(), sizeof sums);
  return sums.sad;
}

TEST(Motion, EqualsTheBook) {
  for (int depth : {8, 9, 10, 13, 16})
    for (const auto &[width, height] :
         std::vector<std::pair<int, int>>{{3, 3}, {4, 5}, {17, 3}, {3, 20}, {37, 22}, {130, 9}}) {
      const auto pictures = stress_pictures(width, height, depth);
      for (const Luma &a : pictures)
        for (const Luma &b : pictures)
          ASSERT_EQ(engine_sad(a, b), plain_sad(a, b)) << depth << " bits, " << width << "x" << height;
    }
}

TEST(Motion, Mirror) {
  const int expected[] = {2, 1, 0, 1, 2, 3, 4, 3, 2};  // 5 samples, from -2 on
  for (int i = 0; i < 9; ++i) EXPECT_EQ(mirror(i - 2, 5), expected[i]) << i - 2;
}

// (sum + 2^15) >> 16 with floors, over all magnitudes.
TEST(Motion, HalvesJoinExactly) {
  Noise source(11);
  for (int i = 0; i < 100000; ++i) {
    int32_t d[5];
    for (int32_t &v : d) v = i % 3 == 0 ? (source.below(3) - 1) * 65535 : source.below(131071) - 65535;
    int64_t sum = 32768;
    int32_t high = 0, low = 0;
    for (int k = 0; k < 5; ++k) {
      const int16_t tap = kMotionTaps[k < 3 ? k : 4 - k];
      sum += static_cast<int64_t>(tap) * d[k];
      high += tap * motion_high(d[k]);
      low += tap * motion_low(d[k]);
    }
    ASSERT_EQ(motion_join(high, low), sum >> 16);
  }
}

TEST(Motion, LayoutDoesNotMatter) {
  for (int depth : {8, 10}) {
    const Luma a = noise(41, 23, depth, 1), b = noise(41, 23, depth, 2);
    const uint64_t plain = engine_sad(a, b);
    EXPECT_EQ(engine_sad(a, b, {.padding = 14}), plain);
    EXPECT_EQ(engine_sad(a, b, {.padding = 6, .upside = true}), plain);
    if (depth == 8) {
      EXPECT_EQ(engine_sad(a, b, {.padding = 3, .offset = 1}), plain);
    }
  }
}

// ---- Temporal rules -------------------------------------------------------------------------------------

// The scores of a whole stream from its SADs, as they would be worked out at its end.
struct WholeStream {
  std::vector<double> sad, motion2, motion3;
};

WholeStream at_the_end(const std::vector<uint64_t> &sads, int width, int height, const MotionParams &p) {
  WholeStream out;
  const size_t n = sads.size(), lag = p.five_frame_window ? 2 : 1;
  const auto blend = [&](double m) {
    return std::min(m * p.blend_factor + (1 - p.blend_factor) * std::min(p.blend_offset, m), p.max_val);
  };
  for (size_t i = 0; i < n; ++i) {
    const bool none = i < lag || p.force_zero;
    out.sad.push_back(
        none ? 0
             : std::min(static_cast<double>(sads[i]) / 256.0 / (width * height) * p.fps_weight, p.max_val));
  }
  const double stamp = n > lag ? blend(out.sad[lag]) : 0;
  double before = stamp;
  for (size_t i = 0; i < n; ++i) {
    if (i < lag) {
      out.motion2.push_back(0);
      out.motion3.push_back(stamp);
      continue;
    }
    const size_t low = i - (lag - 1);
    out.motion2.push_back(i + 1 == n   ? out.sad[i]
                          : low >= lag ? std::min(out.sad[low], out.sad[i + 1])
                                       : out.sad[i + 1]);
    const double now = blend(out.motion2[i]);
    out.motion3.push_back(p.moving_average ? (now + before) / 2 : now);
    before = now;
  }
  return out;
}

TEST(Motion, OnlineEqualsTheEnd) {
  const Extractor &e = extractor("motion");
  const OptionTexts variants[] = {
      {},
      {{"motion_five_frame_window", "true"}},
      {{"motion_moving_average", "true"}, {"motion_blend_factor", "0.25"}, {"motion_blend_offset", "3"}},
      {{"motion_five_frame_window", "true"}, {"motion_moving_average", "true"}, {"motion_fps_weight", "1.5"}},
      {{"motion_max_val", "4"}, {"motion_fps_weight", "0.5"}},
      {{"motion_force_zero", "true"}},
  };
  const PictureFormat format = {64, 32, 8, Chroma::c420};
  for (const OptionTexts &texts : variants) {
    const Options options = parse(e, texts);
    const auto scorer = e.make_scorer(options, format);
    const uint64_t lookahead = static_cast<uint64_t>(e.lookahead(options));
    for (size_t frames = 0; frames <= 9; ++frames) {  // the same scorer for every stream: reset() must do
      SCOPED_TRACE(options.suffix() + ", " + std::to_string(frames) + " frames");
      Noise source(static_cast<uint32_t>(frames));
      std::vector<uint64_t> sads;
      for (size_t i = 0; i < frames; ++i) sads.push_back(static_cast<uint64_t>(source.below(8000000)));
      std::vector<double> got[4];
      const Emit emit = [&](int output, uint64_t frame, double value) {
        EXPECT_EQ(got[output].size(), frame);
        got[output].push_back(value);
      };
      scorer->reset();
      for (size_t i = 0; i < frames; ++i) {
        const MotionSums sums = {sads[i]};
        scorer->add(i, reinterpret_cast<const std::byte *>(&sums), emit);
        // All that lookahead() promises is out.
        const size_t complete = i + 1 > lookahead ? i + 1 - lookahead : 0;
        EXPECT_GE(got[2].size(), complete);
        EXPECT_GE(got[3].size(), complete);
      }
      scorer->flush(emit);
      const WholeStream want = at_the_end(sads, 64, 32, [&] {
        MotionParams p;
        p.force_zero = options.boolean("motion_force_zero");
        p.blend_factor = options.real("motion_blend_factor");
        p.blend_offset = options.real("motion_blend_offset");
        p.fps_weight = options.real("motion_fps_weight");
        p.max_val = options.real("motion_max_val");
        p.five_frame_window = options.boolean("motion_five_frame_window");
        p.moving_average = options.boolean("motion_moving_average");
        return p;
      }());
      EXPECT_EQ(got[0], want.sad);
      EXPECT_TRUE(got[1].empty()) << "debug output";
      EXPECT_EQ(got[2], want.motion2);
      EXPECT_EQ(got[3], want.motion3);
    }
  }
}

TEST(Motion, LooksAsFarAsItSays) {
  const Extractor &e = extractor("motion");
  const auto reach = [&](const OptionTexts &texts) {
    const Options options = parse(e, texts);
    return std::make_pair(e.reads(options).lookback(), e.lookahead(options));
  };
  EXPECT_EQ(reach({}), std::make_pair(1, 1));
  EXPECT_EQ(reach({{"motion_five_frame_window", "true"}}), std::make_pair(2, 2));
  EXPECT_EQ(reach({{"motion_force_zero", "true"}}), std::make_pair(0, 0));
}

TEST(Motion, ForceZeroReadsNoPicture) {
  const Extractor &e = extractor("motion");
  const Options options = parse(e, {{"motion_force_zero", "true"}});
  const auto metric = CpuBackend::choose()->make(e, options, {64, 64, 8, Chroma::c420});
  const Views views;  // no planes at all
  FrameView frame;
  frame.dist = {&views, 1};
  frame.index = 5;
  MotionSums sums = {99};
  metric->measure(frame, 0, 0, nullptr, nullptr, reinterpret_cast<std::byte *>(&sums));
  EXPECT_EQ(sums.sad, 0u);
}

TEST(Motion, RefusesWhatItIsNotDefinedFor) {
  const Extractor &e = extractor("motion");
  const Options options = parse(e, {});
  EXPECT_TRUE(e.check(options, {3, 3, 8, Chroma::c420}).ok());
  EXPECT_EQ(e.check(options, {2, 400, 8, Chroma::c420}).message(),
            "motion needs at least 3x3 samples, the picture is 2x400");
  EXPECT_FALSE(e.check(options, {64, 64, 7, Chroma::c420}).ok());
}

}  // namespace
}  // namespace vmafhip
