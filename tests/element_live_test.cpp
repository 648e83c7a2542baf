// Frames of a live pipeline leave in time, whatever becomes of their partners and scores; what is missing is counted or
// repeated. Time is a test clock's: nothing here depends on how fast the machine is.
#include <gst/check/gstharness.h>
#include <gst/check/gsttestclock.h>
#include <gtest/gtest.h>

#include "tests/pipeline.h"

namespace vmafhip::test {
namespace {

constexpr int kSize = 64;
constexpr GstClockTime kFrame = 40 * GST_MSECOND;
constexpr GstClockTime kWait = 2 * kFrame + 40 * GST_MSECOND;  // what max-score-delay is by default

GstBuffer *plain(int frame) {
  GstBuffer *buffer = gst_buffer_new_allocate(nullptr, kSize * kSize, nullptr);
  GstMapInfo map;
  EXPECT_TRUE(gst_buffer_map(buffer, &map, GST_MAP_WRITE));
  for (gsize i = 0; i < map.size; ++i) map.data[i] = guint8(i * 7 % 251 + gsize(frame));
  gst_buffer_unmap(buffer, &map);
  GST_BUFFER_PTS(buffer) = GstClockTime(frame) * kFrame;
  GST_BUFFER_DURATION(buffer) = kFrame;
  return buffer;
}

class Pads : public ::testing::Test {
 protected:
  void make(const std::string &settings, bool live, const char *output = "ref_sink") {
    element_ = gst_parse_launch(("vmafhip threads=1 " + settings).c_str(), nullptr);
    ASSERT_NE(element_, nullptr);
    gst_object_ref_sink(element_);
    bus_ = gst_bus_new();
    gst_element_set_bus(element_, bus_);
    const bool ref_leaves = std::string(output) == "ref_sink";
    ref_ = gst_harness_new_with_element(element_, "ref_sink", ref_leaves ? "src" : nullptr);
    dist_ = gst_harness_new_with_element(element_, "dist_sink", ref_leaves ? nullptr : "src");
    out_ = ref_leaves ? ref_ : dist_;
    gst_harness_use_testclock(ref_);
    clock_ = gst_harness_get_testclock(ref_);
    for (GstHarness *h : {ref_, dist_}) {
      gst_harness_set_live(h, live);
      gst_harness_set_upstream_latency(h, h == ref_ ? ref_latency_ : dist_latency_);
      gst_harness_set_src_caps_str(h, caps_text("GRAY8", kSize, kSize).c_str());
    }
  }
  void TearDown() override {
    gst_harness_teardown(dist_);
    gst_harness_teardown(ref_);
    gst_object_unref(clock_);
    gst_element_set_bus(element_, nullptr);
    gst_object_unref(bus_);
    gst_object_unref(element_);
  }

  void push(GstHarness *h, int frame) { ASSERT_EQ(gst_harness_push(h, plain(frame)), GST_FLOW_OK) << frame; }
  void expect_out(int frame, bool scored) {
    GstBuffer *buffer = gst_harness_pull(out_);
    ASSERT_NE(buffer, nullptr) << frame;
    EXPECT_EQ(GST_BUFFER_PTS(buffer), GstClockTime(frame) * kFrame);
    EXPECT_EQ(gst_buffer_get_custom_meta(buffer, "VmafHipScore") != nullptr, scored) << frame;
    gst_buffer_unref(buffer);
  }
  // Waits until the element waits for that time, and lets it come.
  void expect_deadline(GstClockTime time) {
    for (;;) {
      GstClockID id;
      gst_test_clock_wait_for_next_pending_id(clock_, &id);
      const GstClockTime next = gst_clock_id_get_time(id);
      gst_clock_id_unref(id);
      if (next >= time) {
        ASSERT_EQ(next, time);
        break;
      }
      g_usleep(1000);  // of a frame that has left meanwhile
    }
    EXPECT_EQ(gst_harness_buffers_in_queue(out_), 0u) << "not before";
    ASSERT_TRUE(gst_test_clock_crank(clock_));
  }
  guint64 counter(const char *name) { return stats_number(element_, name); }
  void expect_counter(const char *name, guint64 value) {
    for (int i = 0; i < 20000 && counter(name) != value; ++i) g_usleep(1000);
    EXPECT_EQ(counter(name), value) << name;
  }
  // Time stamps in frames of the next `count` frame messages, negative: repeated.
  std::vector<int> messages(size_t count) {
    std::vector<int> frames;
    while (frames.size() < count) {
      GstMessage *message = gst_bus_timed_pop_filtered(bus_, 20 * GST_SECOND, GST_MESSAGE_ELEMENT);
      if (!message) break;
      const GstStructure *s = gst_message_get_structure(message);
      if (g_strcmp0(gst_structure_get_string(s, "type"), "frame") == 0) {
        gboolean repeated = FALSE;
        gst_structure_get_boolean(s, "repeated", &repeated);
        const int frame = int(number(s, "timestamp") / kFrame);
        frames.push_back(repeated ? -frame : frame);
      }
      gst_message_unref(message);
    }
    return frames;
  }
  void end() {
    for (GstHarness *h : {ref_, dist_}) {
      ASSERT_TRUE(gst_harness_push_event(h, gst_event_new_eos()));
    }
  }

