// What messages, metas and properties say.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "tests/pipeline.h"

namespace vmafhip::test {
namespace {

std::string pair_of(int frames, const std::string &settings = "") {
  const std::string caps = caps_text("I420", 64, 64), n = std::to_string(frames);
  return "vmafhip name=v " + settings + " ! fakesink name=out videotestsrc pattern=ball num-buffers=" + n +
         " ! " + caps +
         " ! v.ref_sink videotestsrc pattern=ball background-color=0xff202020 num-buffers=" + n + " ! " +
         caps + " ! v.dist_sink";
}

TEST(FrameMessage, HasAllItsFields) {
  Pipeline pipeline(pair_of(5));
  ASSERT_EQ(pipeline.run(), "eos");
  ASSERT_EQ(pipeline.frames.size(), 5u);
  for (guint64 i = 0; i < 5; ++i) {
    const GstStructure *s = pipeline.frames[i].get();
    EXPECT_EQ(number(s, "index"), i);
    EXPECT_EQ(number(s, "frame-number"), i);
    for (const char *field :
         {"timestamp", "stream-time", "running-time", "dist-timestamp", "dist-running-time"})
      EXPECT_EQ(number(s, field), i * 40 * GST_MSECOND) << field;
    EXPECT_EQ(number(s, "duration"), 40 * GST_MSECOND);
    EXPECT_EQ(signed_number(s, "distance"), 0);
    EXPECT_EQ(real(s, "score"), real_in(s, "models", "vmaf_v0.6.1"));
    EXPECT_GT(real_in(s, "features", "integer_vif_scale3"), 0);
    gboolean repeated = TRUE, warm = FALSE;
    EXPECT_TRUE(gst_structure_get_boolean(s, "repeated", &repeated));
    EXPECT_FALSE(repeated);
    EXPECT_TRUE(gst_structure_get_boolean(s, "warm-up", &warm));
    EXPECT_EQ(bool(warm), i == 0);
    const std::string source = gst_structure_get_string(s, "model-source");
    EXPECT_TRUE(source == "fitted" || source == "file") << source;
  }
}

TEST(FrameMessage, CanBeTurnedOff) {
  Pipeline pipeline(pair_of(5, "frame-message=false"));
  ASSERT_EQ(pipeline.run(), "eos");
  EXPECT_TRUE(pipeline.frames.empty());
  EXPECT_EQ(pipeline.pooled.size(), 1u);
  ASSERT_EQ(pipeline.out.size(), 5u);
  for (gint64 i = 0; i < 5; ++i) EXPECT_EQ(pipeline.out[size_t(i)].score_index, i);  // metas are still there
}

TEST(Meta, CanBeTurnedOff) {
  Pipeline pipeline(pair_of(5, "attach-meta=false"));
  ASSERT_EQ(pipeline.run(), "eos");
  EXPECT_EQ(pipeline.frames.size(), 5u);
  ASSERT_EQ(pipeline.out.size(), 5u);
  for (const Out &o : pipeline.out) EXPECT_EQ(o.score_index, -1);
}

// The meta's structure is the message's, and it survives a copy of the buffer.
TEST(Meta, HasTheMessagesFields) {
  Pipeline pipeline(pair_of(3));
  std::vector<StructurePtr> metas;
  GstPad *pad = gst_element_get_static_pad(pipeline.get("out"), "sink");
  gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_BUFFER,
      [](GstPad *, GstPadProbeInfo *info, gpointer to) {
        GstBuffer *copy = gst_buffer_copy(GST_PAD_PROBE_INFO_BUFFER(info));
        if (GstCustomMeta *meta = gst_buffer_get_custom_meta(copy, "VmafHipScore"))
          static_cast<std::vector<StructurePtr> *>(to)->emplace_back(
              gst_structure_copy(gst_custom_meta_get_structure(meta)));
        gst_buffer_unref(copy);
        return GST_PAD_PROBE_OK;
      },
      &metas, nullptr);
  gst_object_unref(pad);
  ASSERT_EQ(pipeline.run(), "eos");
  ASSERT_EQ(metas.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    gst_structure_set_name(metas[i].get(), "vmafhip");
    EXPECT_TRUE(gst_structure_is_equal(metas[i].get(), pipeline.frames[i].get()));
  }
}

TEST(PooledMessage, MatchesTheFrames) {
  for (const char *method : {"mean", "min", "max", "harmonic-mean"}) {
    Pipeline pipeline(pair_of(7, std::string("pool-method=") + method));
    ASSERT_EQ(pipeline.run(), "eos");
    ASSERT_EQ(pipeline.pooled.size(), 1u);
    const GstStructure *p = pipeline.pooled[0].get();
    double sum = 0, reciprocals = 0, least = INFINITY, most = -INFINITY;
    for (const StructurePtr &s : pipeline.frames) {
      const double score = real(s.get(), "score");
      sum += score;
      reciprocals += 1 / (score + 1);
      least = std::min(least, score);
      most = std::max(most, score);
    }
    EXPECT_EQ(pooled_in(p, "models", "vmaf_v0.6.1", "mean"), sum / 7);
    EXPECT_EQ(pooled_in(p, "models", "vmaf_v0.6.1", "min"), least);
    EXPECT_EQ(pooled_in(p, "models", "vmaf_v0.6.1", "max"), most);
    EXPECT_EQ(pooled_in(p, "models", "vmaf_v0.6.1", "harmonic-mean"), 7 / reciprocals - 1);
    EXPECT_EQ(real(p, "score"), pooled_in(p, "models", "vmaf_v0.6.1", method));
    EXPECT_STREQ(gst_structure_get_string(p, "pool-method"), method);
    EXPECT_EQ(number(p, "frames"), 7u);
    for (const char *counter : {"ref-frames", "dist-frames", "compared", "scored"})
      EXPECT_EQ(number(p, counter), 7u) << counter;
    EXPECT_NE(std::string(gst_structure_get_string(p, "backend")).find("cpu"), std::string::npos);
  }
}

TEST(Properties, LastScoreIsNotified) {
  Pipeline pipeline(pair_of(6));
  double before = 0;
  g_object_get(pipeline.get("v"), "last-score", &before, nullptr);
  EXPECT_TRUE(std::isnan(before));  // not a silent zero
  static std::atomic<int> notified;
  notified = 0;
  g_signal_connect(pipeline.get("v"), "notify::last-score",
                   G_CALLBACK(+[](GObject *, GParamSpec *, gpointer) { ++notified; }), nullptr);
  ASSERT_EQ(pipeline.run(), "eos");
  double last = 0;
  g_object_get(pipeline.get("v"), "last-score", &last, nullptr);
  EXPECT_EQ(last, real(pipeline.frames.back().get(), "score"));
  EXPECT_EQ(notified, 6);
}

TEST(Properties, StatsTellTheState) {
  Pipeline pipeline(pair_of(6));
  ASSERT_EQ(pipeline.run(), "eos");
  GstStructure *stats = nullptr;
  g_object_get(pipeline.get("v"), "stats", &stats, nullptr);
  ASSERT_NE(stats, nullptr);
  EXPECT_EQ(number(stats, "scored"), 6u);
  EXPECT_EQ(number(stats, "ref-queue-frames"), 0u);
  EXPECT_EQ(real(stats, "last-score"), real(pipeline.frames.back().get(), "score"));
  EXPECT_EQ(real(stats, "pooled-score"), real(pipeline.pooled[0].get(), "score"));
  EXPECT_TRUE(gst_structure_has_field(stats, "backend"));
  EXPECT_TRUE(gst_structure_has_field(stats, "model-sources"));
  gst_structure_free(stats);
}

// Several models share one run; the first one is `score`.
TEST(Models, SeveralAtOnce) {
  Pipeline pipeline(pair_of(4, "model=vmaf_4k_v0.6.1:name=uhd|vmaf_v0.6.1neg:name=neg"));
  ASSERT_EQ(pipeline.run(), "eos");
  for (const StructurePtr &s : pipeline.frames) {
    EXPECT_EQ(real(s.get(), "score"), real_in(s.get(), "models", "uhd"));
    EXPECT_GE(real_in(s.get(), "models", "neg"), 0);
    EXPECT_GE(real_in(s.get(), "features", "integer_adm2_egl_1"), 0);
  }
}

TEST(Events, LeaveInOrder) {
  Pipeline pipeline("vmafhip name=v ! fakesink name=out videotestsrc num-buffers=4 ! " +
                    caps_text("I420", 64, 64) +
                    " ! taginject tags=title=x ! v.ref_sink videotestsrc num-buffers=4 ! " +
                    caps_text("I420", 64, 64) + " ! v.dist_sink");
  ASSERT_EQ(pipeline.run(), "eos");
  ASSERT_GE(pipeline.out_events.size(), 5u);
  EXPECT_EQ(pipeline.out_events[0], "stream-start");
  EXPECT_EQ(pipeline.out_events[1], "caps");
  EXPECT_EQ(pipeline.out_events[2], "segment");
  EXPECT_EQ(std::count(pipeline.out_events.begin(), pipeline.out_events.end(), "tag"), 1);
  EXPECT_EQ(pipeline.out_events.back(), "eos");
}

}  // namespace
}  // namespace vmafhip::test
