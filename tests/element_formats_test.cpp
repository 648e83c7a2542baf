// Every input format, every way a picture can lie in its buffer, and what must not happen to shared buffers.
#include <gtest/gtest.h>

#include <bit>

#include "gst/vmafhip/mapping.h"
#include "tests/pipeline.h"

namespace vmafhip::test {
namespace {

constexpr int kWidth = 70, kHeight = 50, kFrames = 3;

struct FormatCase {
  const char *name;
  int depth, sub_x, sub_y;
};
// The interface's list.
constexpr FormatCase kFormats[] = {
    {"I420", 8, 2, 2},       {"YV12", 8, 2, 2},       {"NV12", 8, 2, 2},       {"NV21", 8, 2, 2},
    {"Y42B", 8, 2, 1},       {"NV16", 8, 2, 1},       {"Y444", 8, 1, 1},       {"GRAY8", 8, 1, 1},
    {"I420_10LE", 10, 2, 2}, {"I422_10LE", 10, 2, 1}, {"Y444_10LE", 10, 1, 1}, {"P010_10LE", 10, 2, 2},
    {"I420_12LE", 12, 2, 2}, {"I422_12LE", 12, 2, 1}, {"Y444_12LE", 12, 1, 1}, {"P012_LE", 12, 2, 2},
    {"P016_LE", 16, 2, 2},   {"Y444_16LE", 16, 1, 1}, {"GRAY16_LE", 16, 1, 1},
};

clipgen::Generator clip_for(const FormatCase &f, int width = kWidth, int height = kHeight) {
  clipgen::Format format;
  format.width = width, format.height = height, format.frames = kFrames, format.depth = f.depth;
  format.sub_x = f.sub_x, format.sub_y = f.sub_y;
  return clipgen::Generator("natural-blur", format);
}

std::function<GstBuffer *()> source(const FormatCase &f, clipgen::Role role, const Layout &layout = {},
                                    int up = 0) {
  const auto clip = std::make_shared<clipgen::Generator>(clip_for(f));
  return [=, frame = 0]() mutable -> GstBuffer * {
    if (frame == kFrames) return nullptr;
    Planes planes = clip_planes(*clip, role, frame);
    for (auto &plane : planes)
      for (uint16_t &v : plane) v = uint16_t(v << up);
    FormatCase in = f;
    in.depth += up;
    GstBuffer *buffer = make_buffer(video_info(in.name, kWidth, kHeight), planes, layout);
    GST_BUFFER_PTS(buffer) = GstClockTime(frame++) * 40 * GST_MSECOND;
    GST_BUFFER_DURATION(buffer) = 40 * GST_MSECOND;
    return buffer;
  };
}

// All values of all frame messages, bit for bit.
std::vector<uint64_t> scores(const FormatCase &ref, const FormatCase &dist, const Layout &layout = {}) {
  Pipeline pipeline(
      "vmafhip name=v ! fakesink name=out appsrc name=ref caps=" + caps_text(ref.name, kWidth, kHeight) +
      " ! v.ref_sink appsrc name=dist caps=" + caps_text(dist.name, kWidth, kHeight) + " ! v.dist_sink");
  pipeline.feed("ref", source(ref, clipgen::Role::reference, layout));
  pipeline.feed("dist", source(dist, clipgen::Role::distorted, layout));
  EXPECT_EQ(pipeline.run(), "eos") << (pipeline.errors.empty() ? "" : pipeline.errors[0]);
  EXPECT_EQ(pipeline.out.size(), size_t(kFrames));
  std::vector<uint64_t> bits;
  for (const StructurePtr &s : pipeline.frames) {
    const GValue *features = gst_structure_get_value(s.get(), "features");
    const GstStructure *f = gst_value_get_structure(features);
    for (gint i = 0; i < gst_structure_n_fields(f); ++i)
      bits.push_back(std::bit_cast<uint64_t>(real(f, gst_structure_nth_field_name(f, guint(i)))));
    bits.push_back(std::bit_cast<uint64_t>(real(s.get(), "score")));
  }
  EXPECT_EQ(bits.size(), size_t(kFrames) * 15);
  return bits;
}

class EveryFormat : public ::testing::TestWithParam<FormatCase> {};

// Luma is the same in all formats of a depth, so the scores must be too.
TEST_P(EveryFormat, SameLumaSameScores) {
  const FormatCase plain = GetParam().depth == 8    ? FormatCase{"I420", 8, 2, 2}
                           : GetParam().depth == 10 ? FormatCase{"I420_10LE", 10, 2, 2}
                           : GetParam().depth == 12 ? FormatCase{"I420_12LE", 12, 2, 2}
                                                    : FormatCase{"Y444_16LE", 16, 1, 1};
  const auto expected = scores(plain, plain);
  EXPECT_EQ(scores(GetParam(), GetParam()), expected);
  EXPECT_EQ(scores(plain, GetParam()), expected);
}

TEST_P(EveryFormat, StridesOffsetsAndMemories) {
  const auto expected = scores(GetParam(), GetParam());
  for (const Layout &layout :
       {Layout{0, 0, true, false}, Layout{26, 0, true, false}, Layout{64, 130, true, false},
        Layout{0, 0, false, true}, Layout{0, 0, true, true}, Layout{38, 6, true, true}})
    EXPECT_EQ(scores(GetParam(), GetParam(), layout), expected)
        << layout.stride_padding << " " << layout.plane_gap << " " << layout.video_meta << " "
        << layout.split_memories;
}

// Every sample of every plane, chroma too, where the engine will look for it.
TEST_P(EveryFormat, PictureHoldsTheSamples) {
  const FormatCase &f = GetParam();
  auto stream = std::make_shared<Stream>();
  stream->info = video_info(f.name, kWidth + 1, kHeight + 1);  // odd: chroma is rounded up
  const auto clip = clip_for(f, kWidth + 1, kHeight + 1);
  const Planes planes = clip_planes(clip, clipgen::Role::reference, 1);
  for (const Layout &layout : {Layout{}, Layout{10, 4, true, true}}) {
    auto picture = map_picture(adopt(make_buffer(stream->info, planes, layout)), stream);
    ASSERT_TRUE(picture.ok()) << picture.status().message();
    EXPECT_EQ(picture->format.depth, f.depth);
    const int count = picture->format.chroma == Chroma::c400 ? 1 : 3;
    EXPECT_EQ(count, std::string(f.name).starts_with("GRAY") ? 1 : 3);
    for (int p = 0; p < count; ++p) {
      const Plane &plane = picture->planes[size_t(p)];
      ASSERT_EQ(size_t(plane.width) * size_t(plane.height), planes[size_t(p)].size());
      for (int y = 0; y < plane.height; ++y)
        for (int x = 0; x < plane.width; ++x) {
          const auto *row = static_cast<const uint8_t *>(plane.data) + y * plane.stride;
          const unsigned at = unsigned(x * plane.step);
          const unsigned word = f.depth == 8 ? row[at] : unsigned(row[2 * at] | row[2 * at + 1] << 8);
          ASSERT_EQ(word >> picture->shift, planes[size_t(p)][size_t(y) * size_t(plane.width) + size_t(x)])
              << p << " " << x << "," << y;
        }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, EveryFormat, ::testing::ValuesIn(kFormats),
                         [](const auto &info) { return info.param.name; });

// The shallower picture is shifted up.
TEST(Depths, MayDiffer) {
  const FormatCase eight{"I420", 8, 2, 2}, ten{"I420_10LE", 10, 2, 2};
  auto run = [](const char *ref_format, std::function<GstBuffer *()> ref, const char *dist_format,
                std::function<GstBuffer *()> dist) {
    Pipeline pipeline(std::string("vmafhip name=v ! fakesink name=out appsrc name=ref caps=") +
                      caps_text(ref_format, kWidth, kHeight) + " ! v.ref_sink appsrc name=dist caps=" +
                      caps_text(dist_format, kWidth, kHeight) + " ! v.dist_sink");
    pipeline.feed("ref", std::move(ref));
    pipeline.feed("dist", std::move(dist));
    EXPECT_EQ(pipeline.run(), "eos");
    std::vector<double> all;
    for (const StructurePtr &s : pipeline.frames) all.push_back(real(s.get(), "score"));
    return all;
  };
  // 8 bits in a 10-bit container, shifted by hand.
  auto shifted = [&](clipgen::Role role) {
    return [next = source(eight, role), role, frame = 0]() mutable -> GstBuffer * {
      if (frame == kFrames) return nullptr;
      Planes planes = clip_planes(clip_for({"I420", 8, 2, 2}), role, frame);
      for (auto &plane : planes)
        for (uint16_t &v : plane) v = uint16_t(v << 2);
      GstBuffer *buffer = make_buffer(video_info("I420_10LE", kWidth, kHeight), planes);
      GST_BUFFER_PTS(buffer) = GstClockTime(frame++) * 40 * GST_MSECOND;
      return buffer;
    };
  };
  const auto mixed = run("I420", source(eight, clipgen::Role::reference), "I420_10LE",
                         source(ten, clipgen::Role::distorted));
  const auto by_hand =
      run("I420_10LE", shifted(clipgen::Role::reference), "I420_10LE", source(ten, clipgen::Role::distorted));
  ASSERT_EQ(mixed.size(), size_t(kFrames));
  EXPECT_EQ(mixed, by_hand);
  const auto other_way = run("I420_10LE", source(ten, clipgen::Role::reference), "I420",
                             source(eight, clipgen::Role::distorted));
  EXPECT_EQ(other_way, run("I420_10LE", source(ten, clipgen::Role::reference), "I420_10LE",
                           shifted(clipgen::Role::distorted)));
}

// A buffer that is too small for its caps, or whose meta contradicts them, is an error that says so.
TEST(BadBuffers, AreNamed) {
  const GstVideoInfo info = video_info("I420", kWidth, kHeight);
  auto wrong = [&](int kind) {
    GstBuffer *buffer =
        gst_buffer_new_allocate(nullptr, kind == 0 ? 100 : GST_VIDEO_INFO_SIZE(&info), nullptr);
    if (kind == 1)
      gst_buffer_add_video_meta(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_I420, kWidth / 2,
                                kHeight);
    if (kind == 2)
      gst_buffer_add_video_meta(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, kWidth, kHeight);
    GST_BUFFER_PTS(buffer) = 0;
    return buffer;
  };
  for (const int kind : {0, 1, 2}) {
    const std::string caps = caps_text("I420", kWidth, kHeight);
    Pipeline pipeline("vmafhip name=v ! fakesink name=out appsrc name=ref caps=" + caps +
                      " ! v.ref_sink appsrc name=dist caps=" + caps + " ! v.dist_sink");
    pipeline.feed("ref", source({"I420", 8, 2, 2}, clipgen::Role::reference));
    pipeline.feed("dist", [&, n = 0]() mutable { return n++ == 0 ? wrong(kind) : nullptr; });
    EXPECT_EQ(pipeline.run(), "error");
    ASSERT_FALSE(pipeline.errors.empty());
    EXPECT_NE(pipeline.errors[0].find("dist_sink"), std::string::npos) << pipeline.errors[0];
    EXPECT_NE(pipeline.errors[0].find("caps say"), std::string::npos) << pipeline.errors[0];
  }
}

// A tee's other branch sees neither metas nor changed bytes nor changed time stamps.
TEST(SharedBuffers, StayAsTheyWere) {
  const std::string source =
      "videotestsrc num-buffers=20 pattern=ball ! video/x-raw,format=I420,width=160,height=120 ! ";
  Pipeline plain(source + "fakesink name=out");
  ASSERT_EQ(plain.run(), "eos");
  ASSERT_EQ(plain.out.size(), 20u);
  Pipeline pipeline(source +
                    "tee name=t vmafhip name=v ! fakesink t. ! queue ! v.ref_sink t. ! queue ! v.dist_sink "
                    "t. ! queue ! fakesink name=out");
  ASSERT_EQ(pipeline.run(), "eos");
  EXPECT_EQ(pipeline.frames.size(), 20u);
  ASSERT_EQ(pipeline.out.size(), 20u);
  for (size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(pipeline.out[i].score_index, -1);
    EXPECT_EQ(pipeline.out[i].pts, plain.out[i].pts);
    EXPECT_EQ(pipeline.out[i].checksum, plain.out[i].checksum);
  }
}

}  // namespace
}  // namespace vmafhip::test
