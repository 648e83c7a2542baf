// Streams whose samples do not mean the same: what is warned of, how often and in which words; interlaced streams;
// caps that cannot be taken.
#include <gtest/gtest.h>

#include <set>

#include "tests/formats.h"

namespace vmafhip::test {
namespace {

constexpr int kSize = 64, kFrames = 3;
constexpr FormatCase kI420{"I420", 8, 2, 2};
constexpr guint kInterlaced = GST_VIDEO_BUFFER_FLAG_INTERLACED, kTopFirst = GST_VIDEO_BUFFER_FLAG_TFF;

std::string caps(const std::string &more) { return caps_text("I420", kSize, kSize) + more; }

std::string two_apps(const std::string &ref, const std::string &dist) {
  return "vmafhip name=v ! fakesink name=out appsrc name=ref caps=" + caps(ref) +
         " ! v.ref_sink appsrc name=dist caps=" + caps(dist) + " ! v.dist_sink";
}

GstBuffer *picture(clipgen::Role role, int n, guint flags = 0) {
  GstBuffer *buffer = make_buffer(video_info("I420", kSize, kSize),
                                  clip_planes(clip_for(kI420, kSize, kSize, kFrames), role, n % kFrames));
  GST_BUFFER_FLAG_SET(buffer, flags);
  return stamp(buffer, n);
}

// A frame for each of the flags.
std::function<GstBuffer *()> flagged(clipgen::Role role, std::vector<guint> flags) {
  return [=, n = 0]() mutable {
    const int frame = n++;
    return size_t(frame) < flags.size() ? picture(role, frame, flags[size_t(frame)]) : nullptr;
  };
}
std::function<GstBuffer *()> frames(clipgen::Role role, guint flags = 0) {
  return flagged(role, std::vector<guint>(kFrames, flags));
}

// One frame for each of the caps.
std::function<GstSample *()> changing(clipgen::Role role, std::vector<std::string> all) {
  return [=, n = 0]() mutable -> GstSample * {
    if (size_t(n) == all.size()) return nullptr;
    GstCaps *c = gst_caps_from_string(caps(all[size_t(n)]).c_str());
    GstBuffer *buffer = picture(role, n++);
    GstSample *sample = gst_sample_new(buffer, c, nullptr, nullptr);
    gst_buffer_unref(buffer);
    gst_caps_unref(c);
    return sample;
  };
}

const auto kRef = clipgen::Role::reference, kDist = clipgen::Role::distorted;

// ---- warnings --------------------------------------------------------------------------------------

struct Difference {
  const char *ref, *dist;
  std::vector<std::string> words;  // none: nothing is said
};

TEST(Differences, AreWarnedOfOnceWithBothValues) {
  for (const Difference &d : {
           Difference{",colorimetry=1:3:0:0",
                      ",colorimetry=2:3:0:0",
                      {"full (0-255) on ref_sink", "limited (16-235) on dist_sink", "videoconvert"}},
           Difference{",colorimetry=2:4:0:0",
                      ",colorimetry=2:3:0:0",
                      {"matrices", "bt601 on ref_sink", "bt709 on dist_sink"}},
           Difference{",colorimetry=2:0:5:0",
                      ",colorimetry=2:0:10:0",
                      {"Transfer", "bt709 on ref_sink", "on dist_sink"}},
           Difference{",colorimetry=2:0:0:1",
                      ",colorimetry=2:0:0:7",
                      {"primaries", "bt709 on ref_sink", "bt2020 on dist_sink"}},
           Difference{",pixel-aspect-ratio=1/1",
                      ",pixel-aspect-ratio=16/15",
                      {"Pixel aspect ratios", "1/1 on ref_sink", "16/15 on dist_sink", "videoscale"}},
           Difference{",colorimetry=bt2100-pq",
                      ",colorimetry=bt2100-pq",
                      {"ref_sink and dist_sink carry HDR", "PQ, smpte2084", "SDR"}},
           Difference{",colorimetry=bt2100-hlg", "", {"ref_sink carries HDR", "HLG, arib-std-b67"}},
           Difference{
               ",interlace-mode=interleaved", ",interlace-mode=interleaved", {"interlaced", "deinterlace"}},
           Difference{"", "", {}},
           Difference{"", ",colorimetry=bt709,pixel-aspect-ratio=4/3,chroma-site=mpeg2", {}},
           Difference{",colorimetry=1:4:0:4,pixel-aspect-ratio=4/3", "", {}},
           Difference{
               ",colorimetry=bt709,pixel-aspect-ratio=1/1", ",colorimetry=bt709,pixel-aspect-ratio=1/1", {}},
           Difference{",colorimetry=2:0:5:4", ",colorimetry=2:0:16:5", {}},
           Difference{",colorimetry=2:3:5:1", ",colorimetry=2:9:99:77", {}},  // numbers without meaning
           Difference{",chroma-site=mpeg2", ",chroma-site=jpeg", {}},
       }) {
    SCOPED_TRACE(std::string(d.ref) + " against " + d.dist);
    Pipeline pipeline(two_apps(d.ref, d.dist));
    pipeline.feed("ref", frames(kRef));
    pipeline.feed("dist", frames(kDist));
    ASSERT_EQ(pipeline.run(), "eos") << (pipeline.errors.empty() ? "" : pipeline.errors[0]);
    EXPECT_EQ(pipeline.frames.size(), size_t(kFrames));
    ASSERT_EQ(pipeline.warnings.size(), d.words.empty() ? 0u : 1u) << pipeline.warnings[0];
    if (!d.words.empty()) expect_words(pipeline.warnings[0], d.words);
  }
}

TEST(Differences, EachOfSeveral) {
  Pipeline pipeline(two_apps(",colorimetry=1:4:16:4,pixel-aspect-ratio=1/1",
                             ",colorimetry=2:6:14:7,pixel-aspect-ratio=4/3"));
  pipeline.feed("ref", frames(kRef));
  pipeline.feed("dist", frames(kDist));
  ASSERT_EQ(pipeline.run(), "eos");
  // Shape, range, matrix, transfer, primaries, HDR.
  EXPECT_EQ(pipeline.warnings.size(), 6u);
}

// Once a run, whatever events come; a difference of other values is another one.
TEST(Differences, NotWithEveryCapsEvent) {
  const std::string full = ",colorimetry=1:3:0:0", limited = ",colorimetry=2:3:0:0",
                    bt601 = ",colorimetry=2:4:0:0", unknown = "";
  Pipeline pipeline(two_apps("", ""));
  pipeline.feed_samples("ref", changing(kRef, {full, full, full, full, full, full, limited, full}));
  pipeline.feed_samples("dist",
                        changing(kDist, {unknown, limited, full, limited, bt601, limited, full, limited}));
  ASSERT_EQ(pipeline.run(), "eos");
  EXPECT_EQ(pipeline.frames.size(), 8u);
  ASSERT_EQ(pipeline.warnings.size(), 3u);
  expect_words(pipeline.warnings[0], {"full (0-255) on ref_sink", "limited (16-235) on dist_sink"});
  expect_words(pipeline.warnings[1], {"bt709 on ref_sink", "bt601 on dist_sink"});
  expect_words(pipeline.warnings[2], {"limited (16-235) on ref_sink", "full (0-255) on dist_sink"});
  // Neither is a change of caps that leaves the pictures as they are a new start.
  EXPECT_TRUE(pipeline.resets.empty());
}

TEST(Differences, AgainInTheNextRun) {
  Pipeline pipeline(two_apps(",colorimetry=1:3:0:0", ",colorimetry=2:3:0:0"));
  for (int run = 0; run < 2; ++run) {
    pipeline.feed("ref", frames(kRef));
    pipeline.feed("dist", frames(kDist));
    ASSERT_EQ(pipeline.run(), "eos");
    EXPECT_EQ(pipeline.warnings.size(), 1u) << "run " << run;
    pipeline.stop();
    pipeline.forget();
  }
}

// ---- interlaced streams ----------------------------------------------------------------------------

struct Scanning {
  const char *caps;
  guint flags;
  const char *name;
};
constexpr Scanning kScannings[] = {
    {"", 0, "progressive"},
    {",interlace-mode=progressive", 0, "progressive"},
    {",interlace-mode=mixed", 0, "progressive"},
    {",interlace-mode=mixed", kInterlaced | kTopFirst, "top"},
    {",interlace-mode=mixed", kInterlaced, "bottom"},
    {",interlace-mode=interleaved", kTopFirst, "top"},
    {",interlace-mode=interleaved,field-order=top-field-first", 0, "top"},
    {",interlace-mode=interleaved,field-order=bottom-field-first", 0, "bottom"},
};

TEST(Interlaced, EveryPairOfScannings) {
  std::vector<std::vector<uint64_t>> as_frames;
  for (const Scanning &ref : kScannings)
    for (const Scanning &dist : kScannings) {
      SCOPED_TRACE(std::string(ref.caps) + " against " + dist.caps);
      const std::string r = ref.name, d = dist.name;
      Pipeline pipeline(two_apps(ref.caps, dist.caps));
      pipeline.feed("ref", frames(kRef, ref.flags));
      pipeline.feed("dist", frames(kDist, dist.flags));
      const std::string end = pipeline.run();
      if ((r == "progressive") != (d == "progressive")) {
        EXPECT_EQ(end, "error");
        ASSERT_FALSE(pipeline.errors.empty());
        const auto text = [](const std::string &name) {
          return name == "progressive" ? name : "interlaced, " + name + " field first";
        };
        expect_words(pipeline.errors[0],
                     {text(r) + " on ref_sink", text(d) + " on dist_sink", "deinterlace", "interlace-mode"});
        EXPECT_TRUE(pipeline.warnings.empty());
        continue;
      }
      ASSERT_EQ(end, "eos") << (pipeline.errors.empty() ? "" : pipeline.errors[0]);
      if (as_frames.empty()) as_frames = value_bits(pipeline);
      EXPECT_EQ(value_bits(pipeline), as_frames);
      ASSERT_EQ(pipeline.warnings.size(), r == "progressive" ? 0u : r == d ? 1u : 2u);
      if (r != d)
        expect_words(pipeline.warnings[0],
                     {"Field orders", r + " field first on ref", d + " field first on dist"});
      if (r != "progressive") expect_words(pipeline.warnings.back(), {"Both streams are interlaced"});
    }
}

// In a mixed stream it is every buffer's own affair.
TEST(Interlaced, MixedIsDecidedBufferByBuffer) {
  const guint top = kInterlaced | kTopFirst;
  const std::string mixed = ",interlace-mode=mixed";
  Pipeline alike(two_apps(mixed, mixed));
  alike.feed("ref", flagged(kRef, {0, top, 0, top}));
  alike.feed("dist", flagged(kDist, {0, top, 0, top}));
  EXPECT_EQ(alike.run(), "eos");
  EXPECT_EQ(alike.frames.size(), 4u);
  EXPECT_EQ(alike.warnings.size(), 1u);
  for (const bool turned : {false, true}) {
    Pipeline unlike(two_apps(mixed, mixed));
    unlike.feed("ref", flagged(kRef, {0, top, turned ? 0 : top, top}));
    unlike.feed("dist", flagged(kDist, {0, top, turned ? top : 0, top}));
    EXPECT_EQ(unlike.run(), "error");
    ASSERT_FALSE(unlike.errors.empty());
    expect_words(unlike.errors[0], {turned ? "progressive on ref_sink" : "progressive on dist_sink"});
    // What was compared until then counts.
    EXPECT_EQ(unlike.frames.size(), 2u);
    ASSERT_EQ(unlike.pooled.size(), 1u);
    EXPECT_EQ(number(unlike.pooled[0].get(), "frames"), 2u);
  }
}

// What a real encoder makes of it: interleaved frames, and those of a telecine pattern, some of which are progressive.
TEST(Interlaced, ThroughAnEncoder) {
  for (const char *pattern : {"2:2", "2:3"}) {
    SCOPED_TRACE(pattern);
    Pipeline pipeline(
        std::string("videotestsrc num-buffers=40 pattern=ball ! "
                    "video/x-raw,format=I420,width=96,height=96,framerate=24/1 ! ") +
        "interlace field-pattern=" + pattern +
        " ! tee name=t vmafhip name=v ! fakesink name=out t. ! queue ! v.ref_sink t. ! queue ! "
        "x264enc interlaced=true tune=zerolatency quantizer=10 pass=quant ! avdec_h264 ! v.dist_sink");
    std::set<bool> seen;  // whether frames of the decoder were interlaced
    GstPad *pad = gst_element_get_static_pad(pipeline.get("v"), "dist_sink");
    gst_pad_add_probe(
        pad, GST_PAD_PROBE_TYPE_BUFFER,
        [](GstPad *, GstPadProbeInfo *info, gpointer seen) {
          static_cast<std::set<bool> *>(seen)->insert(
              GST_BUFFER_FLAG_IS_SET(GST_PAD_PROBE_INFO_BUFFER(info), GST_VIDEO_BUFFER_FLAG_INTERLACED));
          return GST_PAD_PROBE_OK;
        },
        &seen, nullptr);
    gst_object_unref(pad);
    ASSERT_EQ(pipeline.run(), "eos") << (pipeline.errors.empty() ? "" : pipeline.errors[0]);
    EXPECT_GT(pipeline.frames.size(), 15u);
    EXPECT_EQ(pipeline.frames.size(), pipeline.out.size());
    for (const StructurePtr &frame : pipeline.frames) EXPECT_GT(real(frame.get(), "score"), 70);
    EXPECT_TRUE(seen.contains(true));
    EXPECT_EQ(seen.contains(false), pattern == std::string("2:3"));
    ASSERT_EQ(pipeline.warnings.size(), 1u);
    expect_words(pipeline.warnings[0], {"Both streams are interlaced"});
  }
}

// ---- caps that cannot be taken ---------------------------------------------------------------------

// The first error is ours and tells what to do, not "Internal data stream error" alone.
TEST(RefusedCaps, AreNamed) {
  struct {
    const char *caps;
    std::vector<std::string> words;
  } const cases[] = {
      {"video/x-raw(format:Interlaced),format=I420,width=64,height=64,framerate=25/"
       "1,interlace-mode=alternate",
       {"takes whole frames", "alternate", "interleave"}},
      {"video/x-raw,format=I420,width=64,height=64,framerate=25/1,interlace-mode=fields",
       {"takes whole frames", "fields"}},
      {"video/x-raw,format=RGB,width=64,height=64,framerate=25/1", {"cannot take", "RGB", "videoconvert"}},
      {"video/x-raw,format=I420,framerate=25/1", {"cannot take", "I420"}},
      {"audio/x-raw,format=S16LE,rate=48000,channels=2,layout=interleaved", {"cannot take", "audio/x-raw"}},
      {"image/jpeg,width=64,height=64,framerate=25/1", {"cannot take image/jpeg", "decodebin"}},
      {"video/x-raw(memory:DMABuf),format=BGRA,width=64,height=64,framerate=25/1",
       {"cannot take dma-bufs", "BGRA", "vapostproc"}},
  };
  for (const char *side : {"ref", "dist"})
    for (const auto &c : cases) {
      SCOPED_TRACE(c.caps);
      Pipeline pipeline(
          "vmafhip name=v ! fakesink appsrc name=ref ! v.ref_sink appsrc name=dist ! v.dist_sink");
      const auto bad = [&c, n = 0]() mutable -> GstSample * {
        if (n == kFrames) return nullptr;
        GstCaps *caps = gst_caps_from_string(c.caps);
        GstBuffer *buffer = picture(kDist, n++);
        GstSample *sample = gst_sample_new(buffer, caps, nullptr, nullptr);
        gst_buffer_unref(buffer);
        gst_caps_unref(caps);
        return sample;
      };
      const bool on_ref = side == std::string("ref");
      pipeline.feed_samples(side, bad);
      pipeline.feed_samples(on_ref ? "dist" : "ref", changing(kRef, {"", "", ""}));
      EXPECT_EQ(pipeline.run(), "error");
      ASSERT_FALSE(pipeline.errors.empty());
      expect_words(pipeline.errors[0], {std::string(side) + "_sink"});
      expect_words(pipeline.errors[0], c.words);
    }
}

}  // namespace
}  // namespace vmafhip::test
