// How pictures in dma-bufs are read, as the element's counters and the kernel say: where they are, through one mapping an
// object, between the calls that make them fit to be read.
#include <gtest/gtest.h>

#include "tests/dmabufs.h"
#include "tests/vm/kernel_witness.h"
#include "tests/vm/many_frames.h"
#include "tests/vm/vgem.h"

namespace vmafhip::test {
namespace {

constexpr guint64 kPictures = 2 * ManyFrames::kFrames, kObjects = 2 * ManyFrames::kObjects;

class ReadingOf : public testing::TestWithParam<ManyFrames::How> {};

TEST_P(ReadingOf, OneMappingAnObjectAndNoCopies) {
  vgem();
  const int files = open_descriptors(), maps = mappings();
  {
    ManyFrames frames(GetParam(), "cpu");
    const KernelWitness witness;
    EXPECT_EQ(frames.run().first, (Reading{.mapped = kPictures, .objects_mapped = kObjects}));
    const auto counts = witness.counts();
    EXPECT_EQ(counts.mapped, int(kObjects));
    EXPECT_EQ(counts.begin_read, int(kPictures));
    EXPECT_EQ(counts.end_read, int(kPictures));
  }
  EXPECT_EQ(open_descriptors(), files);
  EXPECT_EQ(mappings(), maps);
}

INSTANTIATE_TEST_SUITE_P(Buffers, ReadingOf,
                         testing::Values(ManyFrames::How::pools, ManyFrames::How::descriptors),
                         [](const auto &info) {
                           return info.param == ManyFrames::How::pools ? "ThatComeBack" : "MadeAnew";
                         });

// Each plane in an object of its own.
TEST(Reading, AnObjectAPlane) {
  Comparison c;
  c.dmabuf_caps = true;
  c.layout = {0, 0, true, true};
  const Bits expected = c.scores();
  const KernelWitness witness;
  c.change_ref = c.change_dist = [](GstBuffer *buffer, int) {
    KernelWitness::leave_out_this_thread();
    return in_objects(buffer, {}, vgem_object);
  };
  const auto pipeline = c.pipeline();
  EXPECT_EQ(pipeline->run(), "eos");
  EXPECT_EQ(value_bits(*pipeline), expected);
  EXPECT_EQ(reading(*pipeline), (Reading{.mapped = 4, .objects_mapped = 12}));
  EXPECT_EQ(witness.counts().mapped, 12);
  EXPECT_EQ(witness.counts().begin_read, witness.counts().end_read);
}

}  // namespace
}  // namespace vmafhip::test
