// Seeks of all kinds: no frame is lost between the two streams, and whoever seeks may do so from anywhere.
#include <gtest/gtest.h>

#include <atomic>

#include "tests/pipeline.h"

namespace vmafhip::test {
namespace {

constexpr GstClockTime kFrame = 40 * GST_MSECOND;

std::string two_tests(int frames, const std::string &settings = "",
                      const std::string &out = "fakesink name=out") {
  const std::string source =
      "videotestsrc pattern=ball num-buffers=" + std::to_string(frames) + " ! " + caps_text("I420", 64, 64);
  return "vmafhip name=v " + settings + " ! " + out + " " + source + " ! v.ref_sink " + source +
         " ! v.dist_sink";
}

// The distorted stream moves half a second later than the reference: the frames in between must wait for it.
TEST(Seek, NewFramesDoNotMeetOldOnes) {
  Pipeline pipeline(two_tests(-1));
  GstPad *pad = gst_element_get_static_pad(pipeline.get("v"), "dist_sink");
  gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM,
      [](GstPad *, GstPadProbeInfo *info, gpointer) {
        if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_SEEK) g_usleep(500'000);
        return GST_PAD_PROBE_OK;
      },
      nullptr, nullptr);
  gst_object_unref(pad);
  ASSERT_TRUE(pipeline.play());
  for (int i = 0; i < 3; ++i) {
    const size_t before = pipeline.frames.size();
    ASSERT_EQ(pipeline.wait_until([&] { return pipeline.frames.size() > before + 10; }), "done");
    ASSERT_TRUE(gst_element_seek_simple(pipeline.element(), GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0));
  }
  const size_t before = pipeline.frames.size();
  ASSERT_EQ(pipeline.wait_until([&] { return pipeline.frames.size() > before + 10; }), "done");
  EXPECT_EQ(stats_number(pipeline.get("v"), "ref-unmatched"), 0u);
  EXPECT_EQ(stats_number(pipeline.get("v"), "dist-unmatched"), 0u);
}

// A loop of segment seeks is one stream: running time goes on, nothing is lost where the turns meet.
TEST(Seek, SegmentsLoop) {
  for (const char *output : {"output=reference", "output=distorted"}) {
    Pipeline pipeline(two_tests(-1, output));
    std::atomic<int> done{0};
    GstBus *bus = gst_element_get_bus(pipeline.element());
    gst_bus_set_sync_handler(
        bus,
        [](GstBus *, GstMessage *message, gpointer data) {
          if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_SEGMENT_DONE) ++*static_cast<std::atomic<int> *>(data);
          return GST_BUS_PASS;
        },
        &done, nullptr);
    auto seek = [&](int flags) {
      return gst_element_seek(pipeline.element(), 1, GST_FORMAT_TIME,
                              GstSeekFlags(GST_SEEK_FLAG_SEGMENT | flags), GST_SEEK_TYPE_SET, 0,
                              GST_SEEK_TYPE_SET, 10 * kFrame);
    };
    ASSERT_TRUE(pipeline.play(GST_STATE_PAUSED));
    ASSERT_EQ(gst_element_get_state(pipeline.element(), nullptr, nullptr, 20 * GST_SECOND),
              GST_STATE_CHANGE_SUCCESS);
    ASSERT_TRUE(seek(GST_SEEK_FLAG_FLUSH));
    ASSERT_TRUE(pipeline.play());
    for (int i = 1; i <= 3; ++i) {
      ASSERT_EQ(pipeline.wait_until([&] { return done == i; }, 20), "done") << output << i;
      if (i < 3) {
        ASSERT_TRUE(seek(0));
      }
    }
    // What says that the segment is done comes behind its last frame's score.
    EXPECT_EQ(pipeline.wait_until([&] { return pipeline.count_out("segment-done") == 3; }, 20), "done");
    EXPECT_GE(stats_number(pipeline.get("v"), "scored"), 30u);
    EXPECT_EQ(number(pipeline.frames.back().get(), "timestamp"), 9 * kFrame);
    EXPECT_EQ(pipeline.out.back().pts, 9 * kFrame);
    EXPECT_GE(pipeline.out.back().score_index, 29);
    EXPECT_EQ(stats_number(pipeline.get("v"), "ref-unmatched"), 0u);
    EXPECT_EQ(stats_number(pipeline.get("v"), "dist-unmatched"), 0u);
    gst_bus_set_sync_handler(bus, nullptr, nullptr, nullptr);
    gst_object_unref(bus);
  }
}

