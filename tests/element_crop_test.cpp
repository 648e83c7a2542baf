// Crop properties of the pads and GstVideoCropMeta: scores equal those of pictures that were cut beforehand, bit for
// bit, chroma included.
#include <gtest/gtest.h>

#include "gst/vmafhip/crop.h"
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

GstBuffer *whole_frame(const FormatCase &f, clipgen::Role role, int frame, const Layout &layout = {}) {
  return stamp(make_buffer(video_info(f.name, kWidth, kHeight), planes_of(f, role, frame), layout), frame);
}

std::function<GstBuffer *()> whole(const FormatCase &f, clipgen::Role role, const Layout &layout = {}) {
  return [=, n = 0]() mutable { return n < kFrames ? whole_frame(f, role, n++, layout) : nullptr; };
}
std::function<GstBuffer *()> cut_before(const FormatCase &f, clipgen::Role role, const Rect &part) {
  return [=, n = 0]() mutable -> GstBuffer * {
    if (n == kFrames) return nullptr;
    const Planes planes = part_of(f, planes_of(f, role, n), kWidth, part);
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
               {"dist_sink", "crop meta says 0x0"});
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

}  // namespace
}  // namespace vmafhip::test
