// Windows, alerts, the score they speak of, action signals, statistics, and what is left after a stop without an end.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <thread>

#include "gst/vmafhip/structures.h"
#include "tests/pipeline.h"

namespace vmafhip::test {
namespace {

constexpr GstClockTime kFrame = 40 * GST_MSECOND;

// Lets a source go on to a frame only when the test wants it.
class Gate {
 public:
  void open(int frames) {
    std::lock_guard lock(mutex_);
    open_ = frames;
    changed_.notify_all();
  }
  void pass(int frame) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return frame < open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int open_ = 0;
};

// Declared after the pipeline: a test that fails lets its sources go.
struct OpenAtEnd {
  std::shared_ptr<Gate> gate = std::make_shared<Gate>();
  ~OpenAtEnd() { gate->open(1 << 30); }
  Gate *operator->() const { return gate.get(); }
};

// Frame i of a clip that stands still: noise, and what is left of it in a bad frame. Scores depend on `bad` alone.
GstBuffer *picture(int i, bool bad, int size = 64) {
  Planes planes;
  planes[0].resize(size_t(size) * size_t(size));
  guint32 noise = 1;
  for (uint16_t &v : planes[0]) {
    noise = noise * 1664525u + 1013904223u;
    v = uint16_t(bad ? 100 + (noise >> 30) : 60 + (noise >> 25));
  }
  GstBuffer *buffer = make_buffer(video_info("GRAY8", size, size), planes);
  GST_BUFFER_PTS(buffer) = GstClockTime(i) * kFrame;
  GST_BUFFER_DURATION(buffer) = kFrame;
  return buffer;
}

std::string description(const std::string &settings, int size = 64) {
  const std::string source = "appsrc caps=" + caps_text("GRAY8", size, size) + " name=";
  return "vmafhip name=v threads=2 " + settings + " ! fakesink name=out sync=false " + source +
         "ref ! v.ref_sink " + source + "dist ! v.dist_sink";
}

struct Clip {
  int frames = 0;
  std::string quality =
      "g";  // of frame i: 'b' bad, '-' no distorted one, ' ' none at all, else good; repeated
  std::shared_ptr<Gate> gate = {};  // of both sources
  int size = 64;
};

void feed(Pipeline &pipeline, const Clip &clip) {
  for (const bool dist : {false, true})
    pipeline.feed(dist ? "dist" : "ref", [clip, dist, i = 0]() mutable -> GstBuffer * {
      auto quality = [&] { return clip.quality[size_t(i) % clip.quality.size()]; };
      while (i < clip.frames && (quality() == ' ' || (dist && quality() == '-'))) ++i;
      if (clip.gate) clip.gate->pass(i);
      if (i >= clip.frames) return nullptr;
      GstBuffer *buffer = picture(i, dist && quality() == 'b', clip.size);
      ++i;
      return buffer;
    });
}

std::vector<const GstStructure *> of_type(const Pipeline &pipeline, const char *type) {
  std::vector<const GstStructure *> found;
  for (const StructurePtr &s : pipeline.others)
    if (!std::strcmp(gst_structure_get_string(s.get(), "type"), type)) found.push_back(s.get());
  return found;
}

StructurePtr stats_of(Pipeline &pipeline) {
  GstStructure *stats = nullptr;
  g_object_get(pipeline.get("v"), "stats", &stats, nullptr);
  return StructurePtr(stats);
}

guint64 counter(Pipeline &pipeline, const char *name) { return number(stats_of(pipeline).get(), name); }

void expect_frames(const Pipeline &pipeline, size_t frames) {
  ASSERT_EQ(pipeline.frames.size(), frames);
  for (size_t i = 0; i < frames; ++i) {
    EXPECT_EQ(number(pipeline.frames[i].get(), "index"), i);
    EXPECT_EQ(number(pipeline.frames[i].get(), "timestamp"), i * kFrame);
  }
}

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

// "raised 3/5 since 3": state, frame of running-time, frame of since.
std::string text(const GstStructure *alert) {
  return std::string(gst_structure_get_string(alert, "state")) + " " +
         std::to_string(number(alert, "running-time") / kFrame) + " since " +
         std::to_string(number(alert, "since") / kFrame);
}

TEST(Alert, RaisedAfterItsDurationAndCleared) {
  Pipeline pipeline(description("alert-threshold=50 alert-duration=80000000"));
  feed(pipeline, {20, "ggbbgbbbbbgggbbbbggg"});
  ASSERT_EQ(pipeline.run(), "eos");
  const auto alerts = of_type(pipeline, "alert");
  ASSERT_EQ(alerts.size(), 4u);
  EXPECT_EQ(text(alerts[0]), "raised 7 since 5");
  EXPECT_EQ(text(alerts[1]), "cleared 10 since 5");
  EXPECT_EQ(text(alerts[2]), "raised 15 since 13");
  EXPECT_EQ(text(alerts[3]), "cleared 17 since 13");
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
  EXPECT_EQ(text(alerts[0]), "raised 2 since 2");
  EXPECT_EQ(text(alerts[1]), "cleared 4 since 2");
  EXPECT_STREQ(gst_structure_get_string(alerts[0], "source"), "integer_adm2");
}

// Nothing is scored for a while: the alert stays, and time goes on.
TEST(Alert, StaysWhileNothingIsScored) {
  Pipeline pipeline(description("alert-threshold=50 alert-duration=400000000"));
  feed(pipeline, {30, "gbb---------------bbbggggggggg"});
  ASSERT_EQ(pipeline.run(), "eos");
  const auto alerts = of_type(pipeline, "alert");
  ASSERT_EQ(alerts.size(), 2u);
  EXPECT_EQ(text(alerts[0]), "raised 18 since 1");
  EXPECT_EQ(text(alerts[1]), "cleared 21 since 1");
}

TEST(Alert, TheEndClearsWithoutAScore) {
  Pipeline pipeline(description("alert-threshold=50"));
  feed(pipeline, {5, "ggbbb"});
  ASSERT_EQ(pipeline.run(), "eos");
  const auto alerts = of_type(pipeline, "alert");
  ASSERT_EQ(alerts.size(), 2u);
  EXPECT_EQ(text(alerts[0]), "raised 2 since 2");
  EXPECT_EQ(text(alerts[1]), "cleared 4 since 2");
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
  EXPECT_EQ(text(alerts[0]), "raised 10 since 10");
  EXPECT_EQ(text(alerts[1]), "cleared 20 since 10");  // switched off
  EXPECT_FALSE(gst_structure_has_field(alerts[1], "threshold"));
}

// ---- score-source ------------------------------------------------------------------------------

TEST(ScoreSource, NamesAModelOrAFeature) {
  const std::string models = "model=vmaf_v0.6.1|vmaf_v0.6.1neg:name=neg score-source=";
  const std::pair<const char *, const char *> names[] = {{"neg", "models"},
                                                         {"integer_vif_scale2", "features"}};
  for (const auto &[name, where] : names) {
    Pipeline pipeline(description(models + name));
    feed(pipeline, {6, "gb"});
    ASSERT_EQ(pipeline.run(), "eos");
    for (const StructurePtr &s : pipeline.frames)
      EXPECT_EQ(real(s.get(), "score"), real_in(s.get(), where, name));
    EXPECT_EQ(real(pipeline.pooled[0].get(), "score"),
              pooled_in(pipeline.pooled[0].get(), where, name, "mean"));
    EXPECT_EQ(real(stats_of(pipeline).get(), "pooled-score"), real(pipeline.pooled[0].get(), "score"));
    double last = 0;
    g_object_get(pipeline.get("v"), "last-score", &last, nullptr);
    EXPECT_EQ(last, real_in(pipeline.frames.back().get(), where, name));
  }
}

TEST(ScoreSource, UnknownNameListsTheNames) {
  Pipeline pipeline(description("score-source=vmaf"));
  EXPECT_FALSE(pipeline.play(GST_STATE_PAUSED));
  pipeline.wait(1);
  ASSERT_EQ(pipeline.errors.size(), 1u);
  EXPECT_NE(pipeline.errors[0].find("vmaf_v0.6.1"), std::string::npos) << pipeline.errors[0];
  EXPECT_NE(pipeline.errors[0].find("integer_vif_scale2"), std::string::npos) << pipeline.errors[0];
}

// ---- action signals ----------------------------------------------------------------------------

TEST(Reset, PoolsAndTemporalFeaturesBeginAnew) {
  Pipeline pipeline(description(""));
  const OpenAtEnd gate;
  feed(pipeline, {20, "g", gate.gate});
  ASSERT_TRUE(pipeline.play());
  gate->open(10);
  ASSERT_EQ(pipeline.wait_until([&] { return counter(pipeline, "compared") == 10; }), "done");
  g_signal_emit_by_name(pipeline.get("v"), "reset");
  ASSERT_EQ(pipeline.wait_until([&] { return !pipeline.resets.empty(); }), "done");
  expect_frames(pipeline, 10);  // the last one too, which has no successor
  EXPECT_EQ(number(pipeline.pooled.at(0).get(), "frames"), 10u);
  EXPECT_STREQ(gst_structure_get_string(pipeline.resets[0].get(), "reason"), "action");
  EXPECT_EQ(number(pipeline.resets[0].get(), "index"), 10u);
  gate->open(21);
  ASSERT_EQ(pipeline.wait(), "eos");
  expect_frames(pipeline, 20);
  for (size_t i = 0; i < 20; ++i) {
    gboolean warm = FALSE;
    gst_structure_get_boolean(pipeline.frames[i].get(), "warm-up", &warm);
    EXPECT_EQ(bool(warm), i == 0 || i == 10) << i;
  }
  ASSERT_EQ(pipeline.pooled.size(), 2u);
  EXPECT_EQ(number(pipeline.pooled[1].get(), "frames"), 10u);
  EXPECT_EQ(number(pipeline.pooled[1].get(), "scored"), 20u);
}

TEST(PostPooled, DoesNotBeginAnew) {
  Pipeline pipeline(description(""));
  const OpenAtEnd gate;
  feed(pipeline, {20, "g", gate.gate});
  ASSERT_TRUE(pipeline.play());
  gate->open(10);
  ASSERT_EQ(pipeline.wait_until([&] { return counter(pipeline, "compared") == 10; }), "done");
  g_signal_emit_by_name(pipeline.get("v"), "post-pooled");
  ASSERT_EQ(pipeline.wait_until([&] { return !pipeline.pooled.empty(); }), "done");
  EXPECT_EQ(number(pipeline.pooled[0].get(), "frames"), 9u);  // the tenth waits for its successor
  gate->open(21);
  ASSERT_EQ(pipeline.wait(), "eos");
  ASSERT_EQ(pipeline.pooled.size(), 2u);
  EXPECT_EQ(number(pipeline.pooled[1].get(), "frames"), 20u);
  EXPECT_TRUE(pipeline.resets.empty());
}

TEST(Actions, AfterTheEnd) {
  Pipeline pipeline(description(""));
  feed(pipeline, {8});
  ASSERT_EQ(pipeline.run(), "eos");
  g_signal_emit_by_name(pipeline.get("v"), "post-pooled");
  ASSERT_EQ(pipeline.wait_until([&] { return pipeline.pooled.size() == 2; }), "done");
  EXPECT_EQ(number(pipeline.pooled[1].get(), "frames"), 8u);
  g_signal_emit_by_name(pipeline.get("v"), "reset");
  ASSERT_EQ(pipeline.wait_until([&] { return !pipeline.resets.empty(); }), "done");
  EXPECT_EQ(number(pipeline.resets[0].get(), "index"), 8u);
  g_signal_emit_by_name(pipeline.get("v"), "post-pooled");
  ASSERT_EQ(pipeline.wait_until([&] { return pipeline.pooled.size() == 3; }), "done");
  EXPECT_EQ(number(pipeline.pooled[2].get(), "frames"), 0u);
  EXPECT_FALSE(gst_structure_has_field(pipeline.pooled[2].get(), "score"));
}

TEST(Actions, BelowPausedDoNothingButWarn) {
  static std::atomic<int> warnings;
  warnings = 0;
  const GstLogFunction count = [](GstDebugCategory *category, GstDebugLevel level, const gchar *,
                                  const gchar *, gint, GObject *, GstDebugMessage *, gpointer) {
    if (level == GST_LEVEL_WARNING && !std::strcmp(gst_debug_category_get_name(category), "vmafhip"))
      ++warnings;
  };
  gst_debug_set_threshold_for_name("vmafhip", GST_LEVEL_WARNING);
  gst_debug_remove_log_function(gst_debug_log_default);
  gst_debug_add_log_function(count, nullptr, nullptr);
  Pipeline pipeline(description(""));
  feed(pipeline, {5});
  for (const char *name : {"reset", "post-pooled"}) g_signal_emit_by_name(pipeline.get("v"), name);
  EXPECT_EQ(warnings, 2);
  ASSERT_EQ(pipeline.run(), "eos");
  EXPECT_TRUE(pipeline.resets.empty());
  EXPECT_EQ(pipeline.pooled.size(), 1u);
  gst_debug_remove_log_function(count);
  gst_debug_add_log_function(gst_debug_log_default, nullptr, nullptr);
  gst_debug_set_threshold_for_name("vmafhip", GST_LEVEL_NONE);
}

// In the comparing thread itself: from a handler of its message, and from a probe behind it.
TEST(Actions, FromTheComparingThread) {
  Pipeline pipeline(description(""));
  feed(pipeline, {20});
  static GstElement *v;
  v = pipeline.get("v");
  GstBus *bus = gst_element_get_bus(pipeline.element());
  gst_bus_set_sync_handler(
      bus,
      [](GstBus *, GstMessage *message, gpointer) {
        const GstStructure *s = gst_message_get_structure(message);
        guint64 index;
        if (s && gst_structure_has_name(s, "vmafhip") && gst_structure_get_uint64(s, "index", &index) &&
            index == 5 && !std::strcmp(gst_structure_get_string(s, "type"), "frame"))
          g_signal_emit_by_name(v, "reset");
        return GST_BUS_PASS;
      },
      nullptr, nullptr);
  gst_object_unref(bus);
  GstPad *pad = gst_element_get_static_pad(pipeline.get("out"), "sink");
  gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_BUFFER,
      [](GstPad *, GstPadProbeInfo *info, gpointer) {
        if (GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info)) == 12 * kFrame) {
          g_signal_emit_by_name(v, "reset");
          g_signal_emit_by_name(v, "post-pooled");
        }
        return GST_PAD_PROBE_OK;
      },
      nullptr, nullptr);
  gst_object_unref(pad);
  ASSERT_EQ(pipeline.run(), "eos");
  expect_frames(pipeline, 20);
  ASSERT_EQ(pipeline.resets.size(), 2u);
  EXPECT_EQ(pipeline.pooled.size(), 4u);  // two resets, one on request, the end
  EXPECT_GT(number(pipeline.resets[0].get(), "index"), 5u);
  EXPECT_EQ(pipeline.count_out(), 20u);
}

