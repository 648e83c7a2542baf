// PictureWatch: which differences of two streams are told, how often, and which forbid to compare.
#include "gst/vmafhip/picture_watch.h"

#include <gtest/gtest.h>

namespace vmafhip {
namespace {

// What is to be said of one pair, text and detail, one a line.
std::string said(PictureWatch &watch, const Look &ref, const Look &dist) {
  std::vector<Remark> remarks;
  const Status status = watch.check(ref, dist, remarks);
  EXPECT_TRUE(status.ok()) << status.message();
  std::string all;
  for (const Remark &r : remarks) {
    EXPECT_FALSE(r.detail.empty());
    all += r.text + "\n";
  }
  return all;
}
std::string said(const Look &ref, const Look &dist) {
  PictureWatch watch(true);
  return said(watch, ref, dist);
}

Look sized(int width, int height) {
  Look look;
  look.part = {0, 0, width, height};
  return look;
}
Look shaped(int width, int height, int par_n, int par_d) {
  Look look = sized(width, height);
  look.par_n = par_n, look.par_d = par_d;
  return look;
}
Look coloured(const char *text, int depth = 8) {
  Look look = sized(64, 64);
  GstVideoColorimetry color;
  EXPECT_TRUE(gst_video_colorimetry_from_string(&color, text)) << text;
  look.range = color.range, look.matrix = color.matrix;
  look.transfer = color.transfer, look.primaries = color.primaries;
  look.depth = depth;
  return look;
}
Look scanned(Scan scan) {
  Look look = sized(64, 64);
  look.scan = scan;
  return look;
}
Look gray(Look look) {
  look.gray = true;
  return look;
}

TEST(PictureWatch, NothingKnownNothingSaid) {
  EXPECT_EQ(said({}, {}), "");
  EXPECT_EQ(said(coloured("bt709"), {}), "");
  EXPECT_EQ(said({}, coloured("bt601")), "");
  EXPECT_EQ(said(coloured("bt709"), coloured("bt709")), "");
  // Range, matrix, transfer function, primaries: unknown here or there.
  EXPECT_EQ(said(coloured("2:0:0:0"), coloured("0:4:16:4")), "");
}

TEST(PictureWatch, Range) {
  const std::string text = "Sample ranges differ: full (0-255) on ref_sink, limited (16-235) on dist_sink\n";
  EXPECT_EQ(said(coloured("1:0:0:0"), coloured("2:0:0:0")), text);
  EXPECT_EQ(said(coloured("1:3:5:1"), coloured("2:3:5:1")), text);
  EXPECT_EQ(said(gray(coloured("1:0:0:0")), coloured("2:0:0:0")), text);
}

TEST(PictureWatch, Colour) {
  EXPECT_EQ(said(coloured("2:4:0:0"), coloured("2:3:0:0")),
            "Colour matrices differ: bt601 on ref_sink, bt709 on dist_sink\n");
  EXPECT_EQ(said(coloured("2:0:0:1"), coloured("2:0:0:7")),
            "Colour primaries differ: bt709 on ref_sink, bt2020 on dist_sink\n");
  EXPECT_EQ(said(coloured("2:0:5:0"), coloured("2:0:7:0")),
            "Transfer functions differ: bt709 on ref_sink, srgb on dist_sink\n");
  // Luma alone has no colour that a matrix or primaries could change.
  EXPECT_EQ(said(gray(coloured("2:4:0:1")), coloured("2:3:0:7")), "");
}

// Names that mean the same function or nearly the same primaries.
TEST(PictureWatch, Equivalents) {
  EXPECT_EQ(said(coloured("2:0:5:0"), coloured("2:0:16:0")), "");      // bt709, bt601
  EXPECT_EQ(said(coloured("2:0:5:0"), coloured("2:0:13:0", 10)), "");  // bt2020-10
  EXPECT_EQ(said(coloured("2:0:0:4"), coloured("2:0:0:5")), "");       // smpte170m, smpte240m
}

TEST(PictureWatch, HdrIsSaidOfModelsAlone) {
  EXPECT_EQ(said(coloured("bt2100-pq", 10), coloured("bt2100-pq", 10)),
            "ref_sink and dist_sink carry HDR video (PQ, smpte2084), which the models were not made for\n");
  EXPECT_EQ(said(coloured("bt2100-hlg", 10), {}),
            "ref_sink carries HDR video (HLG, arib-std-b67), which the models were not made for\n");
  EXPECT_EQ(said({}, coloured("0:0:14:0", 10)),
            "dist_sink carries HDR video (PQ, smpte2084), which the models were not made for\n");
  PictureWatch features_only;
  EXPECT_EQ(said(features_only, coloured("bt2100-pq", 10), coloured("bt2100-pq", 10)), "");
}

TEST(PictureWatch, PixelAspectRatio) {
  EXPECT_EQ(said(shaped(720, 576, 16, 15), shaped(720, 576, 64, 45)),
            "Pixel aspect ratios differ: 16/15 on ref_sink, 64/45 on dist_sink\n");
  EXPECT_EQ(said(shaped(720, 576, 1, 1), shaped(720, 576, 2, 2)), "");
  EXPECT_EQ(said(shaped(720, 576, 16, 15), sized(720, 576)), "");
  // Other sizes that show the same shape: scaling is all that is needed.
  EXPECT_EQ(said(shaped(1920, 1080, 1, 1), shaped(1440, 1080, 4, 3)), "");
  EXPECT_EQ(said(shaped(1440, 1080, 4, 3), shaped(1280, 720, 1, 1)), "");
  EXPECT_EQ(said(shaped(1920, 1080, 1, 1), shaped(853, 480, 1, 1)), "");
  EXPECT_EQ(said(shaped(1920, 1080, 1, 1), shaped(720, 576, 64, 45)),
            "");  // 1024 wide, and 1024/576 = 1920/1080
  EXPECT_EQ(said(shaped(1920, 1080, 1, 1), shaped(720, 576, 16, 15)),
            "Pixel aspect ratios differ: 1/1 on ref_sink, 16/15 on dist_sink\n");
  EXPECT_EQ(said(shaped(1440, 1080, 4, 3), shaped(1440, 810, 1, 1)), "");
  EXPECT_EQ(said(shaped(1440, 1080, 4, 3), shaped(1440, 1070, 1, 1)),
            "Pixel aspect ratios differ: 4/3 on ref_sink, 1/1 on dist_sink\n");
}

TEST(PictureWatch, Interlaced) {
  const std::string alike =
      "Both streams are interlaced: frames are scored as they are, both fields in one picture\n";
  const std::string orders =
      "Field orders differ: interlaced, top field first on ref_sink, interlaced, bottom field first on "
      "dist_sink\n";
  EXPECT_EQ(said(scanned(Scan::top_first), scanned(Scan::top_first)), alike);
  EXPECT_EQ(said(scanned(Scan::bottom_first), scanned(Scan::bottom_first)), alike);
  EXPECT_EQ(said(scanned(Scan::top_first), scanned(Scan::bottom_first)), orders + alike);
}

TEST(PictureWatch, ProgressiveAgainstInterlacedIsAnError) {
  for (const Scan scan : {Scan::top_first, Scan::bottom_first})
    for (const bool turned : {false, true}) {
      PictureWatch watch;
      std::vector<Remark> remarks;
      const Look a = scanned(Scan::progressive), b = scanned(scan);
      const Status status = turned ? watch.check(b, a, remarks) : watch.check(a, b, remarks);
      EXPECT_EQ(status.code(), Code::unsupported);
      for (const char *word : {"progressive on ", "interlaced, ", " field first on ", "ref_sink", "dist_sink",
                               "deinterlace", "interlace-mode"})
        EXPECT_NE(status.message().find(word), std::string::npos) << status.message();
      EXPECT_TRUE(remarks.empty());
      EXPECT_FALSE((turned ? watch.check(b, a, remarks) : watch.check(a, b, remarks)).ok())
          << "the second pair";
    }
}

TEST(PictureWatch, SaysEachOnce) {
  PictureWatch watch(true);
  const Look full = coloured("1:0:0:0"), limited = coloured("2:0:0:0");
  EXPECT_NE(said(watch, full, limited), "");
  EXPECT_EQ(said(watch, full, limited), "");
  EXPECT_EQ(said(watch, full, full), "");
  EXPECT_EQ(said(watch, full, limited), "");
  EXPECT_NE(said(watch, limited, full), "") << "other values are another difference";
  EXPECT_EQ(said(watch, limited, full), "");
  EXPECT_EQ(said(watch, full, limited), "");
}

TEST(PictureWatch, DoesNotFlood) {
  PictureWatch watch(true);
  int count = 0;
  for (int n = 1; n < 1000; ++n) count += said(watch, shaped(64, 64, n + 1, n), shaped(64, 64, 1, 1)) != "";
  EXPECT_EQ(count, 32);
}

// ---- what buffers and caps say -----------------------------------------------------------------

class LookTest : public testing::Test {
 protected:
  LookTest() { gst_init(nullptr, nullptr); }

