// Thumbnails of all formats show the picture, PNG files are read back by GStreamer's own decoder, and memory is bounded.
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "examples/monitor/taking.h"
#include "examples/monitor/thumbnails.h"

namespace {

using namespace monitor;

using SamplePtr = std::unique_ptr<GstSample, Free<gst_sample_unref>>;

class Gst : public ::testing::Environment {
  void SetUp() override { gst_init(nullptr, nullptr); }
  void TearDown() override { gst_deinit(); }
};
[[maybe_unused]] auto *const kGst = ::testing::AddGlobalTestEnvironment(new Gst);

// One frame of bars as the format has it.
SamplePtr picture(const std::string &caps) {
  GError *broken = nullptr;
  const ElementPtr pipeline(gst_parse_launch(
      ("videotestsrc num-buffers=1 pattern=smpte75 ! videoconvert ! " + caps + " ! appsink name=out").c_str(),
      &broken));
  EXPECT_EQ(take_text(broken), "");
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  const ElementPtr out(gst_bin_get_by_name(GST_BIN(pipeline.get()), "out"));
  SamplePtr sample(gst_app_sink_pull_sample(GST_APP_SINK(out.get())));
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  return sample;
}

ThumbnailPtr thumbnail(const std::string &caps) {
  const SamplePtr sample = picture(caps);
  GstVideoInfo info;
  if (!sample || !gst_video_info_from_caps(&info, gst_sample_get_caps(sample.get()))) return nullptr;
  return make_thumbnail(info, gst_sample_get_buffer(sample.get()));
}

// A PNG file's pixels, as another reader sees them.
std::vector<uint8_t> read_png(const std::string &png, const char *format, int width, int height) {
  GError *broken = nullptr;
  const std::string line =
      std::string("appsrc name=in caps=image/png ! pngdec ! videoconvert ! video/x-raw,format=") + format +
      " ! appsink name=out";
  const ElementPtr pipeline(gst_parse_launch(line.c_str(), &broken));
  EXPECT_EQ(take_text(broken), "");
  const ElementPtr in(gst_bin_get_by_name(GST_BIN(pipeline.get()), "in"));
  const ElementPtr out(gst_bin_get_by_name(GST_BIN(pipeline.get()), "out"));
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  gst_app_src_push_buffer(GST_APP_SRC(in.get()), gst_buffer_new_memdup(png.data(), png.size()));
  gst_app_src_end_of_stream(GST_APP_SRC(in.get()));
  const SamplePtr sample(gst_app_sink_pull_sample(GST_APP_SINK(out.get())));
  std::vector<uint8_t> pixels;
  GstVideoInfo info;
  GstVideoFrame frame;
  if (sample && gst_video_info_from_caps(&info, gst_sample_get_caps(sample.get())) &&
      gst_video_frame_map(&frame, &info, gst_sample_get_buffer(sample.get()), GST_MAP_READ)) {
    EXPECT_EQ(info.width, width);
    EXPECT_EQ(info.height, height);
    const size_t row = size_t(width) * GST_VIDEO_INFO_COMP_PSTRIDE(&info, 0);
    for (int y = 0; y < info.height; ++y) {
      const auto *from = static_cast<const uint8_t *>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0)) +
                         ptrdiff_t(y) * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0);
      pixels.insert(pixels.end(), from, from + row);
    }
    gst_video_frame_unmap(&frame);
  }
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  return pixels;
}

TEST(Thumbnails, FormatsAndDepthsGiveTheSamePicture) {
  const std::string size = ",width=320,height=180,colorimetry=bt709";
  const ThumbnailPtr expected = thumbnail("video/x-raw,format=Y444" + size);
  ASSERT_TRUE(expected);
  EXPECT_EQ(expected->width, 240);
  EXPECT_EQ(expected->height, 135);
  for (const char *format :
       {"I420", "YV12", "NV12", "NV21", "Y42B", "NV16", "Y444", "I420_10LE", "P010_10LE", "I422_10LE",
        "Y444_10LE", "I420_12LE", "P012_LE", "Y444_16LE", "P016_LE", "GRAY8", "GRAY16_LE"}) {
    const ThumbnailPtr got = thumbnail(std::string("video/x-raw,format=") + format + size);
    ASSERT_TRUE(got) << format;
    ASSERT_EQ(got->samples.size(), expected->samples.size()) << format;
    const bool grey = !strncmp(format, "GRAY", 4);
    size_t off = 0;
    for (size_t i = 0; i < got->samples.size(); ++i) {
      const bool chroma = i >= got->plane_at(1);
      const int wanted = grey && chroma ? 128 : expected->samples[i];
      off += std::abs(got->samples[i] - wanted) > 3;
    }
    // Chroma of fewer samples is blurred at the edges of bars.
    EXPECT_LT(off, got->samples.size() / 20) << format;
  }
}

