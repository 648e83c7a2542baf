// sync=content in pipelines: what is paired, what is said, and that streams go on where nothing can be known. Which offsets
// can be found is content_sync_test's affair.
#include <gtest/gtest.h>

#include <condition_variable>

#include "tests/content/drawn.h"
#include "tests/pipeline.h"

namespace vmafhip::test {
namespace {

using content::test::Drawing;
using content::test::Programme;
using Draw = std::function<Drawing(double)>;

constexpr int kWidth = 128, kHeight = 72;
constexpr gint64 kFrame = 40 * GST_MSECOND;

GstBuffer *frame(const Draw &draw, int number, double shift) {
  const Drawing drawing = draw(number / 25. + shift);
  Planes planes;
  planes[0].assign(drawing.luma.begin(), drawing.luma.end());
  GstBuffer *buffer = make_buffer(video_info("GRAY8", kWidth, kHeight), planes);
  GST_BUFFER_PTS(buffer) = GstClockTime(number) * GstClockTime(kFrame);
  GST_BUFFER_DURATION(buffer) = GstClockTime(kFrame);
  return buffer;
}

// Frames 0 to count-1, each drawn for its time + shift s.
std::function<GstBuffer *()> clip(int count, Draw draw, double shift = 0) {
  return [=, n = 0]() mutable -> GstBuffer * { return n < count ? frame(draw, n++, shift) : nullptr; };
}

std::string description(const std::string &settings = "", const std::string &source = "") {
  const std::string caps = caps_text("GRAY8", kWidth, kHeight);
  return "vmafhip name=v sync=content " + settings + " ! fakesink name=out appsrc name=ref " + source +
         " caps=" + caps + " ! v.ref_sink appsrc name=dist " + source + " caps=" + caps + " ! v.dist_sink";
}

std::string text(const GstStructure *s, const char *field) {
  const char *value = gst_structure_get_string(s, field);
  return value ? value : "(none)";
}

// The states that were said, in order.
std::vector<std::string> states(const Pipeline &pipeline) {
  std::vector<std::string> result;
  for (const StructurePtr &s : pipeline.others)
    if (text(s.get(), "type") == "sync") {
      result.push_back(text(s.get(), "state"));
      EXPECT_TRUE(gst_structure_has_field_typed(s.get(), "offset", G_TYPE_INT64));
      EXPECT_GE(real(s.get(), "confidence"), 0);
      EXPECT_LE(real(s.get(), "confidence"), 1);
      EXPECT_TRUE(gst_structure_has_field_typed(s.get(), "frames", G_TYPE_UINT64));
    }
  return result;
}

StructurePtr stats(Pipeline &pipeline) {
  GstStructure *s = nullptr;
  g_object_get(pipeline.get("v"), "stats", &s, nullptr);
  return StructurePtr(s);
}
guint64 counter(Pipeline &pipeline, const char *name) { return number(stats(pipeline).get(), name); }
std::string sync_state(Pipeline &pipeline) { return text(stats(pipeline).get(), "sync-state"); }

using Words = std::vector<std::string>;

// Every pair is of one moment: its pictures are the same.
void expect_true_pairs(const Pipeline &pipeline, int frames_off) {
  for (const StructurePtr &s : pipeline.frames) {
    EXPECT_EQ(text(s.get(), "sync"), "content");
    EXPECT_EQ(gint64(number(s.get(), "timestamp")) - gint64(number(s.get(), "dist-timestamp")),
              frames_off * kFrame);
    EXPECT_EQ(signed_number(s.get(), "distance"), -frames_off * kFrame);
    EXPECT_NEAR(real_in(s.get(), "features", "integer_vif_scale0"), 1, 1e-6);
    EXPECT_NEAR(real_in(s.get(), "features", "integer_adm2"), 1, 1e-4);
  }
}

TEST(ElementContent, ScoresTheFramesOfOneMoment) {
  for (const int frames_off : {33, -17}) {
    SCOPED_TRACE(frames_off);
    Pipeline pipeline(description());
    pipeline.feed("ref", clip(125, Programme()));
    pipeline.feed("dist", clip(125, Programme(), frames_off / 25.));
    ASSERT_EQ(pipeline.run(), "eos");
    EXPECT_EQ(states(pipeline), (Words{"searching", "locked"}));
    const size_t common = size_t(125 - std::abs(frames_off));
    EXPECT_EQ(pipeline.frames.size(), common);
    expect_true_pairs(pipeline, frames_off);
    const GstStructure *locked = pipeline.others.back().get();
    EXPECT_NEAR(double(signed_number(locked, "offset")), double(frames_off * kFrame), 0.1 * kFrame);
    EXPECT_GT(real(locked, "confidence"), 0.3);
    EXPECT_GT(number(locked, "frames"), 40u);
    ASSERT_EQ(pipeline.pooled.size(), 1u);
    const GstStructure *pooled = pipeline.pooled[0].get();
    EXPECT_NEAR(double(signed_number(pooled, "offset")), double(frames_off * kFrame), 0.1 * kFrame);
    EXPECT_EQ(text(pooled, "sync-state"), "locked");
    EXPECT_EQ(number(pooled, "ref-unmatched"), 125 - common);
    EXPECT_EQ(number(pooled, "dist-unmatched"), 125 - common);
    EXPECT_EQ(number(pooled, "unknowable"), 0u);
    EXPECT_TRUE(pipeline.resets.empty());
    // All frames of the selected stream leave, those with a partner carry its score.
    EXPECT_EQ(pipeline.out.size(), 125u);
    EXPECT_EQ(size_t(std::count_if(pipeline.out.begin(), pipeline.out.end(),
                                   [](const Out &out) { return out.score_index >= 0; })),
              common);
    EXPECT_TRUE(pipeline.warnings.empty());
  }
}

TEST(ElementContent, UnlikeStreamsAreComparedByTimeStampsAndSaidToBe) {
  Pipeline pipeline(description("sync-window=1000000000"));
  pipeline.feed("ref", clip(100, Programme{1}));
  pipeline.feed("dist", clip(100, Programme{2}));
  ASSERT_EQ(pipeline.run(), "eos");
  EXPECT_EQ(states(pipeline), (Words{"searching", "unknowable"}));
  EXPECT_EQ(pipeline.frames.size(), 100u);
  for (const StructurePtr &s : pipeline.frames) {
    EXPECT_EQ(text(s.get(), "sync"), "timestamp");
    EXPECT_EQ(signed_number(s.get(), "distance"), 0);
  }
  ASSERT_EQ(pipeline.pooled.size(), 1u);
  EXPECT_EQ(number(pipeline.pooled[0].get(), "unknowable"), 100u);
  EXPECT_EQ(signed_number(pipeline.pooled[0].get(), "offset"), 0);
  EXPECT_EQ(text(pipeline.pooled[0].get(), "sync-state"), "unknowable");
}

TEST(ElementContent, NothingIsScoredWhileTheOffsetIsSearched) {
  // Still pictures: the first score comes when the window and a second have been searched.
  const Draw still = [](double) { return Programme{}(0.5); };
  std::mutex mutex;
  std::condition_variable changed;
  int allowed = 45;
  const auto limited = [&](std::function<GstBuffer *()> next, int last) {
    return [&, next, last, n = 0]() mutable -> GstBuffer * {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return n < allowed || n >= last; });
      ++n;
      return next();
    };
  };
  Pipeline pipeline(description("sync-window=1000000000"));
  pipeline.feed("ref", limited(clip(90, still), 90));
  pipeline.feed("dist", limited(clip(90, still), 90));
  ASSERT_TRUE(pipeline.play());
  // 45 frames are less than two seconds.
  while (counter(pipeline, "ref-frames") < 45 || counter(pipeline, "dist-frames") < 45) g_usleep(1000);
  EXPECT_EQ(counter(pipeline, "compared"), 0u);
  EXPECT_EQ(sync_state(pipeline), "searching");
  {
    std::lock_guard lock(mutex);
    allowed = 90;
  }
  changed.notify_all();
  ASSERT_EQ(pipeline.wait(), "eos");
  EXPECT_EQ(counter(pipeline, "compared"), 90u);
  EXPECT_EQ(sync_state(pipeline), "unknowable");
  EXPECT_EQ(pipeline.frames.size(), 90u);
  for (const StructurePtr &s : pipeline.frames) EXPECT_EQ(text(s.get(), "sync"), "timestamp");
}

