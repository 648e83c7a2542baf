// Windows and alerts of the element: what is said of stretches of a stream while it runs.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/still_clip.h"

namespace vmafhip::test {
namespace {

// ---- windows -----------------------------------------------------------------------------------

TEST(Window, PoolsItsFrames) {
  Pipeline pipeline(description("window=200000000 pool-method=min"));
  feed(pipeline, {13, "gggbggbb"});
  ASSERT_EQ(pipeline.run(), "eos");
  const auto windows = of_type(pipeline, "window");
  ASSERT_EQ(windows.size(), 3u);
  size_t next = 0;
  for (size_t w = 0; w < 3; ++w) {
    const GstStructure *s = windows[w];
    const size_t frames = w < 2 ? 5 : 3;
    EXPECT_EQ(number(s, "start"), w * 5 * kFrame);
    EXPECT_EQ(number(s, "stop"), (w * 5 + frames) * kFrame);  // the last is over when its last frame is
    EXPECT_EQ(number(s, "frames"), frames);
    double sum = 0, least = INFINITY;
    for (size_t i = 0; i < frames; ++i, ++next) {
      const double score = real(pipeline.frames[next].get(), "score");
      sum += score;
      least = std::min(least, score);
    }
    EXPECT_EQ(pooled_in(s, "models", "vmaf_v0.6.1", "mean"), sum / double(frames));
    EXPECT_EQ(pooled_in(s, "models", "vmaf_v0.6.1", "min"), least);
    EXPECT_GE(pooled_in(s, "features", "integer_adm2", "max"), 0.5);
    EXPECT_EQ(real(s, "score"), least);
    EXPECT_STREQ(gst_structure_get_string(s, "pool-method"), "min");
    EXPECT_TRUE(gst_structure_has_field(s, "backend"));
    EXPECT_TRUE(gst_structure_has_field(s, "model-source"));
  }
  EXPECT_EQ(number(pipeline.pooled.at(0).get(), "frames"), 13u);
}

// A window in which nothing was scored says so, while nothing comes.
TEST(Window, WithoutAScoredFrameHasNoScore) {
  // Large pictures of one thread: scores are not there yet when the frames without partner are.
  Pipeline pipeline(description("window=200000000 threads=1", 512));
  feed(pipeline, {.frames = 25, .quality = "ggggg----------gggggggggg", .size = 512});
  ASSERT_EQ(pipeline.run(), "eos");
  const auto windows = of_type(pipeline, "window");
  ASSERT_EQ(windows.size(), 5u);
  // Frame 4 had to wait for its successor, and its window did not.
  const guint64 frames[] = {4, 0, 0, 6, 5};
  for (size_t w = 0; w < 5; ++w) {
    EXPECT_EQ(number(windows[w], "start"), w * 5 * kFrame);
    EXPECT_EQ(number(windows[w], "stop"), (w + 1) * 5 * kFrame);
    EXPECT_EQ(number(windows[w], "frames"), frames[w]) << w;
    EXPECT_EQ(bool(gst_structure_has_field(windows[w], "score")), frames[w] > 0) << w;
  }
  EXPECT_EQ(number(windows[4], "ref-unmatched"), 10u);
}

TEST(Window, ThoseThatAFrameSkipsAreToldAsOne) {
  Pipeline pipeline(description("window=200000000"));
  feed(pipeline, {25, "ggggg          gggggggggg"});
  ASSERT_EQ(pipeline.run(), "eos");
  const auto windows = of_type(pipeline, "window");
  const guint64 start[] = {0, 5, 15, 20, 25}, frames[] = {5, 0, 5, 5};
  ASSERT_EQ(windows.size(), 4u);
  for (size_t w = 0; w < 4; ++w) {
    EXPECT_EQ(number(windows[w], "start"), start[w] * kFrame);
    EXPECT_EQ(number(windows[w], "stop"), start[w + 1] * kFrame);
    EXPECT_EQ(number(windows[w], "frames"), frames[w]) << w;
  }
}

// Without a seek: a source that begins anew. Windows follow instead of waiting for the old time to come back.
TEST(Window, TimeMayRunBackwards) {
  Pipeline pipeline(description("window=200000000"));
  for (const char *source : {"ref", "dist"})
    pipeline.feed(source, [i = 0]() mutable -> GstBuffer * {
      if (i == 30) return nullptr;
      GstBuffer *buffer = picture(i, false);
      GST_BUFFER_PTS(buffer) = GstClockTime(i < 10 ? 100 + i : i - 10) * kFrame;
      ++i;
      return buffer;
    });
  ASSERT_EQ(pipeline.run(), "eos");
  ASSERT_EQ(pipeline.frames.size(), 30u);
  const auto windows = of_type(pipeline, "window");
  ASSERT_EQ(windows.size(), 6u);
  for (size_t w = 0; w < 6; ++w) {
    EXPECT_EQ(number(windows[w], "start"), (w < 2 ? 100 + w * 5 : (w - 2) * 5) * kFrame);
    EXPECT_EQ(number(windows[w], "frames"), 5u);
  }
}

TEST(Window, EndsWithAReset) {
  Pipeline pipeline(description("window=10000000000"));
  const OpenAtEnd gate;
  feed(pipeline, {12, "g", gate.gate});
  ASSERT_TRUE(pipeline.play());
  gate->open(7);
  ASSERT_EQ(pipeline.wait_until([&] { return counter(pipeline, "compared") == 7; }), "done");
  g_signal_emit_by_name(pipeline.get("v"), "reset");
  ASSERT_EQ(pipeline.wait_until([&] { return !pipeline.resets.empty(); }), "done");
  gate->open(13);
  ASSERT_EQ(pipeline.wait(), "eos");
  const auto windows = of_type(pipeline, "window");
  ASSERT_EQ(windows.size(), 2u);
  EXPECT_EQ(number(windows[0], "frames"), 7u);
  EXPECT_EQ(number(windows[0], "stop"), 7 * kFrame);
  EXPECT_EQ(number(windows[1], "frames"), 5u);
  EXPECT_EQ(number(windows[1], "stop"), 12 * kFrame);
}

TEST(Window, NoneUnlessAskedFor) {
  Pipeline pipeline(description(""));
  feed(pipeline, {5});
  ASSERT_EQ(pipeline.run(), "eos");
  EXPECT_TRUE(pipeline.others.empty());
}

TEST(Window, NeedsTimeStamps) {
  Pipeline pipeline(description("window=1000000 sync=order"));
  for (const char *source : {"ref", "dist"})
    pipeline.feed(source, [i = 0]() mutable -> GstBuffer * {
      if (i == 6) return nullptr;
      GstBuffer *buffer = picture(i++, false);
      GST_BUFFER_PTS(buffer) = GST_CLOCK_TIME_NONE;
      return buffer;
    });
  ASSERT_EQ(pipeline.run(), "eos");
  EXPECT_TRUE(of_type(pipeline, "window").empty());
  ASSERT_EQ(pipeline.warnings.size(), 1u);
  EXPECT_NE(pipeline.warnings[0].find("have no time stamps"), std::string::npos) << pipeline.warnings[0];
  EXPECT_EQ(pipeline.frames.size(), 6u);
  EXPECT_EQ(number(pipeline.frames[0].get(), "running-time"), GST_CLOCK_TIME_NONE);
}

// ---- alerts ------------------------------------------------------------------------------------

TEST(Alert, RaisedAfterItsDurationAndCleared) {
  Pipeline pipeline(description("alert-threshold=50 alert-duration=80000000"));
  feed(pipeline, {20, "ggbbgbbbbbgggbbbbggg"});
  ASSERT_EQ(pipeline.run(), "eos");
  const auto alerts = of_type(pipeline, "alert");
  ASSERT_EQ(alerts.size(), 4u);
  EXPECT_EQ(alert_text(alerts[0]), "raised 7 since 5");
  EXPECT_EQ(alert_text(alerts[1]), "cleared 10 since 5");
  EXPECT_EQ(alert_text(alerts[2]), "raised 15 since 13");
  EXPECT_EQ(alert_text(alerts[3]), "cleared 17 since 13");
  EXPECT_EQ(real(alerts[0], "score"), real(pipeline.frames[7].get(), "score"));
  EXPECT_EQ(real(alerts[1], "score"), real(pipeline.frames[10].get(), "score"));
  EXPECT_EQ(real(alerts[0], "threshold"), 50);
  EXPECT_STREQ(gst_structure_get_string(alerts[0], "source"), "vmaf_v0.6.1");
}

TEST(Alert, OfAFeatureAbove) {
  Pipeline pipeline(
      description("alert-threshold=0.9 alert-direction=above score-source=integer_adm2 frame-message=false"));
  feed(pipeline, {6, "bbggbb"});
  ASSERT_EQ(pipeline.run(), "eos");
  const auto alerts = of_type(pipeline, "alert");
  ASSERT_EQ(alerts.size(), 2u);
  EXPECT_EQ(alert_text(alerts[0]), "raised 2 since 2");
  EXPECT_EQ(alert_text(alerts[1]), "cleared 4 since 2");
  EXPECT_STREQ(gst_structure_get_string(alerts[0], "source"), "integer_adm2");
}

// Nothing is scored for a while: the alert stays, and time goes on.
TEST(Alert, StaysWhileNothingIsScored) {
  Pipeline pipeline(description("alert-threshold=50 alert-duration=400000000"));
  feed(pipeline, {30, "gbb---------------bbbggggggggg"});
  ASSERT_EQ(pipeline.run(), "eos");
  const auto alerts = of_type(pipeline, "alert");
  ASSERT_EQ(alerts.size(), 2u);
  EXPECT_EQ(alert_text(alerts[0]), "raised 18 since 1");
  EXPECT_EQ(alert_text(alerts[1]), "cleared 21 since 1");
}

TEST(Alert, TheEndClearsWithoutAScore) {
  Pipeline pipeline(description("alert-threshold=50"));
  feed(pipeline, {5, "ggbbb"});
  ASSERT_EQ(pipeline.run(), "eos");
  const auto alerts = of_type(pipeline, "alert");
  ASSERT_EQ(alerts.size(), 2u);
  EXPECT_EQ(alert_text(alerts[0]), "raised 2 since 2");
  EXPECT_EQ(alert_text(alerts[1]), "cleared 4 since 2");
  EXPECT_FALSE(gst_structure_has_field(alerts[1], "score"));
}

TEST(Alert, RulesChangeWhilePlaying) {
  Pipeline pipeline(description(""));
  const OpenAtEnd gate;
  feed(pipeline, {30, "b", gate.gate});
  ASSERT_TRUE(pipeline.play());
  auto scored = [&](guint64 n) {
    return pipeline.wait_until([&, n] { return counter(pipeline, "scored") == n; });
  };
  gate->open(11);
  ASSERT_EQ(scored(10), "done");
  EXPECT_TRUE(pipeline.others.empty());
  g_object_set(pipeline.get("v"), "alert-threshold", 99.0, nullptr);
  gate->open(21);
  ASSERT_EQ(scored(20), "done");
  g_object_set(pipeline.get("v"), "alert-threshold", std::nan(""), nullptr);
  gate->open(31);
  ASSERT_EQ(pipeline.wait(), "eos");
  const auto alerts = of_type(pipeline, "alert");
  ASSERT_EQ(alerts.size(), 2u);
  EXPECT_EQ(alert_text(alerts[0]), "raised 10 since 10");
  EXPECT_EQ(alert_text(alerts[1]), "cleared 20 since 10");  // switched off
  EXPECT_FALSE(gst_structure_has_field(alerts[1], "threshold"));
}

}  // namespace
}  // namespace vmafhip::test
