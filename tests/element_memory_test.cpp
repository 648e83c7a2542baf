// Memory stays flat however long the stream is. A frame leaves nothing behind: neither here nor on the bus, which is popped
// as it fills. VMAFHIP_TEST_FRAMES sets how many frames it is looked at.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>

#include "tests/pipeline.h"

namespace vmafhip::test {
namespace {

constexpr guint64 kFrame = 40 * GST_MSECOND;

guint64 frames_to_score() {
  const char *text = std::getenv("VMAFHIP_TEST_FRAMES");
  return text ? std::strtoull(text, nullptr, 10) : 200'000;
}

TEST(Memory, FlatOverALongStream) {
  const guint64 frames = frames_to_score(), warm_up = frames / 10;
  ASSERT_GE(frames, 10'000u);
  const std::string caps = caps_text("GRAY8", 64, 64);
  Pipeline pipeline("vmafhip name=v threads=2 ! fakesink appsrc name=ref caps=" + caps +
                    " ! v.ref_sink appsrc name=dist caps=" + caps + " ! v.dist_sink");
  // A bus that fills faster than it is popped grows for a while: the sources wait for the one who pops.
  std::atomic<guint64> popped{0};
  for (const char *name : {"ref", "dist"}) {
    std::vector<BufferPtr> pictures;  // a few, over and over: the buffers share their memory
    for (int i = 0; i < 16; ++i) {
      Planes planes;
      for (int k = 0; k < 64 * 64; ++k)
        planes[0].push_back(uint16_t((k * 7 + i * 13 + (name[0] == 'd' ? k % 5 : 0)) % 200 + 20));
      pictures.push_back(adopt(make_buffer(video_info("GRAY8", 64, 64), planes)));
    }
    pipeline.feed(name,
                  [&popped, frames, pictures = std::move(pictures), n = guint64(0)]() mutable -> GstBuffer * {
                    if (n == frames) return nullptr;
                    while (n > popped + 200) g_usleep(100);
                    GstBuffer *buffer = gst_buffer_copy(pictures[n % pictures.size()].get());
                    GST_BUFFER_PTS(buffer) = n++ * kFrame;
                    GST_BUFFER_DURATION(buffer) = kFrame;
                    return buffer;
                  });
    g_object_set(pipeline.get(name), "max-buffers", guint64(100), nullptr);
  }
  // What is under way goes up and down by some hundred messages: the least of many looks tells what stays.
  long early = 0, late = 0, resident = 0;
  const auto look = [](long &least) {
    least = least == 0 ? allocated_kib() : std::min(least, allocated_kib());
  };
  GstBus *bus = gst_element_get_bus(pipeline.element());
  ASSERT_TRUE(pipeline.play());
  for (bool ended = false; !ended;) {
    GstMessage *message = gst_bus_timed_pop(bus, 60 * GST_SECOND);
    ASSERT_NE(message, nullptr) << popped << " frames";
    const GstStructure *s = gst_message_get_structure(message);
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT && gst_structure_has_name(s, "vmafhip") &&
        g_str_equal(gst_structure_get_string(s, "type"), "frame")) {
      if (++popped == warm_up) resident = resident_kib();
      if (popped > warm_up && popped <= 2 * warm_up && popped % 100 == 0) look(early);
      if (popped > frames - warm_up && popped % 100 == 0) look(late);
    }
    ASSERT_NE(GST_MESSAGE_TYPE(message), GST_MESSAGE_ERROR);
    ended = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    gst_message_unref(message);
  }
  gst_object_unref(bus);
  EXPECT_EQ(popped, frames);
  EXPECT_LE(late - early, 1024) << early << " KiB after " << warm_up << " frames, " << late << " at the end";
  // Fragments, arenas of threads, and what does not come from malloc: a hundred bytes a frame would be more.
  EXPECT_LE(resident_kib() - resident, 16 * 1024);
  printf("%ld %ld\n", early, late);
}

}  // namespace
}  // namespace vmafhip::test