TEST(ElementContent, ShortClipsAreDecidedAtTheirEnd) {
  Pipeline alike(description());
  alike.feed("ref", clip(38, Programme()));
  alike.feed("dist", clip(38, Programme(), 0.2));
  ASSERT_EQ(alike.run(), "eos");
  EXPECT_EQ(alike.frames.size(), 33u);
  expect_true_pairs(alike, 5);
  Pipeline unlike(description());
  unlike.feed("ref", clip(20, Programme{1}));
  unlike.feed("dist", clip(20, Programme{2}));
  ASSERT_EQ(unlike.run(), "eos");
  EXPECT_EQ(states(unlike), (Words{"searching", "unknowable"}));
  EXPECT_EQ(unlike.frames.size(), 20u);
}

TEST(ElementContent, ALockIsLostInAForeignProgrammeAndMadeAnew) {
  const Draw interrupted = [](double t) { return t > 3 && t < 6 ? Programme{9}(t) : Programme()(t); };
  Pipeline pipeline(description("sync-window=1000000000"));
  pipeline.feed("ref", clip(225, Programme()));
  pipeline.feed("dist", clip(225, interrupted, 0.4));
  ASSERT_EQ(pipeline.run(), "eos");
  const Words said = states(pipeline);
  ASSERT_GE(said.size(), 4u);
  EXPECT_EQ(said[1], "locked");
  EXPECT_EQ(said[2], "lost");
  EXPECT_EQ(said.back(), "locked");
  size_t right = 0;
  for (const StructurePtr &s : pipeline.frames)
    right += text(s.get(), "sync") == "content" && signed_number(s.get(), "distance") == -10 * kFrame;
  EXPECT_GE(right, 95u);  // of 140: it takes some to find the offset again
  for (const StructurePtr &s : pipeline.frames) {
    if (text(s.get(), "sync") != "content") continue;
    EXPECT_GT(real_in(s.get(), "features", "integer_vif_scale0"), 0.999);
  }
}