// From everywhere at once, with the statistics read: each frame is still said once, and its pools are whole.
TEST(Actions, FromManyThreads) {
  Pipeline pipeline(description("window=80000000 alert-threshold=50"));
  feed(pipeline, {120, "ggb"});
  ASSERT_TRUE(pipeline.play());
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, v = pipeline.get("v"), t] {
      while (!over) {
        g_signal_emit_by_name(v, t % 2 ? "reset" : "post-pooled");
        GstStructure *stats;
        g_object_get(v, "stats", &stats, nullptr);
        gst_structure_free(stats);
        g_object_set(v, "alert-threshold", t % 2 ? 50. : 99.9, nullptr);
        g_usleep(500);
      }
    });
  const std::string end = pipeline.wait();
  over = true;
  for (std::thread &t : threads) t.join();
  ASSERT_EQ(end, "eos");
  expect_frames(pipeline, 120);
  EXPECT_GT(pipeline.resets.size(), 0u);
  guint64 in_windows = 0;
  for (const GstStructure *s : of_type(pipeline, "window")) in_windows += number(s, "frames");
  EXPECT_EQ(in_windows, 120u);
  int raised = 0;
  for (const GstStructure *s : of_type(pipeline, "alert")) {
    const bool up = !std::strcmp(gst_structure_get_string(s, "state"), "raised");
    EXPECT_EQ(raised, up ? 0 : 1);
    raised += up ? 1 : -1;
  }
  EXPECT_EQ(raised, 0);
}

