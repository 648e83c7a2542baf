// A live pipeline whose scoring is slower than its frames: three pairs arrive for each one that is scored, whatever the
// machine.
#include <gst/check/gstharness.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/pipeline.h"

namespace vmafhip::test {
namespace {

constexpr int kSize = 64;
constexpr GstClockTime kFrame = 40 * GST_MSECOND;

class Overload : public ::testing::Test {
 protected:
  void make(bool live) {
    element_ = gst_parse_launch("vmafhip threads=1 attach-meta=false", nullptr);
    gst_object_ref_sink(element_);
    bus_ = gst_bus_new();
    gst_element_set_bus(element_, bus_);
    ref_ = gst_harness_new_with_element(element_, "ref_sink", "src");
    dist_ = gst_harness_new_with_element(element_, "dist_sink", nullptr);
    for (GstHarness *h : {ref_, dist_}) {
      gst_harness_set_live(h, live);
      gst_harness_set_src_caps_str(h, caps_text("GRAY8", kSize, kSize).c_str());
    }
    gst_harness_set_drop_buffers(ref_, TRUE);
  }
  void TearDown() override {
    gst_harness_teardown(dist_);
    gst_harness_teardown(ref_);
    gst_element_set_bus(element_, nullptr);
    gst_object_unref(bus_);
    gst_object_unref(element_);
  }
  void push_pair() {
    for (GstHarness *h : {ref_, dist_}) {
      GstBuffer *buffer = gst_buffer_new_allocate(nullptr, kSize * kSize, nullptr);
      gst_buffer_memset(buffer, 0, guint8(pushed_), kSize * kSize);
      GST_BUFFER_PTS(buffer) = GstClockTime(pushed_) * kFrame;
      GST_BUFFER_DURATION(buffer) = kFrame;
      ASSERT_EQ(gst_harness_push(h, buffer), GST_FLOW_OK);
    }
    ++pushed_;
  }
  // Reads messages; false: none has come for so long.
  bool read(GstClockTime patience) {
    GstMessage *message = gst_bus_timed_pop(bus_, patience);
    if (!message) return false;
    const GstStructure *s = gst_message_get_structure(message);
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_QOS) {
      gst_message_parse_qos_stats(message, &format_, &processed_, &dropped_);
      guint64 timestamp;
      gst_message_parse_qos(message, nullptr, nullptr, nullptr, &timestamp, nullptr);
      left_out_.push_back(int(timestamp / kFrame));
    } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT && s) {
      const std::string type = gst_structure_get_string(s, "type");
      if (type == "frame") scored_.push_back(int(number(s, "timestamp") / kFrame));
      if (type == "pooled") pooled_.reset(gst_structure_copy(s));
    }
    gst_message_unref(message);
    return true;
  }
  guint64 stat(const char *name) { return stats_number(element_, name); }
  void finish() {
    for (GstHarness *h : {ref_, dist_}) gst_harness_push_event(h, gst_event_new_eos());
    while (!pooled_ && read(20 * GST_SECOND)) {
    }
    ASSERT_NE(pooled_, nullptr);
  }

  GstElement *element_ = nullptr;
  GstBus *bus_ = nullptr;
  GstHarness *ref_ = nullptr, *dist_ = nullptr;
  int pushed_ = 0;
  std::vector<int> scored_, left_out_;
  GstFormat format_ = GST_FORMAT_UNDEFINED;
  guint64 processed_ = 0, dropped_ = 0;
  StructurePtr pooled_;
};

TEST_F(Overload, LivePairsAreLeftOutEvenly) {
  make(true);
  constexpr int kRatio = 3, kPairs = 900;
  for (int n = 0; n < 30; ++n) push_pair();
  std::vector<guint64> waiting, lags;
  while (pushed_ < kPairs) {
    const size_t before = scored_.size();
    if (!read(GST_SECOND)) push_pair();  // the last score waits for a successor
    if (scored_.size() == before) continue;
    for (int n = 0; n < kRatio; ++n) push_pair();
    if (scored_.size() % 10 == 0) {
      waiting.push_back(stat("ref-queue-frames"));
      lags.push_back(stat("lag"));
    }
  }
  const size_t until = scored_.size();
  finish();
  // Everything is accounted for, and said.
  EXPECT_EQ(scored_.size() + left_out_.size(), size_t(pushed_));
  EXPECT_EQ(number(pooled_.get(), "skipped-overload"), left_out_.size());
  EXPECT_EQ(dropped_, left_out_.size());
  EXPECT_EQ(format_, GST_FORMAT_BUFFERS);
  EXPECT_GT(processed_, 0u);
  EXPECT_EQ(number(pooled_.get(), "scored"), scored_.size());
  // About a third is scored, of every part of the stream, and what waits is bounded. How even it is to the frame depends
  // on when this thread gets to run; thinning_test has that.
  EXPECT_GT(left_out_.size(), size_t(kPairs) / 2);
  constexpr int kPart = 150;
  std::map<int, int> scored_of_part;
  for (size_t n = 0; n < until; ++n) ++scored_of_part[scored_[n] / kPart];
  for (int part = 0; part < kPairs / kPart - 1; ++part) {
    EXPECT_GE(scored_of_part[part], kPart / kRatio / 3) << part;
    EXPECT_LE(scored_of_part[part], kPart * 2 / 3) << part;
  }
  for (std::vector<guint64> *samples : {&waiting, &lags}) std::sort(samples->begin(), samples->end());
  ASSERT_GT(waiting.size(), 10u);
  EXPECT_LE(waiting[waiting.size() / 2], 50u) << "of the 125 that fit into the window";
  EXPECT_LE(lags[lags.size() / 2], 60 * kFrame);
}

TEST_F(Overload, NothingIsLeftOutIfThePipelineCanWait) {
  make(false);
  for (int n = 0; n < 200; ++n) push_pair();  // blocks as needed
  finish();
  EXPECT_EQ(scored_.size(), 200u);
  EXPECT_TRUE(left_out_.empty());
  EXPECT_EQ(number(pooled_.get(), "skipped-overload"), 0u);
}

}  // namespace
}  // namespace vmafhip::test
