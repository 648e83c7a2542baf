// A pipeline that changes while it plays: the element is taken out and put in, linked late, chained, fed other caps, cut
// off by errors.
#include <gtest/gtest.h>

#include <atomic>
#include <bit>

#include "tests/numbered.h"

namespace vmafhip::test {
namespace {

constexpr GstClockTime kFrame = 40 * GST_MSECOND;

// ---- in and out of a running pipeline ----------------------------------------------------------

void wait_for(const std::function<bool()> &done) {
  for (int i = 0; i < 60'000 * slowness() && !done(); ++i) g_usleep(1000);
  ASSERT_TRUE(done());
}

// Runs `change` when nothing passes the pad, and returns after it has.
void while_blocked(GstPad *pad, GstPadProbeType type, const std::function<void()> &change) {
  struct Once {
    const std::function<void()> &change;
    std::atomic<bool> begun{false}, done{false};
  } once{change};
  gst_pad_add_probe(
      pad, type,
      [](GstPad *, GstPadProbeInfo *, gpointer data) {
        auto &o = *static_cast<Once *>(data);
        if (o.begun.exchange(true)) return GST_PAD_PROBE_OK;
        o.change();
        o.done = true;
        return GST_PAD_PROBE_REMOVE;
      },
      &once, nullptr);
  wait_for([&] { return once.done.load(); });
}

GstPad *pad_of(GstElement *element, const char *name) {
  GstPad *pad = gst_element_get_static_pad(element, name);
  gst_object_unref(pad);  // the element keeps it
  return pad;
}

// The stream goes source → tee → before → (vmafhip) → after → out; the tee's second branch is the distorted stream.
class Insertion {
 public:
  explicit Insertion(Pipeline &pipeline) : pipeline_(pipeline), bin_(GST_BIN(pipeline.element())) {}

  void insert() {
    v_ = gst_element_factory_make("vmafhip", "v");
    queue_ = gst_element_factory_make("queue", nullptr);
    gst_object_ref(v_);
    gst_bin_add_many(bin_, v_, queue_, nullptr);
    ASSERT_TRUE(gst_element_link_pads(queue_, "src", v_, "dist_sink"));
    GstPad *before = pad_of(pipeline_.get("before"), "src"), *after = pad_of(pipeline_.get("after"), "sink");
    while_blocked(before, GST_PAD_PROBE_TYPE_IDLE, [&] {
      gst_pad_unlink(before, after);
      EXPECT_EQ(gst_pad_link(pad_of(v_, "src"), after), GST_PAD_LINK_OK);
      EXPECT_TRUE(gst_element_sync_state_with_parent(v_));
      EXPECT_TRUE(gst_element_sync_state_with_parent(queue_));
      EXPECT_EQ(gst_pad_link(before, pad_of(v_, "ref_sink")), GST_PAD_LINK_OK);
    });
    branch_ = gst_element_request_pad_simple(pipeline_.get("t"), "src_%u");
    EXPECT_EQ(gst_pad_link(branch_, pad_of(queue_, "sink")), GST_PAD_LINK_OK);
  }

  // As an application does it: the distorted branch ends, the element stops while it still has its peers, and the
  // reference is led past it.
  void remove() {
    while_blocked(branch_, GST_PAD_PROBE_TYPE_IDLE, [&] { gst_pad_unlink(branch_, pad_of(queue_, "sink")); });
    gst_element_release_request_pad(pipeline_.get("t"), branch_);
    gst_object_unref(branch_);
    gst_pad_send_event(pad_of(queue_, "sink"), gst_event_new_eos());
    GstPad *before = pad_of(pipeline_.get("before"), "src"), *after = pad_of(pipeline_.get("after"), "sink");
    while_blocked(before, GST_PAD_PROBE_TYPE_IDLE, [&] {
      EXPECT_EQ(gst_element_set_state(v_, GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
      gst_pad_unlink(before, pad_of(v_, "ref_sink"));
      gst_pad_unlink(pad_of(v_, "src"), after);
      EXPECT_EQ(gst_pad_link(before, after), GST_PAD_LINK_OK);
    });
    for (GstElement *e : {queue_, v_}) {
      gst_element_set_state(e, GST_STATE_NULL);
      gst_bin_remove(bin_, e);
    }
    gst_object_unref(v_);
  }

 private:
  Pipeline &pipeline_;
  GstBin *bin_;
  GstElement *v_ = nullptr, *queue_ = nullptr;
  GstPad *branch_ = nullptr;
};

// Out and in again, while the picture goes on; every frame leaves once, in order, but for those inside at the removal.
TEST(Dynamic, RemovedFromAndAddedToARunningPipeline) {
  for (const bool live : {false, true}) {
    Pipeline pipeline(std::string("videotestsrc pattern=ball is-live=") + (live ? "true" : "false") + " ! " +
                      caps_text("I420", 64, 64, live ? 200 : 25, 1) +
                      " ! tee name=t ! queue name=before ! queue name=after ! fakesink name=out sync=false");
    Insertion insertion(pipeline);
    ASSERT_TRUE(pipeline.play());
    // A pad that is idle in the middle of its first events would not repeat them to a new peer (GStreamer 1.22).
    ASSERT_EQ(pipeline.wait_until([&] { return pipeline.count_out() >= 1; }), "done");
    for (int i = 0; i < 5; ++i) {
      pipeline.frames.clear();
      insertion.insert();
      ASSERT_EQ(pipeline.wait_until([&] { return pipeline.frames.size() >= 10; }), "done")
          << i << (pipeline.errors.empty() ? "" : pipeline.errors[0]);
      for (const StructurePtr &s : pipeline.frames) EXPECT_EQ(signed_number(s.get(), "distance"), 0);
      EXPECT_EQ(number(pipeline.frames[0].get(), "index"), 0u);
      insertion.remove();
      const size_t before = pipeline.count_out();
      ASSERT_EQ(pipeline.wait_until([&] { return pipeline.count_out() >= before + 10; }), "done")
          << i << (pipeline.errors.empty() ? "" : pipeline.errors[0]);
    }
    pipeline.stop();
    EXPECT_TRUE(pipeline.errors.empty()) << pipeline.errors[0];
    for (size_t i = 1; i < pipeline.out.size(); ++i) EXPECT_GT(pipeline.out[i].pts, pipeline.out[i - 1].pts);
  }
}

// Frames wait on both pads already when the src pad gets its peer.
TEST(Dynamic, SrcLinkedLate) {
  for (int round = 0; round < 10; ++round) {
    const std::string caps = caps_text("I420", 64, 64);
    Pipeline pipeline("vmafhip name=v fakesink name=out async=false videotestsrc num-buffers=50 ! " + caps +
                      " ! tee name=t t. ! queue ! v.ref_sink t. ! queue ! identity name=gate ! v.dist_sink");
    // Nothing is decided before the distorted stream comes.
    GstPad *gate = pad_of(pipeline.get("gate"), "src");
    const gulong block = gst_pad_add_probe(
        gate, GstPadProbeType(GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER),
        [](GstPad *, GstPadProbeInfo *, gpointer) { return GST_PAD_PROBE_OK; }, nullptr, nullptr);
    pipeline.get("v");
    ASSERT_TRUE(pipeline.play());
    ASSERT_EQ(pipeline.wait_until([&] { return counter(pipeline, "ref-queue-frames") >= 3; }), "done");
    ASSERT_TRUE(gst_element_link_pads(pipeline.get("v"), "src", pipeline.get("out"), "sink"));
    gst_pad_remove_probe(gate, block);
    ASSERT_EQ(pipeline.wait(), "eos") << round;
    EXPECT_EQ(pipeline.frames.size(), 50u);
    EXPECT_EQ(pipeline.out.size(), 50u);
    EXPECT_EQ(std::vector<std::string>(pipeline.out_events.begin(), pipeline.out_events.begin() + 3),
              (std::vector<std::string>{"stream-start", "caps", "segment"}));
  }
}

// Unlinked in the middle: one error that says what is missing, and no other before it.
TEST(Dynamic, SrcUnlinkedWhilePlaying) {
  const std::string caps = caps_text("I420", 64, 64);
  Pipeline pipeline("vmafhip name=v ! queue name=q ! fakesink name=out videotestsrc ! " + caps +
                    " ! v.ref_sink videotestsrc ! " + caps + " ! v.dist_sink");
  ASSERT_TRUE(pipeline.play());
  ASSERT_EQ(pipeline.wait_until([&] { return pipeline.frames.size() >= 5; }), "done");
  gst_pad_unlink(pad_of(pipeline.get("v"), "src"), pad_of(pipeline.get("q"), "sink"));
  EXPECT_EQ(pipeline.wait(20), "error");
  ASSERT_FALSE(pipeline.errors.empty());
  EXPECT_NE(pipeline.errors[0].find("fakesink"), std::string::npos) << pipeline.errors[0];
  EXPECT_EQ(counter(pipeline, "scored"), pipeline.frames.size());
}

// ---- several in one pipeline -------------------------------------------------------------------

// The second takes what the first lets through; each has its say, and its meta.
TEST(Several, OneBehindTheOther) {
  Pipeline pipeline(
      "vmafhip name=v ! queue ! w.ref_sink vmafhip name=w model=vmaf_4k_v0.6.1 ! fakesink name=out appsrc "
      "name=in caps=" +
      numbered_caps(25, 1) +
      " ! tee name=t t. ! queue ! v.ref_sink t. ! queue ! v.dist_sink t. ! queue ! w.dist_sink");
  pipeline.feed("in", numbered_clip(40, 25, 1));
  std::atomic<int> both{0};
  gst_pad_add_probe(
      pad_of(pipeline.get("out"), "sink"), GST_PAD_PROBE_TYPE_BUFFER,
      [](GstPad *, GstPadProbeInfo *info, gpointer data) {
        gpointer state = nullptr;
        int models = 0;
        while (GstMeta *meta = gst_buffer_iterate_meta(GST_PAD_PROBE_INFO_BUFFER(info), &state))
          if (gst_meta_info_is_custom(meta->info) &&
              gst_custom_meta_has_name(reinterpret_cast<GstCustomMeta *>(meta), "VmafHipScore"))
            ++models;
        if (models == 2) ++*static_cast<std::atomic<int> *>(data);
        return GST_PAD_PROBE_OK;
      },
      &both, nullptr);
  ASSERT_EQ(pipeline.run(), "eos");
  EXPECT_EQ(counter(pipeline, "scored", "v"), 40u);
  EXPECT_EQ(counter(pipeline, "scored", "w"), 40u);
  EXPECT_EQ(pipeline.frames.size(), 80u);
  EXPECT_EQ(pipeline.pooled.size(), 2u);
  EXPECT_EQ(pipeline.out.size(), 40u);
  EXPECT_EQ(both, 40);
}

TEST(Several, OneReferenceEightEncodings) {
  if (const std::string text = missing({{"vp8enc", "gstreamer1.0-plugins-good"}}); !text.empty())
    GTEST_SKIP() << text;
  std::string text = "appsrc name=in caps=" + numbered_caps(25, 1) + " ! tee name=t ";
  for (int i = 0; i < 8; ++i) {
    const std::string n = std::to_string(i);
    text += "vmafhip threads=1 name=v" + n + " ! fakesink t. ! queue ! v" + n +
            ".ref_sink t. ! queue ! vp8enc deadline=1 " + "min-quantizer=" + std::to_string(i * 8) +
            " max-quantizer=" + std::to_string(i * 8) + " ! vp8dec ! v" + n + ".dist_sink ";
  }
  Pipeline pipeline(text);
  pipeline.feed("in", numbered_clip(40, 25, 1));
  ASSERT_EQ(pipeline.run(), "eos");
  std::vector<double> scores;
  for (int i = 0; i < 8; ++i) {
    GstStructure *stats = nullptr;
    g_object_get(pipeline.get(("v" + std::to_string(i)).c_str()), "stats", &stats, nullptr);
    EXPECT_EQ(number(stats, "scored"), 40u);
    scores.push_back(real(stats, "pooled-score"));
    gst_structure_free(stats);
  }
  EXPECT_LT(scores[7], scores[0]);  // the coarsest is not the best
}

// ---- caps --------------------------------------------------------------------------------------

struct Kind {
  const char *format;
  int fps;
};

// Frames of one stream, each with the caps given for it.
std::function<GstSample *()> changing(std::vector<Kind> kinds) {
  return [kinds = std::move(kinds), n = size_t(0)]() mutable -> GstSample * {
    if (n == kinds.size()) return nullptr;
    const GstVideoInfo info = video_info(kinds[n].format, 64, 64, kinds[n].fps, 1);
    const int depth = GST_VIDEO_FORMAT_INFO_DEPTH(info.finfo, 0);
    Planes planes;
    for (auto &plane : planes) plane.resize(64 * 64);
    for (size_t k = 0; k < 64 * 64; ++k)
      planes[0][k] = uint16_t(((k * 31 + n * 5) % 200 + 20) << (depth - 8));
    GstBuffer *buffer = make_buffer(info, planes);
    GST_BUFFER_PTS(buffer) = n * kFrame;
    GST_BUFFER_DURATION(buffer) = kFrame;
    GstCaps *caps = gst_video_info_to_caps(const_cast<GstVideoInfo *>(&info));
    GstSample *sample = gst_sample_new(buffer, caps, nullptr, nullptr);
    gst_caps_unref(caps);
    gst_buffer_unref(buffer);
    ++n;
    return sample;
  };
}

TEST(CapsChange, OnEitherPadOrBoth) {
  // A depth that changes is another format to the engine; a chroma format or a rate is not.
  struct Case {
    Kind ref[2], dist[2];
    bool resets;
  };
  for (const Case &c : {Case{{{"GRAY8", 25}, {"I420_10LE", 25}}, {{"GRAY8", 25}, {"GRAY8", 25}}, true},
                        {{{"GRAY8", 25}, {"GRAY8", 25}}, {{"GRAY8", 25}, {"I420_12LE", 25}}, true},
                        {{{"I420", 25}, {"Y444_10LE", 25}}, {{"I420", 25}, {"Y444_10LE", 25}}, true},
                        {{{"I420", 25}, {"NV12", 25}}, {{"I420", 25}, {"YV12", 25}}, false},
                        {{{"I420", 25}, {"I420", 50}}, {{"I420", 25}, {"I420", 25}}, false}}) {
    for (const size_t at : {size_t(1), size_t(6), size_t(11)}) {
      std::vector<Kind> ref(12, c.ref[0]), dist(12, c.dist[0]);
      std::fill(ref.begin() + gssize(at), ref.end(), c.ref[1]);
      std::fill(dist.begin() + gssize(at), dist.end(), c.dist[1]);
      Pipeline pipeline(
          "vmafhip name=v ! fakesink name=out appsrc name=ref ! v.ref_sink appsrc name=dist ! v.dist_sink");
      pipeline.feed_samples("ref", changing(ref));
      pipeline.feed_samples("dist", changing(dist));
      ASSERT_EQ(pipeline.run(), "eos") << (pipeline.errors.empty() ? "" : pipeline.errors[0]);
      ASSERT_EQ(pipeline.frames.size(), 12u);
      EXPECT_EQ(pipeline.out.size(), 12u);
      ASSERT_EQ(pipeline.resets.size(), c.resets ? 1u : 0u) << c.ref[1].format << " " << c.dist[1].format;
      EXPECT_EQ(pipeline.pooled.size(), c.resets ? 2u : 1u);
      guint64 pooled = 0;
      for (const StructurePtr &p : pipeline.pooled) pooled += number(p.get(), "frames");
      EXPECT_EQ(pooled, 12u);
      for (size_t i = 0; i < 12; ++i) {
        const GstStructure *s = pipeline.frames[i].get();
        EXPECT_EQ(number(s, "timestamp"), i * kFrame);
        EXPECT_EQ(real_in(s, "features", "integer_vif_scale0"), 1) << i;  // the same picture in any format
        gboolean warm_up = FALSE;
        gst_structure_get_boolean(s, "warm-up", &warm_up);
        EXPECT_EQ(bool(warm_up), i == 0 || (c.resets && i == at)) << i;
      }
      if (!c.resets) continue;
      EXPECT_STREQ(gst_structure_get_string(pipeline.resets[0].get(), "reason"), "caps");
      EXPECT_EQ(number(pipeline.resets[0].get(), "index"), at);
    }
  }
}

// ---- holes and errors --------------------------------------------------------------------------

// DISCONT marks a hole: it stays on the frame, and neighbours of the hole keep their partners.
TEST(Holes, Discont) {
  Pipeline pipeline("vmafhip name=v ! fakesink name=out appsrc name=ref caps=" + numbered_caps(25, 1) +
                    " ! v.ref_sink appsrc name=dist caps=" + numbered_caps(25, 1) + " ! v.dist_sink");
  std::vector<guint64> marked;
  gst_pad_add_probe(
      pad_of(pipeline.get("out"), "sink"), GST_PAD_PROBE_TYPE_BUFFER,
      [](GstPad *, GstPadProbeInfo *info, gpointer data) {
        GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
        if (GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT))
          static_cast<std::vector<guint64> *>(data)->push_back(GST_BUFFER_PTS(buffer) / kFrame);
        return GST_PAD_PROBE_OK;
      },
      &marked, nullptr);
  // Frames 10 to 19 are missing in both, 30 to 33 in one, and after each hole the frame says so.
  const auto holes = [](bool both) {
    return [both, all = numbered_clip(50, 25, 1), n = -1]() mutable -> GstBuffer * {
      for (bool hole = false;; hole = true) {
        GstBuffer *buffer = all();
        ++n;
        if (buffer && ((n >= 10 && n < 20) || (both && n >= 30 && n < 34))) {
          gst_buffer_unref(buffer);
          continue;
        }
        if (buffer && hole) GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
        return buffer;
      }
    };
  };
  pipeline.feed("ref", holes(false));
  pipeline.feed("dist", holes(true));
  Witness witness(pipeline);
  ASSERT_EQ(pipeline.run(), "eos");
  witness.expect_true_pairs();
  EXPECT_EQ(pipeline.frames.size(), 36u);
  EXPECT_EQ(pipeline.out.size(), 40u);
  EXPECT_EQ(std::vector<guint64>(marked.end() - 1, marked.end()), std::vector<guint64>{20});
}

// GAP events stand for frames that do not come: the reference's go on downstream, neither loses a partner.
TEST(Holes, GapEvents) {
  Pipeline pipeline("vmafhip name=v ! fakesink name=out appsrc name=ref caps=" + numbered_caps(25, 1) +
                    " ! identity name=r ! v.ref_sink appsrc name=dist caps=" + numbered_caps(25, 1) +
                    " ! identity name=d ! v.dist_sink");
  for (const char *name : {"r", "d"})
    gst_pad_add_probe(
        pad_of(pipeline.get(name), "src"), GST_PAD_PROBE_TYPE_BUFFER,
        [](GstPad *pad, GstPadProbeInfo *info, gpointer) {
          const GstClockTime time = GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info));
          if (time != 12 * kFrame) return GST_PAD_PROBE_OK;
          gst_pad_push_event(pad, gst_event_new_gap(time, kFrame));
          return GST_PAD_PROBE_DROP;
        },
        nullptr, nullptr);
  pipeline.feed("ref", numbered_clip(40, 25, 1));
  pipeline.feed("dist", numbered_clip(40, 25, 1));
  Witness witness(pipeline);
  ASSERT_EQ(pipeline.run(), "eos");
  witness.expect_true_pairs();
  EXPECT_EQ(pipeline.frames.size(), 39u);
  EXPECT_EQ(pipeline.out.size(), 39u);
  EXPECT_EQ(std::count(pipeline.out_events.begin(), pipeline.out_events.end(), "gap"), 1);
}

// A source that fails ends the pipeline with its own error alone; what was scored stays known, and a new run is whole.
TEST(Upstream, Errors) {
  for (const char *failing : {"ref", "dist"}) {
    const std::string source =
        "videotestsrc pattern=ball ! " + caps_text("I420", 64, 64) + " ! identity name=";
    Pipeline pipeline("vmafhip name=v ! fakesink name=out " + source + "ref ! v.ref_sink " + source +
                      "dist ! v.dist_sink");
    g_object_set(pipeline.get(failing), "error-after", 20, nullptr);
    EXPECT_EQ(pipeline.run(20), "error");
    pipeline.stop();
    pipeline.wait_until([] { return true; });
    ASSERT_FALSE(pipeline.errors.empty());
    EXPECT_NE(pipeline.errors[0].find("Failed after iterations"), std::string::npos) << pipeline.errors[0];
    EXPECT_LE(pipeline.frames.size(), 20u);
    for (size_t i = 0; i < pipeline.frames.size(); ++i)
      EXPECT_EQ(number(pipeline.frames[i].get(), "timestamp"), i * kFrame);
    g_object_set(pipeline.get(failing), "error-after", -1, nullptr);
    pipeline.forget();
    ASSERT_TRUE(pipeline.play());
    ASSERT_EQ(pipeline.wait_until([&] { return pipeline.frames.size() >= 30; }), "done");
    EXPECT_EQ(number(pipeline.frames[0].get(), "index"), 0u);
  }
}

// One stream ends long before the other: what waits is little, and everything leaves.
TEST(Ends, OnePadLongBeforeTheOther) {
  for (const bool ref_first : {true, false}) {
    Pipeline pipeline("vmafhip name=v ! fakesink name=out appsrc name=ref caps=" + numbered_caps(25, 1) +
                      " ! v.ref_sink appsrc name=dist caps=" + numbered_caps(25, 1) + " ! v.dist_sink");
    pipeline.feed(ref_first ? "ref" : "dist", numbered_clip(3, 25, 1));
    pipeline.feed(ref_first ? "dist" : "ref", numbered_clip(kMostNumbered, 25, 1));
    guint64 most = 0;
    ASSERT_TRUE(pipeline.play());
    ASSERT_EQ(pipeline.wait_until([&] {
      if (pipeline.frames.size() == 3)
        most =
            std::max({most, counter(pipeline, "ref-queue-frames"), counter(pipeline, "dist-queue-frames")});
      return false;
    }),
              "eos");
    EXPECT_EQ(pipeline.frames.size(), 3u);
    EXPECT_EQ(pipeline.out.size(), ref_first ? 3u : size_t(kMostNumbered));
    EXPECT_EQ(counter(pipeline, ref_first ? "dist-unmatched" : "ref-unmatched"), guint64(kMostNumbered - 3));
    EXPECT_LE(most, 130u);
  }
}

}  // namespace
}  // namespace vmafhip::test