// A handler seeks in the very thread that posts, pushes and is flushed by it.
TEST(Seek, FromAHandlerOfItsOwnMessage) {
  Pipeline pipeline(two_tests(-1));
  struct State {
    GstElement *pipeline;
    std::atomic<int> seeks{0};
  } state{pipeline.element()};
  GstBus *bus = gst_element_get_bus(pipeline.element());
  gst_bus_set_sync_handler(
      bus,
      [](GstBus *, GstMessage *message, gpointer data) {
        auto &s = *static_cast<State *>(data);
        const GstStructure *structure = gst_message_get_structure(message);
        guint64 index;
        if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT &&
            gst_structure_has_name(structure, "vmafhip") &&
            gst_structure_get_uint64(structure, "timestamp", &index) && index == 5 * kFrame && s.seeks < 5) {
          ++s.seeks;
          gst_element_seek_simple(s.pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0);
        }
        return GST_BUS_PASS;
      },
      &state, nullptr);
  ASSERT_TRUE(pipeline.play());
  EXPECT_EQ(pipeline.wait_until([&] { return pipeline.resets.size() == 5; }, 20), "done");
  const size_t before = pipeline.frames.size();
  EXPECT_EQ(pipeline.wait_until([&] { return pipeline.frames.size() > before + 20; }, 20), "done");
  EXPECT_EQ(state.seeks, 5);
  gst_bus_set_sync_handler(bus, nullptr, nullptr, nullptr);
  gst_object_unref(bus);
}

// From the end back to the start, streams of unlike length: the same pairs again, and pools that start anew.
TEST(Seek, AfterTheEnd) {
  const auto file = [](int frames) {
    const std::string name = "seek_after_the_end_" + std::to_string(frames) + ".avi";
    Pipeline writer("videotestsrc num-buffers=" + std::to_string(frames) + " ! " + caps_text("I420", 64, 64) +
                    " ! avimux ! filesink location=" + name);
    EXPECT_EQ(writer.run(), "eos");
    return "filesrc location=" + name + " ! avidemux ! video/x-raw,format=I420 ! ";
  };
  const std::string twelve = file(12), eight = file(8);
  for (int run = 0; run < 10; ++run) {
    Pipeline pipeline("vmafhip name=v ! fakesink name=out " + twelve + "v.ref_sink " + eight + "v.dist_sink");
    ASSERT_EQ(pipeline.run(), "eos");
    ASSERT_EQ(pipeline.frames.size(), 8u);
    ASSERT_EQ(pipeline.pooled.size(), 1u);
    ASSERT_TRUE(gst_element_seek_simple(pipeline.element(), GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0));
    ASSERT_EQ(pipeline.wait(20), "eos");
    ASSERT_EQ(pipeline.frames.size(), 16u);
    EXPECT_EQ(number(pipeline.frames[8].get(), "timestamp"), 0u);
    EXPECT_EQ(number(pipeline.frames[8].get(), "index"), 8u);
    ASSERT_EQ(pipeline.resets.size(), 1u);  // between the two
    ASSERT_EQ(pipeline.pooled.size(), 2u);  // each frame in one of them
    for (const StructurePtr &p : pipeline.pooled) EXPECT_EQ(number(p.get(), "frames"), 8u);
  }
}

}  // namespace
}  // namespace vmafhip::test
