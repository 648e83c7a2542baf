// What caps say of pictures and of the memory that they are in.
#include "gst/vmafhip/caps.h"

#include <gtest/gtest.h>

#include "gst/vmafhip/gpu_memory.h"
#include "gst/vmafhip/handles.h"
#include "gst/vmafhip/stream.h"

// As if this had been built without any.
std::span<const vmafhip::GpuMemoryKind> vmafhip::gpu_memory_kinds() { return {}; }

namespace vmafhip::test {
namespace {

CapsPtr caps(const std::string &text) {
  CapsPtr made(gst_caps_from_string(text.c_str()));
  EXPECT_TRUE(made) << text;
  return made;
}
CapsPtr drm(const std::string &format, const std::string &more = "") {
  return caps("video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=\"" + format +
              "\",width=64,height=48,framerate=25/1" + more);
}

class Caps : public testing::Test {
 protected:
  static void SetUpTestSuite() { gst_init(nullptr, nullptr); }
};

TEST_F(Caps, OfPads) {
  const CapsPtr all(pad_caps());
  ASSERT_TRUE(all);
  const auto takes = [&](const CapsPtr &caps) { return gst_caps_is_subset(caps.get(), all.get()); };
  EXPECT_TRUE(takes(caps("video/x-raw,format=NV12,width=64,height=48,framerate=0/1")));
  EXPECT_TRUE(takes(caps("video/x-raw(memory:DMABuf),format=P010_10LE,width=64,height=48,framerate=25/1")));
  EXPECT_TRUE(takes(drm("NV12")));
  EXPECT_FALSE(takes(drm("NV12:0x0100000000000002")));
  EXPECT_FALSE(takes(drm("XR24")));
  EXPECT_FALSE(takes(caps("video/x-raw(memory:DMABuf),format=RGB,width=64,height=48,framerate=25/1")));
  EXPECT_FALSE(takes(caps("video/x-raw,format=DMA_DRM,drm-format=NV12,width=64,height=48,framerate=25/1")));
  EXPECT_FALSE(takes(caps("video/x-raw(memory:GLMemory),format=NV12,width=64,height=48,framerate=25/1")));
  EXPECT_TRUE(in_system_memory(all.get()));  // comes first
}

TEST_F(Caps, KernelsNamesOfFormats) {
  const std::pair<const char *, GstVideoFormat> names[] = {
      {"YU12", GST_VIDEO_FORMAT_I420},      {"YV12", GST_VIDEO_FORMAT_YV12},
      {"NV12", GST_VIDEO_FORMAT_NV12},      {"NV21", GST_VIDEO_FORMAT_NV21},
      {"YU16", GST_VIDEO_FORMAT_Y42B},      {"NV16", GST_VIDEO_FORMAT_NV16},
      {"YU24", GST_VIDEO_FORMAT_Y444},      {"R8  ", GST_VIDEO_FORMAT_GRAY8},
      {"P010", GST_VIDEO_FORMAT_P010_10LE}, {"P012", GST_VIDEO_FORMAT_P012_LE},
      {"P016", GST_VIDEO_FORMAT_P016_LE},   {"R16 ", GST_VIDEO_FORMAT_GRAY16_LE},
  };
  const CapsPtr all(pad_caps());
  for (const auto &[name, format] : names) {
    const CapsPtr one = drm(name, ",colorimetry=bt709,interlace-mode=progressive");
    EXPECT_TRUE(gst_caps_is_subset(one.get(), all.get())) << name;
    GstVideoInfo info, plain;
    ASSERT_TRUE(video_info(one.get(), info)) << name;
    gst_video_info_set_format(&plain, format, 64, 48);
    EXPECT_EQ(GST_VIDEO_INFO_FORMAT(&info), format) << name;
    EXPECT_EQ(GST_VIDEO_INFO_SIZE(&info), GST_VIDEO_INFO_SIZE(&plain)) << name;
    EXPECT_EQ(GST_VIDEO_INFO_FPS_N(&info), 25);
    EXPECT_EQ(info.colorimetry.matrix, GST_VIDEO_COLOR_MATRIX_BT709);
    EXPECT_FALSE(tiling(one.get()));
    EXPECT_TRUE(in_dmabufs(one.get()));
    EXPECT_FALSE(in_system_memory(one.get()));
  }
}

TEST_F(Caps, LayoutsThatAreNotLinear) {
  GstVideoInfo info;
  const CapsPtr tiled = drm("NV12:0x0100000000000002");
  EXPECT_EQ(tiling(tiled.get()), "0x0100000000000002");
  EXPECT_FALSE(video_info(tiled.get(), info));
  for (const char *other : {"XR24", "NV12:", "nv12", "NV12 "})
    EXPECT_FALSE(video_info(drm(other).get(), info)) << other;
  EXPECT_FALSE(tiling(drm("XR24").get()));
  EXPECT_FALSE(tiling(drm("NV12:0x0000000000000000").get()));  // linear, with another name than GStreamer's
  // It is no modifier of other formats.
  const CapsPtr plain =
      caps("video/x-raw,format=NV12,drm-format=\"NV12:0x1\",width=64,height=48,framerate=25/1");
  EXPECT_FALSE(tiling(plain.get()));
  EXPECT_TRUE(video_info(plain.get(), info));
  EXPECT_FALSE(video_info(caps("video/x-raw(memory:DMABuf),format=DMA_DRM,width=64,height=48").get(), info));
}

TEST_F(Caps, Memory) {
  const CapsPtr plain = caps("video/x-raw,format=NV12,width=64,height=48"),
                dmabuf = caps("video/x-raw(memory:DMABuf),format=NV12,width=64,height=48"),
                other = caps("video/x-raw(memory:GLMemory),format=NV12,width=64,height=48");
  GstVideoInfo info;
  for (const CapsPtr *c : {&plain, &dmabuf, &other}) {
    EXPECT_TRUE(video_info(c->get(), info));
    EXPECT_EQ(in_system_memory(c->get()), c == &plain);
    EXPECT_EQ(in_dmabufs(c->get()), c == &dmabuf);
  }
}

}  // namespace
}  // namespace vmafhip::test
