// What others do wrong, or do at a bad moment: the element answers with a clear error or goes on. Nothing here
// may crash, hang or lose a frame in silence.
#include <gst/check/gstharness.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <future>

#include "tests/pipeline.h"

namespace vmafhip::test {
namespace {

constexpr int kSize = 64;
constexpr gsize kLuma = kSize * kSize, kBytes = kLuma * 3 / 2;
constexpr GstClockTime kFrame = 40 * GST_MSECOND;

std::string caps() { return caps_text("I420", kSize, kSize); }

std::string two_apps(const std::string &settings = "") {
  return "vmafhip name=v " + settings + " ! fakesink name=out appsrc name=ref caps=" + caps() +
         " ! v.ref_sink appsrc name=dist caps=" + caps() + " ! v.dist_sink";
}

GstBuffer *stamp(GstBuffer *buffer, int frame) {
  GST_BUFFER_PTS(buffer) = GstClockTime(frame) * kFrame;
  GST_BUFFER_DURATION(buffer) = kFrame;
  return buffer;
}

void fill(GstBuffer *buffer, int frame) {
  GstMapInfo map;
  ASSERT_TRUE(gst_buffer_map(buffer, &map, GST_MAP_WRITE));
  for (gsize i = 0; i < map.size; ++i) map.data[i] = guint8(i * 7 % 251 + gsize(frame));
  gst_buffer_unmap(buffer, &map);
}

GstBuffer *plain(int frame) {
  GstBuffer *buffer = gst_buffer_new_allocate(nullptr, kBytes, nullptr);
  fill(buffer, frame);
  return stamp(buffer, frame);
}

std::function<GstBuffer *()> some(int frames) {
  return [frames, n = 0]() mutable { return n < frames ? plain(n++) : nullptr; };
}

// ---- buffers that are not what they say --------------------------------------------------------

// The mapping of a video meta looks at one byte of each plane; reading all would leave the memory.
TEST(VideoMeta, BeyondTheMemoryIsAnError) {
  struct Case {
    gsize luma_offset;
    gint luma_stride, chroma_stride;
    gsize v_offset;
  };
  const gint s = kSize, h = kSize / 2;
  for (const Case &c :
       {Case{0, 1 << 20, h, kLuma * 5 / 4}, Case{0, -s, h, kLuma * 5 / 4},
        Case{kBytes - 1, s, h, kLuma * 5 / 4}, Case{0, s, 1 << 20, kLuma * 5 / 4}, Case{0, s, h, kBytes - 1},
        Case{0, s, h, kBytes + 1}, Case{0, G_MININT, h, 0}, Case{0, G_MAXINT, h, 0}}) {
    Pipeline pipeline(two_apps());
    pipeline.feed("ref", some(3));
    pipeline.feed("dist", [&c, n = 0]() mutable -> GstBuffer * {
      if (n == 3) return nullptr;
      gsize offsets[4] = {c.luma_offset, kLuma, c.v_offset};
      gint strides[4] = {c.luma_stride, c.chroma_stride, h};
      GstBuffer *buffer = plain(n++);
      gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_I420, kSize, kSize,
                                     3, offsets, strides);
      return buffer;
    });
    EXPECT_EQ(pipeline.run(10), "error");
    ASSERT_FALSE(pipeline.errors.empty());
    EXPECT_EQ(pipeline.errors[0].rfind("dist_sink: ", 0), 0u) << pipeline.errors[0];
    EXPECT_TRUE(pipeline.frames.empty());
  }
}

TEST(VideoMeta, BottomUpIsFine) {
  std::vector<double> scores[2];
  for (const bool bottom_up : {false, true}) {
    Pipeline pipeline(two_apps());
    pipeline.feed("ref", some(4));
    pipeline.feed("dist", [bottom_up, n = 0]() mutable -> GstBuffer * {
      if (n == 4) return nullptr;
      GstBuffer *from = plain(n + 5), *buffer = plain(n);
      ++n;
      GstMapInfo in, out;
      gst_buffer_map(from, &in, GST_MAP_READ);
      gst_buffer_map(buffer, &out, GST_MAP_WRITE);
      for (gsize y = 0; y < kSize; ++y)
        std::copy_n(in.data + y * kSize, kSize, out.data + (bottom_up ? kSize - 1 - y : y) * kSize);
      gst_buffer_unmap(buffer, &out);
      gst_buffer_unmap(from, &in);
      gst_buffer_unref(from);
      if (!bottom_up) return buffer;
      gsize offsets[4] = {kLuma - kSize, kLuma, kLuma * 5 / 4};
      gint strides[4] = {-kSize, kSize / 2, kSize / 2};
      gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_I420, kSize, kSize,
                                     3, offsets, strides);
      return buffer;
    });
    ASSERT_EQ(pipeline.run(), "eos");
    for (const StructurePtr &s : pipeline.frames) scores[bottom_up].push_back(real(s.get(), "score"));
  }
  EXPECT_EQ(scores[0].size(), 4u);
  EXPECT_EQ(scores[0], scores[1]);
}