TEST(ElementContent, SearchesAnewAfterAFlush) {
  std::mutex mutex;
  std::condition_variable changed;
  bool flushed = false;
  const auto twice = [&](double shift) {
    return [&, shift, n = 0]() mutable -> GstBuffer * {
      if (n == 80) {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return flushed; });
      }
      if (n == 160) return nullptr;
      const int number = n++;
      return number < 80 ? frame(Programme(), number, shift) : frame(Programme(), number - 80, 30 - shift);
    };
  };
  Pipeline pipeline(description());
  pipeline.feed("ref", twice(0));
  pipeline.feed("dist", twice(0.4));
  ASSERT_TRUE(pipeline.play());
  ASSERT_EQ(pipeline.wait_until([&] { return pipeline.frames.size() >= 40; }), "done");
  // The sources have given all that they have for now.
  while (counter(pipeline, "ref-frames") < 80 || counter(pipeline, "dist-frames") < 80) g_usleep(1000);
  const auto send = [&](const std::function<GstEvent *()> &make) {
    for (const char *name : {"ref", "dist"}) {
      GstPad *pad = gst_element_get_static_pad(pipeline.get(name), "src");
      EXPECT_TRUE(gst_pad_push_event(pad, make()));
      gst_object_unref(pad);
    }
  };
  send([] { return gst_event_new_flush_start(); });
  send([] { return gst_event_new_flush_stop(TRUE); });
  send([] {
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    return gst_event_new_segment(&segment);
  });
  {
    std::lock_guard lock(mutex);
    flushed = true;
  }
  changed.notify_all();
  ASSERT_EQ(pipeline.wait(), "eos");
  const Words said = states(pipeline);
  EXPECT_EQ(Words(said.begin(), said.begin() + 2), (Words{"searching", "locked"}));
  EXPECT_EQ(said.back(), "locked");
  EXPECT_GE(std::count(said.begin(), said.end(), "searching"), 2);
  ASSERT_EQ(pipeline.resets.size(), 1u);
  const guint64 first = number(pipeline.resets[0].get(), "index");
  size_t after = 0;
  for (const StructurePtr &s : pipeline.frames) {
    const bool later = number(s.get(), "index") >= first;
    EXPECT_EQ(signed_number(s.get(), "distance"), (later ? 10 : -10) * kFrame);
    after += later;
  }
  EXPECT_EQ(after, 70u);
}

