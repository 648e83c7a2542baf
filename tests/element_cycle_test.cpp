// States, flushes and stops at any moment: nothing hangs, leaks, is lost or comes twice, and the next run is like the first.
#include <gst/check/gstharness.h>
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <filesystem>
#include <set>

#include "tests/numbered.h"

namespace vmafhip::test {
namespace {

constexpr GstClockTime kFrame = 40 * GST_MSECOND;

std::string two_tests(int frames, const std::string &settings = "") {
  const std::string source = "videotestsrc pattern=ball num-buffers=" + std::to_string(frames) + " ! " +
                             caps_text("I420", 64, 64) + " ! ";
  return "vmafhip name=v " + settings + " ! fakesink name=out " + source + "v.ref_sink " + source +
         "v.dist_sink";
}

std::vector<guint64> bits_of(const Pipeline &pipeline) {
  std::vector<guint64> bits;
  for (const StructurePtr &s : pipeline.frames)
    bits.push_back(std::bit_cast<guint64>(real(s.get(), "score")));
  return bits;
}

// Entries of a folder of this process: its threads, its open files.
size_t entries(const char *folder) {
  const std::filesystem::directory_iterator all(folder);
  return size_t(std::distance(begin(all), end(all)));
}

// ---- states ------------------------------------------------------------------------------------

TEST(Cycles, HundredTimesNullAndPlaying) {
  Pipeline pipeline(two_tests(6));
  std::vector<guint64> first;
  size_t threads = 0, files = 0;
  long early = 0;
  for (int i = 0; i < 100; ++i) {
    pipeline.forget();
    ASSERT_EQ(pipeline.run(), "eos") << i;
    EXPECT_EQ(pipeline.pooled.size(), 1u);
    EXPECT_EQ(pipeline.out.size(), 6u);
    gst_element_set_state(pipeline.element(), GST_STATE_NULL);
    if (i == 0) first = bits_of(pipeline);
    ASSERT_EQ(bits_of(pipeline), first) << i;
    if (i == 30) {
      threads = entries("/proc/self/task");
      files = entries("/proc/self/fd");
      early = allocated_kib();
    }
  }
  // GStreamer's idle threads come and go; ours would be hundreds.
  EXPECT_LE(entries("/proc/self/task"), threads + 10);
  EXPECT_LE(entries("/proc/self/fd"), files + 2);
  EXPECT_LE(allocated_kib() - early, 1024);
}

// All the ways through the states that a pipeline may take, each with frames under way.
TEST(Cycles, AnyWayThroughTheStates) {
  Pipeline pipeline(two_tests(-1));
  const GstState ways[][4] = {
      {GST_STATE_PAUSED, GST_STATE_READY, GST_STATE_PLAYING, GST_STATE_NULL},
      {GST_STATE_READY, GST_STATE_PLAYING, GST_STATE_PAUSED, GST_STATE_PLAYING},
      {GST_STATE_PAUSED, GST_STATE_PLAYING, GST_STATE_PAUSED, GST_STATE_NULL},
      {GST_STATE_PLAYING, GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_READY},
  };
  for (int i = 0; i < 20; ++i)
    for (const auto &way : ways) {
      for (const GstState state : way)
        ASSERT_NE(gst_element_set_state(pipeline.element(), state), GST_STATE_CHANGE_FAILURE);
      pipeline.wait_until([] { return true; });
    }
  pipeline.forget();
  ASSERT_TRUE(pipeline.play());
  ASSERT_EQ(pipeline.wait_until([&] { return pipeline.frames.size() >= 10; }), "done");
  for (size_t n = 0; n < 10; ++n) EXPECT_EQ(number(pipeline.frames[n].get(), "index") % 10, n % 10) << n;
}

struct Moment {
  const char *element, *pad;
  GstPadProbeType type;
  GstEventType event;
  int count;  // the n-th of them
};

// Stopped the moment something passes a pad, and started again.
TEST(Cycles, StoppedInEveryPhase) {
  const auto events = GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM;
  const auto buffers = GST_PAD_PROBE_TYPE_BUFFER;
  for (const auto &[element, pad] : {std::pair("v", "ref_sink"), {"v", "dist_sink"}, {"out", "sink"}})
    for (const Moment &moment : {Moment{element, pad, events, GST_EVENT_STREAM_START, 1},
                                 {element, pad, events, GST_EVENT_CAPS, 1},
                                 {element, pad, events, GST_EVENT_SEGMENT, 1},
                                 {element, pad, buffers, GST_EVENT_UNKNOWN, 1},
                                 {element, pad, buffers, GST_EVENT_UNKNOWN, 2},
                                 {element, pad, buffers, GST_EVENT_UNKNOWN, 5},
                                 {element, pad, events, GST_EVENT_EOS, 1}}) {
      struct Watch {
        Moment moment;
        std::atomic<int> seen{0};
      } watch{moment};
      Pipeline pipeline(two_tests(8));
      GstPad *at = gst_element_get_static_pad(pipeline.get(element), pad);
      const gulong id = gst_pad_add_probe(
          at, moment.type,
          [](GstPad *, GstPadProbeInfo *info, gpointer data) {
            auto &w = *static_cast<Watch *>(data);
            if (w.moment.type == GST_PAD_PROBE_TYPE_BUFFER ||
                GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == w.moment.event)
              ++w.seen;
            return GST_PAD_PROBE_OK;
          },
          &watch, nullptr);
      ASSERT_TRUE(pipeline.play());
      while (watch.seen < moment.count) std::this_thread::yield();
      pipeline.stop();
      gst_pad_remove_probe(at, id);
      gst_object_unref(at);
      pipeline.wait_until([] { return true; });
      pipeline.forget();
      ASSERT_EQ(pipeline.run(), "eos") << pad << " " << moment.count;
      EXPECT_EQ(pipeline.frames.size(), 8u);
      EXPECT_EQ(pipeline.out.size(), 8u);
    }
}

// An encoder that is stopped with its look-ahead full.
TEST(Cycles, StoppedWhileAnEncoderHoldsFrames) {
  if (const std::string text =
          missing({{"x264enc", "gstreamer1.0-plugins-ugly"}, {"avdec_h264", "gstreamer1.0-libav"}});
      !text.empty())
    GTEST_SKIP() << text;
  Pipeline pipeline("videotestsrc num-buffers=400 ! " + numbered_caps(25, 1) +
                    " ! tee name=t vmafhip name=v ! fakesink name=out t. ! queue ! v.ref_sink t. ! queue ! "
                    "x264enc ! avdec_h264 ! v.dist_sink");
  for (const guint64 held : {1, 5, 30}) {
    ASSERT_TRUE(pipeline.play());
    EXPECT_EQ(pipeline.wait_until(
                  [&] { return counter(pipeline, "ref-queue-frames") >= held || !pipeline.frames.empty(); }),
              "done");
    pipeline.stop();
    pipeline.wait_until([] { return true; });
    pipeline.forget();
  }
  ASSERT_EQ(pipeline.run(), "eos");
  EXPECT_EQ(pipeline.frames.size(), 400u);
}

// ---- flushes -----------------------------------------------------------------------------------

class Flushed : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    element_ = gst_element_factory_make("vmafhip", nullptr);
    ref_ = gst_harness_new_with_element(element_, "ref_sink", "src");
    dist_ = gst_harness_new_with_element(element_, "dist_sink", nullptr);
    // A harness says that it is live, and live frames do not wait.
    for (GstHarness *h : {ref_, dist_}) gst_harness_set_live(h, FALSE);
  }
  void TearDown() override {
    gst_harness_teardown(dist_);
    gst_harness_teardown(ref_);
    gst_object_unref(element_);
  }
  void begin() {
    for (GstHarness *h : {ref_, dist_}) gst_harness_set_src_caps_str(h, numbered_caps(25, 1).c_str());
  }
  static void segment(GstHarness *h) {
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    ASSERT_TRUE(gst_harness_push_event(h, gst_event_new_segment(&segment)));
  }
  static void push(GstHarness *h, int frame) {
    GstBuffer *buffer = numbered_picture(frame);
    GST_BUFFER_PTS(buffer) = GstClockTime(frame) * kFrame;
    ASSERT_EQ(gst_harness_push(h, buffer), GST_FLOW_OK) << frame;
  }
  // How far things have got: more with every step.
  void reach(int phase) {
    if (phase >= 1) begin();
    if (phase >= 2) push(ref_, 0);
    if (phase >= 3) push(dist_, 0);
    if (phase >= 4) push(dist_, 1);
    if (phase >= 5) push(ref_, 1);
    if (phase >= 6) push(ref_, 2);
    if (phase >= 7) {
      ASSERT_TRUE(gst_harness_push_event(dist_, gst_event_new_eos()));
    }
    if (phase >= 8) {
      ASSERT_TRUE(gst_harness_push_event(ref_, gst_event_new_eos()));
    }
  }
  static constexpr int kPhases = 9;
  GstElement *element_ = nullptr;
  GstHarness *ref_ = nullptr, *dist_ = nullptr;
};

