// What the element says of its latency agrees with what GStreamer's latency tracer measures. Runs with
// GST_TRACERS=latency(flags=element+reported).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "tests/pipeline.h"

namespace vmafhip::test {
namespace {

// The tracer's log, of the element "v" alone.
struct Trace {
  std::mutex mutex;
  std::vector<guint64> passages;  // ns from a sink pad to src, a frame each
  std::vector<guint64> reported;  // ns, as asked for by others
};

void read(GstDebugCategory *, GstDebugLevel, const gchar *, const gchar *, gint, GObject *,
          GstDebugMessage *message, gpointer data) {
  auto &trace = *static_cast<Trace *>(data);
  const char *text = gst_debug_message_get(message);
  if (!std::strstr(text, "element=(string)v,")) return;
  const auto field = [text](const char *name) {
    const char *at = std::strstr(text, name);
    return at ? std::strtoull(at + std::strlen(name), nullptr, 10) : 0;
  };
  std::lock_guard lock(trace.mutex);
  if (g_str_has_prefix(text, "element-latency,")) trace.passages.push_back(field("time=(guint64)"));
  if (g_str_has_prefix(text, "element-reported-latency,")) trace.reported.push_back(field("min=(guint64)"));
}

// Least latency as the pad, or what feeds it, answers.
GstClockTime latency(GstElement *element, const char *name) {
  GstPad *pad = gst_element_get_static_pad(element, name);
  GstQuery *query = gst_query_new_latency();
  EXPECT_TRUE(GST_PAD_IS_SRC(pad) ? gst_pad_query(pad, query) : gst_pad_peer_query(pad, query));
  gboolean live;
  GstClockTime least, most;
  gst_query_parse_latency(query, &live, &least, &most);
  EXPECT_TRUE(live);
  EXPECT_GE(most, least);
  gst_query_unref(query);
  gst_object_unref(pad);
  return least;
}

TEST(Latency, ReportedAndMeasuredAgree) {
  if (!std::getenv("GST_TRACERS") || !std::strstr(std::getenv("GST_TRACERS"), "latency"))
    GTEST_SKIP() << "without GST_TRACERS=latency(flags=element+reported)";
  constexpr guint64 kFrame = 40 * GST_MSECOND;
  constexpr size_t kFrames = 40;
  for (const bool attach : {true, false}) {
    Trace trace;
    gst_debug_remove_log_function(gst_debug_log_default);
    gst_debug_add_log_function(read, &trace, nullptr);
    gst_debug_set_threshold_for_name("GST_TRACER", GST_LEVEL_TRACE);
    Pipeline pipeline(std::string("videotestsrc is-live=true num-buffers=") + std::to_string(kFrames) +
                      " ! " + caps_text("I420", 64, 64) +
                      " ! tee name=t vmafhip name=v attach-meta=" + (attach ? "true" : "false") +
                      " ! fakesink name=out sync=false t. ! queue ! v.ref_sink t. ! queue ! v.dist_sink");
    ASSERT_TRUE(pipeline.play());
    ASSERT_EQ(pipeline.wait_until([&] { return pipeline.frames.size() >= 10; }), "done");
    const GstClockTime all = latency(pipeline.get("v"), "src"),
                       upstream = latency(pipeline.get("v"), "ref_sink");
    ASSERT_GE(all, upstream);
    const GstClockTime own = all - upstream;
    EXPECT_EQ(pipeline.wait(), "eos");
    pipeline.stop();
    gst_debug_remove_log_function(read);
    gst_debug_unset_threshold_for_name("GST_TRACER");

    // What others were told, with or without the source's, which knows its own only when it runs.
    ASSERT_FALSE(trace.reported.empty());
    EXPECT_TRUE(trace.reported.back() == own || trace.reported.back() == all) << trace.reported.back();
    ASSERT_GT(trace.passages.size(), kFrames / 2);
    std::sort(trace.passages.begin(), trace.passages.end());
    // A busy machine delays some frames, not most of them.
    const guint64 quartile = trace.passages[trace.passages.size() / 4];
    if (attach) {
      EXPECT_GT(own, kFrame);  // a score waits for the next frame
      EXPECT_LE(quartile, own);
    } else {
      EXPECT_EQ(own, 0u);
      EXPECT_LT(quartile, kFrame);
    }
  }
}

}  // namespace
}  // namespace vmafhip::test
