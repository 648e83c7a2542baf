// Pictures in dma-bufs have the scores that the same pictures have in memory of the process, in every bit.
#include <gtest/gtest.h>

#include "tests/dmabufs.h"
#include "tests/vm/comparison.h"
#include "tests/vm/vgem.h"

namespace vmafhip::test {
namespace {

Change to_kernel(const Objects &objects = {}) {
  return [objects](GstBuffer *buffer, int) { return in_objects(buffer, objects, vgem_object); };
}

class ScoresOf : public testing::TestWithParam<FormatCase> {};

TEST_P(ScoresOf, EqualThoseOfSystemMemory) {
  Comparison c;
  c.format = GetParam();
  const Bits expected = c.scores();
  c.dmabuf_caps = true;
  for (const Layout &layout :
       {Layout{}, Layout{42, 0, true, false}, Layout{42, 130, true, false}, Layout{42, 130, true, true}})
    for (const Objects &objects : {Objects{}, Objects{.one = true, .before = 4160}}) {
      SCOPED_TRACE(testing::Message() << layout.stride_padding << " " << layout.plane_gap << " "
                                      << layout.split_memories << " " << objects.one);
      c.layout = layout;
      c.change_ref = c.change_dist = to_kernel(objects);
      EXPECT_EQ(c.scores(), expected);
    }
}

INSTANTIATE_TEST_SUITE_P(Formats, ScoresOf, testing::Values(kI420, kNv12, kP010),
                         [](const auto &info) { return std::string(info.param.name); });

// As cameras' buffers come, whose caps tell nothing.
TEST(Scores, UnderPlainCaps) {
  Comparison c;
  const Bits expected = c.scores();
  c.change_dist = to_kernel();
  EXPECT_EQ(c.scores(), expected);  // the other is in system memory
  std::swap(c.change_ref, c.change_dist);
  EXPECT_EQ(c.scores(), expected);
  c.change_dist = c.change_ref;
  EXPECT_EQ(c.scores(), expected);
}

// Rows of 1366 samples lie 1408 bytes apart, as decoders have them.
TEST(Scores, OfRowsThatAreNotWholeLines) {
  Comparison c;
  c.format = kNv12, c.width = 1366, c.height = 768, c.frames = 1;
  c.properties += " model=\"\" features=psnr";
  const Bits expected = c.scores();
  c.layout = {42, 0, true, false};
  c.dmabuf_caps = true;
  c.change_ref = c.change_dist = to_kernel();
  EXPECT_EQ(c.scores(), expected);
}

// What stands in the dma-buf is what is compared.
TEST(Scores, FallWithThePicture) {
  Comparison c;
  c.dmabuf_caps = true;
  c.change_ref = c.change_dist = to_kernel();
  const Bits before = c.scores();
  c.change_dist = [&](GstBuffer *buffer, int n) {
    if (n == 1) gst_buffer_memset(buffer, 0, 128, gsize(c.width * c.height / 2));
    return in_objects(buffer, {}, vgem_object);
  };
  const Bits after = c.scores();
  ASSERT_EQ(before.size(), 2u);
  ASSERT_EQ(after.size(), 2u);
  EXPECT_EQ(before[0], after[0]);
  EXPECT_LT(std::bit_cast<double>(after[1].back()), std::bit_cast<double>(before[1].back()));
}

}  // namespace
}  // namespace vmafhip::test