// ---- stop without an end -----------------------------------------------------------------------

TEST(Stop, LosesNothing) {
  Pipeline pipeline(description("window=10000000000 alert-threshold=50"));
  const OpenAtEnd gate;
  feed(pipeline, {20, "gggggggggb", gate.gate});
  ASSERT_TRUE(pipeline.play());
  gate->open(10);
  ASSERT_EQ(pipeline.wait_until([&] { return counter(pipeline, "compared") == 10; }), "done");
  gst_element_set_state(pipeline.element(), GST_STATE_READY);
  pipeline.wait(0);  // what was posted
  expect_frames(pipeline, 10);
  ASSERT_EQ(pipeline.pooled.size(), 1u);
  EXPECT_EQ(number(pipeline.pooled[0].get(), "frames"), 10u);
  EXPECT_EQ(of_type(pipeline, "window").size(), 1u);
  ASSERT_EQ(of_type(pipeline, "alert").size(), 2u);
  EXPECT_EQ(text(of_type(pipeline, "alert")[1]), "cleared 9 since 9");
  gate->open(21);
  pipeline.stop();
  const StructurePtr stats = stats_of(pipeline);  // also now
  EXPECT_EQ(number(stats.get(), "scored"), 10u);
  EXPECT_EQ(real(stats.get(), "pooled-score"), real(pipeline.pooled[0].get(), "score"));
  EXPECT_FALSE(gst_structure_has_field(stats.get(), "lag"));
  EXPECT_FALSE(gst_structure_has_field(stats.get(), "fps"));
  // The next run begins at 0.
  ASSERT_TRUE(pipeline.play(GST_STATE_PAUSED));
  EXPECT_EQ(counter(pipeline, "scored"), 0u);
}

