// Starting, stopping, seeking, changing: whatever an application does, the element answers clearly and goes on.
#include <gst/check/gstharness.h>
#include <gtest/gtest.h>

#include <bit>
#include <set>

#include "tests/pipeline.h"

namespace vmafhip::test {
namespace {

std::string two_tests(int frames, const std::string &settings = "", int size = 64) {
  const std::string caps = caps_text("I420", size, size);
  const std::string n = std::to_string(frames);
  return "vmafhip name=v " + settings + " ! fakesink name=out videotestsrc pattern=ball num-buffers=" + n +
         " ! " + caps + " ! v.ref_sink videotestsrc pattern=ball num-buffers=" + n + " ! " + caps +
         " ! identity name=dist ! v.dist_sink";
}

std::vector<uint64_t> bits_of(const Pipeline &pipeline) {
  std::vector<uint64_t> bits;
  for (const StructurePtr &s : pipeline.frames)
    bits.push_back(std::bit_cast<uint64_t>(real(s.get(), "score")));
  return bits;
}

TEST(Life, PlayTwice) {
  Pipeline pipeline(two_tests(12));
  std::vector<uint64_t> first;
  for (int i = 0; i < 3; ++i) {
    pipeline.forget();
    ASSERT_EQ(pipeline.run(), "eos");
    ASSERT_EQ(pipeline.frames.size(), 12u);
    EXPECT_EQ(number(pipeline.frames[0].get(), "index"), 0u);
    ASSERT_EQ(pipeline.pooled.size(), 1u);
    if (i == 0) first = bits_of(pipeline);
    EXPECT_EQ(bits_of(pipeline), first);
    // Once all the way down, once to READY only.
    gst_element_set_state(pipeline.element(), i == 0 ? GST_STATE_NULL : GST_STATE_READY);
  }
}

TEST(Life, TwoHundredRunsAreAlike) {
  std::vector<uint64_t> first;
  for (int i = 0; i < 200; ++i) {
    Pipeline pipeline(two_tests(6, "threads=" + std::to_string(1 + i % 4)));
    ASSERT_EQ(pipeline.run(), "eos") << i;
    ASSERT_EQ(pipeline.frames.size(), 6u) << i;
    ASSERT_EQ(pipeline.out.size(), 6u) << i;
    if (i == 0) first = bits_of(pipeline);
    ASSERT_EQ(bits_of(pipeline), first) << i;
  }
}

TEST(Life, TwoElementsInOnePipeline) {
  const std::string caps = caps_text("I420", 64, 64);
  Pipeline pipeline(
      "vmafhip name=v ! fakesink vmafhip name=w model=vmaf_4k_v0.6.1 ! fakesink videotestsrc num-buffers=15 "
      "! " +
      caps +
      " ! tee name=t t. ! queue ! v.ref_sink t. ! queue ! v.dist_sink t. ! queue ! w.ref_sink t. ! queue ! "
      "w.dist_sink");
  ASSERT_EQ(pipeline.run(), "eos");
  EXPECT_EQ(pipeline.frames.size(), 30u);
  EXPECT_EQ(pipeline.pooled.size(), 2u);
}

// ---- clear errors ------------------------------------------------------------------------------

std::string only_error(const std::string &settings) {
  Pipeline pipeline(two_tests(3, settings));
  EXPECT_EQ(pipeline.run(10), "error");
  EXPECT_EQ(pipeline.errors.size(), 1u);
  EXPECT_TRUE(pipeline.frames.empty());
  return pipeline.errors.empty() ? "" : pipeline.errors[0];
}

TEST(Errors, UnknownModel) {
  const std::string text = only_error("model=vmaf_v9");
  EXPECT_NE(text.find("vmaf_v9"), std::string::npos) << text;
  EXPECT_NE(text.find("vmaf_v0.6.1neg"), std::string::npos) << text;  // what there is
  EXPECT_NE(text.find("vmafhip/model"), std::string::npos) << text;   // where it looked
}

TEST(Errors, BadModelOptions) {
  EXPECT_NE(only_error("model=vmaf_v0.6.1:enable_transform=maybe").find("maybe"), std::string::npos);
  EXPECT_NE(only_error("model=vmaf_v0.6.1|vmaf_v0.6.1").find("vmaf_v0.6.1"), std::string::npos);
  EXPECT_NE(only_error("model=vmaf_v0.6.1:vif.vif_enhn_gain_limit=1000").find("100"), std::string::npos);
  EXPECT_NE(only_error("model=path=/nonexistent.json").find("/nonexistent.json"), std::string::npos);
}

TEST(Errors, NothingToCompute) {
  EXPECT_NE(only_error("model=\"\"").find("nothing to compute"), std::string::npos);
}

TEST(Errors, NoGpuYet) {
  const std::string text = only_error("backend=hip");
  EXPECT_NE(text.find("backend=cpu"), std::string::npos) << text;
}

TEST(Errors, TooSmall) {
  for (const int size : {1, 2, 16, 32}) {
    Pipeline pipeline(two_tests(3, "", size));
    EXPECT_EQ(pipeline.run(10), "error");
    ASSERT_FALSE(pipeline.errors.empty());
    EXPECT_NE(pipeline.errors[0].find("33x33"), std::string::npos) << pipeline.errors[0];
  }
  Pipeline pipeline(two_tests(3, "", 33));
  EXPECT_EQ(pipeline.run(10), "eos");
  EXPECT_EQ(pipeline.frames.size(), 3u);
}

TEST(Errors, SrcNotLinked) {
  const std::string caps = caps_text("I420", 64, 64);
  Pipeline pipeline("vmafhip name=v videotestsrc num-buffers=9 ! " + caps +
                    " ! v.ref_sink videotestsrc num-buffers=9 ! " + caps + " ! v.dist_sink");
  EXPECT_EQ(pipeline.run(10), "error");
  ASSERT_FALSE(pipeline.errors.empty());
  EXPECT_NE(pipeline.errors[0].find("fakesink"), std::string::npos) << pipeline.errors[0];
}

TEST(Errors, DownstreamRefusesTheFormat) {
  auto source = [] {
    return [i = 0]() mutable -> GstSample * {
      if (i == 9) return nullptr;
      Planes planes;
      for (int p = 0; p < 3; ++p) planes[size_t(p)].assign(p ? 32 * 32 : 64 * 64, 100);
      GstBuffer *buffer = make_buffer(video_info("I420", 64, 64), planes);
      GST_BUFFER_PTS(buffer) = GstClockTime(i++) * 40 * GST_MSECOND;
      GstCaps *caps = gst_caps_from_string(caps_text("I420", 64, 64).c_str());
      GstSample *sample = gst_sample_new(buffer, caps, nullptr, nullptr);
      gst_caps_unref(caps);
      gst_buffer_unref(buffer);
      return sample;
    };
  };
  Pipeline pipeline(
      "vmafhip name=v ! capsfilter caps=video/x-raw,format=GRAY8 ! fakesink appsrc name=ref ! v.ref_sink "
      "appsrc name=dist ! v.dist_sink");
  pipeline.feed_samples("ref", source());
  pipeline.feed_samples("dist", source());
  EXPECT_EQ(pipeline.run(10), "error");
  ASSERT_FALSE(pipeline.errors.empty());
  EXPECT_NE(pipeline.errors[0].find("does not take the format of ref_sink"), std::string::npos)
      << pipeline.errors[0];
}

TEST(Properties, FixedOnesRefuseWhilePlaying) {
  Pipeline pipeline(two_tests(-1));
  ASSERT_TRUE(pipeline.play());
  ASSERT_EQ(pipeline.wait_until([&] { return pipeline.frames.size() > 3; }), "done");
  g_object_set(pipeline.get("v"), "model", "vmaf_4k_v0.6.1", "threads", 7u, "frame-message", FALSE, nullptr);
  gchar *model;
  guint threads;
  gboolean message;
  g_object_get(pipeline.get("v"), "model", &model, "threads", &threads, "frame-message", &message, nullptr);
  EXPECT_STREQ(model, "vmaf_v0.6.1");
  EXPECT_EQ(threads, 0u);
  EXPECT_FALSE(message);  // this one may change
  g_free(model);
}

// ---- flush, seek, caps -------------------------------------------------------------------------

TEST(Seek, ScoresGoOnFromTheNewPlace) {
  Pipeline pipeline(two_tests(-1));
  ASSERT_TRUE(pipeline.play());
  for (int i = 0; i < 10; ++i) {
    const size_t before = pipeline.frames.size();
    ASSERT_EQ(pipeline.wait_until([&] { return pipeline.frames.size() > before + 3; }), "done") << i;
    const GstClockTime to = GstClockTime(10 + i) * GST_SECOND;
    ASSERT_TRUE(
        gst_element_seek_simple(pipeline.element(), GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, gint64(to)));
    const size_t resets = pipeline.resets.size();
    ASSERT_EQ(pipeline.wait_until(
                  [&] { return pipeline.resets.size() > resets || i + 1 == int(pipeline.resets.size()); }),
              "done");
    const size_t after = pipeline.frames.size();
    ASSERT_EQ(pipeline.wait_until([&] { return pipeline.frames.size() > after + 2; }), "done");
    EXPECT_GE(number(pipeline.frames.back().get(), "timestamp"), to);
  }
  for (size_t i = 0; i < pipeline.frames.size(); ++i) EXPECT_EQ(number(pipeline.frames[i].get(), "index"), i);
  EXPECT_EQ(pipeline.resets.size(), 10u);
  EXPECT_EQ(pipeline.pooled.size(), 10u);
  EXPECT_STREQ(gst_structure_get_string(pipeline.resets[0].get(), "reason"), "flush");
}

TEST(Seek, OneStreamAlone) {
  Pipeline pipeline(two_tests(-1));
  ASSERT_TRUE(pipeline.play());
  ASSERT_EQ(pipeline.wait_until([&] { return pipeline.frames.size() > 3; }), "done");
  GstPad *pad = gst_element_get_static_pad(pipeline.get("dist"), "sink");
  ASSERT_TRUE(gst_pad_push_event(pad, gst_event_new_seek(1.0, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH,
                                                         GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_NONE, -1)));
  gst_object_unref(pad);
  ASSERT_EQ(pipeline.wait_until([&] { return !pipeline.resets.empty(); }), "done");
  pipeline.stop();
}

TEST(Stop, InTheMiddleIsQuick) {
  for (int i = 0; i < 20; ++i) {
    Pipeline pipeline(two_tests(-1, "", 320));
    ASSERT_TRUE(pipeline.play(i % 2 ? GST_STATE_PLAYING : GST_STATE_PAUSED));
    pipeline.wait_until([&] { return pipeline.frames.size() > size_t(i % 5); }, 0.3);
    pipeline.stop();  // hangs if anything does not wake up
  }
}

TEST(Caps, MayChangeInTheMiddle) {
  // The picture grows after 5 frames on both pads.
  auto source = [](bool) {
    return [i = 0]() mutable -> GstSample * {
      if (i == 10) return nullptr;
      const int size = i < 5 ? 64 : 96;
      Planes planes;
      planes[0].assign(size_t(size) * size_t(size), 0);
      for (size_t k = 0; k < planes[0].size(); ++k) planes[0][k] = uint16_t(k * 31 % 251);
      const GstVideoInfo info = video_info("GRAY8", size, size);
      GstBuffer *buffer = make_buffer(info, planes);
      GST_BUFFER_PTS(buffer) = GstClockTime(i) * 40 * GST_MSECOND;
      GST_BUFFER_DURATION(buffer) = 40 * GST_MSECOND;
      ++i;
      GstCaps *caps = gst_caps_from_string(caps_text("GRAY8", size, size).c_str());
      GstSample *sample = gst_sample_new(buffer, caps, nullptr, nullptr);
      gst_caps_unref(caps);
      gst_buffer_unref(buffer);
      return sample;
    };
  };
  Pipeline pipeline(
      "vmafhip name=v ! fakesink name=out appsrc name=ref ! v.ref_sink appsrc name=dist ! v.dist_sink");
  pipeline.feed_samples("ref", source(true));
  pipeline.feed_samples("dist", source(false));
  ASSERT_EQ(pipeline.run(), "eos");
  ASSERT_EQ(pipeline.frames.size(), 10u);
  EXPECT_EQ(pipeline.out.size(), 10u);
  ASSERT_EQ(pipeline.resets.size(), 1u);
  EXPECT_STREQ(gst_structure_get_string(pipeline.resets[0].get(), "reason"), "caps");
  EXPECT_EQ(pipeline.pooled.size(), 2u);
  gboolean warm = FALSE;
  gst_structure_get_boolean(pipeline.frames[5].get(), "warm-up", &warm);
  EXPECT_TRUE(warm);  // motion has no history again
}

TEST(Eos, SentToTheElementOrThePipeline) {
  for (const bool whole : {true, false}) {
    const std::string caps = caps_text("I420", 64, 64);
    Pipeline pipeline("vmafhip name=v ! fakesink name=out videotestsrc is-live=true ! " + caps +
                      " ! v.ref_sink videotestsrc is-live=true ! " + caps + " ! v.dist_sink");
    ASSERT_TRUE(pipeline.play());
    ASSERT_EQ(pipeline.wait_until([&] { return pipeline.frames.size() >= 5; }), "done");
    gst_element_send_event(whole ? pipeline.element() : pipeline.get("v"), gst_event_new_eos());
    EXPECT_EQ(pipeline.wait(20), "eos");
    ASSERT_EQ(pipeline.pooled.size(), 1u);
    EXPECT_EQ(number(pipeline.pooled[0].get(), "frames"), pipeline.frames.size());
  }
}

TEST(Eos, FromDownstream) {
  const std::string caps = caps_text("I420", 64, 64);
  Pipeline pipeline("vmafhip name=v ! identity eos-after=4 ! fakesink name=out videotestsrc ! " + caps +
                    " ! v.ref_sink videotestsrc ! " + caps + " ! v.dist_sink");
  EXPECT_EQ(pipeline.run(20), "eos");
  ASSERT_EQ(pipeline.pooled.size(), 1u);
  EXPECT_GE(number(pipeline.pooled[0].get(), "frames"), 4u);
}

// ---- memory ------------------------------------------------------------------------------------

// An application that never pops its bus must not grow when it asked for no messages.
TEST(Memory, TenThousandFramesWithoutMessages) {
  Pipeline pipeline(two_tests(10000, "frame-message=false"));
  GstBus *bus = gst_element_get_bus(pipeline.element());
  ASSERT_TRUE(pipeline.play());
  auto scored = [&] {
    GstStructure *stats = nullptr;
    g_object_get(pipeline.get("v"), "stats", &stats, nullptr);
    const guint64 n = number(stats, "scored");
    gst_structure_free(stats);
    return n;
  };
  long early = 0;
  for (int i = 0; scored() < 10000; ++i) {
    ASSERT_LT(i, 5000) << "no end";
    g_usleep(20000);
    if (early == 0 && scored() >= 2000) early = allocated_kib();
  }
  const long late = allocated_kib();
  EXPECT_LE(late - early, 1024) << early << " KiB after 2,000 frames, " << late << " after 10,000";
  EXPECT_EQ(pipeline.wait(20), "eos");
  EXPECT_TRUE(pipeline.frames.empty());
  gst_object_unref(bus);
}

// ---- with a harness: queries -------------------------------------------------------------------

TEST(Queries, AllocationOffersVideoMeta) {
  GstElement *v = gst_element_factory_make("vmafhip", nullptr);
  g_object_set(v, "threads", 1u, nullptr);
  GstHarness *ref = gst_harness_new_with_element(v, "ref_sink", "src");
  GstHarness *dist = gst_harness_new_with_element(v, "dist_sink", nullptr);
  const std::string caps = caps_text("I420", 64, 64);
  gst_harness_set_src_caps_str(ref, caps.c_str());
  gst_harness_set_src_caps_str(dist, caps.c_str());
  GstCaps *c = gst_caps_from_string(caps.c_str());
  for (GstHarness *h : {ref, dist}) {
    GstQuery *query = gst_query_new_allocation(c, TRUE);
    ASSERT_TRUE(gst_pad_peer_query(h->srcpad, query));
    EXPECT_TRUE(gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr));
    ASSERT_EQ(gst_query_get_n_allocation_pools(query), 1u);
    guint size, least, most;
    gst_query_parse_nth_allocation_pool(query, 0, nullptr, &size, &least, &most);
    EXPECT_EQ(size, 64u * 64 * 3 / 2);
    // One in work, two waiting, one looking ahead; the next pair, its successor, one that is filled.
    EXPECT_EQ(least, 7u);
    gst_query_unref(query);
  }
  gst_caps_unref(c);
  gst_harness_teardown(dist);
  gst_harness_teardown(ref);
  gst_object_unref(v);
}

TEST(Queries, LatencyOfLiveSources) {
  GstElement *v = gst_element_factory_make("vmafhip", nullptr);
  GstHarness *ref = gst_harness_new_with_element(v, "ref_sink", "src");
  GstHarness *dist = gst_harness_new_with_element(v, "dist_sink", nullptr);
  gst_harness_set_live(ref, TRUE);
  gst_harness_set_live(dist, TRUE);
  gst_harness_set_upstream_latency(ref, 20 * GST_MSECOND);
  gst_harness_set_upstream_latency(dist, 50 * GST_MSECOND);
  gst_harness_set_src_caps_str(ref, caps_text("I420", 64, 64).c_str());
  gst_harness_set_src_caps_str(dist, caps_text("I420", 64, 64).c_str());
  // The slower of the two, two frames of 40 ms and 40 ms for the engine.
  EXPECT_EQ(gst_harness_query_latency(ref), (50 + 2 * 40 + 40) * GST_MSECOND);
  gst_harness_teardown(dist);
  gst_harness_teardown(ref);
  gst_object_unref(v);
}

// Frame by frame: a score leaves as soon as its successor is in, without anything else happening.
TEST(Harness, ScoreFollowsItsSuccessor) {
  GstElement *v = gst_element_factory_make("vmafhip", nullptr);
  GstHarness *ref = gst_harness_new_with_element(v, "ref_sink", "src");
  GstHarness *dist = gst_harness_new_with_element(v, "dist_sink", nullptr);
  gst_harness_set_src_caps_str(ref, caps_text("I420", 64, 64).c_str());
  gst_harness_set_src_caps_str(dist, caps_text("I420", 64, 64).c_str());
  for (int i = 0; i < 10; ++i) {
    for (GstHarness *h : {ref, dist}) {
      GstBuffer *buffer = gst_harness_create_buffer(h, 64 * 64 * 3 / 2);
      gst_buffer_memset(buffer, 0, guint8(30 + i), 64 * 64 * 3 / 2);
      GST_BUFFER_PTS(buffer) = GstClockTime(i) * 40 * GST_MSECOND;
      GST_BUFFER_DURATION(buffer) = 40 * GST_MSECOND;
      ASSERT_EQ(gst_harness_push(h, buffer), GST_FLOW_OK);
    }
    if (i == 0) continue;
    GstBuffer *out = gst_harness_pull(ref);  // waits
    ASSERT_NE(out, nullptr);
    EXPECT_EQ(GST_BUFFER_PTS(out), GstClockTime(i - 1) * 40 * GST_MSECOND);
    EXPECT_NE(gst_buffer_get_custom_meta(out, "VmafHipScore"), nullptr);
    gst_buffer_unref(out);
  }
  gst_harness_teardown(dist);
  gst_harness_teardown(ref);
  gst_object_unref(v);
}

}  // namespace
}  // namespace vmafhip::test
