// GstVideoCropMeta between elements: it is offered to upstream, and what leaves makes sense to elements that do not
// know it. That pictures are read where they lie.
#include <gtest/gtest.h>

#include <random>

#include "gst/vmafhip/mapping.h"
#include "tests/formats.h"

namespace vmafhip::test {
namespace {

constexpr int kWidth = 112, kHeight = 98;

Planes planes_of(const FormatCase &f) {
  return clip_planes(clip_for(f, kWidth, kHeight, 1), clipgen::Role::reference, 0);
}
GstBuffer *whole_frame(const FormatCase &f, const Layout &layout = {}) {
  return stamp(make_buffer(video_info(f.name, kWidth, kHeight), planes_of(f), layout), 0);
}

TEST(CropMeta, AllocationOffersIt) {
  GstElement *element = GST_ELEMENT(gst_object_ref_sink(gst_element_factory_make("vmafhip", nullptr)));
  GstCaps *caps = gst_caps_from_string(caps_text("I420", kWidth, kHeight).c_str());
  for (const char *name : {"ref_sink", "dist_sink"}) {
    GstPad *pad = gst_element_get_static_pad(element, name);
    gst_pad_set_active(pad, TRUE);
    GstQuery *query = gst_query_new_allocation(caps, TRUE);
    EXPECT_TRUE(gst_pad_query(pad, query));
    for (const GType api : {GST_VIDEO_META_API_TYPE, GST_VIDEO_CROP_META_API_TYPE})
      EXPECT_TRUE(gst_query_find_allocation_meta(query, api, nullptr)) << g_type_name(api);
    gst_query_unref(query);
    gst_pad_set_active(pad, FALSE);
    gst_object_unref(pad);
  }
  gst_caps_unref(caps);
  gst_object_unref(element);
}

// videocrop then leaves the frame whole and attaches the meta. Elements behind vmafhip would take no notice of it: they
// get planes that begin further in.
TEST(CropMeta, ElementsBehindGetThePart) {
  const std::string source =
      "videotestsrc num-buffers=4 ! video/x-raw,format=I420,width=160,height=120 ! videocrop name=crop "
      "left=10 top=6 "
      "right=22 bottom=4 ! ";
  Pipeline plain(source + "videoconvert ! video/x-raw,format=NV12 ! fakesink name=out");
  ASSERT_EQ(plain.run(), "eos");
  Pipeline pipeline("vmafhip name=v ! videoconvert ! video/x-raw,format=NV12 ! fakesink name=out " + source +
                    "tee name=t t. ! queue ! v.ref_sink t. ! queue ! v.dist_sink");
  guint metas = 0;
  GstPad *pad = gst_element_get_static_pad(pipeline.get("v"), "ref_sink");
  gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_BUFFER,
      [](GstPad *, GstPadProbeInfo *info, gpointer count) {
        *static_cast<guint *>(count) +=
            gst_buffer_get_video_crop_meta(GST_PAD_PROBE_INFO_BUFFER(info)) != nullptr;
        return GST_PAD_PROBE_OK;
      },
      &metas, nullptr);
  gst_object_unref(pad);
  ASSERT_EQ(pipeline.run(), "eos") << (pipeline.errors.empty() ? "" : pipeline.errors[0]);
  EXPECT_EQ(metas, 4u) << "videocrop did not take the offer";
  ASSERT_EQ(pipeline.out.size(), 4u);
  for (size_t n = 0; n < 4; ++n) EXPECT_EQ(pipeline.out[n].checksum, plain.out[n].checksum);
}

class WithoutCropMeta : public ::testing::TestWithParam<FormatCase> {};

TEST_P(WithoutCropMeta, IsThePartInTheSameMemory) {
  const FormatCase &f = GetParam();
  const Rect part{9, 7, 70, 61};
  GstBuffer *buffer = whole_frame(f, {16, 2, true, true});
  add_crop_meta(buffer, part);
  const GstVideoMeta before = *gst_buffer_get_video_meta(buffer);
  const GstVideoInfo info = video_info(f.name, part.width, part.height);
  GstBuffer *out = without_crop_meta(gst_buffer_ref(buffer), info);
  ASSERT_NE(out, buffer);
  EXPECT_EQ(gst_buffer_get_video_crop_meta(out), nullptr);
  EXPECT_EQ(GST_BUFFER_PTS(out), GST_BUFFER_PTS(buffer));
  ASSERT_EQ(gst_buffer_n_memory(out), gst_buffer_n_memory(buffer));
  EXPECT_EQ(gst_buffer_peek_memory(out, 0), gst_buffer_peek_memory(buffer, 0));
  // The buffer that came in is as it was: a pool's buffers keep their metas.
  EXPECT_NE(gst_buffer_get_video_crop_meta(buffer), nullptr);
  EXPECT_EQ(gst_buffer_get_video_meta(buffer)->width, before.width);
  for (int p = 0; p < 4; ++p) EXPECT_EQ(gst_buffer_get_video_meta(buffer)->offset[p], before.offset[p]);
  // What an element behind would see.
  GstVideoFrame frame;
  ASSERT_TRUE(gst_video_frame_map(&frame, const_cast<GstVideoInfo *>(&info), out, GST_MAP_READ));
  const Planes expected = part_of(f, planes_of(f), kWidth, part);
  const int bytes = f.depth > 8 ? 2 : 1, shift = GST_VIDEO_FORMAT_INFO_SHIFT(info.finfo, 0);
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS(&info); ++c) {
    const int width = GST_VIDEO_INFO_COMP_WIDTH(&info, c), height = GST_VIDEO_INFO_COMP_HEIGHT(&info, c);
    const guint plane = GST_VIDEO_FORMAT_INFO_PLANE(info.finfo, c);
    const guint8 *data = static_cast<guint8 *>(GST_VIDEO_FRAME_PLANE_DATA(&frame, plane)) +
                         (GST_VIDEO_FORMAT_INFO_POFFSET(info.finfo, c) > 0 ? bytes : 0);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const guint8 *at = data + y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, plane) +
                           x * GST_VIDEO_FORMAT_INFO_PSTRIDE(info.finfo, c);
        ASSERT_EQ((bytes == 2 ? GST_READ_UINT16_LE(at) : *at) >> shift, expected[c][size_t(y * width + x)])
            << c << " " << x << "," << y;
      }
  }
  gst_video_frame_unmap(&frame);
  EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(buffer), 2)
      << "its pool must not get it back before the part is let go";
  gst_buffer_unref(out);
  EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(buffer), 1);
  gst_buffer_unref(buffer);
}

