// What waits to leave: in order, and bounded also where nothing but events comes.
#include <gst/gst.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "gst/vmafhip/log.h"
#include "gst/vmafhip/output.h"

namespace vmafhip {
namespace {

class OutputTest : public ::testing::Test {
 protected:
  void SetUp() override {
    gst_init(nullptr, nullptr);
    register_log_categories();
    src_ = gst_pad_new("src", GST_PAD_SRC);
    sink_ = gst_pad_new("sink", GST_PAD_SINK);
    origin_ = gst_pad_new("origin", GST_PAD_SINK);
    gst_pad_set_active(origin_, TRUE);
    GstEvent *start = gst_event_new_stream_start("stream");
    ASSERT_EQ(gst_pad_store_sticky_event(origin_, start), GST_FLOW_OK);
    gst_event_unref(start);
    gst_pad_set_chain_function(sink_, chain);
    gst_pad_set_event_function(sink_, event);
    gst_pad_set_element_private(sink_, this);
    gst_pad_set_active(src_, TRUE);
    gst_pad_set_active(sink_, TRUE);
    ASSERT_EQ(gst_pad_link(src_, sink_), GST_PAD_LINK_OK);
    auto stream = std::make_shared<Stream>();
    gst_video_info_set_format(&stream->info, GST_VIDEO_FORMAT_GRAY8, 16, 16);
    stream->caps.reset(gst_video_info_to_caps(&stream->info));
    gst_segment_init(&stream->segment, GST_FORMAT_TIME);
    stream->segment_seqnum = gst_util_seqnum_next();
    stream_ = stream;
  }
  void TearDown() override {
    gst_object_unref(src_);
    gst_object_unref(sink_);
    gst_object_unref(origin_);
  }
  static GstFlowReturn chain(GstPad *pad, GstObject *, GstBuffer *buffer) {
    static_cast<OutputTest *>(gst_pad_get_element_private(pad))->left_.push_back("frame");
    gst_buffer_unref(buffer);
    return GST_FLOW_OK;
  }
  static gboolean event(GstPad *pad, GstObject *, GstEvent *event) {
    static_cast<OutputTest *>(gst_pad_get_element_private(pad))->left_.push_back(GST_EVENT_TYPE_NAME(event));
    gst_event_unref(event);
    return TRUE;
  }
  EventPtr tag() { return EventPtr(gst_event_new_tag(gst_tag_list_new_empty())); }
  guint64 hold_frame(Output &output) { return output.hold(adopt(gst_buffer_new()), stream_, 0); }

  GstPad *src_ = nullptr, *sink_ = nullptr, *origin_ = nullptr;
  std::shared_ptr<const Stream> stream_;
  std::vector<std::string> left_;
  std::atomic<bool> stop_{false};
};

TEST_F(OutputTest, EventsKeepTheirPlace) {
  Output output(src_, origin_);
  output.hold(tag(), nullptr);  // before caps and a segment: follows them
  const guint64 first = hold_frame(output);
  output.hold(tag(), stream_);
  const guint64 second = hold_frame(output);
  output.settle(second);
  EXPECT_EQ(output.release(stop_), GST_FLOW_OK);
  EXPECT_TRUE(left_.empty());
  output.settle(first);
  EXPECT_EQ(output.release(stop_), GST_FLOW_OK);
  const std::vector<std::string> expected = {"stream-start", "caps", "segment", "tag",
                                             "frame",        "tag",  "frame"};
  EXPECT_EQ(left_, expected);
}

// A frame without partner, and behind it a stream of nothing but events.
TEST_F(OutputTest, EventsAreBounded) {
  Output output(src_, origin_);
  for (int round = 0; round < 2; ++round) {
    left_.clear();
    const guint64 frame = hold_frame(output);
    for (size_t i = 0; i < 2 * Output::kMostEvents; ++i) output.hold(tag(), stream_);
    output.settle(frame);
    EXPECT_EQ(output.release(stop_), GST_FLOW_OK);
    EXPECT_EQ(std::count(left_.begin(), left_.end(), "tag"), std::ptrdiff_t(Output::kMostEvents)) << round;
    hold_frame(output);
    output.hold(tag(), stream_);
    output.clear();
  }
}

// The same where no frame has come yet.
TEST_F(OutputTest, EarlyEventsAreBounded) {
  Output output(src_, origin_);
  for (size_t i = 0; i < 2 * Output::kMostEvents; ++i) {
    output.hold(tag(), nullptr);
    EXPECT_EQ(output.release(stop_), GST_FLOW_OK);
  }
  output.settle(hold_frame(output));
  EXPECT_EQ(output.release(stop_), GST_FLOW_OK);
  EXPECT_EQ(std::count(left_.begin(), left_.end(), "tag"), std::ptrdiff_t(Output::kMostEvents));
}

}  // namespace
}  // namespace vmafhip