  Look look(const std::string &caps, guint flags = 0, const Rect &part = {0, 0, 64, 64}) {
    Stream stream;
    stream.caps.reset(gst_caps_from_string(("video/x-raw,format=I420,width=64,height=64" + caps).c_str()));
    EXPECT_TRUE(gst_video_info_from_caps(&stream.info, stream.caps.get()));
    GstBuffer *buffer = gst_buffer_new();
    GST_BUFFER_FLAG_SET(buffer, flags);
    const Look look = look_at(buffer, stream, part);
    gst_buffer_unref(buffer);
    return look;
  }
};

TEST_F(LookTest, UnstatedIsUnknown) {
  const Look plain = look("");
  EXPECT_EQ(plain.par_d, 0);
  EXPECT_EQ(plain.range, GST_VIDEO_COLOR_RANGE_UNKNOWN);
  EXPECT_EQ(plain.matrix, GST_VIDEO_COLOR_MATRIX_UNKNOWN);
  EXPECT_EQ(plain.transfer, GST_VIDEO_TRANSFER_UNKNOWN);
  EXPECT_EQ(plain.primaries, GST_VIDEO_COLOR_PRIMARIES_UNKNOWN);
  EXPECT_EQ(plain.scan, Scan::progressive);
  EXPECT_EQ(look(",colorimetry=nonsense").range, GST_VIDEO_COLOR_RANGE_UNKNOWN);
  EXPECT_EQ(look(",colorimetry=2:0:0:0").matrix, GST_VIDEO_COLOR_MATRIX_UNKNOWN);
}

TEST_F(LookTest, Stated) {
  const Look bt601 = look(",colorimetry=bt601,pixel-aspect-ratio=16/15");
  EXPECT_EQ(bt601.range, GST_VIDEO_COLOR_RANGE_16_235);
  EXPECT_EQ(bt601.matrix, GST_VIDEO_COLOR_MATRIX_BT601);
  EXPECT_EQ(bt601.primaries, GST_VIDEO_COLOR_PRIMARIES_SMPTE170M);
  EXPECT_EQ(bt601.par_n, 16);
  EXPECT_EQ(bt601.par_d, 15);
}

TEST_F(LookTest, Scan) {
  const guint interlaced = GST_VIDEO_BUFFER_FLAG_INTERLACED, tff = GST_VIDEO_BUFFER_FLAG_TFF;
  struct {
    const char *caps;
    guint flags;
    enum Scan expected;
  } const cases[] = {
      {"", 0, Scan::progressive},
      {"", interlaced | tff, Scan::progressive},  // the caps decide
      {",interlace-mode=progressive", interlaced, Scan::progressive},
      {",interlace-mode=mixed", 0, Scan::progressive},
      {",interlace-mode=mixed", tff, Scan::progressive},
      {",interlace-mode=mixed", interlaced, Scan::bottom_first},
      {",interlace-mode=mixed", interlaced | tff, Scan::top_first},
      {",interlace-mode=interleaved", 0, Scan::bottom_first},
      {",interlace-mode=interleaved", tff, Scan::top_first},
      {",interlace-mode=interleaved,field-order=top-field-first", 0, Scan::top_first},
      {",interlace-mode=interleaved,field-order=bottom-field-first", tff, Scan::bottom_first},
  };
  for (const auto &c : cases) EXPECT_EQ(look(c.caps, c.flags).scan, c.expected) << c.caps << " " << c.flags;
  // A picture that begins with what was the second row.
  EXPECT_EQ(look(",interlace-mode=interleaved", tff, {0, 1, 64, 63}).scan, Scan::bottom_first);
  EXPECT_EQ(look(",interlace-mode=interleaved", tff, {1, 2, 63, 62}).scan, Scan::top_first);
  EXPECT_EQ(look("", tff, {0, 1, 64, 63}).scan, Scan::progressive);
}

}  // namespace
}  // namespace vmafhip
