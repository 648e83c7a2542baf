// Crop properties of the pads and GstVideoCropMeta: scores equal those of pictures that were cut beforehand, bit for
// bit, chroma included.
#include <gst/check/gstharness.h>
#include <gtest/gtest.h>

#include "gst/vmafhip/mapping.h"
#include "tests/formats.h"

namespace vmafhip::test {
namespace {

constexpr int kWidth = 112, kHeight = 98, kFrames = 3;
constexpr FormatCase kI420{"I420", 8, 2, 2};

std::string text_of(const Crop &crop) {
  return "crop-left=" + std::to_string(crop.left) + " crop-right=" + std::to_string(crop.right) +
         " crop-top=" + std::to_string(crop.top) + " crop-bottom=" + std::to_string(crop.bottom);
}

// "ref_sink::crop-left=… …"
std::string on_pad(const std::string &pad, const Crop &crop) {
  std::string text = " ";
  for (const char c : text_of(crop)) text += c == 'c' && text.back() == ' ' ? pad + "::c" : std::string(1, c);
  return text;
}

Planes planes_of(const FormatCase &f, clipgen::Role role, int frame) {
  return clip_planes(clip_for(f, kWidth, kHeight, kFrames), role, frame);
}

// Sample by sample, as crop.h has it.
Planes part_of(const FormatCase &f, const Planes &whole, const Rect &part) {
  Planes out;
  for (size_t p = 0; p < 3; ++p) {
    const int sx = p ? f.sub_x : 1, sy = p ? f.sub_y : 1, stride = (kWidth + sx - 1) / sx;
    for (int y = 0; y < (part.height + sy - 1) / sy; ++y)
      for (int x = 0; x < (part.width + sx - 1) / sx; ++x)
        out[p].push_back(whole[p][size_t((part.y / sy + y) * stride + part.x / sx + x)]);
  }
  return out;
}

void add_crop_meta(GstBuffer *buffer, const Rect &part) {
  GstVideoCropMeta *meta = gst_buffer_add_video_crop_meta(buffer);
  meta->x = guint(part.x), meta->y = guint(part.y);
  meta->width = guint(part.width), meta->height = guint(part.height);
}

GstBuffer *whole_frame(const FormatCase &f, clipgen::Role role, int frame, const Layout &layout = {}) {
  return stamp(make_buffer(video_info(f.name, kWidth, kHeight), planes_of(f, role, frame), layout), frame);
}

std::function<GstBuffer *()> whole(const FormatCase &f, clipgen::Role role, const Layout &layout = {}) {
  return [=, n = 0]() mutable { return n < kFrames ? whole_frame(f, role, n++, layout) : nullptr; };
}
std::function<GstBuffer *()> cut_before(const FormatCase &f, clipgen::Role role, const Rect &part) {
  return [=, n = 0]() mutable -> GstBuffer * {
    if (n == kFrames) return nullptr;
    const Planes planes = part_of(f, planes_of(f, role, n), part);
    return stamp(make_buffer(video_info(f.name, part.width, part.height), planes), n++);
  };
}
std::function<GstBuffer *()> with_meta(const FormatCase &f, clipgen::Role role, const Rect &part,
                                       const Layout &layout = {}) {
  return [=, n = 0]() mutable -> GstBuffer * {
    if (n == kFrames) return nullptr;
    GstBuffer *buffer = whole_frame(f, role, n++, layout);
    add_crop_meta(buffer, part);
    return buffer;
  };
}

std::string pipeline_text(const FormatCase &f, const std::string &settings,
                          const Rect &ref = {0, 0, kWidth, kHeight},
                          const Rect &dist = {0, 0, kWidth, kHeight}) {
  return "vmafhip name=v model=vmaf_v0.6.1" + std::string(f.gray() ? "" : ":vif.enable_chroma=true") +
         settings + " ! fakesink name=out appsrc name=ref caps=" + caps_text(f.name, ref.width, ref.height) +
         " ! v.ref_sink appsrc name=dist caps=" + caps_text(f.name, dist.width, dist.height) +
         " ! v.dist_sink";
}

std::vector<std::vector<uint64_t>> scores(const std::string &text, std::function<GstBuffer *()> ref,
                                          std::function<GstBuffer *()> dist) {
  Pipeline pipeline(text);
  pipeline.feed("ref", std::move(ref));
  pipeline.feed("dist", std::move(dist));
  EXPECT_EQ(pipeline.run(), "eos") << (pipeline.errors.empty() ? "" : pipeline.errors[0]);
  EXPECT_EQ(pipeline.frames.size(), size_t(kFrames));
  return value_bits(pipeline);
}

std::vector<std::vector<uint64_t>> cut_scores(const FormatCase &f, const Rect &ref, const Rect &dist) {
  return scores(pipeline_text(f, "", ref, dist), cut_before(f, clipgen::Role::reference, ref),
                cut_before(f, clipgen::Role::distorted, dist));
}

std::string error_of(const std::string &text, std::function<GstBuffer *()> ref,
                     std::function<GstBuffer *()> dist) {
  Pipeline pipeline(text);
  pipeline.feed("ref", std::move(ref));
  pipeline.feed("dist", std::move(dist));
  EXPECT_EQ(pipeline.run(), "error");
  EXPECT_FALSE(pipeline.errors.empty());
  return pipeline.errors.empty() ? "" : pipeline.errors[0];
}

void expect_words(const std::string &text, const std::vector<std::string> &words) {
  for (const std::string &word : words)
    EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
}

const auto kRef = clipgen::Role::reference, kDist = clipgen::Role::distorted;

// ---- scores --------------------------------------------------------------------------------------

class CroppedFormat : public ::testing::TestWithParam<FormatCase> {};

TEST_P(CroppedFormat, ScoresOfThePart) {
  const FormatCase &f = GetParam();
  for (const Crop &crop : {Crop{8, 4, 2, 6}, Crop{7, 5, 3, 0}, Crop{0, 9, 1, 8}}) {
    SCOPED_TRACE(text_of(crop));
    const Rect part = inside({0, 0, kWidth, kHeight}, crop);
    const auto expected = cut_scores(f, part, part);
    EXPECT_EQ(scores(pipeline_text(f, on_pad("ref_sink", crop) + on_pad("dist_sink", crop)), whole(f, kRef),
                     whole(f, kDist)),
              expected);
    const Layout padded{26, 6, true, true};
    EXPECT_EQ(scores(pipeline_text(f, on_pad("ref_sink", crop)), whole(f, kRef, padded),
                     with_meta(f, kDist, part, padded)),
              expected);
    EXPECT_EQ(scores(pipeline_text(f, ""), with_meta(f, kRef, part), with_meta(f, kDist, part)), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, CroppedFormat, ::testing::ValuesIn(kFormats),
                         [](const auto &info) { return info.param.name; });

TEST(Crops, PropertiesApplyWithinTheMeta) {
  const Rect meta{10, 6, 90, 80}, part{13, 10, 81, 70};
  EXPECT_EQ(
      scores(pipeline_text(kI420, on_pad("ref_sink", {3, 6, 4, 6}) + on_pad("dist_sink", {13, 18, 10, 18})),
             with_meta(kI420, kRef, meta), whole(kI420, kDist)),
      cut_scores(kI420, part, part));
}

// A letterboxed stream against one without bars.
TEST(Crops, OnOnePadAlone) {
  const Rect middle{0, 14, kWidth, 70};
  EXPECT_EQ(scores(pipeline_text(kI420, " dist_sink::crop-top=14 dist_sink::crop-bottom=14", middle),
                   cut_before(kI420, kRef, middle), whole(kI420, kDist)),
            cut_scores(kI420, middle, middle));
}

// ---- while playing -------------------------------------------------------------------------------

struct Change {
  GstClockTime from;  // time stamp of the first frame with it
  Crop crop;
};

GstPadProbeReturn change_crop(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
  const auto *change = static_cast<const Change *>(data);
  if (GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info)) != change->from) return GST_PAD_PROBE_OK;
  const Crop &c = change->crop;
  g_object_set(pad, "crop-left", c.left, "crop-right", c.right, "crop-top", c.top, "crop-bottom", c.bottom,
               nullptr);
  return GST_PAD_PROBE_OK;
}

void change_on_both(Pipeline &pipeline, const Change *change) {
  for (const char *name : {"ref_sink", "dist_sink"}) {
    GstPad *pad = gst_element_get_static_pad(pipeline.get("v"), name);
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, change_crop, const_cast<Change *>(change), nullptr);
    gst_object_unref(pad);
  }
}

std::vector<std::vector<uint64_t>> joined(std::vector<std::vector<uint64_t>> a,
                                          const std::vector<std::vector<uint64_t>> &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// A clip and then the same again.
std::function<GstBuffer *()> twice(clipgen::Role role) {
  return [=, n = 0]() mutable -> GstBuffer * {
    if (n == 2 * kFrames) return nullptr;
    GstBuffer *buffer = whole_frame(kI420, role, n % kFrames);
    return stamp(buffer, n++);
  };
}

TEST(Crops, ChangeWhilePlayingFromAFrameOn) {
  const Change change{kFrames * 40 * GST_MSECOND, {7, 5, 3, 10}};
  const Rect all{0, 0, kWidth, kHeight}, part = inside(all, change.crop);
  Pipeline pipeline(pipeline_text(kI420, ""));
  change_on_both(pipeline, &change);
  pipeline.feed("ref", twice(kRef));
  pipeline.feed("dist", twice(kDist));
  ASSERT_EQ(pipeline.run(), "eos") << (pipeline.errors.empty() ? "" : pipeline.errors[0]);
  EXPECT_EQ(value_bits(pipeline), joined(cut_scores(kI420, all, all), cut_scores(kI420, part, part)));
  ASSERT_EQ(pipeline.resets.size(), 1u);
  EXPECT_STREQ(gst_structure_get_string(pipeline.resets[0].get(), "reason"), "caps");
  EXPECT_EQ(number(pipeline.resets[0].get(), "index"), guint64(kFrames));
  EXPECT_EQ(pipeline.out.size(), size_t(2 * kFrames));
}

// Another place of the same size is a cut in the picture, no other format.
TEST(Crops, MovedPartDoesNotReset) {
  const Change change{kFrames * 40 * GST_MSECOND, {10, 2, 8, 2}};
  Pipeline pipeline(
      pipeline_text(kI420, on_pad("ref_sink", {2, 10, 2, 8}) + on_pad("dist_sink", {2, 10, 2, 8})));
  change_on_both(pipeline, &change);
  pipeline.feed("ref", twice(kRef));
  pipeline.feed("dist", twice(kDist));
  ASSERT_EQ(pipeline.run(), "eos");
  EXPECT_TRUE(pipeline.resets.empty());
  ASSERT_EQ(pipeline.frames.size(), size_t(2 * kFrames));
  // Features without memory are those of the part.
  const Rect part = inside({0, 0, kWidth, kHeight}, change.crop);
  Pipeline cut(pipeline_text(kI420, "", part, part));
  cut.feed("ref", cut_before(kI420, kRef, part));
  cut.feed("dist", cut_before(kI420, kDist, part));
  ASSERT_EQ(cut.run(), "eos");
  for (size_t n = 0; n < size_t(kFrames); ++n)
    for (const char *name : {"integer_adm2", "integer_vif_scale0_cb_enable_chroma"})
      EXPECT_EQ(real_in(pipeline.frames[n + kFrames].get(), "features", name),
                real_in(cut.frames[n].get(), "features", name));
}

TEST(Crops, MetaMayChangeWithEveryBuffer) {
  const Rect all{0, 0, kWidth, kHeight}, part{5, 4, 90, 80};
  auto source = [&](clipgen::Role role) {
    return [=, next = twice(role), n = 0]() mutable {
      GstBuffer *buffer = next();
      if (buffer && n++ >= kFrames) add_crop_meta(buffer, part);
      return buffer;
    };
  };
  Pipeline pipeline(pipeline_text(kI420, ""));
  pipeline.feed("ref", source(kRef));
  pipeline.feed("dist", source(kDist));
  ASSERT_EQ(pipeline.run(), "eos");
  EXPECT_EQ(value_bits(pipeline), joined(cut_scores(kI420, all, all), cut_scores(kI420, part, part)));
  ASSERT_EQ(pipeline.resets.size(), 1u);
  EXPECT_STREQ(gst_structure_get_string(pipeline.resets[0].get(), "reason"), "caps");
}

// ---- errors --------------------------------------------------------------------------------------

TEST(BadCrops, NothingLeft) {
  expect_words(error_of(pipeline_text(kI420, " dist_sink::crop-left=60 dist_sink::crop-right=52"),
                        whole(kI420, kRef), whole(kI420, kDist)),
               {"dist_sink", "112x98", "crop-left=60", "crop-right=52", "crop-top=0"});
  expect_words(error_of(pipeline_text(kI420, " ref_sink::crop-bottom=2147483647"), whole(kI420, kRef),
                        whole(kI420, kDist)),
               {"ref_sink", "112x98", "crop-bottom=2147483647"});
  expect_words(error_of(pipeline_text(kI420, " ref_sink::crop-top=40"),
                        with_meta(kI420, kRef, {0, 0, 112, 40}), whole(kI420, kDist)),
               {"ref_sink", "112x40", "crop meta", "crop-top=40"});
}

TEST(BadCrops, LessThanTheMetricsNeed) {
  const Crop crop{80, 0, 70, 0};
  expect_words(error_of(pipeline_text(kI420, on_pad("ref_sink", crop) + on_pad("dist_sink", crop)),
                        whole(kI420, kRef), whole(kI420, kDist)),
               {"33x33", "32x28", "ref_sink is cropped from 112x98 to 32x28", "dist_sink is cropped"});
}

TEST(BadCrops, MetaBeyondTheFrame) {
  for (const Rect &part : {Rect{1, 0, kWidth, kHeight}, Rect{0, 0, kWidth, kHeight + 1}, Rect{-1, 0, 2, 2},
                           Rect{0, G_MAXINT, 64, 64}, Rect{0, 0, -1, -1}})
    expect_words(error_of(pipeline_text(kI420, ""), whole(kI420, kRef), with_meta(kI420, kDist, part)),
                 {"dist_sink", "crop meta", "112x98"});
  expect_words(error_of(pipeline_text(kI420, ""), whole(kI420, kRef), with_meta(kI420, kDist, {0, 0, 0, 0})),
               {"dist_sink", "nothing is left of 0x0"});
}

// A video meta whose planes are larger than they can be, and a crop far out.
TEST(BadCrops, PlanesThatAreNotThere) {
  auto source = [n = 0]() mutable -> GstBuffer * {
    if (n == kFrames) return nullptr;
    GstBuffer *buffer = whole_frame(kI420, kDist, n++);
    GstVideoInfo info = video_info("I420", kWidth, kHeight);
    gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_I420, G_MAXUINT,
                                   G_MAXUINT, 3, info.offset, info.stride);
    add_crop_meta(buffer, {G_MAXINT - kWidth, G_MAXINT - kHeight, kWidth, kHeight});
    return buffer;
  };
  expect_words(error_of(pipeline_text(kI420, ""), whole(kI420, kRef), source),
               {"dist_sink", "beyond its memory"});
}

// ---- what is offered to others, and what they get ------------------------------------------------

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
  GstBuffer *buffer = whole_frame(f, kRef, 0, {16, 2, true, true});
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
  const Planes expected = part_of(f, planes_of(f, kRef, 0), part);
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
  Pipeline pipeline(pipeline_text(kI420, ""));
  guint metas = 0;
  GstPad *pad = gst_element_get_static_pad(pipeline.get("out"), "sink");
  gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_BUFFER,
      [](GstPad *, GstPadProbeInfo *info, gpointer count) {
        const auto *meta = gst_buffer_get_video_crop_meta(GST_PAD_PROBE_INFO_BUFFER(info));
        *static_cast<guint *>(count) += meta && meta->x == 8;
        return GST_PAD_PROBE_OK;
      },
      &metas, nullptr);
  gst_object_unref(pad);
  pipeline.feed("ref", with_meta(kI420, kRef, {8, 8, 64, 64}));
  pipeline.feed("dist", with_meta(kI420, kDist, {8, 8, 64, 64}));
  ASSERT_EQ(pipeline.run(), "eos");
  EXPECT_EQ(metas, guint(kFrames));
}

// The picture is the buffer's own memory.
TEST(Mapping, CopiesNothing) {
  for (const FormatCase &f : kFormats) {
    GstBuffer *raw = whole_frame(f, kRef, 0);
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

}  // namespace
}  // namespace vmafhip::test
