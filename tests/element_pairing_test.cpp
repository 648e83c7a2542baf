// Which frames meet, what happens to those that do not, and that nothing hangs.
#include <gtest/gtest.h>

#include <chrono>

#include "tests/pipeline.h"

namespace vmafhip::test {
namespace {

constexpr int kWidth = 64, kHeight = 64;

// Frames at the given times in ms; GST_CLOCK_TIME_NONE for negative ones.
std::function<GstBuffer *()> at(std::vector<int> times, int duration = 40) {
  return [times = std::move(times), duration, i = size_t(0)]() mutable -> GstBuffer * {
    if (i == times.size()) return nullptr;
    Planes planes;
    planes[0].resize(size_t(kWidth) * kHeight);
    for (size_t k = 0; k < planes[0].size(); ++k) planes[0][k] = uint16_t((k * 7 + i * 13) % 200 + 20);
    GstBuffer *buffer = make_buffer(video_info("GRAY8", kWidth, kHeight), planes);
    const int t = times[i++];
    GST_BUFFER_PTS(buffer) = t < 0 ? GST_CLOCK_TIME_NONE : GstClockTime(t) * GST_MSECOND;
    if (t >= 0 && duration) GST_BUFFER_DURATION(buffer) = GstClockTime(duration) * GST_MSECOND;
    return buffer;
  };
}

std::vector<int> grid(int from, int step, int count) {
  std::vector<int> times;
  for (int i = 0; i < count; ++i) times.push_back(from + i * step);
  return times;
}

struct Outcome {
  std::string end;
  std::vector<std::pair<int, int>> pairs;  // ms of reference and distorted frame
  guint64 ref_unmatched = 0, dist_unmatched = 0, ref_frames = 0, dist_frames = 0;
  std::vector<Out> out;
  std::vector<std::string> warnings, errors;
};

Outcome run(std::vector<int> ref, std::vector<int> dist, const std::string &settings = "",
            double limit = 30) {
  const std::string caps = caps_text("GRAY8", kWidth, kHeight);
  Pipeline pipeline("vmafhip name=v " + settings + " ! fakesink name=out appsrc name=ref caps=" + caps +
                    " ! v.ref_sink appsrc name=dist caps=" + caps + " ! v.dist_sink");
  pipeline.feed("ref", at(std::move(ref)));
  pipeline.feed("dist", at(std::move(dist)));
  Outcome o;
  o.end = pipeline.run(limit);
  for (const StructurePtr &s : pipeline.frames)
    o.pairs.emplace_back(int(number(s.get(), "timestamp") / GST_MSECOND),
                         int(number(s.get(), "dist-timestamp") / GST_MSECOND));
  if (pipeline.pooled.size() == 1) {
    const GstStructure *p = pipeline.pooled[0].get();
    o.ref_unmatched = number(p, "ref-unmatched");
    o.dist_unmatched = number(p, "dist-unmatched");
    o.ref_frames = number(p, "ref-frames");
    o.dist_frames = number(p, "dist-frames");
    EXPECT_EQ(number(p, "frames"), o.pairs.size());
    EXPECT_EQ(number(p, "scored"), o.pairs.size());
  } else if (o.end == "eos") {
    ADD_FAILURE() << pipeline.pooled.size() << " pooled messages";
  }
  o.out = pipeline.out;
  o.warnings = pipeline.warnings;
  o.errors = pipeline.errors;
  return o;
}

using Pairs = std::vector<std::pair<int, int>>;

TEST(Pairing, EqualStreams) {
  const Outcome o = run(grid(0, 40, 10), grid(0, 40, 10));
  EXPECT_EQ(o.end, "eos");
  Pairs expected;
  for (const int t : grid(0, 40, 10)) expected.emplace_back(t, t);
  EXPECT_EQ(o.pairs, expected);
  ASSERT_EQ(o.out.size(), 10u);
  for (size_t i = 0; i < 10; ++i) {  // every frame once, in order, with its own time and score
    EXPECT_EQ(o.out[i].pts, i * 40 * GST_MSECOND);
    EXPECT_EQ(o.out[i].score_index, gint64(i));
  }
  EXPECT_TRUE(o.warnings.empty());
}

TEST(Pairing, EitherStreamMayEndFirst) {
  for (const auto &[ref, dist] : {std::pair(5, 20), std::pair(20, 5), std::pair(1, 7), std::pair(7, 1)}) {
    const Outcome o = run(grid(0, 40, ref), grid(0, 40, dist));
    EXPECT_EQ(o.end, "eos");
    EXPECT_EQ(o.pairs.size(), size_t(std::min(ref, dist)));
    EXPECT_EQ(o.ref_unmatched, guint64(std::max(0, ref - dist)));
    EXPECT_EQ(o.dist_unmatched, guint64(std::max(0, dist - ref)));
    EXPECT_EQ(o.out.size(), size_t(ref));  // unmatched ones leave too
  }
}

TEST(Pairing, EmptyStreams) {
  for (const auto &[ref, dist] : {std::pair(0, 0), std::pair(0, 9), std::pair(9, 0)}) {
    const std::string caps = caps_text("GRAY8", kWidth, kHeight);
    Pipeline pipeline("vmafhip name=v ! fakesink name=out appsrc name=ref caps=" + caps +
                      " ! v.ref_sink appsrc name=dist caps=" + caps + " ! v.dist_sink");
    pipeline.feed("ref", at(grid(0, 40, ref)));
    pipeline.feed("dist", at(grid(0, 40, dist)));
    EXPECT_EQ(pipeline.run(20), "eos");
    ASSERT_EQ(pipeline.pooled.size(), 1u);
    EXPECT_EQ(number(pipeline.pooled[0].get(), "frames"), 0u);
    EXPECT_EQ(number(pipeline.pooled[0].get(), "ref-unmatched"), guint64(ref));
    EXPECT_EQ(number(pipeline.pooled[0].get(), "dist-unmatched"), guint64(dist));
    EXPECT_FALSE(gst_structure_has_field(pipeline.pooled[0].get(), "score"));  // no silent zero
    EXPECT_EQ(pipeline.out.size(), size_t(ref));
  }
}

// Time stamps of both streams begin anew an hour back, without a flush: a source that starts again.
TEST(Pairing, TimesMayBeginAnew) {
  std::vector<int> times = grid(3600'000, 40, 30), anew = grid(0, 40, 30);
  times.insert(times.end(), anew.begin(), anew.end());
  const Outcome o = run(times, times);
  EXPECT_EQ(o.end, "eos");
  Pairs expected;
  for (const int t : times) expected.emplace_back(t, t);
  EXPECT_EQ(o.pairs, expected);
  EXPECT_EQ(o.out.size(), 60u);
}

TEST(Pairing, LateStartAndDroppedFrames) {
  Outcome o = run(grid(0, 40, 10), grid(120, 40, 10));
  EXPECT_EQ(o.pairs.size(), 7u);
  EXPECT_EQ(o.pairs.front(), std::pair(120, 120));
  EXPECT_EQ(o.ref_unmatched, 3u);
  EXPECT_EQ(o.dist_unmatched, 3u);
  o = run(grid(0, 40, 10), {0, 40, 80, 160, 200, 320, 360});
  EXPECT_EQ(o.pairs, (Pairs{{0, 0}, {40, 40}, {80, 80}, {160, 160}, {200, 200}, {320, 320}, {360, 360}}));
  EXPECT_EQ(o.ref_unmatched, 3u);
  ASSERT_EQ(o.out.size(), 10u);
  EXPECT_EQ(o.out[3].score_index, -1);
  EXPECT_EQ(o.out[4].score_index, 3);
}

TEST(Pairing, ThirtyAgainstTwentyFive) {
  const Outcome o = run({0, 33, 67, 100, 133, 167, 200, 233, 267, 300}, {0, 40, 80, 120, 160, 200, 240, 280});
  EXPECT_EQ(o.pairs,
            (Pairs{{0, 0}, {33, 40}, {67, 80}, {133, 120}, {167, 160}, {200, 200}, {233, 240}, {267, 280}}));
  EXPECT_EQ(o.ref_unmatched, 2u);
}

TEST(Pairing, NotSimultaneousIsSaidOnce) {
  std::vector<int> thirty, twenty_five = grid(0, 40, 200);
  for (int i = 0; i < 240; ++i) thirty.push_back(i * 100 / 3);
  const Outcome o = run(thirty, twenty_five);
  ASSERT_EQ(o.warnings.size(), 1u);
  EXPECT_NE(o.warnings[0].find("not simultaneous"), std::string::npos) << o.warnings[0];
  EXPECT_TRUE(run(grid(0, 40, 150), grid(7, 40, 150)).warnings.empty());  // a constant offset is fine
}

TEST(Pairing, OutputDistorted) {
  const Outcome o = run(grid(0, 40, 5), grid(40, 40, 8), "output=distorted");
  ASSERT_EQ(o.out.size(), 8u);
  EXPECT_EQ(o.out[0].pts, 40 * GST_MSECOND);
  EXPECT_EQ(o.out[0].score_index, 0);
  EXPECT_EQ(o.out[4].score_index, -1);
}

TEST(Pairing, PadOffsets) {
  EXPECT_EQ(run(grid(0, 40, 5), grid(0, 40, 5), "dist_sink::offset=40000000").pairs,
            (Pairs{{40, 0}, {80, 40}, {120, 80}, {160, 120}}));
  EXPECT_EQ(run(grid(0, 40, 5), grid(0, 40, 5), "dist_sink::offset=-40000000").pairs,
            (Pairs{{0, 40}, {40, 80}, {80, 120}, {120, 160}}));
  EXPECT_EQ(run(grid(0, 40, 5), grid(0, 40, 5), "ref_sink::offset=-80000000").pairs,
            (Pairs{{80, 0}, {120, 40}, {160, 80}}));
}

TEST(Pairing, ToleranceIsObeyed) {
  EXPECT_EQ(run(grid(0, 40, 5), grid(15, 40, 5), "tolerance=10000000").pairs.size(), 0u);
  EXPECT_EQ(run(grid(0, 40, 5), grid(15, 40, 5), "tolerance=15000000").pairs.size(), 5u);
  EXPECT_EQ(run(grid(0, 40, 5), grid(15, 40, 5)).pairs.size(), 5u);
}

TEST(Pairing, WithoutTimeStamps) {
  Outcome o = run({-1, -1, -1, -1}, {-1, -1, -1}, "", 20);
  EXPECT_EQ(o.end, "error");
  ASSERT_FALSE(o.errors.empty());
  EXPECT_NE(o.errors[0].find("time stamps"), std::string::npos) << o.errors[0];
  EXPECT_NE(o.errors[0].find("sync=order"), std::string::npos) << o.errors[0];
  EXPECT_EQ(
      std::count_if(o.errors.begin(), o.errors.end(),
                    [](const std::string &text) { return text.find("time stamps") != std::string::npos; }),
      1);  // not one a pad

  const std::string caps = caps_text("GRAY8", kWidth, kHeight);
  Pipeline pipeline("vmafhip name=v sync=order ! fakesink name=out appsrc name=ref caps=" + caps +
                    " ! v.ref_sink appsrc name=dist caps=" + caps + " ! v.dist_sink");
  pipeline.feed("ref", at({-1, -1, -1, -1}));
  pipeline.feed("dist", at({-1, -1, -1}));
  EXPECT_EQ(pipeline.run(20), "eos");
  ASSERT_EQ(pipeline.frames.size(), 3u);
  EXPECT_EQ(number(pipeline.frames[0].get(), "running-time"), GST_CLOCK_TIME_NONE);
  EXPECT_FALSE(gst_structure_has_field(pipeline.frames[0].get(), "distance"));
}

TEST(Pairing, OrderLooksAtNoClock) {
  EXPECT_EQ(run({0, 40, 80}, {500, 510, 2000}, "sync=order").pairs, (Pairs{{0, 500}, {40, 510}, {80, 2000}}));
  EXPECT_TRUE(run(grid(0, 40, 120), grid(0, 20, 120), "sync=order").warnings.empty());
  // Those that are left over are not far from anything either.
  const Outcome o = run(grid(0, 40, 5), grid(9000, 40, 3), "sync=order");
  EXPECT_EQ(o.ref_unmatched, 2u);
  EXPECT_TRUE(o.warnings.empty());
}

// ---- encoders and starving pads ----------------------------------------------------------------

// x264enc keeps dozens of frames to itself; the other branch must be allowed to run ahead, with default queues.
void encoder(int width, int height, int fps, int frames, const char *queue) {
  Pipeline pipeline(
      "videotestsrc num-buffers=" + std::to_string(frames) + " pattern=ball ! " +
      caps_text("I420", width, height, fps, 1) + " ! tee name=t vmafhip name=v ! fakesink name=out t. ! " +
      queue +
      " v.ref_sink t. ! queue ! x264enc speed-preset=ultrafast rc-lookahead=40 ! avdec_h264 ! v.dist_sink");
  EXPECT_EQ(pipeline.run(100), "eos") << (pipeline.errors.empty() ? "" : pipeline.errors[0]);
  EXPECT_EQ(pipeline.frames.size(), size_t(frames));
  EXPECT_EQ(pipeline.out.size(), size_t(frames));
}

TEST(Encoder, DelayBehindDefaultQueues) {
  encoder(320, 240, 25, 150, "queue !");
  encoder(320, 240, 24, 150, "queue !");
  encoder(320, 240, 25, 150, "");  // none at all
}

TEST(Encoder, FullHd) { encoder(1920, 1080, 25, 60, "queue !"); }

TEST(Encoder, DefaultPreset) {
  Pipeline pipeline("videotestsrc num-buffers=120 pattern=ball ! " + caps_text("I420", 320, 240, 24, 1) +
                    " ! tee name=t vmafhip name=v ! fakesink name=out t. ! queue ! v.ref_sink t. ! queue ! "
                    "x264enc ! avdec_h264 ! v.dist_sink");
  EXPECT_EQ(pipeline.run(60), "eos");
  EXPECT_EQ(pipeline.frames.size(), 120u);
}

// All of a short clip fits into the encoder's look-ahead, and the reference has ended long before it gives a frame.
TEST(Encoder, SlowAfterAShortReference) {
  Pipeline pipeline(
      "videotestsrc num-buffers=20 pattern=snow ! " + caps_text("I420", 640, 360, 25, 1) +
      " ! tee name=t vmafhip name=v ! fakesink name=out t. ! queue ! v.ref_sink t. ! queue ! x264enc ! "
      "avdec_h264 ! identity name=slow ! v.dist_sink");
  // The first frame reaches the element seconds after the reference's end.
  GstPad *pad = gst_element_get_static_pad(pipeline.get("slow"), "sink");
  gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_BUFFER,
      [](GstPad *, GstPadProbeInfo *, gpointer) {
        g_usleep(6'500'000);
        return GST_PAD_PROBE_REMOVE;
      },
      nullptr, nullptr);
  gst_object_unref(pad);
  EXPECT_EQ(pipeline.run(60), "eos");
  EXPECT_EQ(pipeline.frames.size(), 20u);
  EXPECT_TRUE(pipeline.warnings.empty());
}

// A pad that is never fed: a warning that names the pad and the properties, then an error; no hang.
void starve(const std::string &description, const char *pad) {
  Pipeline pipeline(description);
  EXPECT_EQ(pipeline.run(60), "error");
  ASSERT_EQ(pipeline.warnings.size(), 1u);
  ASSERT_FALSE(pipeline.errors.empty());
  for (const std::string &text : {pipeline.warnings[0], pipeline.errors[0]})
    EXPECT_NE(text.find(pad), std::string::npos) << text;
}

// One source feeds both branches, and one of them lets nothing through.
TEST(Starvation, FullPadBesideASilentOne) {
  const std::string source = "videotestsrc ! " + caps_text("I420", 64, 64) + " ! tee name=t t. ! v.",
                    silent = " t. ! ( valve drop=true ) ! v.";
  starve("vmafhip name=v sync-window=1000000000 ! fakesink " + source + "ref_sink" + silent + "dist_sink",
         "sync-window");
  starve("vmafhip name=v max-queue-bytes=100000 ! fakesink " + source + "dist_sink" + silent + "ref_sink",
         "max-queue-bytes");
}

// A live source cannot wait: its frames go on without partners, and that is said, once.
TEST(Starvation, LiveIsSaid) {
  const std::string caps = caps_text("I420", 64, 64, 100, 1);
  Pipeline pipeline(
      "vmafhip name=v sync-window=100000000 ! fakesink name=out videotestsrc is-live=true num-buffers=80 ! " +
      caps + " ! v.ref_sink appsrc name=dist format=time is-live=true min-latency=0 max-latency=-1 caps=" +
      caps + " ! v.dist_sink");
  ASSERT_TRUE(pipeline.play());
  EXPECT_EQ(pipeline.wait_until([&] { return pipeline.out.size() >= 30; }, 30), "done");
  ASSERT_EQ(pipeline.warnings.size(), 1u);
  EXPECT_NE(pipeline.warnings[0].find("dist_sink"), std::string::npos) << pipeline.warnings[0];
}

TEST(Starvation, NothingLinked) {
  starve("vmafhip name=v sync-window=1000000000 ! fakesink videotestsrc ! " + caps_text("I420", 64, 64) +
             " ! v.ref_sink",
         "dist_sink");
  starve("vmafhip name=v ! fakesink videotestsrc num-buffers=3 ! " + caps_text("I420", 64, 64) +
             " ! v.dist_sink",
         "ref_sink");
}

TEST(Starvation, EncoderBeyondTheWindow) {
  starve("videotestsrc num-buffers=150 ! " + caps_text("I420", 64, 64, 25, 1) +
             " ! tee name=t vmafhip name=v sync-window=400000000 ! fakesink t. ! v.ref_sink t. ! queue ! "
             "x264enc ! avdec_h264 ! v.dist_sink",
         "sync-window");
}

// A slow engine slows its sources down: little more than the frames in flight is ever in memory.
TEST(Backpressure, QueuesStayShort) {
  const std::string caps = caps_text("I420", 640, 480);
  Pipeline pipeline("vmafhip name=v threads=1 ! fakesink name=out videotestsrc num-buffers=60 ! " + caps +
                    " ! v.ref_sink videotestsrc num-buffers=60 ! " + caps + " ! v.dist_sink");
  guint64 most = 0;
  ASSERT_TRUE(pipeline.play());
  const std::string end = pipeline.wait_until([&] {
    GstStructure *stats = nullptr;
    g_object_get(pipeline.get("v"), "stats", &stats, nullptr);
    most = std::max({most, number(stats, "ref-queue-frames"), number(stats, "dist-queue-frames")});
    gst_structure_free(stats);
    return false;
  });
  EXPECT_EQ(end, "eos");
  EXPECT_EQ(pipeline.frames.size(), 60u);
  EXPECT_LE(most, 20u);
}

}  // namespace
}  // namespace vmafhip::test