TEST(Thumbnails, SmallAndUprightPicturesAndWidePixels) {
  const ThumbnailPtr small = thumbnail("video/x-raw,format=I420,width=33,height=35");
  EXPECT_EQ(small->width, 33);
  EXPECT_EQ(small->height, 35);
  const ThumbnailPtr upright = thumbnail("video/x-raw,format=I420,width=360,height=3600");
  EXPECT_EQ(upright->width, 240);
  EXPECT_EQ(upright->height, Thumbnail::kMaxHeight);
  const ThumbnailPtr anamorphic =
      thumbnail("video/x-raw,format=I420,width=720,height=576,pixel-aspect-ratio=64/45");
  EXPECT_EQ(anamorphic->height, 135);
}

TEST(Thumbnails, APngFileHasThePicturesColours) {
  for (const char *colorimetry : {"bt709", "bt601", "1:4:7:1"}) {  // the last: full range
    const std::string caps =
        std::string("video/x-raw,format=Y444,width=240,height=136,colorimetry=") + colorimetry;
    const ThumbnailPtr made = thumbnail(caps);
    const auto pixels = read_png(png_of(*made), "RGB", 240, 136);
    ASSERT_EQ(pixels.size(), 3u * 240 * 136);
    // GStreamer's own conversion of the same picture.
    const SamplePtr sample =
        picture("video/x-raw,format=Y444,width=240,height=136,colorimetry=" + std::string(colorimetry) +
                " ! videoconvert ! video/x-raw,format=RGB");
    GstMapInfo map;
    gst_buffer_map(gst_sample_get_buffer(sample.get()), &map, GST_MAP_READ);
    size_t off = 0;
    for (size_t i = 0; i < pixels.size(); ++i) off += std::abs(pixels[i] - map.data[i]) > 6;
    gst_buffer_unmap(gst_sample_get_buffer(sample.get()), &map);
    EXPECT_LT(off, pixels.size() / 20) << colorimetry;
  }
}

TEST(Thumbnails, TheDifferenceIsThatOfLumaAmplified) {
  Thumbnail a;
  a.width = 4;
  a.height = 2;
  a.samples.assign(a.plane_at(3), 100);
  Thumbnail b = a;
  b.samples[0] = 110;
  b.samples[1] = 99;
  b.samples[7] = 10;
  b.samples[b.plane_at(1)] = 0;  // chroma does not count
  EXPECT_EQ(read_png(png_of_difference(a, b), "GRAY8", 4, 2),
            (std::vector<uint8_t>{160, 16, 0, 0, 0, 0, 0, 255}));
  EXPECT_EQ(read_png(png_of_difference(b, b), "GRAY8", 4, 2), std::vector<uint8_t>(8, 0));
}

TEST(Thumbnails, TheNewestOfATimeStampIsFoundAndMemoryIsBounded) {
  Thumbnails thumbnails;
  const auto make = [](uint8_t value) {
    auto made = std::make_shared<Thumbnail>();
    made->width = 240;
    made->height = 135;
    made->samples.assign(made->plane_at(3), value);
    return made;
  };
  thumbnails.add(5, make(1));
  thumbnails.add(5, make(2));
  thumbnails.add(6, nullptr);
  EXPECT_EQ(thumbnails.find(5)->samples[0], 2);
  EXPECT_FALSE(thumbnails.find(6));
  EXPECT_FALSE(thumbnails.find(4));
  const std::weak_ptr<const Thumbnail> old = thumbnails.find(5);
  for (GstClockTime n = 100; n < 300; ++n) thumbnails.add(n, make(3));
  EXPECT_TRUE(old.expired());
  EXPECT_FALSE(thumbnails.find(5));
  EXPECT_TRUE(thumbnails.find(299));
  EXPECT_TRUE(thumbnails.find(300 - Thumbnails::kMaxBytes / make(0)->samples.size()));
}

TEST(Thumbnails, ABufferThatIsTooSmallHasNone) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_I420, 320, 180);
  GstBuffer *buffer = gst_buffer_new_allocate(nullptr, 100, nullptr);
  EXPECT_FALSE(make_thumbnail(info, buffer));
  gst_buffer_unref(buffer);
}

}  // namespace