// A buffer without memory is a gap: it has no picture to compare, and downstream is told.
TEST(Gaps, BuffersWithoutMemory) {
  Pipeline pipeline(two_apps());
  for (const char *name : {"ref", "dist"})
    pipeline.feed(name, [n = 0]() mutable -> GstBuffer * {
      if (n == 8) return nullptr;
      if (n == 3) return stamp(gst_buffer_new(), n++);
      return plain(n++);
    });
  ASSERT_EQ(pipeline.run(), "eos");
  EXPECT_EQ(pipeline.frames.size(), 7u);
  EXPECT_EQ(pipeline.out.size(), 7u);
  EXPECT_EQ(std::count(pipeline.out_events.begin(), pipeline.out_events.end(), "gap"), 1);
}

// Upstream pools of a few buffers only: whatever waits in the element must not keep them.
TEST(Pools, FewBuffersAreEnough) {
  for (const auto &[ref_most, dist_most] : {std::pair{2, 0}, {0, 2}, {2, 2}, {4, 3}}) {
    Pipeline pipeline(two_apps("threads=4"));
    std::vector<GstBufferPool *> pools;
    for (const auto &[name, most] : {std::pair{"ref", ref_most}, {"dist", dist_most}}) {
      if (most == 0) {
        pipeline.feed(name, some(30));
        continue;
      }
      GstBufferPool *pool = gst_buffer_pool_new();
      GstStructure *config = gst_buffer_pool_get_config(pool);
      gst_buffer_pool_config_set_params(config, nullptr, kBytes, 0, guint(most));
      ASSERT_TRUE(gst_buffer_pool_set_config(pool, config));
      ASSERT_TRUE(gst_buffer_pool_set_active(pool, TRUE));
      pools.push_back(pool);
      pipeline.feed(name, [pool, n = 0]() mutable -> GstBuffer * {
        GstBuffer *buffer = nullptr;
        if (n == 30 || gst_buffer_pool_acquire_buffer(pool, &buffer, nullptr) != GST_FLOW_OK) return nullptr;
        fill(buffer, n);
        return stamp(buffer, n++);
      });
    }
    EXPECT_EQ(pipeline.run(20), "eos") << ref_most << " " << dist_most;
    EXPECT_EQ(pipeline.frames.size(), 30u);
    EXPECT_EQ(pipeline.out.size(), 30u);
    EXPECT_GT(stats_number(pipeline.get("v"), "held-copied"), 0u);
    for (GstBufferPool *pool : pools)
      gst_buffer_pool_set_active(pool, FALSE);  // whoever waits for one goes on
    pipeline.stop();
    for (GstBufferPool *pool : pools) gst_object_unref(pool);
  }
}

// ---- times and segments ------------------------------------------------------------------------

