// Frames in dma-bufs (memfds in their place) on a GPU, the simulated one: the scores of the CPU in every bit, nothing
// goes up that the GPU can read where it is, and what is told of the way that pictures take.
#include <numeric>

#include "tests/dmabuf_run.h"
#include "tests/hipsim_control.h"

namespace vmafhip::test {
namespace {

class DmaBufsOnGpu : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { sim_.reset(); }
  void TearDown() override {
    EXPECT_EQ(sim_.leaks(), 0u);
    EXPECT_EQ(sim_.reports(), "");
    sim_.reset();
  }
  static std::string backend(const Pipeline &pipeline) {
    return gst_structure_get_string(pipeline.pooled.back().get(), "backend");
  }
  HipSim sim_;
};

// Both vendors' rules.
TEST_P(DmaBufsOnGpu, AreImportedOnceAndReadWhereTheyAre) {
  const Case &c = GetParam();
  const FormatCase &f = format(c.format);
  const Film ref(f, c.width, c.height, clipgen::Role::reference),
      dist(f, c.width, c.height, clipgen::Role::distorted);
  const std::string caps = caps_text(f.name, c.width, c.height), asked = "features=psnr backend=";
  const auto expected = run(*make(caps, source(ref), source(dist), asked + "cpu"));
  const auto dmabufs = [&](const Film &film) { return in_dmabufs(source(film, c.layout), c.objects); };
  for (const char *rules : {"external=any", "external=nvidia"}) {
    sim_.reset(rules);
    const auto before = sim_.imports();
    const auto went_up = sim_.traffic().uploads;
    auto pipeline = make(caps, dmabufs(ref), dmabufs(dist), asked + "hip");
    EXPECT_EQ(run(*pipeline), expected) << rules;
    EXPECT_EQ(ways(*pipeline), (Ways{2 * kFrames, 0, 0, 0, 0})) << rules;
    const guint64 objects = pooled(*pipeline, "objects-imported");
    const guint64 memories =
        c.layout.split_memories && !c.objects.one ? GST_VIDEO_INFO_N_PLANES(&ref.info) : 1;
    EXPECT_EQ(objects, 2 * kFrames * memories);
    EXPECT_EQ(pooled(*pipeline, "objects-mapped") + pooled(*pipeline, "objects-registered"), 0u);
    EXPECT_EQ(sim_.imports().imported - before.imported, objects);
    EXPECT_LE(sim_.traffic().uploads, went_up + 1) << rules;  // of tables, and of no picture
    pipeline.reset();
    EXPECT_EQ(sim_.imports().destroyed - before.destroyed, objects);
  }
}

TEST_P(DmaBufsOnGpu, AreRegisteredIfTheyAreRefused) {
  const Case &c = GetParam();
  const FormatCase &f = format(c.format);
  const Film ref(f, c.width, c.height, clipgen::Role::reference),
      dist(f, c.width, c.height, clipgen::Role::distorted);
  const std::string caps = caps_text(f.name, c.width, c.height), asked = "features=psnr backend=";
  const auto expected = run(*make(caps, source(ref), source(dist), asked + "cpu"));
  const auto dmabufs = [&](const Film &film) { return in_dmabufs(source(film, c.layout), c.objects); };
  auto pipeline = make(caps, dmabufs(ref), dmabufs(dist), asked + "hip");
  EXPECT_EQ(run(*pipeline), expected);
  EXPECT_EQ(ways(*pipeline), (Ways{0, 2 * kFrames, 0, 0, 0}));
  EXPECT_EQ(pooled(*pipeline, "objects-imported") + pooled(*pipeline, "objects-mapped"), 0u);
  EXPECT_GE(pooled(*pipeline, "objects-registered"), 2u * kFrames);
}

// Large pictures take long on the simulated one.
std::vector<Case> small_cases() {
  std::vector<Case> cases(std::begin(kCases), std::end(kCases));
  for (Case &c : cases) c.width = std::min(c.width, 86), c.height = std::min(c.height, 50);
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Layouts, DmaBufsOnGpu, testing::ValuesIn(small_cases()),
                         [](const auto &info) { return std::string(info.param.name); });

class PoolsOnGpu : public DmaBufsOnGpu {};

TEST_F(PoolsOnGpu, EachObjectIsImportedOnce) {
  constexpr int kMany = 60;
  constexpr guint kBuffers = 8;
  sim_.configure("external=any");
  const auto before = sim_.imports();
  {
    const Pool ref(kBuffers), dist(kBuffers);
    Pace pace;
    auto pipeline = make(still_caps(true), pace.keep(ref.fill(still(kMany, false)), 4),
                         pace.keep(dist.fill(still(kMany, true)), 4), "backend=hip");
    pace.start(*pipeline);
    const auto bits = run(*pipeline);
    ASSERT_EQ(bits.size(), size_t(kMany));
    EXPECT_EQ(bits[1], bits.back());
    EXPECT_EQ(ways(*pipeline), (Ways{2 * kMany, 0, 0, 0, 0}));
    EXPECT_EQ(pooled(*pipeline, "objects-imported"), 2 * kBuffers);
  }
  EXPECT_EQ(sim_.imports().imported - before.imported, 2 * kBuffers);
  EXPECT_EQ(sim_.imports().destroyed - before.destroyed, 2 * kBuffers);
}

// Neither imported nor registered: workers copy them to where the GPU reads.
TEST_F(PoolsOnGpu, ImportAndRegistrationFail) {
  const FormatCase &f = format("NV12");
  const Film ref(f, 70, 50, clipgen::Role::reference), dist(f, 70, 50, clipgen::Role::distorted);
  const std::string caps = caps_text("NV12", 70, 50);
  const auto expected = run(*make(caps, source(ref), source(dist)));
  const Objects sealed{.sealed = true};
  auto pipeline =
      make(caps, in_dmabufs(source(ref), sealed), in_dmabufs(source(dist), sealed), "backend=hip");
  EXPECT_EQ(run(*pipeline), expected);
  EXPECT_EQ(ways(*pipeline), (Ways{0, 0, 0, 2 * kFrames, 0}));
  EXPECT_EQ(pooled(*pipeline, "objects-mapped"), 2u * kFrames);
}

// The processor scales, and reads what it scales where it is.
TEST_F(PoolsOnGpu, ScaledPicturesAreReadByTheProcessor) {
  sim_.configure("external=any");
  const FormatCase &f = format("I420");
  const Film ref(f, 140, 100, clipgen::Role::reference), dist(f, 70, 50, clipgen::Role::distorted);
  const auto scores = [&](const std::string &properties, bool dmabufs) {
    Pipeline pipeline("vmafhip name=v threads=2 " + properties +
                      " ! fakesink name=out async=false appsrc name=ref caps=" + caps_text("I420", 140, 100) +
                      " ! v.ref_sink appsrc name=dist caps=" + caps_text("I420", 70, 50) + " ! v.dist_sink");
    pipeline.feed("ref", dmabufs ? in_dmabufs(source(ref)) : source(ref));
    pipeline.feed("dist", dmabufs ? in_dmabufs(source(dist)) : source(dist));
    EXPECT_EQ(pipeline.run(), "eos");
    EXPECT_EQ(ways(pipeline), (dmabufs ? Ways{kFrames, 0, kFrames, 0, 0} : Ways{}));
    return value_bits(pipeline);
  };
  const auto expected = scores("backend=cpu", false);
  ASSERT_EQ(expected.size(), size_t(kFrames));
  EXPECT_EQ(scores("backend=hip", true), expected);
}

// The CPU goes on where the GPU is lost, with the same objects.
TEST_F(PoolsOnGpu, GpuIsLost) {
  constexpr int kMany = 12;
  const FormatCase &f = format("NV12");
  const Film ref(f, 70, 50, clipgen::Role::reference, kMany),
      dist(f, 70, 50, clipgen::Role::distorted, kMany);
  const std::string caps = caps_text("NV12", 70, 50);
  const auto expected = run(*make(caps, source(ref), source(dist)));
  for (const char *fault : {"launch:5", "lost:30"}) {
    sim_.reset(std::string("external=any fail=") + fault);
    auto pipeline = make(caps, in_dmabufs(source(ref)), in_dmabufs(source(dist)), "backend=auto");
    EXPECT_EQ(pipeline->run(), "eos");
    EXPECT_EQ(value_bits(*pipeline), expected) << fault;
    EXPECT_TRUE(backend(*pipeline).starts_with("cpu (")) << backend(*pipeline);
    const Ways found = ways(*pipeline);
    // In between it imports nothing, and is not known to be lost; and who waits for the CPU may be copied.
    EXPECT_EQ(std::accumulate(found.begin(), found.end(), guint64(0)), 2u * kMany);
    pipeline.reset();
    sim_.forget();
  }
}

}  // namespace
}  // namespace vmafhip::test
