// Distorted streams of another size through the element: scores are the engine's, changes of size start anew, one
// warning says that there is scaling, and scale-method=none one error.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "tests/pipeline.h"
#include "tests/session_run.h"

namespace vmafhip::test {
namespace {

constexpr int kWidth = 96, kHeight = 64;

struct Size {
  int width, height;
};

clipgen::Generator clip_of(Size size, int frames, int depth) {
  clipgen::Format format{size.width, size.height, frames, depth};
  format.set_chroma("420");
  return clipgen::Generator("natural-blur", format);
}

// Frames [first, last) of a clip of `total` frames in this size, as samples with caps.
struct Part {
  Size size;
  int first, last;
};

std::function<GstSample *()> source(clipgen::Role role, std::vector<Part> parts, const char *format,
                                    int depth) {
  const int total = parts.back().last;
  return [=, part = size_t(0), i = parts[0].first]() mutable -> GstSample * {
    if (i == parts[part].last) {
      if (++part == parts.size()) return nullptr;
      i = parts[part].first;
    }
    const Size size = parts[part].size;
    GstBuffer *buffer = make_buffer(video_info(format, size.width, size.height),
                                    clip_planes(clip_of(size, total, depth), role, i));
    GST_BUFFER_PTS(buffer) = GstClockTime(i) * 40 * GST_MSECOND;
    GST_BUFFER_DURATION(buffer) = 40 * GST_MSECOND;
    ++i;
    GstCaps *caps = gst_caps_from_string(caps_text(format, size.width, size.height).c_str());
    GstSample *sample = gst_sample_new(buffer, caps, nullptr, nullptr);
    gst_caps_unref(caps);
    gst_buffer_unref(buffer);
    return sample;
  };
}

struct Played {
  std::string end;
  std::unique_ptr<Pipeline> pipeline;
};

Played play(const std::string &properties, const std::vector<Part> &dist, const char *format = "I420",
            const char *dist_format = "I420", int depth = 8) {
  Played r;
  r.pipeline = std::make_unique<Pipeline>("vmafhip name=v " + properties +
                                          " ! fakesink name=out appsrc name=ref ! v.ref_sink appsrc "
                                          "name=dist ! v.dist_sink");
  r.pipeline->feed_samples(
      "ref", source(clipgen::Role::reference, {{{kWidth, kHeight}, 0, dist.back().last}}, format, depth));
  r.pipeline->feed_samples("dist", source(clipgen::Role::distorted, dist, dist_format, depth));
  r.end = r.pipeline->run();
  return r;
}

std::vector<uint64_t> scores(const Pipeline &pipeline) {
  std::vector<uint64_t> bits;
  for (const StructurePtr &s : pipeline.frames)
    bits.push_back(std::bit_cast<uint64_t>(real(s.get(), "score")));
  return bits;
}

// What the engine says to the same pictures, part after part.
std::vector<uint64_t> engine_scores(const std::vector<Part> &dist, ScaleMethod method, int depth = 8) {
  std::vector<uint64_t> bits;
  const int total = dist.back().last;
  for (const Part &part : dist) {
    SessionOptions options;
    options.scale = method;
    auto session = Session::create(options);
    if (!session.ok()) throw std::runtime_error(session.status().message());
    const auto ref = clip_of({kWidth, kHeight}, total, depth), other = clip_of(part.size, total, depth);
    std::vector<Pair> clip;
    for (int n = part.first; n < part.last; ++n)
      clip.push_back({to_picture(ref.format(), ref.frame(clipgen::Role::reference, n)),
                      to_picture(other.format(), other.frame(clipgen::Role::distorted, n))});
    const Status status = (*session)->configure(clip[0].ref.format, clip[0].dist.format);
    EXPECT_TRUE(status.ok()) << status.message();
    for (const FrameScores &s : run_clip(**session, clip))
      bits.push_back(std::bit_cast<uint64_t>(s.dist[0].models[0]));
  }
  return bits;
}

// Warnings about scaling.
std::vector<std::string> said(const Pipeline &pipeline) {
  std::vector<std::string> found;
  for (const std::string &w : pipeline.warnings)
    if (w.find("scaled") != std::string::npos) found.push_back(w);
  return found;
}

// Errors of the element's own; sources say theirs when they are told to stop.
std::vector<std::string> refused(const Pipeline &pipeline) {
  std::vector<std::string> found;
  for (const std::string &e : pipeline.errors)
    if (e.find("reference") != std::string::npos) found.push_back(e);
  return found;
}

bool warm_up(const StructurePtr &frame) {
  gboolean value = FALSE;
  gst_structure_get_boolean(frame.get(), "warm-up", &value);
  return value;
}

TEST(Scaling, EveryMethodGivesTheEnginesScores) {
  const struct {
    const char *properties, *nick;
    ScaleMethod method;
  } cases[] = {{"", "bicubic", ScaleMethod::bicubic},
               {"scale-method=bicubic", "bicubic", ScaleMethod::bicubic},
               {"scale-method=bilinear", "bilinear", ScaleMethod::bilinear},
               {"scale-method=lanczos", "lanczos", ScaleMethod::lanczos}};
  for (const Size size : {Size{64, 40}, Size{121, 99}})
    for (const auto &c : cases) {
      const std::vector<Part> dist = {{size, 0, 4}};
      const Played r = play(c.properties, dist);
      ASSERT_EQ(r.end, "eos") << (r.pipeline->errors.empty() ? "" : r.pipeline->errors[0]);
      EXPECT_EQ(scores(*r.pipeline), engine_scores(dist, c.method)) << c.properties;
      const auto warnings = said(*r.pipeline);
      ASSERT_EQ(warnings.size(), 1u);
      for (const std::string &word : {std::to_string(size.width) + "x" + std::to_string(size.height),
                                      std::string("96x64"), std::string(c.nick), std::string("scale-method")})
        EXPECT_NE(warnings[0].find(word), std::string::npos) << word << " in: " << warnings[0];
    }
}

// Read where it lies: high bits and interleaved chroma need no converter.
TEST(Scaling, FormatsThatAreNotPlanar) {
  const std::vector<Part> dist = {{{64, 40}, 0, 3}};
  const auto expected = engine_scores(dist, ScaleMethod::bicubic, 10);
  for (const char *format : {"I420_10LE", "P010_10LE"}) {
    const Played r = play("", dist, "I420_10LE", format, 10);
    ASSERT_EQ(r.end, "eos");
    EXPECT_EQ(scores(*r.pipeline), expected) << format;
  }
}

// Fields are not scaled apart, and that is said; in width there is nothing to mix.
TEST(Scaling, InterlacedPicturesOfOtherHeights) {
  const auto mixes = [](const std::string &size) {
    const std::string scan = ",format=GRAY8,interlace-mode=interleaved,field-order=top-field-first,";
    Pipeline pipeline("vmafhip name=v ! fakesink videotestsrc num-buffers=2 ! video/x-raw" + scan +
                      "width=96,height=64 ! v.ref_sink videotestsrc num-buffers=2 ! video/x-raw" + scan +
                      size + " ! v.dist_sink");
    EXPECT_EQ(pipeline.run(), "eos") << (pipeline.errors.empty() ? "" : pipeline.errors[0]);
    return std::count_if(pipeline.warnings.begin(), pipeline.warnings.end(), [](const std::string &w) {
      return w.find("mixes their fields") != std::string::npos && w.find("deinterlace") != std::string::npos;
    });
  };
  EXPECT_EQ(mixes("width=96,height=48"), 1);
  EXPECT_EQ(mixes("width=48,height=64"), 0);
}

TEST(Scaling, EqualSizesAreNotSpokenOf) {
  const std::vector<Part> dist = {{{kWidth, kHeight}, 0, 3}};
  for (const char *properties : {"", "scale-method=none"}) {
    const Played r = play(properties, dist);
    ASSERT_EQ(r.end, "eos");
    EXPECT_EQ(scores(*r.pipeline), engine_scores(dist, ScaleMethod::none));
    EXPECT_TRUE(said(*r.pipeline).empty());
  }
}

TEST(Scaling, NoneIsOneError) {
  const Played r = play("scale-method=none", {{{64, 40}, 0, 3}});
  EXPECT_EQ(r.end, "error");
  const auto errors = refused(*r.pipeline);
  ASSERT_EQ(errors.size(), 1u);
  for (const char *word : {"96x64", "64x40", "scale-method", "bicubic"})
    EXPECT_NE(errors[0].find(word), std::string::npos) << word << " in: " << errors[0];
  EXPECT_TRUE(r.pipeline->frames.empty());
}

TEST(Scaling, NoneIsAnErrorAlsoLater) {
  const Played r = play("scale-method=none", {{{kWidth, kHeight}, 0, 4}, {{64, 40}, 4, 8}});
  EXPECT_EQ(r.end, "error");
  const auto errors = refused(*r.pipeline);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].find("64x40"), std::string::npos) << errors[0];
  EXPECT_EQ(r.pipeline->frames.size(), 4u) << "what came before is scored";
}