TEST(Stop, AfterTheEndSaysNothingMore) {
  Pipeline pipeline(description(""));
  feed(pipeline, {5});
  ASSERT_EQ(pipeline.run(), "eos");
  gst_element_set_state(pipeline.element(), GST_STATE_READY);
  pipeline.wait(0);
  EXPECT_EQ(pipeline.pooled.size(), 1u);
  EXPECT_EQ(pipeline.frames.size(), 5u);
}

TEST(Stop, AfterAnErrorKeepsTheResults) {
  Pipeline pipeline(description(""));
  feed(pipeline, {20});
  // The element behind fails.
  GstPad *pad = gst_element_get_static_pad(pipeline.get("v"), "src");
  gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_BUFFER,
      [](GstPad *, GstPadProbeInfo *info, gpointer) {
        if (GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info)) != 8 * kFrame) return GST_PAD_PROBE_OK;
        gst_buffer_unref(GST_PAD_PROBE_INFO_BUFFER(info));
        GST_PAD_PROBE_INFO_FLOW_RETURN(info) = GST_FLOW_ERROR;
        return GST_PAD_PROBE_HANDLED;
      },
      nullptr, nullptr);
  gst_object_unref(pad);
  ASSERT_EQ(pipeline.run(), "error");
  gst_element_set_state(pipeline.element(), GST_STATE_READY);
  pipeline.wait(0);
  ASSERT_EQ(pipeline.pooled.size(), 1u);
  EXPECT_GE(number(pipeline.pooled[0].get(), "frames"), 9u);
  EXPECT_EQ(number(pipeline.pooled[0].get(), "frames"), pipeline.frames.size());
}