INSTANTIATE_TEST_SUITE_P(Formats, WithoutCropMeta, ::testing::ValuesIn(kFormats),
                         [](const auto &info) { return info.param.name; });

TEST(CropMeta, StaysWhereTheCapsSpeakOfTheWholeFrame) {
  GstBuffer *buffer = whole_frame(kFormats[0]);
  add_crop_meta(buffer, {8, 8, 64, 64});
  EXPECT_EQ(without_crop_meta(buffer, video_info("I420", kWidth, kHeight)), buffer);
  EXPECT_NE(gst_buffer_get_video_crop_meta(buffer), nullptr);
  gst_buffer_unref(buffer);
}

// The picture is the buffer's own memory.
TEST(Mapping, CopiesNothing) {
  for (const FormatCase &f : kFormats) {
    GstBuffer *raw = whole_frame(f);
    const BufferPtr buffer = adopt(raw);
    auto stream = std::make_shared<Stream>();
    stream->info = video_info(f.name, kWidth, kHeight);
    stream->crop = {3, 5, 7, 2};
    GstMapInfo map;
    ASSERT_TRUE(gst_buffer_map(raw, &map, GST_MAP_READ));
    {
      auto picture = map_picture(buffer, stream);
      ASSERT_TRUE(picture.ok()) << picture.status().message();
      for (const Plane &plane : picture->planes) {
        if (!plane.data) continue;
        EXPECT_GE(plane.data, map.data);
        EXPECT_LT(plane.data, map.data + map.size);
      }
    }
    gst_buffer_unmap(raw, &map);
  }
}

// Whatever metas and properties say, sensible or not: an error, or a picture whose corners lie in the buffer's memory.
TEST(Mapping, NeverLeavesTheMemory) {
  std::mt19937 random(7);
  const auto any = [&](std::initializer_list<int> values) {
    return *(values.begin() + random() % values.size());
  };
  int good = 0, bad = 0;
  for (int n = 0; n < 20000; ++n) {
    const FormatCase &f = kFormats[random() % std::size(kFormats)];
    auto stream = std::make_shared<Stream>();
    stream->info = video_info(f.name, any({1, 16, 17, 33}), any({1, 16, 17, 33}));
    stream->crop = {any({0, 0, 1, 7, G_MAXINT}), any({0, 0, 2, 9}), any({0, 0, 1, 8}),
                    any({0, 0, 3, 16, G_MAXINT})};
    const gsize size = gsize(any({1, 1, 1, 2}) * GST_VIDEO_INFO_SIZE(&stream->info) + any({0, 0, -1, 100}));
    const BufferPtr buffer = adopt(gst_buffer_new_allocate(nullptr, size, nullptr));
    if (random() % 2) {
      const GstVideoInfo meta = video_info(f.name, any({16, 17, 33, 48}), any({16, 17, 33, 48}));
      gsize offset[4];
      gint stride[4];
      for (int p = 0; p < 4; ++p) {
        offset[p] = meta.offset[p] + gsize(any({0, 0, 0, 1, 64}));
        stride[p] = any({1, 1, 1, 1, -1, 2, 1 << 20}) * meta.stride[p];
      }
      const guint huge = random() % 8 ? 0 : G_MAXUINT;
      gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&meta),
                                     guint(meta.width) | huge, guint(meta.height) | huge,
                                     GST_VIDEO_INFO_N_PLANES(&meta), offset, stride);
    }
    if (random() % 2)
      add_crop_meta(buffer.get(), {any({0, 0, 1, 9, G_MAXINT, -1}), any({0, 0, 3, 14, G_MAXINT - 16}),
                                   any({0, 1, 8, 16, 17}), any({1, 8, 16, 17, G_MAXINT})});
    GstMapInfo map;
    ASSERT_TRUE(gst_buffer_map(buffer.get(), &map, GST_MAP_READ));
    {
      const auto picture = map_picture(buffer, stream);
      ++(picture.ok() ? good : bad);
      for (int p = 0; picture.ok() && p < (f.gray() ? 1 : 3); ++p) {
        const Plane &plane = picture->planes[size_t(p)];
        ASSERT_GT(plane.width, 0);
        ASSERT_GT(plane.height, 0);
        const int bytes = f.depth > 8 ? 2 : 1;
        for (const ptrdiff_t y : {0, plane.height - 1})
          for (const ptrdiff_t x : {0, plane.width - 1}) {
            const auto *at =
                static_cast<const guint8 *>(plane.data) + y * plane.stride + x * plane.step * bytes;
            ASSERT_GE(at, map.data);
            ASSERT_LE(at + bytes, map.data + map.size);
          }
      }
    }
    gst_buffer_unmap(buffer.get(), &map);
  }
  EXPECT_GT(good, 1000);
  EXPECT_GT(bad, 1000);
}

}  // namespace
}  // namespace vmafhip::test