TEST(ElementContent, LiveStreamsLeaveInTimeAndAreScored) {
  Pipeline pipeline(description("sync-window=1000000000", "is-live=true format=time"));
  pipeline.feed("ref", clip(100, Programme()));
  pipeline.feed("dist", clip(100, Programme(), 0.4));
  ASSERT_EQ(pipeline.run(), "eos");
  EXPECT_EQ(states(pipeline), (Words{"searching", "locked"}));
  EXPECT_EQ(pipeline.out.size(), 100u);
  EXPECT_GT(pipeline.frames.size(), 0u);
  for (const StructurePtr &s : pipeline.frames) EXPECT_EQ(signed_number(s.get(), "distance"), -10 * kFrame);
}

TEST(ElementContent, WaitingFramesKeepToTheBytes) {
  // Room for one second of both streams: an offset of two cannot be used, and is not searched.
  Pipeline pipeline(description("max-queue-bytes=" + std::to_string(50 * kWidth * kHeight)));
  pipeline.feed("ref", clip(150, Programme()));
  pipeline.feed("dist", clip(150, Programme(), 2));
  ASSERT_EQ(pipeline.run(), "eos");
  ASSERT_EQ(pipeline.warnings.size(), 1u);
  EXPECT_NE(pipeline.warnings[0].find("max-queue-bytes is too small"), std::string::npos);
  EXPECT_EQ(pipeline.out.size(), 150u);
  for (const StructurePtr &s : pipeline.frames) EXPECT_EQ(signed_number(s.get(), "distance"), -50 * kFrame);
}

TEST(ElementContent, WithoutWindowOrTimeStampsThereIsAnError) {
  Pipeline none(description("sync-window=0"));
  none.feed("ref", clip(5, Programme()));
  none.feed("dist", clip(5, Programme()));
  EXPECT_EQ(none.run(), "error");
  ASSERT_FALSE(none.errors.empty());
  EXPECT_NE(none.errors[0].find("sync-window=0"), std::string::npos);

  const auto untimed = [](std::function<GstBuffer *()> next) {
    return [next]() mutable -> GstBuffer * {
      GstBuffer *buffer = next();
      if (buffer) GST_BUFFER_PTS(buffer) = GST_CLOCK_TIME_NONE;
      return buffer;
    };
  };
  Pipeline pipeline(description());
  pipeline.feed("ref", untimed(clip(50, Programme())));
  pipeline.feed("dist", untimed(clip(50, Programme())));
  EXPECT_EQ(pipeline.run(), "error");
  ASSERT_FALSE(pipeline.errors.empty());
  EXPECT_NE(pipeline.errors[0].find("have no time stamps"), std::string::npos);
}

}  // namespace
}  // namespace vmafhip::test