// ---- statistics --------------------------------------------------------------------------------

TEST(Stats, WhileRunning) {
  Pipeline pipeline(description(""));
  EXPECT_FALSE(gst_structure_has_field(stats_of(pipeline).get(), "last-score"));  // not a silent zero
  const OpenAtEnd gate;
  feed(pipeline, {10, "g", gate.gate});
  ASSERT_TRUE(pipeline.play());
  gate->open(8);
  ASSERT_EQ(pipeline.wait_until([&] { return counter(pipeline, "scored") == 7; }), "done");
  const StructurePtr stats = stats_of(pipeline);
  EXPECT_EQ(number(stats.get(), "compared"), 8u);
  EXPECT_EQ(number(stats.get(), "lag"), kFrame);  // the eighth is here, the seventh scored
  EXPECT_EQ(number(stats.get(), "ref-queue-frames"), 0u);
  EXPECT_EQ(signed_number(stats.get(), "offset"), 0);
  EXPECT_TRUE(gst_structure_has_field(stats.get(), "backend"));
  EXPECT_TRUE(gst_structure_has_field(stats.get(), "model-source"));
  gate->open(11);
  ASSERT_EQ(pipeline.wait(), "eos");
}

// ---- log ---------------------------------------------------------------------------------------

// What is logged above LOG level does not grow with the stream, and says which element speaks.
TEST(Log, NothingForEachFrame) {
  struct Logged {
    std::atomic<int> coarse{0}, fine{0}, anonymous{0};
  };
  const GstLogFunction count = [](GstDebugCategory *category, GstDebugLevel level, const gchar *,
                                  const gchar *, gint, GObject *object, GstDebugMessage *, gpointer to) {
    if (!g_str_has_prefix(gst_debug_category_get_name(category), "vmafhip")) return;
    auto &logged = *static_cast<Logged *>(to);
    ++(level < GST_LEVEL_LOG ? logged.coarse : logged.fine);
    if (!object) ++logged.anonymous;
  };
  gst_debug_set_threshold_from_string("vmafhip*:9", FALSE);
  gst_debug_remove_log_function(gst_debug_log_default);
  Logged logged[2];
  for (int i = 0; i < 2; ++i) {
    gst_debug_add_log_function(count, &logged[i], nullptr);
    Pipeline pipeline(description("window=1000000000"));
    feed(pipeline, {i == 0 ? 20 : 200, "ggg-"});
    EXPECT_EQ(pipeline.run(), "eos");
    pipeline.stop();
    gst_debug_remove_log_function(count);
  }
  gst_debug_add_log_function(gst_debug_log_default, nullptr, nullptr);
  gst_debug_set_threshold_from_string("vmafhip*:0", FALSE);
  EXPECT_GT(logged[0].coarse, 0);
  EXPECT_EQ(logged[0].coarse, logged[1].coarse);
  EXPECT_GE(logged[1].fine, 200);  // scores, and frames without partner
  EXPECT_EQ(logged[0].anonymous + logged[1].anonymous, 0);
}

TEST(Structures, LeaveOutWhatIsNotFinite) {
  StructurePtr s(gst_structure_new_empty("s"));
  for (const double value : {HUGE_VAL, -HUGE_VAL, std::nan("")}) set_double(s.get(), "x", value);
  EXPECT_FALSE(gst_structure_has_field(s.get(), "x"));
  set_double(s.get(), "x", -0.5);
  EXPECT_EQ(real(s.get(), "x"), -0.5);
}

}  // namespace
}  // namespace vmafhip::test
