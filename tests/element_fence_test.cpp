// Frames that come before their producers have written them: they are read when they are, no thread that brings frames
// waits for that, and nothing hangs if it never comes to pass.
#include <gst/allocators/gstdmabuf.h>
#include <gst/check/gstharness.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>

#include "tests/dmabufs.h"
#include "tests/fences.h"
#include "tests/still_clip.h"

namespace vmafhip::test {
namespace {

class Fences : public testing::TestWithParam<const char *> {
 protected:
  void TearDown() override { stop(); }

  // `settings`: names and values of properties, as g_object_set() takes them.
  template <class... Settings>
  void start(Settings... settings) {
    element_ = gst_element_factory_make("vmafhip", nullptr);
    gst_util_set_object_arg(G_OBJECT(element_), "backend", "cpu");
    if constexpr (sizeof...(settings) > 0) g_object_set(element_, settings..., nullptr);
    bus_ = gst_bus_new();
    gst_element_set_bus(element_, bus_);
    ref_ = gst_harness_new_with_element(element_, "ref_sink", "src");
    dist_ = gst_harness_new_with_element(element_, "dist_sink", nullptr);
    for (GstHarness *h : {ref_, dist_}) gst_harness_set_live(h, FALSE);
    for (GstHarness *h : {ref_, dist_}) gst_harness_set_src_caps_str(h, caps_text("GRAY8", 64, 64).c_str());
  }
  void stop() {
    if (!element_) return;
    gst_element_set_bus(element_, nullptr);
    gst_object_unref(bus_);
    gst_harness_teardown(dist_);
    gst_harness_teardown(ref_);
    gst_object_unref(element_);
    element_ = nullptr;
  }