TEST(Segments, InBytesAreRefusedUnlessByOrder) {
  for (const bool by_order : {false, true}) {
    Pipeline pipeline(two_apps(by_order ? "sync=order" : ""));
    for (const char *name : {"ref", "dist"}) {
      pipeline.feed(name, some(5));
      g_object_set(pipeline.get(name), "format", GST_FORMAT_BYTES, nullptr);
    }
    g_log_set_always_fatal(GLogLevelFlags(G_LOG_LEVEL_ERROR | G_LOG_LEVEL_CRITICAL));
    EXPECT_EQ(pipeline.run(20), by_order ? "eos" : "error");
    g_log_set_always_fatal(GLogLevelFlags(G_LOG_LEVEL_ERROR));
    EXPECT_EQ(pipeline.frames.size(), by_order ? 5u : 0u);
    if (by_order) continue;
    ASSERT_FALSE(pipeline.errors.empty());
    EXPECT_NE(pipeline.errors[0].find("not one of time"), std::string::npos) << pipeline.errors[0];
  }
}

// Nothing pairs, nothing overflows, all frames leave.
TEST(Times, OffsetsAndStampsAtTheEndsOfTheScale) {
  for (const auto &[offset, first] : {std::pair<gint64, GstClockTime>{G_MAXINT64, 0},
                                      {G_MININT64, 0},
                                      {G_MININT64, G_MAXUINT64 - 100},
                                      {0, G_MAXUINT64 - 100},
                                      {0, G_MAXINT64}}) {
    Pipeline pipeline(two_apps());
    GstPad *pad = gst_element_get_static_pad(pipeline.get("v"), "dist_sink");
    g_object_set(pad, "offset", offset, nullptr);
    gst_object_unref(pad);
    pipeline.feed("ref", [first = first, n = 0]() mutable -> GstBuffer * {
      if (n == 5) return nullptr;
      GstBuffer *buffer = plain(n);
      GST_BUFFER_PTS(buffer) = first + GstClockTime(n++);
      GST_BUFFER_DURATION(buffer) = GST_CLOCK_TIME_NONE;
      return buffer;
    });
    pipeline.feed("dist", some(5));
    EXPECT_EQ(pipeline.run(20), "eos");
    EXPECT_EQ(pipeline.out.size(), 5u);
    EXPECT_TRUE(pipeline.frames.empty());
  }
}

// ---- ends --------------------------------------------------------------------------------------

TEST(Eos, WithoutFramesOrALinkIsAnErrorNotSilence) {
  Pipeline pipeline("vmafhip name=v appsrc name=ref caps=" + caps() +
                    " ! v.ref_sink appsrc name=dist caps=" + caps() + " ! v.dist_sink");
  for (const char *name : {"ref", "dist"}) pipeline.feed(name, some(0));
  EXPECT_EQ(pipeline.run(10), "error");
  ASSERT_FALSE(pipeline.errors.empty());
  EXPECT_NE(pipeline.errors[0].find("fakesink"), std::string::npos) << pipeline.errors[0];
}

TEST(Eos, BeforeAnyStreamHasBegun) {
  Pipeline pipeline("vmafhip name=v ! fakesink name=out");
  ASSERT_TRUE(pipeline.play());
  g_log_set_always_fatal(GLogLevelFlags(G_LOG_LEVEL_ERROR | G_LOG_LEVEL_CRITICAL));
  EXPECT_TRUE(gst_element_send_event(pipeline.get("v"), gst_event_new_eos()));
  EXPECT_EQ(pipeline.wait(20), "eos");
  g_log_set_always_fatal(GLogLevelFlags(G_LOG_LEVEL_ERROR));
}

