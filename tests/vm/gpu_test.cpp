// The same dma-bufs on a GPU, the simulated one: imported once each where its driver takes them, else copied by the
// processor to where the GPU reads; always with the CPU's scores.
#include <gtest/gtest.h>

#include "tests/dmabufs.h"
#include "tests/hipsim_control.h"
#include "tests/vm/kernel_witness.h"
#include "tests/vm/many_frames.h"
#include "tests/vm/vgem.h"

namespace vmafhip::test {
namespace {

constexpr guint64 kPictures = 2 * ManyFrames::kFrames, kObjects = 2 * ManyFrames::kObjects;

class OnGpu : public testing::Test {
 protected:
  void SetUp() override {
    vgem();
    descriptors_ = open_descriptors();
    maps_ = mappings();
  }
  void TearDown() override {
    EXPECT_EQ(sim_.leaks(), 0u);
    EXPECT_EQ(sim_.reports(), "");
    EXPECT_EQ(open_descriptors(), descriptors_);
    EXPECT_EQ(mappings(), maps_);
    sim_.reset();
  }
  // Runs many frames on a GPU of these settings.
  Reading run(ManyFrames::How how, const std::string &settings) {
    sim_.reset(settings);
    const hipsim_imports before = sim_.imports();
    const hipsim_traffic traffic = sim_.traffic();
    // What the GPU makes when frames first wait for it is more than what frames could leave.
    ManyFrames frames(how, "hip", 8 * 1024);
    const KernelWitness witness;
    const auto [reading, backend] = frames.run();
    EXPECT_TRUE(backend.starts_with("hip (")) << backend;
    const hipsim_imports after = sim_.imports();
    imports_ = {after.imported - before.imported, after.destroyed - before.destroyed,
                after.refused - before.refused};
    upload_bytes_ = sim_.traffic().upload_bytes - traffic.upload_bytes;
    counts_ = witness.counts();
    return reading;
  }

  HipSim sim_;
  int descriptors_ = 0, maps_ = 0;
  hipsim_imports imports_ = {};
  uint64_t upload_bytes_ = 0;
  KernelWitness::Counts counts_;
};

// No byte of a picture goes through the host, and the processor does not so much as announce that it reads.
TEST_F(OnGpu, ImportsEachObjectOnce) {
  for (const auto &[how, rules] :
       {std::pair{ManyFrames::How::pools, "any"}, {ManyFrames::How::descriptors, "nvidia"}}) {
    SCOPED_TRACE(rules);
    EXPECT_EQ(run(how, std::string("external=") + rules),
              (Reading{.imported = kPictures, .objects_imported = kObjects}));
    EXPECT_EQ(imports_.imported, kObjects);
    EXPECT_EQ(imports_.destroyed, kObjects);
    EXPECT_EQ(imports_.refused, 0u);
    EXPECT_EQ(counts_.begin_read, 0);
    EXPECT_EQ(counts_.end_read, 0);
    EXPECT_EQ(upload_bytes_, 0u);
  }
}

// AMD's driver takes amdgpu's objects alone, and pins no memory that is a device's.
TEST_F(OnGpu, RefusesAndIsGivenACopy) {
  EXPECT_EQ(run(ManyFrames::How::pools, "external=amdgpu"),
            (Reading{.copied = kPictures, .objects_mapped = kObjects}));
  EXPECT_EQ(imports_.imported, 0u);
  EXPECT_EQ(imports_.refused, kObjects);
  EXPECT_EQ(counts_.mapped, int(kObjects));
  EXPECT_EQ(counts_.begin_read, int(kPictures));
  EXPECT_EQ(counts_.end_read, int(kPictures));
  EXPECT_GT(upload_bytes_, 0u);
}

}  // namespace
}  // namespace vmafhip::test