  static GstBuffer *dmabuf(int n, bool bad) { return in_memfds(picture(n, bad)); }
  static void push(GstHarness *h, GstBuffer *buffer) { ASSERT_EQ(gst_harness_push(h, buffer), GST_FLOW_OK); }
  void push_both(int n) {
    push(ref_, dmabuf(n, false));
    push(dist_, dmabuf(n, true));
  }
  void end() {
    for (GstHarness *h : {ref_, dist_}) ASSERT_TRUE(gst_harness_push_event(h, gst_event_new_eos()));
  }
  // The next frame's score, as bits; 0 without.
  guint64 pull() {
    GstBuffer *buffer = gst_harness_pull(ref_);
    if (!buffer) {
      ADD_FAILURE() << "no frame";
      return 0;
    }
    GstCustomMeta *meta = gst_buffer_get_custom_meta(buffer, "VmafHipScore");
    const guint64 bits =
        meta ? std::bit_cast<guint64>(real(gst_custom_meta_get_structure(meta), "score")) : 0;
    gst_buffer_unref(buffer);
    return bits;
  }
  // The next message of that type.
  std::string message(GstMessageType type, double seconds = 60) {
    const auto limit = GstClockTime(seconds * slowness() * GST_SECOND);
    GstMessage *found = gst_bus_timed_pop_filtered(bus_, limit, type);
    if (!found) return "";
    GError *error;
    gchar *debug;
    type == GST_MESSAGE_ERROR ? gst_message_parse_error(found, &error, &debug)
                              : gst_message_parse_warning(found, &error, &debug);
    const std::string text = std::string(error->message) + " | " + (debug ? debug : "");
    g_error_free(error);
    g_free(debug);
    gst_message_unref(found);
    return text;
  }
  guint64 stat(const char *name) { return stats_number(element_, name); }
  static void wait_a_little() { g_usleep(100'000); }

  GstElement *element_ = nullptr;
  GstBus *bus_ = nullptr;
  GstHarness *ref_ = nullptr, *dist_ = nullptr;
};
using FencesThatNeverCome = Fences;

// Pads take a few frames more while one is waited for; it has the score of what was written at last.
TEST_P(Fences, FrameIsReadWhenItIsWritten) {
  const bool ref = GetParam() == std::string("ref_sink");
  start();
  for (int n = 0; n < 3; ++n) push_both(n);
  end();
  pull(), pull();
  const guint64 expected = pull();
  stop();

  start();
  GstBuffer *late = dmabuf(0, ref), *other = dmabuf(0, ref);  // not yet what it is to be
  Fence fence(late);
  push(ref ? ref_ : dist_, late);
  push(ref ? dist_ : ref_, other);
  for (int n = 1; n < 3; ++n) push_both(n);
  wait_a_little();
  EXPECT_EQ(stat("compared"), 0u);
  EXPECT_EQ(gst_harness_buffers_received(ref_), 0u);
  GstBuffer *right = picture(0, !ref);
  GstMapInfo map;
  gst_buffer_map(right, &map, GST_MAP_READ);
  const int fd = gst_dmabuf_memory_get_fd(gst_buffer_peek_memory(late, 0));
  EXPECT_EQ(::pwrite(fd, map.data, map.size, 0), gssize(map.size));
  gst_buffer_unmap(right, &map);
  gst_buffer_unref(right);
  fence.signal();
  end();
  const guint64 first = pull();
  pull();
  EXPECT_EQ(pull(), expected);
  EXPECT_NE(first, 0u);
  EXPECT_EQ(stat("mapped"), 6u);
  stop();

  start();
  for (int n = 0; n < 3; ++n) push_both(n);
  end();
  EXPECT_EQ(pull(), first);
}

TEST_P(Fences, StopWhileOneIsWaitedFor) {
  start();
  GstBuffer *never = dmabuf(0, false);
  Fence fence(never);
  const bool ref = GetParam() == std::string("ref_sink");
  push(ref ? ref_ : dist_, never);
  push(ref ? dist_ : ref_, dmabuf(0, true));
  wait_a_little();
  stop();
}

TEST_P(Fences, FlushWhileOneIsWaitedFor) {
  start();
  GstBuffer *never = dmabuf(0, false);
  Fence fence(never);
  const bool ref = GetParam() == std::string("ref_sink");
  push(ref ? ref_ : dist_, never);
  push(ref ? dist_ : ref_, dmabuf(0, true));
  wait_a_little();
  for (GstHarness *h : {ref_, dist_}) ASSERT_TRUE(gst_harness_push_event(h, gst_event_new_flush_start()));
  for (GstHarness *h : {ref_, dist_}) ASSERT_TRUE(gst_harness_push_event(h, gst_event_new_flush_stop(TRUE)));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  for (GstHarness *h : {ref_, dist_}) ASSERT_TRUE(gst_harness_push_event(h, gst_event_new_segment(&segment)));
  for (int n = 10; n < 13; ++n) push_both(n);
  end();
  for (int n = 0; n < 3; ++n) EXPECT_NE(pull(), 0u);
}

// Warned of once, though both streams have ended, and scored when it comes to pass after all.
TEST_P(Fences, WarningNamesThePad) {
  start();
  GstBuffer *late = dmabuf(0, false), *later = dmabuf(1, false);
  Fence fence(late), other(later);
  const bool ref = GetParam() == std::string("ref_sink");
  push(ref ? ref_ : dist_, late);
  push(ref ? dist_ : ref_, dmabuf(0, true));
  push(ref ? ref_ : dist_, later);
  push(ref ? dist_ : ref_, dmabuf(1, true));
  end();
  const std::string text = message(GST_MESSAGE_WARNING);
  EXPECT_NE(text.find(GetParam()), std::string::npos) << text;
  EXPECT_NE(text.find("not been written after 2 s"), std::string::npos) << text;
  fence.signal();
  other.signal();
  EXPECT_NE(pull(), 0u);
  EXPECT_NE(pull(), 0u);
  EXPECT_EQ(message(GST_MESSAGE_WARNING, 0), "");
}

// Signatures are made of written pictures only.
TEST_P(Fences, ContentWaits) {
  start("sync", 2, "sync-window", guint64(GST_SECOND));
  GstBuffer *late = dmabuf(0, false);
  Fence fence(late);
  const bool ref = GetParam() == std::string("ref_sink");
  push(ref ? ref_ : dist_, late);
  for (int n = 0; n < 2; ++n) {
    if (!ref || n > 0) push(ref_, dmabuf(n, false));
    if (ref || n > 0) push(dist_, dmabuf(n, true));
  }
  wait_a_little();
  EXPECT_EQ(stat("compared"), 0u);
  end();
  fence.signal();
  for (int n = 0; n < 2; ++n) pull();
}

// A live source is not stopped: the pair is left out when others need its room.
TEST_P(Fences, LiveGoesOn) {
  start("attach-meta", FALSE, "sync-window", guint64(200 * GST_MSECOND));
  for (GstHarness *h : {ref_, dist_}) gst_harness_set_live(h, TRUE);
  GstSegment segment;  // with it the element asks
  gst_segment_init(&segment, GST_FORMAT_TIME);
  for (GstHarness *h : {ref_, dist_}) ASSERT_TRUE(gst_harness_push_event(h, gst_event_new_segment(&segment)));
  GstBuffer *never = dmabuf(0, false);
  Fence fence(never);
  const bool ref = GetParam() == std::string("ref_sink");
  push(ref ? ref_ : dist_, never);
  push(ref ? dist_ : ref_, dmabuf(0, true));
  constexpr int kMany = 30;
  for (int n = 1; n < kMany; ++n) {
    push_both(n);
    // No faster than they are scored, once the pair that waits is left out: others would be, too. The last few are
    // on their way.
    for (int turns = 0; stat("skipped-overload") > 0 && stat("scored") + 4 < guint64(n) && turns < 50'000;
         ++turns)
      g_usleep(200);
  }
  end();
  for (int n = 0; n < kMany; ++n) pull();
  while (GstEvent *event = gst_harness_pull_event(ref_)) {
    const bool eos = GST_EVENT_TYPE(event) == GST_EVENT_EOS;
    gst_event_unref(event);
    if (eos) break;
  }
  EXPECT_EQ(stat("skipped-overload"), 1u);
  EXPECT_EQ(stat("scored"), guint64(kMany - 1));
}

INSTANTIATE_TEST_SUITE_P(Pads, Fences, testing::Values("ref_sink", "dist_sink"),
                         [](const auto &info) { return std::string(info.param); });

// Not even the ends of both streams are held up for ever.
TEST_F(FencesThatNeverCome, NeverSignalledIsAnError) {
  start();
  push_both(0);
  GstBuffer *never = dmabuf(1, true);
  Fence fence(never);
  push(ref_, dmabuf(1, false));
  push(dist_, never);
  end();
  const std::string text = message(GST_MESSAGE_ERROR);
  EXPECT_NE(text.find("dist_sink has not been written after 20 s"), std::string::npos) << text;
  EXPECT_EQ(stat("scored"), 1u);  // what came before counts
}

}  // namespace
}  // namespace vmafhip::test