  GstClockTime ref_latency_ = 0, dist_latency_ = 0;
  GstElement *element_ = nullptr;
  GstBus *bus_ = nullptr;
  GstHarness *ref_ = nullptr, *dist_ = nullptr, *out_ = nullptr;
  GstTestClock *clock_ = nullptr;
};

using LiveFrames = Pads;
using Missing = Pads;
using Gaps = Pads;

TEST_F(LiveFrames, LeaveInTimeAndAreScoredLater) {
  make("", true);
  push(ref_, 0);
  expect_deadline(kWait);
  expect_out(0, false);
  push(ref_, 1);
  expect_deadline(kFrame + kWait);
  expect_out(1, false);
  // The partners come after all.
  for (int n = 0; n < 4; ++n) push(dist_, n);
  push(ref_, 2);
  push(ref_, 3);
  expect_out(2, true);
  EXPECT_EQ(messages(3), (std::vector<int>{0, 1, 2}));
  expect_counter("late", 2);
  EXPECT_EQ(counter("ref-unmatched"), 0u);
}

TEST_F(LiveFrames, WaitForTheSlowerSourceAndTheScore) {
  ref_latency_ = 20 * GST_MSECOND;
  dist_latency_ = 50 * GST_MSECOND;
  make("max-score-delay=7000000", true);
  EXPECT_EQ(gst_harness_query_latency(ref_), 57 * GST_MSECOND);
  push(ref_, 0);
  expect_deadline(57 * GST_MSECOND);
  expect_out(0, false);
}

TEST_F(LiveFrames, WithoutMetasNothingIsAdded) {
  dist_latency_ = 50 * GST_MSECOND;
  make("attach-meta=false", true);
  EXPECT_EQ(gst_harness_query_latency(ref_), 50 * GST_MSECOND);
  push(ref_, 0);
  expect_out(0, false);  // at once
  push(dist_, 0);
  push(ref_, 1);
  push(dist_, 1);
  expect_out(1, false);
  EXPECT_EQ(messages(1), (std::vector<int>{0}));
  EXPECT_EQ(counter("late"), 0u);
}

TEST_F(LiveFrames, DistortedStreamLeavesInTimeWithoutReference) {
  make("output=distorted", true, "dist_sink");
  push(dist_, 0);
  expect_deadline(kWait);
  expect_out(0, false);
  push(ref_, 0);
  push(ref_, 1);
  push(dist_, 1);
  EXPECT_EQ(messages(1), (std::vector<int>{0}));
  expect_counter("late", 1);
}

// A partner is waited for as long as the window is; then it is certain that there is none.
TEST_F(LiveFrames, AreUnmatchedOnceItIsCertain) {
  make("sync-window=200000000", true);
  for (int n = 0; n < 5; ++n) push(ref_, n);  // 0 to 160 ms
  for (int n = 0; n < 5; ++n) {
    expect_deadline(GstClockTime(n) * kFrame + kWait);
    expect_out(n, false);
  }
  for (int n = 5; n < 9; ++n) push(ref_, n);
  expect_counter("ref-frames", 4);  // what has left the window
  EXPECT_LE(counter("ref-unmatched"), 4u);
  EXPECT_EQ(counter("compared"), 0u) << "never against a stale frame";
  // The stream comes back, with the frames that are in the window still.
  for (int n = 6; n < 9; ++n) push(dist_, n);
  EXPECT_EQ(messages(2), (std::vector<int>{6, 7}));
  end();
  EXPECT_EQ(messages(1), (std::vector<int>{8}));
  expect_counter("ref-unmatched", 6);
}

TEST_F(LiveFrames, LateOnesAreNotTouched) {
  make("", true);
  GstBuffer *mine = gst_buffer_ref(plain(0));
  ASSERT_EQ(gst_harness_push(ref_, mine), GST_FLOW_OK);
  expect_deadline(kWait);
  GstBuffer *out = gst_harness_pull(out_);
  EXPECT_EQ(out, mine) << "no copy either";
  push(dist_, 0);
  push(ref_, 1);
  push(dist_, 1);
  EXPECT_EQ(messages(1), (std::vector<int>{0}));
  EXPECT_EQ(gst_buffer_get_custom_meta(out, "VmafHipScore"), nullptr);
  gst_buffer_unref(out);
  gst_buffer_unref(mine);
}

// A pipeline that is paused loses no score for it, however long that is: the clock goes on, and the stream does not.
TEST_F(LiveFrames, AreNotLateWhilePaused) {
  make("", true);
  push(ref_, 0);
  gst_element_set_state(element_, GST_STATE_PAUSED);
  gst_test_clock_set_time(clock_, 10 * GST_SECOND);
  push(dist_, 0);
  push(ref_, 1);
  push(dist_, 1);
  expect_out(0, true);
  gst_element_set_state(element_, GST_STATE_PLAYING);
  expect_out(1, false);  // its base time would have been moved by a pipeline
  EXPECT_EQ(counter("late"), 0u);
}

// Caps lie about the rate: what is measured counts, and the latency that is reported follows.
TEST_F(LiveFrames, LatencyFollowsTheMeasuredRate) {
  make("", true);
  EXPECT_EQ(gst_harness_query_latency(ref_), kWait);
  for (int n = 0; n < 6; ++n)
    for (GstHarness *h : {ref_, dist_}) push(h, 3 * n);  // a burst, for which the engine has room
  expect_counter("compared", 6);
  EXPECT_EQ(gst_harness_query_latency(ref_), 2 * 3 * kFrame + 40 * GST_MSECOND);
}

// ---- Missing frames ---------------------------------------------------------------------------------------

TEST_F(Missing, AreLeftOutByDefault) {
  make("", false);
  for (int n = 0; n < 6; ++n) push(ref_, n);
  for (const int n : {0, 2, 4}) push(dist_, n);
  end();
  EXPECT_EQ(messages(3), (std::vector<int>{0, 2, 4}));
  expect_counter("ref-unmatched", 3);
}

TEST_F(Missing, AreComparedWithWhatIsOnScreen) {
  make("on-missing=repeat", false);
  for (int n = 0; n < 3; ++n) push(ref_, n);
  for (const int n : {1, 4}) push(dist_, n);
  for (int n = 3; n < 8; ++n) push(ref_, n);
  push(dist_, 5);
  end();
  // Nothing is on screen at 0, and after the end the last frame has had its 40 ms.
  EXPECT_EQ(messages(5), (std::vector<int>{1, -2, -3, 4, 5}));
  expect_counter("repeated", 2);
  expect_counter("ref-unmatched", 3);
  EXPECT_EQ(counter("compared"), 5u);
  EXPECT_EQ(counter("dist-unmatched"), 0u);
}

// ---- GAP events -------------------------------------------------------------------------------------------

TEST_F(Gaps, DecideWhatTheyPass) {
  make("", false);
  for (GstHarness *h : {ref_, dist_}) push(h, 0);
  for (int n = 1; n < 4; ++n) push(ref_, n);
  ASSERT_TRUE(gst_harness_push_event(dist_, gst_event_new_gap(kFrame, 4 * kFrame)));
  expect_counter("ref-unmatched", 3);  // although no distorted frame has come
}

TEST_F(Gaps, OfTheReferenceDecideToo) {
  make("output=distorted", false, "dist_sink");
  for (GstHarness *h : {ref_, dist_}) push(h, 0);
  for (int n = 1; n < 4; ++n) push(dist_, n);
  ASSERT_TRUE(gst_harness_push_event(ref_, gst_event_new_gap(kFrame, 4 * kFrame)));
  expect_counter("dist-unmatched", 3);
}

// ---- Streams that begin far apart -------------------------------------------------------------------------

std::function<GstBuffer *()> frames(int first, int end) {
  return [n = first, end]() mutable { return n < end ? plain(n++) : nullptr; };
}

TEST(LateStart, FortySecondsAreSaidAndPassed) {
  const std::string caps = caps_text("GRAY8", kSize, kSize);
  for (const bool dist_is_late : {true, false}) {
    Pipeline pipeline("vmafhip name=v ! fakesink name=out appsrc name=ref caps=" + caps +
                      " ! v.ref_sink appsrc name=dist caps=" + caps + " ! v.dist_sink");
    pipeline.feed("ref", frames(dist_is_late ? 0 : 1000, 1010));
    pipeline.feed("dist", frames(dist_is_late ? 1000 : 0, 1010));
    EXPECT_EQ(pipeline.run(), "eos");
    EXPECT_EQ(pipeline.frames.size(), 10u);
    EXPECT_EQ(pipeline.out.size(), dist_is_late ? 1010u : 10u);
    ASSERT_EQ(pipeline.warnings.size(), 1u);
    for (const char *text : {"ref_sink", "dist_sink", "0:00:00.0", "0:00:40.0"})
      EXPECT_NE(pipeline.warnings[0].find(text), std::string::npos) << pipeline.warnings[0];
    EXPECT_TRUE(pipeline.errors.empty());
  }
}

// Limits of nothing: frames pair all the same when both are there.
TEST(Bounds, NoWindowNoMemoryNoTolerance) {
  const std::string caps = caps_text("GRAY8", kSize, kSize);
  for (const char *settings :
       {"sync-window=0", "max-queue-bytes=1", "tolerance=0", "sync-window=0 sync=order"}) {
    Pipeline pipeline(std::string("vmafhip name=v ") + settings +
                      " ! fakesink name=out appsrc name=ref caps=" + caps +
                      " ! v.ref_sink appsrc name=dist caps=" + caps + " ! v.dist_sink");
    for (const char *name : {"ref", "dist"}) pipeline.feed(name, frames(0, 30));
    EXPECT_EQ(pipeline.run(), "eos") << settings;
    EXPECT_EQ(pipeline.frames.size(), 30u) << settings;
  }
}

}  // namespace
}  // namespace vmafhip::test