TEST_P(Flushed, BothPadsInAnyState) {
  reach(GetParam());
  for (GstHarness *h : {ref_, dist_}) ASSERT_TRUE(gst_harness_push_event(h, gst_event_new_flush_start()));
  for (GstHarness *h : {ref_, dist_}) ASSERT_TRUE(gst_harness_push_event(h, gst_event_new_flush_stop(TRUE)));
  if (GetParam() == 0) begin();
  for (GstHarness *h : {ref_, dist_}) segment(h);
  for (int i = 100; i < 105; ++i)
    for (GstHarness *h : {dist_, ref_}) push(h, i);
  for (GstHarness *h : {ref_, dist_}) ASSERT_TRUE(gst_harness_push_event(h, gst_event_new_eos()));
  // Frames of before may have left before.
  for (int i = 100; i < 105;) {
    GstBuffer *buffer = gst_harness_pull(ref_);
    ASSERT_NE(buffer, nullptr);
    const GstClockTime time = GST_BUFFER_PTS(buffer);
    if (time >= 100 * kFrame) {
      EXPECT_EQ(time, GstClockTime(i++) * kFrame);
      EXPECT_NE(gst_buffer_get_custom_meta(buffer, "VmafHipScore"), nullptr) << i;
    }
    gst_buffer_unref(buffer);
  }
  // And nothing after them.
  while (GstEvent *event = gst_harness_pull_event(ref_)) {
    const bool end = GST_EVENT_TYPE(event) == GST_EVENT_EOS && gst_harness_events_in_queue(ref_) == 0;
    gst_event_unref(event);
    if (end) break;
  }
  EXPECT_EQ(gst_harness_buffers_in_queue(ref_), 0u);
}

