// Pictures in dma-bufs have the scores that the same pictures have in memory of the process, in every bit.
#include <gtest/gtest.h>

#include "tests/formats.h"
#include "tests/vm/kernel_buffers.h"

namespace vmafhip::test {
namespace {

struct Clip {
  FormatCase format;
  int width, height, frames;
};
constexpr FormatCase kI420{"I420", 8, 2, 2}, kNv12{"NV12", 8, 2, 2}, kP010{"P010_10LE", 10, 2, 2};
constexpr int kWidth = 70, kHeight = 50, kFrames = 2;

using Bits = std::vector<std::vector<uint64_t>>;
// What becomes of a picture, given its number, before it is sent.
using Change = std::function<GstBuffer *(GstBuffer *, int)>;
GstBuffer *unchanged(GstBuffer *buffer, int) { return buffer; }
Change to_kernel(Place place) {
  return [place](GstBuffer *buffer, int) { return in_kernel(buffer, place); };
}

struct Comparison {
  Clip clip{kI420, kWidth, kHeight, kFrames};
  Layout layout;
  Change change_ref = unchanged, change_dist = unchanged;
  std::string properties;

  Bits scores() const;
  std::function<GstBuffer *()> source(clipgen::Role role, const Change &change) const;
};

std::function<GstBuffer *()> Comparison::source(clipgen::Role role, const Change &change) const {
  const auto pictures =
      std::make_shared<clipgen::Generator>(clip_for(clip.format, clip.width, clip.height, clip.frames));
  return [=, *this, n = 0]() mutable -> GstBuffer * {
    if (n == clip.frames) return nullptr;
    const GstVideoInfo info = video_info(clip.format.name, clip.width, clip.height);
    GstBuffer *buffer = make_buffer(info, clip_planes(*pictures, role, n), layout);
    buffer = change(buffer, n);
    return stamp(buffer, n++);
  };
}

Bits Comparison::scores() const {
  const std::string caps = caps_text(clip.format.name, clip.width, clip.height);
  Pipeline pipeline("vmafhip name=v backend=cpu threads=2 " + properties +
                    " ! fakesink appsrc name=ref caps=" + caps +
                    " ! v.ref_sink appsrc name=dist caps=" + caps + " ! v.dist_sink");
  pipeline.feed("ref", source(clipgen::Role::reference, change_ref));
  pipeline.feed("dist", source(clipgen::Role::distorted, change_dist));
  EXPECT_EQ(pipeline.run(), "eos") << (pipeline.errors.empty() ? "" : pipeline.errors[0]);
  EXPECT_EQ(pipeline.frames.size(), size_t(clip.frames));
  return value_bits(pipeline);
}

class ScoresOf : public testing::TestWithParam<FormatCase> {};

TEST_P(ScoresOf, EqualThoseOfSystemMemory) {
  Comparison run;
  run.clip.format = GetParam();
  const Bits expected = run.scores();
  for (const Layout &layout :
       {Layout{}, Layout{42, 0, true, false}, Layout{42, 130, true, false}, Layout{42, 130, true, true}})
    for (const Place place : {Place::objects, Place::shared}) {
      SCOPED_TRACE(testing::Message() << layout.stride_padding << " " << layout.plane_gap << " "
                                      << layout.split_memories << " " << int(place));
      run.layout = layout;
      run.change_ref = run.change_dist = to_kernel(place);
      EXPECT_EQ(run.scores(), expected);
    }
}

INSTANTIATE_TEST_SUITE_P(Formats, ScoresOf, testing::Values(kI420, kNv12, kP010),
                         [](const auto &info) { return std::string(info.param.name); });

// One of the two where the other is not.
TEST(Scores, OfOneDmaBufAndSystemMemory) {
  Comparison run;
  const Bits expected = run.scores();
  run.change_dist = to_kernel(Place::objects);
  EXPECT_EQ(run.scores(), expected);
  std::swap(run.change_ref, run.change_dist);
  EXPECT_EQ(run.scores(), expected);
}

// Rows of 1366 samples lie 1408 bytes apart, as decoders have them.
TEST(Scores, OfRowsThatAreNotWholeLines) {
  Comparison run;
  run.clip = {kNv12, 1366, 768, 1};
  run.properties = "model=\"\" features=psnr";
  const Bits expected = run.scores();
  run.layout = {42, 0, true, false};
  run.change_ref = run.change_dist = to_kernel(Place::objects);
  EXPECT_EQ(run.scores(), expected);
}

// What stands in the dma-buf is what is compared.
TEST(Scores, FallWithThePicture) {
  Comparison run;
  run.change_ref = run.change_dist = to_kernel(Place::objects);
  const Bits before = run.scores();
  run.change_dist = [](GstBuffer *buffer, int n) {
    if (n == 1) gst_buffer_memset(buffer, 0, 128, gsize(kWidth * kHeight / 2));
    return in_kernel(buffer);
  };
  const Bits after = run.scores();
  ASSERT_EQ(before.size(), 2u);
  ASSERT_EQ(after.size(), 2u);
  EXPECT_EQ(before[0], after[0]);
  EXPECT_LT(std::bit_cast<double>(after[1].back()), std::bit_cast<double>(before[1].back()));
}

}  // namespace
}  // namespace vmafhip::test
