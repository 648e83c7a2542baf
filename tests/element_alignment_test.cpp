// Which time frames are paired by: running time, whatever segments, offsets, rates and caps it takes to get there.
#include <gst/check/gstharness.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/numbered.h"

namespace vmafhip::test {
namespace {

// ---- segments ----------------------------------------------------------------------------------

// A part of a stream: a segment, and frames of consecutive numbers in it.
struct Part {
  GstSegment segment;
  std::vector<gint64> times;  // ms in the segment's own time
};

GstSegment segment(double rate, gint64 start_ms, gint64 stop_ms = -1, gint64 base_ms = 0,
                   gint64 offset_ms = 0) {
  GstSegment s;
  gst_segment_init(&s, GST_FORMAT_TIME);
  s.rate = rate;
  s.start = s.position = guint64(start_ms) * GST_MSECOND;
  if (stop_ms >= 0) s.stop = guint64(stop_ms) * GST_MSECOND;
  s.time = s.start;
  s.base = guint64(base_ms) * GST_MSECOND;
  s.offset = guint64(offset_ms) * GST_MSECOND;
  return s;
}

std::vector<gint64> steps(gint64 from, gint64 step, int count) {
  std::vector<gint64> times;
  for (int i = 0; i < count; ++i) times.push_back(from + i * step);
  return times;
}

constexpr int kFrames = 10;
constexpr gint64 kHours = gint64(1000) * 3600 * 1000;

struct SegmentCase {
  const char *name;
  std::vector<Part> ref, dist;
  gint64 ref_offset_ms = 0, dist_offset_ms = 0;  // of the pads
  gint64 first_ms = 0;                           // running time of the first frame
};
void PrintTo(const SegmentCase &c, std::ostream *out) { *out << c.name; }

const std::vector<Part> kPlain = {{segment(1, 0), steps(0, 40, kFrames)}};

class Segments : public ::testing::TestWithParam<SegmentCase> {
 protected:
  // A harness says that it is live, and live frames do not wait.
  Segments() {
    for (GstHarness *h : pads) gst_harness_set_live(h, FALSE);
  }
  ~Segments() override {
    for (GstHarness *h : pads) gst_harness_teardown(h);
    gst_object_unref(v);
  }
  GstElement *v = gst_element_factory_make("vmafhip", nullptr);
  GstHarness *pads[2] = {gst_harness_new_with_element(v, "ref_sink", "src"),
                         gst_harness_new_with_element(v, "dist_sink", nullptr)};
};

// All of these put frame n at a running time of first + n · 40 ms, on both pads.
TEST_P(Segments, RunningTimesMeet) {
  const SegmentCase &c = GetParam();
  for (int i = 0; i < 2; ++i) {
    GstPad *pad = gst_pad_get_peer(pads[i]->srcpad);
    g_object_set(pad, "offset", (i ? c.dist_offset_ms : c.ref_offset_ms) * gint64(GST_MSECOND), nullptr);
    gst_object_unref(pad);
    gst_harness_set_src_caps_str(pads[i], numbered_caps(25, 1).c_str());
    int n = 0;
    for (const Part &part : i ? c.dist : c.ref) {
      ASSERT_TRUE(gst_harness_push_event(pads[i], gst_event_new_segment(&part.segment)));
      for (const gint64 time : part.times) {
        GstBuffer *buffer = numbered_picture(n++);
        GST_BUFFER_PTS(buffer) = guint64(time) * GST_MSECOND;
        ASSERT_EQ(gst_harness_push(pads[i], buffer), GST_FLOW_OK);
      }
    }
    ASSERT_EQ(n, kFrames);
    ASSERT_TRUE(gst_harness_push_event(pads[i], gst_event_new_eos()));
  }
  for (int n = 0; n < kFrames; ++n) {
    GstBuffer *buffer = gst_harness_pull(pads[0]);  // waits for a minute
    ASSERT_NE(buffer, nullptr) << n;
    GstCustomMeta *meta = gst_buffer_get_custom_meta(buffer, "VmafHipScore");
    ASSERT_NE(meta, nullptr) << n;
    const GstStructure *s = gst_custom_meta_get_structure(meta);
    EXPECT_EQ(number(s, "index"), guint64(n));
    EXPECT_EQ(number(s, "running-time"), guint64(c.first_ms + n * 40) * GST_MSECOND);
    EXPECT_EQ(signed_number(s, "distance"), 0) << n;
    EXPECT_EQ(number(s, "timestamp"), GST_BUFFER_PTS(buffer));
    // Equal pictures, so equal numbers.
    EXPECT_EQ(real_in(s, "features", "integer_vif_scale0"), 1) << n;
    gst_buffer_unref(buffer);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Segments,
    ::testing::Values(
        SegmentCase{"Start", kPlain, {{segment(1, kHours), steps(kHours, 40, kFrames)}}},
        SegmentCase{"BothStarts",
                    {{segment(1, kHours), steps(kHours, 40, kFrames)}},
                    {{segment(1, 7), steps(7, 40, kFrames)}}},
        SegmentCase{"Base",
                    {{segment(1, 0, 200), steps(0, 40, 5)}, {segment(1, 0, -1, 200), steps(0, 40, 5)}},
                    kPlain},
        SegmentCase{"DifferentCuts",
                    {{segment(1, 0, 120), steps(0, 40, 3)}, {segment(1, 9000, -1, 120), steps(9000, 40, 7)}},
                    {{segment(1, 500, 740), steps(500, 40, 6)}, {segment(1, 40, -1, 240), steps(40, 40, 4)}}},
        SegmentCase{"Offset", kPlain, {{segment(1, 100, -1, 0, 200), steps(300, 40, kFrames)}}},
        SegmentCase{"TwiceTheRate", kPlain, {{segment(2, 0), steps(0, 80, kFrames)}}},
        SegmentCase{"HalfTheRate", {{segment(0.5, 0), steps(0, 20, kFrames)}}, kPlain},
        // Backwards a frame's time stamp, its beginning, is reached last.
        SegmentCase{"Backwards",
                    {{segment(1, 0, -1, 40), steps(0, 40, kFrames)}},
                    {{segment(-1, 0, 1000), steps(960, -40, kFrames)}},
                    0,
                    0,
                    40},
        SegmentCase{"BothBackwards",
                    {{segment(-1, 0, 1000), steps(960, -40, kFrames)}},
                    {{segment(-2, 0, 2000), steps(1920, -80, kFrames)}},
                    0,
                    0,
                    40},
        SegmentCase{"RateChanges",
                    {{segment(1, 0, 200), steps(0, 40, 5)}, {segment(4, 200, -1, 200), steps(200, 160, 5)}},
                    kPlain},
        SegmentCase{"DistOffset", kPlain, {{segment(1, 0), steps(3000, 40, kFrames)}}, 0, -3000},
        SegmentCase{"RefOffset",
                    {{segment(1, 0), steps(0, 40, kFrames)}},
                    {{segment(1, 0), steps(400, 40, kFrames)}},
                    400,
                    0,
                    400},
        SegmentCase{"BothOffsets",
                    {{segment(1, 0), steps(500, 40, kFrames)}},
                    {{segment(1, 0), steps(40, 40, kFrames)}},
                    -500,
                    -40},
        SegmentCase{"OffsetOverSegments",
                    kPlain,
                    {{segment(1, 0, 3200), steps(3000, 40, 5)}, {segment(1, 0, -1, 3200), steps(0, 40, 5)}},
                    0,
                    -3000}),
    [](const auto &info) { return std::string(info.param.name); });

// ---- rates -------------------------------------------------------------------------------------

struct Counts {
  guint64 scored, ref_unmatched, dist_unmatched;
  bool operator==(const Counts &) const = default;
};
void PrintTo(const Counts &c, std::ostream *out) {
  *out << c.scored << " scored, " << c.ref_unmatched << " and " << c.dist_unmatched << " unmatched";
}

// Pairs frames at these times (ns); the caps may say what they like. Numbers that are given must agree in each pair.
struct Stream {
  std::string framerate;
  std::vector<gint64> times;
  std::vector<int> numbers = {};
};
Counts pair_up(const Stream &ref, const Stream &dist,
               std::vector<std::pair<gint64, gint64>> *pairs = nullptr) {
  const auto caps = [](const Stream &s) {
    const std::string caps = numbered_caps(25, 1);
    return caps.substr(0, caps.rfind("25/1")) + s.framerate;
  };
  Pipeline pipeline("vmafhip name=v ! fakesink name=out appsrc name=ref caps=" + caps(ref) +
                    " ! v.ref_sink appsrc name=dist caps=" + caps(dist) + " ! v.dist_sink");
  for (const Stream *s : {&ref, &dist})
    pipeline.feed(s == &ref ? "ref" : "dist", [s, n = size_t(0)]() mutable -> GstBuffer * {
      if (n == s->times.size()) return nullptr;
      GstBuffer *buffer = numbered_picture(s->numbers.empty() ? int(n) : s->numbers[n]);
      GST_BUFFER_PTS(buffer) = guint64(s->times[n++]);
      return buffer;
    });
  Witness witness(pipeline);
  EXPECT_EQ(pipeline.run(), "eos");
  witness.expect_true_pairs();
  EXPECT_EQ(pipeline.out.size(), ref.times.size());
  if (pairs)
    for (const StructurePtr &s : pipeline.frames)
      pairs->emplace_back(number(s.get(), "timestamp"), number(s.get(), "dist-timestamp"));
  return {counter(pipeline, "scored"), counter(pipeline, "ref-unmatched"),
          counter(pipeline, "dist-unmatched")};
}

std::vector<gint64> grid(double fps, int count, gint64 round_to = 1) {
  std::vector<gint64> times;
  for (int i = 0; i < count; ++i)
    times.push_back(gint64(std::llround(i * 1e9 / fps / double(round_to))) * round_to);
  return times;
}
std::vector<int> every_other(int count) {
  std::vector<int> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(2 * i);
  return numbers;
}

TEST(Rates, SixtyAgainstThirtyScoresThirty) {
  EXPECT_EQ(pair_up({"60/1", grid(60, 120)}, {"30/1", grid(30, 60), every_other(60)}), (Counts{60, 60, 0}));
  EXPECT_EQ(pair_up({"30/1", grid(30, 60), every_other(60)}, {"60/1", grid(60, 120)}), (Counts{60, 0, 60}));
  const double ntsc = 60000. / 1001;
  EXPECT_EQ(pair_up({"60000/1001", grid(ntsc, 120)},
                    {"30000/1001", grid(ntsc / 2, 60, GST_MSECOND), every_other(60)}),
            (Counts{60, 60, 0}));
}

TEST(Rates, CapsThatLieDoNotMatter) {
  for (const auto &[ref, dist] :
       {std::pair("5/1", "100/1"), {"0/1", "0/1"}, {"25/1", "0/1"}, {"1000/1", "1/1"}})
    EXPECT_EQ(pair_up({ref, grid(50, 60)}, {dist, grid(50, 60)}), (Counts{60, 0, 0})) << ref << " " << dist;
}

TEST(Rates, RoundingAndJitter) {
  for (const double fps : {24000. / 1001, 30000. / 1001, 60000. / 1001, 50.}) {
    std::vector<gint64> jittered = grid(fps, 100, GST_MSECOND);
    std::minstd_rand dice(1);
    // A quarter of a frame either way, so that neighbours keep their order.
    const auto most = gint64(1e9 / fps / 4);
    for (gint64 &time : jittered) time = std::max<gint64>(0, time + gint64(dice() % (2 * most)) - most);
    EXPECT_EQ(pair_up({"0/1", grid(fps, 100)}, {"0/1", jittered}), (Counts{100, 0, 0})) << fps;
  }
}

// A screen recording: a frame whenever something changes. Both streams have the same moments but for the rounding.
TEST(Rates, VariableRate) {
  std::vector<gint64> ref, dist;
  std::minstd_rand dice(2);
  gint64 time = 0;
  for (int i = 0; i < 100; ++i) {
    ref.push_back(time);
    dist.push_back((time + GST_MSECOND / 2) / GST_MSECOND * GST_MSECOND);
    time += gint64(8 + dice() % 300) * gint64(GST_MSECOND) + gint64(dice() % GST_MSECOND);
  }
  EXPECT_EQ(pair_up({"0/1", ref}, {"0/1", dist}), (Counts{100, 0, 0}));
}

}  // namespace
}  // namespace vmafhip::test