TEST(Scaling, TooLargeIsOneError) {
  Pipeline pipeline(
      "vmafhip name=v ! fakesink videotestsrc num-buffers=3 ! video/x-raw,format=GRAY8,width=40,height=40 ! "
      "v.ref_sink videotestsrc num-buffers=3 ! video/x-raw,format=GRAY8,width=2561,height=40 ! v.dist_sink");
  EXPECT_EQ(pipeline.run(), "error");
  const auto errors = refused(pipeline);
  ASSERT_EQ(errors.size(), 1u);
  for (const char *word : {"2561x40", "40x40", "64 times"})
    EXPECT_NE(errors[0].find(word), std::string::npos) << word << " in: " << errors[0];
}

// An adaptive stream: sizes change while it plays, the reference goes on.
TEST(Scaling, LadderOfSizes) {
  const std::vector<Part> dist = {
      {{64, 40}, 0, 5}, {{kWidth, kHeight}, 5, 9}, {{48, 32}, 9, 14}, {{64, 40}, 14, 17}};
  const Played r = play("", dist);
  ASSERT_EQ(r.end, "eos") << (r.pipeline->errors.empty() ? "" : r.pipeline->errors[0]);
  EXPECT_EQ(scores(*r.pipeline), engine_scores(dist, ScaleMethod::bicubic));
  ASSERT_EQ(r.pipeline->frames.size(), 17u);
  ASSERT_EQ(r.pipeline->resets.size(), 3u);
  ASSERT_EQ(r.pipeline->pooled.size(), 4u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_STREQ(gst_structure_get_string(r.pipeline->resets[i].get(), "reason"), "caps");
    EXPECT_EQ(number(r.pipeline->resets[i].get(), "index"), guint64(dist[i].last));
    EXPECT_EQ(number(r.pipeline->pooled[i].get(), "frames"), guint64(dist[i].last - dist[i].first));
  }
  for (size_t n = 0; n < 17; ++n) {
    EXPECT_EQ(number(r.pipeline->frames[n].get(), "index"), n);
    EXPECT_EQ(warm_up(r.pipeline->frames[n]), n == 0 || n == 5 || n == 9 || n == 14) << n;
  }
  EXPECT_EQ(r.pipeline->out.size(), 17u);
  EXPECT_EQ(said(*r.pipeline).size(), 1u);
}

// The warning comes with the first size that differs, and again when the element is started again.
TEST(Scaling, WarnsOnceARun) {
  const std::vector<Part> dist = {{{kWidth, kHeight}, 0, 2}, {{64, 40}, 2, 4}, {{48, 32}, 4, 6}};
  const Played r = play("", dist);
  ASSERT_EQ(r.end, "eos");
  ASSERT_EQ(said(*r.pipeline).size(), 1u);
  EXPECT_NE(said(*r.pipeline)[0].find("64x40"), std::string::npos);

  Pipeline again(
      "vmafhip name=v ! fakesink name=out videotestsrc num-buffers=3 ! "
      "video/x-raw,format=I420,width=96,height=64 ! v.ref_sink videotestsrc num-buffers=3 ! "
      "video/x-raw,format=I420,width=64,height=48 ! v.dist_sink");
  for (size_t runs = 1; runs <= 2; ++runs) {
    ASSERT_EQ(again.run(), "eos");
    again.stop();
    EXPECT_EQ(said(again).size(), runs);
  }
}

}  // namespace
}  // namespace vmafhip::test