// A pipeline that measures nothing must not look like one that has measured.
TEST(Eos, WithoutAnyPartnersIsSaid) {
  for (const auto &[settings, ref, dist] : {std::tuple{"tolerance=0 dist_sink::offset=3000000", 5, 5},
                                            {"", 5, 0},
                                            {"", 0, 5},
                                            {"sync=order", 5, 0}}) {
    Pipeline pipeline(two_apps(settings));
    pipeline.feed("ref", some(ref));
    pipeline.feed("dist", some(dist));
    EXPECT_EQ(pipeline.run(20), "eos");
    EXPECT_TRUE(pipeline.frames.empty());
    ASSERT_EQ(pipeline.warnings.size(), 1u) << settings;
    const std::string counts =
        "of " + std::to_string(ref) + " frames on ref_sink and " + std::to_string(dist) + " on dist_sink";
    EXPECT_NE(pipeline.warnings[0].find(counts), std::string::npos) << pipeline.warnings[0];
  }
}

class Pads : public ::testing::Test {
 protected:
  void SetUp() override {
    element_ = gst_element_factory_make("vmafhip", nullptr);
    ref_ = gst_harness_new_with_element(element_, "ref_sink", "src");
    dist_ = gst_harness_new_with_element(element_, "dist_sink", nullptr);
    for (GstHarness *h : {ref_, dist_}) {
      gst_harness_set_live(h, FALSE);
      gst_harness_set_src_caps_str(h, caps().c_str());
    }
  }
  void TearDown() override {
    gst_harness_teardown(dist_);
    gst_harness_teardown(ref_);
    gst_object_unref(element_);
  }
  void push(GstHarness *h, int frame) { ASSERT_EQ(gst_harness_push(h, plain(frame)), GST_FLOW_OK) << frame; }
  // Number of the next frame that leaves, -1 without score.
  void expect_out(int frame, bool scored) {
    GstBuffer *out = gst_harness_pull(ref_);  // waits for a minute
    ASSERT_NE(out, nullptr) << frame;
    EXPECT_EQ(GST_BUFFER_PTS(out), GstClockTime(frame) * kFrame);
    EXPECT_EQ(gst_buffer_get_custom_meta(out, "VmafHipScore") != nullptr, scored) << frame;
    gst_buffer_unref(out);
  }
  GstElement *element_ = nullptr;
  GstHarness *ref_ = nullptr, *dist_ = nullptr;
};

// A stream that has ended may start again, as behind a concat or a source that loops.
TEST_F(Pads, GoesOnAfterItsEnd) {
  push(ref_, 0);
  push(dist_, 0);
  ASSERT_TRUE(gst_harness_push_event(dist_, gst_event_new_eos()));
  for (int i = 1; i <= 300; ++i) push(ref_, i);
  expect_out(0, true);
  for (int i = 1; i <= 300; ++i) expect_out(i, false);
  ASSERT_TRUE(gst_harness_push_event(dist_, gst_event_new_stream_start("again")));
  gst_harness_set_src_caps_str(dist_, caps().c_str());
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  ASSERT_TRUE(gst_harness_push_event(dist_, gst_event_new_segment(&segment)));
  for (GstHarness *h : {ref_, dist_})
    for (const int i : {301, 302}) push(h, i);
  expect_out(301, true);
  for (GstHarness *h : {ref_, dist_}) ASSERT_TRUE(gst_harness_push_event(h, gst_event_new_eos()));
  expect_out(302, true);
}

// The last pair waits for a successor, which does not come for an hour: what is behind it must leave nevertheless.
TEST_F(Pads, AGapDoesNotHoldTheOutput) {
  push(ref_, 0);
  push(dist_, 0);
  push(dist_, 25 * 3600);
  for (int i = 1; i <= 300; ++i) push(ref_, i);
  expect_out(0, false);
  for (int i = 1; i <= 100; ++i) expect_out(i, false);
}

