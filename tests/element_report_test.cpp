// The score that messages speak of, action signals, statistics, the log, and what is left after a stop without an end.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "gst/vmafhip/structures.h"
#include "tests/still_clip.h"

namespace vmafhip::test {
namespace {

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
  EXPECT_EQ(number(pipeline.pooled[0].get(), "late"), 0u);
  EXPECT_EQ(of_type(pipeline, "window").size(), 1u);
  ASSERT_EQ(of_type(pipeline, "alert").size(), 2u);
  EXPECT_EQ(alert_text(of_type(pipeline, "alert")[1]), "cleared 9 since 9");
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
