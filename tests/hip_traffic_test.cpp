// What a session on the GPU asks of the host: each plane that a metric reads comes once, no other does, and final numbers
// go back, once a batch. Pictures in the GPU's memory are not copied at all.
#include <algorithm>
#include <bit>

#include "engine/hip/metric.h"
#include "engine/plan.h"
#include "engine/registry.h"
#include "engine/view.h"
#include "tests/hipsim_control.h"
#include "tests/session_run.h"
#include "tools/gpu_pictures.h"

namespace vmafhip {
namespace {

using namespace test;

constexpr int kFrames = 3;

uint64_t bytes_of(const PictureFormat &format, PlaneSet planes) {
  uint64_t bytes = 0;
  for (int n = 0; n < 3; ++n) {
    const PlaneSize size = plane_size(format, n);
    if (planes >> n & 1) bytes += uint64_t(size.width) * uint64_t(size.height) * (format.depth > 8 ? 2 : 1);
  }
  return bytes;
}

class HipTraffic : public testing::Test {
 protected:
  void SetUp() override { sim_.reset(); }
  void TearDown() override {
    EXPECT_EQ(sim_.leaks(), 0u);
    EXPECT_EQ(sim_.reports(), "");
  }

  // A clip of small pictures that the extractor takes.
  static std::vector<Pair> clip_for(const Extractor &extractor, int depth = 8) {
    const auto options = Options::parse(extractor.name, extractor.options, {});
    PictureFormat format{.width = 96, .height = 96, .depth = depth};
    while (!extractor.check(*options, format).ok()) format.width = format.height += 8;
    return small_clip(kFrames, format.width, format.height, depth);
  }
  // What goes to and fro while a clip is measured.
  hipsim_traffic traffic_of(SessionOptions options, const std::vector<Pair> &clip, size_t scored = kFrames,
                            int device = -1) {
    options.backend = Backend::hip;
    options.device = device;
    options.threads = 2;
    const auto session = std::move(*Session::create(options));
    const Status status = session->configure(clip[0].ref.format, clip[0].dist.format);
    EXPECT_TRUE(status.ok()) << status.message();
    const hipsim_traffic before = sim_.traffic();
    EXPECT_EQ(run_clip(*session, clip).size(), scored);
    const hipsim_traffic after = sim_.traffic();
    return {after.uploads - before.uploads,     after.upload_bytes - before.upload_bytes,
            after.downloads - before.downloads, after.download_bytes - before.download_bytes,
            after.waits - before.waits,         after.batches - before.batches};
  }
  // Which planes are read of a reference and of a distorted picture, now or later.
  static std::pair<PlaneSet, PlaneSet> planes_of(const std::string &models, const std::string &features) {
    const Reads reads = Plan::make(models, features)->reads;
    return {reads.ref | reads.earlier[0] | reads.earlier[1], reads.dist | reads.earlier_dist};
  }
  // What all kernels leave of a frame.
  static uint64_t result_bytes(const Plan &plan, const PictureFormat &format) {
    const auto gpu = HipBackend::open(-1);
    uint64_t bytes = 0;
    for (const PlannedExtractor &p : plan.extractors)
      bytes += (*gpu->make(*p.extractor, p.options, format, 1))->result_bytes();
    return bytes;
  }
  void expect_least(const std::string &models, const std::string &features, const std::vector<Pair> &clip) {
    SCOPED_TRACE(models + features);
    const PictureFormat &format = clip[0].ref.format;
    const Result<Plan> plan = Plan::make(models, features);
    const auto [ref, dist] = planes_of(models, features);
    const hipsim_traffic single = traffic_of({.models = models, .features = features, .batch = 1}, clip);
    EXPECT_EQ(single.uploads, kFrames * unsigned(std::popcount(ref) + std::popcount(dist)));
    EXPECT_EQ(single.upload_bytes, kFrames * (bytes_of(format, ref) + bytes_of(format, dist)));
    EXPECT_EQ(single.downloads, unsigned(kFrames));
    EXPECT_EQ(single.waits, single.downloads);
    EXPECT_EQ(single.download_bytes, kFrames * result_bytes(*plan, format));

    const hipsim_traffic batches = traffic_of({.models = models, .features = features}, clip);
    EXPECT_EQ(batches.uploads, single.uploads);
    EXPECT_EQ(batches.upload_bytes, single.upload_bytes);
    EXPECT_LE(batches.downloads, single.downloads);
    EXPECT_EQ(batches.waits, batches.downloads);
    EXPECT_EQ(batches.download_bytes, single.download_bytes);
  }

