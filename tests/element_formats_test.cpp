// Every input format, every way a picture can lie in its buffer, and what must not happen to shared buffers.
#include <gtest/gtest.h>

#include <map>

#include "gst/vmafhip/mapping.h"
#include "tests/formats.h"

namespace vmafhip::test {
namespace {

constexpr int kWidth = 70, kHeight = 50, kFrames = 3;

// The planar format of a depth.
FormatCase plain_format(int depth) {
  return depth == 8    ? FormatCase{"I420", 8, 2, 2}
         : depth == 10 ? FormatCase{"I420_10LE", 10, 2, 2}
         : depth == 12 ? FormatCase{"I420_12LE", 12, 2, 2}
                       : FormatCase{"Y444_16LE", 16, 1, 1};
}

std::function<GstBuffer *()> source(const FormatCase &f, clipgen::Role role, const Layout &layout = {}) {
  const auto clip = std::make_shared<clipgen::Generator>(clip_for(f, kWidth, kHeight, kFrames));
  return [=, frame = 0]() mutable -> GstBuffer * {
    if (frame == kFrames) return nullptr;
    const Planes planes = clip_planes(*clip, role, frame);
    return stamp(make_buffer(video_info(f.name, kWidth, kHeight), planes, layout), frame++);
  };
}

// All values of all frame messages, bit for bit.
std::vector<std::vector<uint64_t>> scores(const FormatCase &ref, const FormatCase &dist,
                                          const Layout &layout = {}) {
  Pipeline pipeline(
      "vmafhip name=v ! fakesink name=out appsrc name=ref caps=" + caps_text(ref.name, kWidth, kHeight) +
      " ! v.ref_sink appsrc name=dist caps=" + caps_text(dist.name, kWidth, kHeight) + " ! v.dist_sink");
  pipeline.feed("ref", source(ref, clipgen::Role::reference, layout));
  pipeline.feed("dist", source(dist, clipgen::Role::distorted, layout));
  EXPECT_EQ(pipeline.run(), "eos") << (pipeline.errors.empty() ? "" : pipeline.errors[0]);
  EXPECT_EQ(pipeline.out.size(), size_t(kFrames));
  const auto bits = value_bits(pipeline);
  EXPECT_EQ(bits.size(), size_t(kFrames));
  return bits;
}

class EveryFormat : public ::testing::TestWithParam<FormatCase> {};

// Luma is the same in all formats of a depth, so the scores must be too.
TEST_P(EveryFormat, SameLumaSameScores) {
  const FormatCase plain = plain_format(GetParam().depth);
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
  const auto clip = clip_for(f, kWidth + 1, kHeight + 1, kFrames);
  const Planes planes = clip_planes(clip, clipgen::Role::reference, 1);
  for (const Layout &layout : {Layout{}, Layout{10, 4, true, true}}) {
    auto picture = map_picture(adopt(make_buffer(stream->info, planes, layout)), stream);
    ASSERT_TRUE(picture.ok()) << picture.status().message();
    EXPECT_EQ(picture->format.depth, f.depth);
    const int count = picture->format.chroma == Chroma::c400 ? 1 : 3;
    EXPECT_EQ(count, f.gray() ? 1 : 3);
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

// ---- pairs of formats ------------------------------------------------------------------------------

// Stretches of frames, each in its own format and size; feeds one pad.
struct Stretch {
  GstVideoInfo info;
  std::vector<Planes> frames;
};
std::function<GstSample *()> stretches(std::vector<Stretch> all) {
  return [all = std::move(all), stretch = size_t(0), frame = size_t(0), n = 0]() mutable -> GstSample * {
    if (stretch < all.size() && frame == all[stretch].frames.size()) ++stretch, frame = 0;
    if (stretch == all.size()) return nullptr;
    GstCaps *caps = gst_video_info_to_caps(&all[stretch].info);
    GstBuffer *buffer = stamp(make_buffer(all[stretch].info, all[stretch].frames[frame++]), n++);
    GstSample *sample = gst_sample_new(buffer, caps, nullptr, nullptr);
    gst_buffer_unref(buffer);
    gst_caps_unref(caps);
    return sample;
  };
}

std::vector<std::vector<uint64_t>> scores(std::vector<Stretch> ref, std::vector<Stretch> dist) {
  Pipeline pipeline(
      "vmafhip name=v ! fakesink name=out appsrc name=ref ! v.ref_sink appsrc name=dist ! v.dist_sink");
  pipeline.feed_samples("ref", stretches(std::move(ref)));
  pipeline.feed_samples("dist", stretches(std::move(dist)));
  EXPECT_EQ(pipeline.run(), "eos") << (pipeline.errors.empty() ? "" : pipeline.errors[0]);
  return value_bits(pipeline);
}

// Frames of a clip of the format's depth, stored in `in`, whose depth may be larger: then shifted up.
Stretch frames_of(const FormatCase &f, clipgen::Role role, int width, int height, int frames,
                  const FormatCase &in) {
  Stretch out{video_info(in.name, width, height), {}};
  const auto clip = clip_for({"", f.depth, in.sub_x, in.sub_y}, width, height, frames);
  for (int n = 0; n < frames; ++n) {
    out.frames.push_back(clip_planes(clip, role, n));
    shift_up(out.frames.back(), in.depth - f.depth);
  }
  return out;
}
// Luma of all formats of a depth is the same, and the shallower of a pair is shifted up: so are scores those of two
// planar pictures of the larger depth. All 361 pairs, one after the other in a pipeline for each format of the reference.
TEST(Pairs, OfAnyTwoFormats) {
  constexpr int kEach = 2;
  const auto frames = [](const FormatCase &f, clipgen::Role role, const FormatCase &in) {
    return frames_of(f, role, kWidth, kHeight, kEach, in);
  };
  std::map<std::pair<int, int>, std::vector<std::vector<uint64_t>>> expected;
  for (const int ref : {8, 10, 12, 16})
    for (const int dist : {8, 10, 12, 16}) {
      const FormatCase in = plain_format(std::max(ref, dist));
      expected[{ref, dist}] = scores({frames(plain_format(ref), clipgen::Role::reference, in)},
                                     {frames(plain_format(dist), clipgen::Role::distorted, in)});
    }
  // In an order in which no two that are the same to the engine (NV12, I420) follow each other: every pair starts anew.
  std::vector<FormatCase> order;
  for (size_t n = 0; n < std::size(kFormats); ++n) order.push_back(kFormats[7 * n % std::size(kFormats)]);
  std::vector<Stretch> dist;
  for (const FormatCase &f : order) dist.push_back(frames(f, clipgen::Role::distorted, f));
  for (const FormatCase &ref : kFormats) {
    const Stretch same = frames(ref, clipgen::Role::reference, ref);
    const auto bits = scores(std::vector<Stretch>(dist.size(), same), dist);
    ASSERT_EQ(bits.size(), dist.size() * kEach) << ref.name;
    for (size_t n = 0; n < bits.size(); ++n) {
      const FormatCase &f = order[n / kEach];
      EXPECT_EQ(bits[n], (expected[{ref.depth, f.depth}].at(n % kEach))) << ref.name << " against " << f.name;
    }
  }
}

// ---- sizes -----------------------------------------------------------------------------------------

// One frame that is the same in all formats of a depth, out of the planes of a 4:4:4 clip of 8 bits.
Stretch frame_in(const FormatCase &f, const Planes &full, int width, int height) {
  Stretch out{video_info(f.name, width, height), {full}};
  Planes &planes = out.frames[0];
  const int chroma_width = (width + f.sub_x - 1) / f.sub_x, chroma_height = (height + f.sub_y - 1) / f.sub_y;
  for (size_t p = 1; p < 3; ++p) {
    planes[p].clear();
    for (int y = 0; y < chroma_height; ++y) {
      const auto row = full[p].begin() + y * f.sub_y * width;
      for (int x = 0; x < chroma_width; ++x) planes[p].push_back(row[x * f.sub_x]);
    }
  }
  shift_up(planes, f.depth - 8);
  return out;
}

// Sizes that chroma does not halve, in every format, against the planar format of the same depth.
TEST(Sizes, Odd) {
  for (const auto &[width, height] : {std::pair(33, 33), std::pair(35, 37), std::pair(1919, 1079)}) {
    const auto clip = clip_for({"", 8, 1, 1}, width, height, 1);
    const Planes ref = clip_planes(clip, clipgen::Role::reference, 0);
    const Planes dist = clip_planes(clip, clipgen::Role::distorted, 0);
    const auto bits = [&, width = width, height = height](const FormatCase &f) {
      return scores({frame_in(f, ref, width, height)}, {frame_in(f, dist, width, height)});
    };
    std::map<int, std::vector<std::vector<uint64_t>>> expected;
    for (const int depth : {8, 10, 12, 16}) expected[depth] = bits(plain_format(depth));
    for (const FormatCase &f : kFormats) {
      const auto found = bits(f);
      ASSERT_EQ(found.size(), 1u) << f.name << " " << width << "x" << height;
      EXPECT_EQ(found, expected[f.depth]) << f.name << " " << width << "x" << height;
    }
  }
}

// ---- buffers ---------------------------------------------------------------------------------------

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
    if (kind == 3) {
      GstVideoInfo luma = info;
      gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_I420, kWidth,
                                     kHeight, 1, luma.offset, luma.stride);
    }
    GST_BUFFER_PTS(buffer) = 0;
    return buffer;
  };
  for (const int kind : {0, 1, 2, 3}) {
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