// A live stream that stalls, or has not begun: the reference goes on.
TEST(Live, DistortedStreamStalls) {
  for (const int before : {0, 1, 5}) {
    Pipeline pipeline(
        "vmafhip name=v sync-window=200000000 ! fakesink name=out sync=false appsrc is-live=true name=ref "
        "caps=" +
        caps() + " ! v.ref_sink appsrc is-live=true name=dist caps=" + caps() + " ! v.dist_sink");
    std::promise<void> done;
    pipeline.get("v");  // no feeder adds to the pipeline's list
    pipeline.feed("ref", [&, n = 0]() mutable {
      // The window is full at once otherwise.
      while (n == before && stats_number(pipeline.get("v"), "compared") < guint64(before)) g_usleep(1000);
      return n < 60 ? plain(n++) : nullptr;
    });
    pipeline.feed("dist", [&, n = 0, until = done.get_future().share()]() mutable -> GstBuffer * {
      if (n < before) return plain(n++);
      until.wait();
      return nullptr;
    });
    ASSERT_TRUE(pipeline.play());
    EXPECT_EQ(pipeline.wait_until([&] { return pipeline.count_out() >= 50; }, 20), "done") << before;
    done.set_value();
    EXPECT_EQ(pipeline.wait(20), "eos");
    EXPECT_EQ(pipeline.frames.size(), size_t(before));
    EXPECT_EQ(pipeline.out.size(), 60u);
  }
}

// The end of such a frame lies before its beginning unless the sum is watched, and so outside of the segment.
TEST_F(Pads, DurationsBeyondTheScale) {
  static constexpr int kFirst = 25 * 3600;
  for (GstHarness *h : {ref_, dist_}) {
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    segment.start = segment.time = kFirst * kFrame;
    ASSERT_TRUE(gst_harness_push_event(h, gst_event_new_segment(&segment)));
    for (const int i : {0, 1, 2}) {
      GstBuffer *buffer = plain(kFirst + i);
      GST_BUFFER_DURATION(buffer) = GST_CLOCK_TIME_NONE - 1;
      ASSERT_EQ(gst_harness_push(h, buffer), GST_FLOW_OK);
    }
    ASSERT_TRUE(gst_harness_push_event(h, gst_event_new_eos()));
  }
  for (const int i : {0, 1, 2}) expect_out(kFirst + i, true);
}

TEST_F(Pads, LatenciesBeyondTheScale) {
  const auto answer = [](GstPad *pad, GstObject *parent, GstQuery *query) -> gboolean {
    if (GST_QUERY_TYPE(query) != GST_QUERY_LATENCY) return gst_pad_query_default(pad, parent, query);
    gst_query_set_latency(query, TRUE, 0, GST_CLOCK_TIME_NONE - 2);
    return TRUE;
  };
  for (GstHarness *h : {ref_, dist_}) gst_pad_set_query_function(h->srcpad, answer);
  GstQuery *query = gst_query_new_latency();
  ASSERT_TRUE(gst_pad_peer_query(ref_->sinkpad, query));
  GstClockTime least, most;
  gst_query_parse_latency(query, nullptr, &least, &most);
  gst_query_unref(query);
  EXPECT_GE(most, GST_CLOCK_TIME_NONE - 2);
  EXPECT_LT(least, GST_SECOND);
}

TEST_F(Pads, FlushStopWithoutStart) {
  for (int round = 0; round < 20; ++round) {
    push(ref_, 0);
    push(dist_, 0);
    push(ref_, 1);
    push(dist_, 1);
    for (GstHarness *h : {ref_, dist_}) {
      ASSERT_TRUE(gst_harness_push_event(h, gst_event_new_flush_stop(TRUE)));
      GstSegment segment;
      gst_segment_init(&segment, GST_FORMAT_TIME);
      ASSERT_TRUE(gst_harness_push_event(h, gst_event_new_segment(&segment)));
    }
  }
  ASSERT_TRUE(gst_harness_push_event(ref_, gst_event_new_eos()));
  ASSERT_TRUE(gst_harness_push_event(dist_, gst_event_new_eos()));
}

TEST_F(Pads, SerializedQueriesDoNotOvertakeFrames) {
  GstQuery *query = gst_query_new_drain();
  EXPECT_FALSE(gst_pad_peer_query(ref_->srcpad, query));
  EXPECT_FALSE(gst_pad_peer_query(dist_->srcpad, query));
  gst_query_unref(query);
}

}  // namespace
}  // namespace vmafhip::test