INSTANTIATE_TEST_SUITE_P(Phases, Flushed, ::testing::Range(0, 9));

TEST(Flushes, SeekWhilePaused) {
  for (int i = 0; i < 10; ++i) {
    Pipeline pipeline(two_tests(-1));
    ASSERT_TRUE(pipeline.play(GST_STATE_PAUSED));
    if (i % 2) gst_element_get_state(pipeline.element(), nullptr, nullptr, GST_CLOCK_TIME_NONE);
    const GstClockTime to = (i + 1) * GST_SECOND;
    // A source that has not begun may refuse; then it begins at the beginning.
    const bool sought =
        gst_element_seek_simple(pipeline.element(), GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, gint64(to));
    EXPECT_TRUE(sought || i % 2 == 0);
    ASSERT_TRUE(pipeline.play());
    // Frames of before may have been scored before.
    size_t n = 0;
    ASSERT_EQ(pipeline.wait_until([&] {
      while (sought && n < pipeline.frames.size() && number(pipeline.frames[n].get(), "timestamp") < to) ++n;
      return pipeline.frames.size() >= n + 5;
    }),
              "done");
    for (size_t k = 0; sought && k < 5; ++k)
      EXPECT_EQ(number(pipeline.frames[n + k].get(), "timestamp"), to + k * kFrame);
    EXPECT_EQ(counter(pipeline, "ref-unmatched"), 0u);
    EXPECT_EQ(counter(pipeline, "dist-unmatched"), 0u);
  }
}

// At other rates running time is what counts, and the frames of both streams still meet.
TEST(Flushes, SeekToAnotherRate) {
  Pipeline pipeline(two_tests(-1));
  ASSERT_TRUE(pipeline.play());
  for (const double rate : {2., .5, -1., 1.}) {
    const size_t before = pipeline.resets.size();
    ASSERT_EQ(
        pipeline.wait_until([&, n = pipeline.frames.size()] { return pipeline.frames.size() >= n + 5; }),
        "done");
    ASSERT_TRUE(gst_element_seek(pipeline.element(), rate, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH,
                                 GST_SEEK_TYPE_SET, rate < 0 ? 0 : 20 * GST_SECOND,
                                 rate < 0 ? GST_SEEK_TYPE_SET : GST_SEEK_TYPE_NONE,
                                 rate < 0 ? gint64(40 * GST_SECOND) : -1))
        << rate;
    ASSERT_EQ(pipeline.wait_until([&] { return pipeline.resets.size() > before; }), "done") << rate;
    const size_t n = pipeline.frames.size();
    ASSERT_EQ(pipeline.wait_until([&] { return pipeline.frames.size() >= n + 5; }), "done") << rate;
    const GstStructure *a = pipeline.frames[n + 3].get(), *b = pipeline.frames[n + 4].get();
    const auto apart = gint64(number(b, "timestamp") - number(a, "timestamp"));
    EXPECT_EQ(apart, rate < 0 ? -gint64(kFrame) : gint64(kFrame));
    EXPECT_EQ(number(b, "running-time") - number(a, "running-time"),
              guint64(double(kFrame) / std::abs(rate)));
    EXPECT_EQ(signed_number(b, "distance"), 0);
  }
  EXPECT_EQ(counter(pipeline, "ref-unmatched"), 0u);
  EXPECT_EQ(counter(pipeline, "dist-unmatched"), 0u);
}

}  // namespace
}  // namespace vmafhip::test
