// Float motion: libvmaf's figures, an evaluation by the book, options, and scores that come as soon as they can.
#include "engine/arith/motion_float.h"

#include <algorithm>

#include "tests/colour_run.h"
#include "tests/float_book.h"

namespace vmafhip {
namespace {

using namespace test;

// The figures of libvmaf for its check clips have 12 digits.
TEST(MotionFloat, EqualsLibvmaf) {
  const double expected[2][2] = {{3.07367753983, 3.07799530029}, {3.07408571243, 3.0779209137}};
  for (const int depth : {8, 10}) {
    std::vector<Luma> ref, dist;
    for (int n = 0; n < 3; ++n) {
      const CheckPair pair = check_pair(depth, n);
      ref.push_back(pair.ref.planes[0]);
      dist.push_back(pair.dist.planes[0]);
    }
    const Scores scores = run("float_motion", {}, ref, dist);
    const double first = expected[depth > 8][0], second = expected[depth > 8][1];
    const double want[3][3] = {{0, first, second}, {0, first, second}, {first, first, second}};
    const char *const names[] = {"motion", "motion2", "motion3"};
    ASSERT_EQ(scores.size(), 3u);
    for (int i = 0; i < 3; ++i)
      for (size_t n = 0; n < 3; ++n)
        EXPECT_NEAR(scores.at(names[i])[n], want[i][n], 6e-12) << names[i] << ", frame " << n;
  }
}

// ---- Evaluation by the book -----------------------------------------------------------------------------

float book_difference(const FloatPlane &a, const FloatPlane &b) {
  float total = 0;
  for (int y = 0; y < a.height; ++y) {
    float row = 0;
    for (int x = 0; x < a.width; ++x) row += std::fabs(a.at(x, y) - b.at(x, y));
    total += row;
  }
  return total;
}

std::vector<float> taps_of(int size) {
  if (size == 1) return {1.0f};
  if (size == 3) return {0.166378498f, 0.667243004f, 0.166378498f};
  return {0.054488685f, 0.244201342f, 0.402619947f, 0.244201342f, 0.054488685f};
}

float book_sad(const Luma &earlier, const Luma &current, int size) {
  const std::vector<float> taps = taps_of(size);
  return book_difference(book_filter(to_floats(earlier), nullptr, taps),
                         book_filter(to_floats(current), nullptr, taps));
}

MotionFloatSums engine_sums(const Luma &earlier, const Luma &current, const OptionTexts &texts,
                            const Layout &layout = {}) {
  const Extractor &e = extractor("float_motion");
  MotionFloatSums sums;
  const std::vector<Luma> pictures = {earlier, current};
  std::memcpy(&sums, measure(e, parse(e, texts), pictures, pictures, layout)[1].data(), sizeof sums);
  return sums;
}

OptionTexts filter_of(int size) { return {{"motion_filter_size", std::to_string(size)}}; }

TEST(MotionFloat, EqualsTheBook) {
  for (int depth : {8, 10, 12, 16})
    for (const auto &[width, height] :
         std::vector<std::pair<int, int>>{{3, 3}, {4, 5}, {17, 3}, {3, 20}, {37, 22}, {130, 9}}) {
      const auto pictures = stress_pictures(width, height, depth);
      for (const Luma &a : pictures)
        for (const Luma &b : pictures)
          ASSERT_EQ(engine_sums(a, b, {}).sad[0], book_sad(a, b, 5))
              << depth << " bits, " << width << "x" << height;
    }
}

TEST(MotionFloat, EqualsTheBookWithAnyFilter) {
  for (int size = 0; size <= 9; ++size)
    for (int width : {3, 16, 31, 75}) {
      const Luma a = noise(width, 21, 8, 1), b = noise(width, 21, 8, 2);
      EXPECT_EQ(engine_sums(a, b, filter_of(size)).sad[0], book_sad(a, b, size)) << size << ", " << width;
    }
}

TEST(MotionFloat, HalfSizeIsAdded) {
  for (int size : {1, 3, 5})
    for (const auto &[width, height] :
         std::vector<std::pair<int, int>>{{3, 3}, {4, 8}, {31, 22}, {66, 45}, {133, 70}}) {
      const Luma a = noise(width, height, 10, 1), b = noise(width, height, 10, 2);
      OptionTexts texts = filter_of(size);
      texts["motion_add_scale1"] = "true";
      const auto half = [&, w = width, h = height](const Luma &luma) {
        return book_resize(book_filter(to_floats(luma), nullptr, taps_of(size)), (w + 1) / 2, (h + 1) / 2,
                           "bilinear");
      };
      const MotionFloatSums sums = engine_sums(a, b, texts);
      EXPECT_EQ(sums.sad[0], book_sad(a, b, size));
      EXPECT_EQ(sums.half[0], book_difference(half(a), half(b))) << width << "x" << height << ", " << size;
      const float score = sums.sad[0] / static_cast<float>(width * height) +
                          sums.half[0] / static_cast<float>((width + 1) / 2 * ((height + 1) / 2));
      EXPECT_EQ(run("float_motion", texts, {a, b}, {a, b})
                    .at("motion_mdc" + (size == 5 ? "" : "_mfs_" + std::to_string(size)))[1],
                static_cast<double>(score));
    }
}

// Of odd pictures libvmaf measures chroma without the last column and row.
TEST(MotionFloat, ChromaIsAdded) {
  const Extractor &e = extractor("float_motion");
  const Options options = parse(e, {{"motion_add_uv", "true"}});
  for (const Chroma chroma : {Chroma::c420, Chroma::c422, Chroma::c444}) {
    const PictureFormat format = {39, 23, 8, chroma};
    const Colours now = noise(format, 1), before = noise(format, 2);
    StoredColours frame(now, {now});
    const StoredColours earlier(before, {before});
    frame.view.earlier[0] = earlier.view.ref;
    const auto metric = CpuBackend::choose()->make(e, options, format);
    MotionFloatSums sums;
    std::memcpy(&sums, measure_colours(e, *metric, frame.view)[0].data(), sizeof sums);
    double want = 0;
    for (size_t p = 0; p < 3; ++p) {
      const bool narrow = p > 0 && chroma != Chroma::c444, low = p > 0 && chroma == Chroma::c420;
      const int width = narrow ? 19 : 39, height = low ? 11 : 23;
      const auto cut = [&](const Luma &from) {
        return paint(width, height, 8, [&](int x, int y) { return from.at(x, y); });
      };
      const float sad = book_sad(cut(before.planes[p]), cut(now.planes[p]), 5);
      EXPECT_EQ(sums.sad[p], sad) << p;
      want += static_cast<double>(sad / static_cast<float>(width * height));
    }
    const auto scorer = e.make_scorer(options, format);
    double got = 0;
    const Emit emit = [&](int output, uint64_t, double value) { got = output == 1 ? value : got; };
    const MotionFloatSums none = {};
    scorer->add(0, reinterpret_cast<const std::byte *>(&none), emit);
    scorer->add(1, reinterpret_cast<const std::byte *>(&sums), emit);
    EXPECT_EQ(got, want);
  }
}

TEST(MotionFloat, LayoutDoesNotMatter) {
  for (int depth : {8, 10}) {
    const Luma a = noise(41, 23, depth, 1), b = noise(41, 23, depth, 2);
    const float want = engine_sums(a, b, {}).sad[0];
    EXPECT_EQ(engine_sums(a, b, {}, {.padding = 14}).sad[0], want);
    EXPECT_EQ(engine_sums(a, b, {}, {.padding = 6, .upside = true}).sad[0], want);
    if (depth == 8) {
      EXPECT_EQ(engine_sums(a, b, {}, {.padding = 3, .offset = 1}).sad[0], want);
    }
  }
}

// ---- Temporal rules -------------------------------------------------------------------------------------

// The scores of a whole stream from its differences, as they would be worked out at its end.
struct WholeStream {
  std::vector<double> motion, motion2, motion3;
};

WholeStream at_the_end(const std::vector<double> &d, const Options &o) {
  WholeStream out;
  const double weight = o.real("motion_fps_weight"), most = o.real("motion_max_val"),
               factor = o.real("motion_blend_factor"), offset = o.real("motion_blend_offset");
  const size_t n = d.size();
  const auto blend = [&](double m) { return m * factor + (1 - factor) * std::min(offset, m); };
  for (size_t i = 0; i < n; ++i) {
    if (o.boolean("motion_force_zero")) {
      for (auto *values : {&out.motion, &out.motion2, &out.motion3}) values->push_back(0);
      continue;
    }
    out.motion.push_back(i == 0 ? 0 : std::min(d[i] * weight, most));
    double m = i + 1 < n ? std::min(d[i], d[i + 1]) : d[i];
    out.motion2.push_back(i == 0 ? 0 : std::min(m * weight, most));
    if (i == 0) m = n > 1 ? d[1] : 0;
    out.motion3.push_back(std::min(blend(m * weight), most));
  }
  return out;
}

TEST(MotionFloat, OnlineEqualsTheEnd) {
  const Extractor &e = extractor("float_motion");
  const OptionTexts variants[] = {
      {},
      {{"motion_blend_factor", "0.25"}, {"motion_blend_offset", "3"}},
      {{"motion_fps_weight", "1.5"}},
      // Limited after blending: 0.5 * 9 + 0.5 * 1 is more than the limit, of which the blend would be less.
      {{"motion_max_val", "4"}, {"motion_blend_factor", "0.5"}, {"motion_blend_offset", "1"}},
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
      std::vector<float> sads;
      for (size_t i = 0; i < frames; ++i) sads.push_back(static_cast<float>(source.below(24000)));
      std::vector<double> got[3];  // motion2, motion, motion3
      const Emit emit = [&](int output, uint64_t frame, double value) {
        EXPECT_EQ(got[output].size(), frame);
        got[output].push_back(value);
      };
      scorer->reset();
      for (size_t i = 0; i < frames; ++i) {
        const MotionFloatSums sums = {{sads[i]}, {}};
        scorer->add(i, reinterpret_cast<const std::byte *>(&sums), emit);
        const size_t complete = i + 1 > lookahead ? i + 1 - lookahead : 0;
        EXPECT_GE(got[0].size(), complete);
        EXPECT_GE(got[2].size(), complete);
      }
      scorer->flush(emit);
      std::vector<double> d;
      for (size_t i = 0; i < frames; ++i) d.push_back(i == 0 ? 0 : static_cast<double>(sads[i] / 2048.0f));
      const WholeStream want = at_the_end(d, options);
      EXPECT_EQ(got[0], want.motion2);
      EXPECT_EQ(got[1], want.motion);
      EXPECT_EQ(got[2], want.motion3);
    }
  }
}

// ---- What it reads and refuses ----------------------------------------------------------------------------

TEST(MotionFloat, ReadsWhatItSays) {
  const Extractor &e = extractor("float_motion");
  const auto reads = [&](const OptionTexts &texts) { return e.reads(parse(e, texts)); };
  EXPECT_EQ(reads({}).ref, kLuma);
  EXPECT_EQ(reads({}).earlier[0], kLuma);
  EXPECT_EQ(reads({}).earlier[1], 0);
  EXPECT_EQ(reads({}).dist | reads({}).earlier_dist, 0);
  EXPECT_EQ(reads({{"motion_add_uv", "true"}}).earlier[0], kAllPlanes);
  EXPECT_EQ(reads({{"motion_force_zero", "true"}}).lookback(), 0);
  EXPECT_EQ(e.lookahead(parse(e, {})), 1);
  EXPECT_EQ(e.lookahead(parse(e, {{"motion_force_zero", "true"}})), 0);
}

TEST(MotionFloat, NamesInLibvmafsOrder) {
  const Extractor &e = extractor("float_motion");
  const Options options = parse(e, {{"motion_filter_size", "3"}, {"motion_add_uv", "true"}});
  std::vector<std::string> names;
  for (const OutputSpec &output : e.outputs) names.push_back(log_name(output, options));
  EXPECT_EQ(names, (std::vector<std::string>{"motion2_mau_mfs_3", "motion_mau_mfs_3", "motion3_mau_mfs_3"}));
  const Luma picture = noise(20, 20, 8, 1);
  EXPECT_EQ(run("float_motion", {{"debug", "false"}}, {picture}, {picture}).count("motion"), 0u);
}

TEST(MotionFloat, RefusesWhatItIsNotDefinedFor) {
  const Extractor &e = extractor("float_motion");
  const auto said = [&](const OptionTexts &texts, const PictureFormat &format) {
    return e.check(parse(e, texts), format).message();
  };
  const OptionTexts chroma = {{"motion_add_uv", "true"}};
  EXPECT_EQ(said({}, {3, 3, 8, Chroma::c400}), "");
  EXPECT_EQ(said({}, {2, 400, 8, Chroma::c420}),
            "float_motion needs at least 3x3 samples, the picture is 2x400");
  EXPECT_EQ(said({}, {64, 64, 14, Chroma::c420}),
            "float_motion needs 8, 10, 12 or 16 bits a sample, the picture is 64x64 at 14 bits");
  EXPECT_EQ(said(chroma, {64, 64, 8, Chroma::c400}),
            "float_motion with motion_add_uv needs pictures with chroma, these have luma alone");
  EXPECT_EQ(said(chroma, {6, 6, 8, Chroma::c420}), "");
  EXPECT_EQ(said(chroma, {64, 5, 8, Chroma::c420}),
            "float_motion with motion_add_uv needs chroma planes of at least 3x3 samples, they are 32x2");
}

}  // namespace
}  // namespace vmafhip