  HipSim sim_;
};

TEST_F(HipTraffic, EveryExtractor) {
  for (const Extractor *extractor : extractors()) {
    expect_least("", extractor->name, clip_for(*extractor));
  }
}

// What is read back are sums, some of them by rows, and no picture.
TEST_F(HipTraffic, ResultsAreSmall) {
  const PictureFormat format = {.width = 1920, .height = 1080};
  for (const Extractor *extractor : extractors()) {
    const auto plan = Plan::make("", extractor->name);
    EXPECT_LE(result_bytes(*plan, format), 4096u) << extractor->name;
  }
}

// Options that change which planes are read.
TEST_F(HipTraffic, Options) {
  int changes = 0;
  for (const Extractor *extractor : extractors())
    for (const OptionSpec &option : extractor->options)
      for (const char *value : {"false", "true"}) {
        if (option.type != OptionType::boolean) continue;
        const std::string feature = std::string(extractor->name) + "=" + option.name + "=" + value;
        if (!Plan::make("", feature).ok()) continue;  // motion_v2 has no window
        if (planes_of("", feature) == planes_of("", extractor->name)) continue;
        ++changes;
        expect_least("", feature, clip_for(*extractor));
      }
  EXPECT_GT(changes, 5);
}

// All of these want luma, some chroma: every plane comes once all the same.
TEST_F(HipTraffic, Together) {
  std::string all;
  const PictureFormat format{.width = 96, .height = 64, .depth = 10};
  for (const Extractor *extractor : extractors())
    if (extractor->check(*Options::parse(extractor->name, extractor->options, {}), format).ok())
      all += (all.empty() ? "" : "|") + std::string(extractor->name);
  expect_least("", all, small_clip(kFrames, format.width, format.height, format.depth));
}

// As small as the models take pictures.
TEST_F(HipTraffic, Models) {
  expect_least("vmaf_v0.6.1", "", small_clip(kFrames, 96, 64));
  expect_least("vmaf_v1.0.16_3d0h", "", small_clip(kFrames, 216, 160));
}

// Of frames that are not scored, what temporal metrics read.
TEST_F(HipTraffic, Subsampled) {
  const hipsim_traffic traffic =
      traffic_of({.models = "", .features = "psnr|motion", .subsample = 2}, small_clip(4, 96, 64), 2);
  EXPECT_EQ(traffic.uploads, 2u * 6 + 2u * 1);
}

// Nothing of such a session is the CPU's: it could not read the pictures.
TEST_F(HipTraffic, PicturesInGpuMemory) {
  const GpuPictures gpu(-1);
  const auto expect_none = [&](const std::string &models, const std::string &features,
                               std::vector<Pair> clip) {
    SCOPED_TRACE(models + features);
    for (Pair &pair : clip)
      pair = {gpu.copy(pair.ref, MemoryKind::device), gpu.copy(pair.dist, MemoryKind::device)};
    const hipsim_traffic traffic =
        traffic_of({.models = models, .features = features, .batch = 1}, clip, kFrames, gpu.number());
    EXPECT_EQ(traffic.uploads, 0u);
    EXPECT_EQ(traffic.downloads, unsigned(kFrames));
    EXPECT_EQ(traffic.waits, traffic.downloads);
  };
  for (const Extractor *extractor : extractors()) expect_none("", extractor->name, clip_for(*extractor));
  expect_none("vmaf_v1.0.16_3d0h", "", small_clip(kFrames, 216, 160));
}

}  // namespace
}  // namespace vmafhip
