// RTP over loopback with jitter, reordering and loss: what arrives is scored against its own reference, what does not is
// counted, and no frame is scored from its neighbour. Nothing here asks how much arrives, or how fast.
#include <gtest/gtest.h>

#include <atomic>
#include <random>

#include "tests/numbered.h"

namespace vmafhip::test {
namespace {

constexpr int kFrames = 100, kRate = 50;
constexpr gint64 kInterval = GST_SECOND / kRate;

struct Link {
  const char *encode, *pay, *rtp_caps, *jitter_buffer, *decode;
};

class Rtp : public ::testing::Test {
 protected:
  // Sends and receives the whole clip; every pair must lie within half a frame, and the counters add up.
  void run(const Link &link) {
    if (const std::string text = missing({{"vp8enc", "gstreamer1.0-plugins-good"},
                                          {"x264enc", "gstreamer1.0-plugins-ugly"},
                                          {"avdec_h264", "gstreamer1.0-libav"},
                                          {"netsim", "gstreamer1.0-plugins-bad"}});
        !text.empty())
      GTEST_SKIP() << text;
    // The window is wider than the clip is long: how far the streams run apart is the machine's affair.
    pipeline_ = std::make_unique<Pipeline>(
        std::string(
            "vmafhip name=v sync-window=600000000000 ! fakesink name=out sync=false appsrc name=in caps=") +
        numbered_caps(kRate, 1) + " ! tee name=t t. ! queue ! v.ref_sink t. ! queue ! clocksync ! " +
        link.encode + " ! " + link.pay +
        " mtu=120 ! identity name=loss ! netsim delay-probability=0.5 min-delay=1 max-delay=25 ! "
        "udpsink name=send host=127.0.0.1 sync=false async=false udpsrc name=receive address=127.0.0.1 "
        "port=0 "
        "caps=\"application/x-rtp,media=video,clock-rate=90000," +
        link.rtp_caps + "\" ! rtpjitterbuffer latency=500 " + link.jitter_buffer + " ! " + link.decode +
        " ! v.dist_sink");
    probe("loss", "src", GST_PAD_PROBE_TYPE_BUFFER, lose);
    // The end would overtake what is still on its way.
    probe("loss", "src", GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, keep_end);
    probe("v", "dist_sink", GST_PAD_PROBE_TYPE_BUFFER, calibrate);
    probe("out", "sink", GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, see_end);
    pipeline_->feed("in", numbered_clip(kFrames, kRate, 1));
    witness_ = std::make_unique<Witness>(*pipeline_);

    ASSERT_EQ(gst_element_set_state(pipeline_->element(), GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
    gint port = 0;
    g_object_get(pipeline_->get("receive"), "port", &port, nullptr);
    ASSERT_GT(port, 0);
    g_object_set(pipeline_->get("send"), "port", port, nullptr);
    ASSERT_TRUE(pipeline_->play());
    ASSERT_EQ(pipeline_->wait_until([this] { return sent_ == 1; }), "done");
    pipeline_->wait_until([this] { return last_ == kFrames - 1; }, 2);  // which may be lost
    ASSERT_TRUE(gst_element_send_event(pipeline_->get("receive"), gst_event_new_eos()));
    ASSERT_EQ(pipeline_->wait_until([this] { return ended_ == 1; }), "done");
    // Whatever waited for the bus.
    pipeline_->wait_until([] { return true; });
    pipeline_->stop();

    EXPECT_GT(packets_, 2 * kFrames);  // a frame has several
    EXPECT_GT(lost_, 0);
    EXPECT_GT(pipeline_->frames.size(), size_t(kFrames / 10));
    EXPECT_LT(pipeline_->frames.size(), size_t(kFrames));
    EXPECT_EQ(pipeline_->out.size(), size_t(kFrames));
    for (const StructurePtr &s : pipeline_->frames)
      EXPECT_LE(std::abs(signed_number(s.get(), "distance")), kInterval / 2);
    EXPECT_EQ(counter(*pipeline_, "ref-frames"), guint64(kFrames));
    EXPECT_EQ(counter(*pipeline_, "scored"), pipeline_->frames.size());
    // On a busy machine pairs come in bursts, and those that there is no time for are left out.
    const guint64 paired = pipeline_->frames.size() + counter(*pipeline_, "skipped-overload");
    EXPECT_EQ(counter(*pipeline_, "ref-unmatched"), kFrames - paired);
    EXPECT_EQ(counter(*pipeline_, "dist-unmatched"), counter(*pipeline_, "dist-frames") - paired);
  }

  void probe(const char *element, const char *name, GstPadProbeType type, GstPadProbeCallback callback) {
    GstPad *pad = gst_element_get_static_pad(pipeline_->get(element), name);
    gst_pad_add_probe(pad, type, callback, this, nullptr);
    gst_object_unref(pad);
  }
  // Two packets of a hundred, the same in each run.
  static GstPadProbeReturn lose(GstPad *, GstPadProbeInfo *, gpointer data) {
    auto &self = *static_cast<Rtp *>(data);
    ++self.packets_;
    if (self.dice_() % 50 > 0) return GST_PAD_PROBE_OK;
    ++self.lost_;
    return GST_PAD_PROBE_DROP;
  }
  static GstPadProbeReturn keep_end(GstPad *, GstPadProbeInfo *info, gpointer data) {
    if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) != GST_EVENT_EOS) return GST_PAD_PROBE_OK;
    static_cast<Rtp *>(data)->sent_ = 1;
    return GST_PAD_PROBE_DROP;
  }
  static GstPadProbeReturn see_end(GstPad *, GstPadProbeInfo *info, gpointer data) {
    if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_EOS) static_cast<Rtp *>(data)->ended_ = 1;
    return GST_PAD_PROBE_OK;
  }
  // A receiver's time begins when the first packet arrives. The first picture tells which moment that is.
  static GstPadProbeReturn calibrate(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
    auto &self = *static_cast<Rtp *>(data);
    GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
    GstCaps *caps = gst_pad_get_current_caps(pad);
    GstVideoInfo video;
    gst_video_info_from_caps(&video, caps);
    gst_caps_unref(caps);
    const int number = number_in(video, buffer);
    if (self.last_ < 0) {
      GstEvent *event = gst_pad_get_sticky_event(pad, GST_EVENT_SEGMENT, 0);
      const GstSegment *segment;
      gst_event_parse_segment(event, &segment);
      const auto time = gint64(gst_segment_to_running_time(segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer)));
      gst_event_unref(event);
      g_object_set(pad, "offset", number * kInterval - time, nullptr);
    }
    self.last_ = number;
    return GST_PAD_PROBE_OK;
  }

  std::unique_ptr<Pipeline> pipeline_;
  std::unique_ptr<Witness> witness_;
  std::minstd_rand dice_{7};
  std::atomic<int> sent_{0}, ended_{0}, last_{-1};
  int packets_ = 0, lost_ = 0;
};

// Every picture stands by itself, so that what arrives shows its number; times are the sender's.
TEST_F(Rtp, LostFramesAreNobodysPartner) {
  run({"vp8enc deadline=1 keyframe-max-dist=1 max-quantizer=10", "rtpvp8pay", "encoding-name=VP8",
       "mode=none", "rtpvp8depay ! vp8dec"});
  if (!IsSkipped()) witness_->expect_true_pairs();
}

// Times are the receiver's estimate, and a picture that lost a packet is concealed, or missing until the next key frame.
TEST_F(Rtp, PredictedPicturesAndEstimatedTimes) {
  run({"x264enc tune=zerolatency key-int-max=10 bitrate=1000", "rtph264pay config-interval=-1",
       "encoding-name=H264", "", "rtph264depay ! h264parse ! avdec_h264"});
}

}  // namespace
}  // namespace vmafhip::test
