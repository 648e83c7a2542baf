// Sessions on the simulated GPU: the same scores in every bit as on the CPU, whatever is asked for and whatever fails.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "engine/gpu.h"
#include "engine/hip/device.h"
#include "engine/plan.h"
#include "engine/registry.h"
#include "tests/hipsim_control.h"
#include "tests/layouts.h"
#include "tests/model_files.h"
#include "tests/scratch_folder.h"
#include "tests/session_run.h"

namespace vmafhip {
namespace {

using namespace test;
using Next = Session::Next;

// ADM takes no less than 33 samples each way.
constexpr int kWidth = 48, kHeight = 36;

// What cambi takes at least.
constexpr int kWide = 216;

std::vector<Pair> clip(int frames = 5, int width = kWidth, int height = kHeight, int depth = 8) {
  return small_clip(frames, width, height, depth);
}

class HipSessionTest : public testing::Test {
 protected:
  void SetUp() override { sim_.reset(); }
  void TearDown() override {
    EXPECT_EQ(sim_.leaks(), 0u);
    EXPECT_EQ(sim_.reports(), "");
  }
  static std::unique_ptr<Session> make(SessionOptions options, Backend backend = Backend::hip) {
    options.backend = backend;
    if (options.threads == 0) options.threads = 2;
    auto session = Session::create(options);
    if (!session.ok()) throw std::runtime_error(session.status().message());
    return std::move(*session);
  }
  // Of each picture of a clip, several distorted ones: the clip's, and its neighbours.
  static std::vector<FrameScores> run(Session &session, const std::vector<Pair> &pairs) {
    std::vector<FrameScores> all;
    FrameScores scores;
    for (size_t n = 0; n < pairs.size(); ++n) {
      std::vector<Picture> dist;
      for (int d = 0; d < session.distorted(); ++d)
        dist.push_back(d % 2 == 0 ? pairs[(n + size_t(d)) % pairs.size()].dist : pairs[n].ref);
      while (!session.submit(pairs[n].ref, dist)) {
        const Next next = session.wait(scores);
        if (next != Next::ready) return all;
        all.push_back(scores);
      }
    }
    session.finish();
    while (session.wait(scores) == Next::ready) all.push_back(scores);
    return all;
  }
  static Status configure(Session &session, const std::vector<Pair> &pairs) {
    return session.configure(pairs[0].ref.format,
                             std::vector(size_t(session.distorted()), pairs[0].dist.format));
  }
  static std::vector<FrameScores> scores_of(const SessionOptions &options, const std::vector<Pair> &pairs,
                                            Backend backend) {
    const auto session = make(options, backend);
    const Status status = configure(*session, pairs);
    EXPECT_TRUE(status.ok()) << status.message();
    if (backend == Backend::hip) {
      EXPECT_EQ(session->backend_description().find("hip ("), 0u) << session->backend_description();
      EXPECT_GT(session->device_bytes(), 0u);
    }
    auto scores = run(*session, pairs);
    EXPECT_TRUE(session->status().ok()) << session->status().message();
    return scores;
  }
  static void expect_same_scores(const SessionOptions &options, const std::vector<Pair> &pairs) {
    const auto expected = scores_of(options, pairs, Backend::cpu);
    ASSERT_FALSE(expected.empty());
    expect_same(scores_of(options, pairs, Backend::hip), expected);
  }

  HipSim sim_;
  ModelPath no_files_{""};
  // What there are no kernels for: banding's heat maps. For one session at a time.
  const ScratchFolder maps_;
  const std::string of_the_cpu_ = "cambi=heatmaps_path=" + maps_.path();
};

// ---- The same scores --------------------------------------------------------------------------------------

TEST_F(HipSessionTest, Models) {
  expect_same_scores({}, clip());
  expect_same_scores({.models = "vmaf_v0.6.1|vmaf_v0.6.1neg"}, clip());
  expect_same_scores({}, clip(4, 49, 37, 10));
}

// All that VMAF v1 needs is measured on the GPU.
TEST_F(HipSessionTest, VmafV1) {
  const ModelPath no_files("");  // fitted surfaces
  const auto gpu = HipBackend::open(-1);
  ASSERT_TRUE(gpu.ok()) << gpu.status().message();
  for (const char *model :
       {"3d0h", "5d0h", "1d5h_2160", "3d0h_2160", "hfr_3d0h", "hfr_5d0h", "hfr_1d5h_2160", "hfr_3d0h_2160"}) {
    const auto plan = Plan::make(std::string("vmaf_v1.0.16_") + model, "");
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    EXPECT_FALSE(plan->extractors.empty());
    for (const PlannedExtractor &p : plan->extractors) {
      const auto metric = gpu->make(*p.extractor, p.options, {1920, 1080, 8, Chroma::c420}, 1);
      ASSERT_TRUE(metric.ok()) << metric.status().message();
      EXPECT_TRUE(*metric) << p.extractor->name << " of " << model;
    }
  }
  expect_same_scores({.models = "vmaf_v1.0.16_3d0h"}, clip(2, 218, 162));
  expect_same_scores({.models = "vmaf_v1.0.16_hfr_3d0h", .distorted = 2}, clip(2, 217, 163, 10));
}

// What elements of others are told, so that they put their pictures where sessions read them.
TEST_F(HipSessionTest, TheGpuIsShared) {
  sim_.configure("devices=2");
  EXPECT_FALSE(Gpu::open(2).ok());
  auto gpu = Gpu::open(1).value();
  EXPECT_EQ(gpu->number(), 1);
  EXPECT_EQ(gpu->vendor(), Gpu::Vendor::amd);
  EXPECT_EQ(gpu->context(), nullptr);

  const auto session = make({.features = "psnr", .device = 1});
  const auto same = session->gpu();
  ASSERT_TRUE(same);
  EXPECT_EQ(same->number(), 1);
  EXPECT_FALSE(make({}, Backend::cpu)->gpu());
  EXPECT_EQ(hip::Device::open(1).value()->users(), 1 + 1) << "the session and this, which share its memory";
  const auto importer = [] {
    const auto other = HipBackend::open(1).value();
    return std::pair(other.importer(), other.share());
  }();
  EXPECT_EQ(hip::Device::open(1).value()->users(), 1 + 1);

  const auto here = hip::Device::open(1).value(), elsewhere = hip::Device::open(0).value();
  const hip::Buffer<char> memory(*here, 4096), foreign(*elsewhere, 4096);
  const hip::PinnedBuffer host(*here, 4096);
  EXPECT_TRUE(gpu->reads(memory.address().value));
  EXPECT_TRUE(same->reads(memory.address().value + 4095));
  EXPECT_FALSE(gpu->reads(foreign.address().value));
  EXPECT_FALSE(gpu->reads(reinterpret_cast<uint64_t>(host.data())));
  EXPECT_FALSE(gpu->reads(reinterpret_cast<uint64_t>(&sim_)));
}

TEST_F(HipSessionTest, Banding) {
  expect_same_scores({.models = "", .features = "cambi=full_ref=true|vif"}, clip(3, 217, 36));
  expect_same_scores({.models = "", .features = "cambi|adm", .distorted = 2}, clip(3, 217, 36, 10));
}

// Some on the GPU, some on the CPU, some of the same planes.
TEST_F(HipSessionTest, WithExtractorsOfTheCpu) {
  expect_same_scores({.features = "psnr|float_motion|" + of_the_cpu_}, clip(3, kWide, kHeight));
  EXPECT_FALSE(maps_.empty());
  expect_same_scores({.models = "", .features = of_the_cpu_ + ":full_ref=true|vif|psnr"},
                     clip(3, kWide + 1, 35, 10));
}

// Chroma is read of the frames that are scored, luma of all.
TEST_F(HipSessionTest, Chroma) {
  for (const int subsample : {1, 2})
    expect_same_scores({.features = "vif=enable_chroma=true|psnr", .subsample = subsample}, clip(5, 66, 68));
  expect_same_scores({.models = "", .features = "vif=enable_chroma=true", .distorted = 2},
                     clip(2, 67, 69, 10));
}

TEST_F(HipSessionTest, SeveralDistortedPictures) {
  expect_same_scores({.features = "psnr|speed_qa", .distorted = 3}, clip(4));
  expect_same_scores({.models = "", .features = "motion|" + of_the_cpu_, .distorted = 2}, clip(3, kWide, 20));
}

// More pairs than one launch takes.
TEST_F(HipSessionTest, ManyDistortedPictures) {
  expect_same_scores({.models = "", .features = "vif|adm|motion", .distorted = 35}, clip(2, 36, 34));
}

TEST_F(HipSessionTest, Subsampled) {
  for (const int subsample : {2, 3})
    expect_same_scores({.features = "psnr|speed_qa|motion_v2", .subsample = subsample}, clip(8));
  expect_same_scores({.models = "", .features = "motion_v2|" + of_the_cpu_, .subsample = 2},
                     clip(5, kWide, 20));
}

TEST_F(HipSessionTest, ThreadsAndBatches) {
  const auto pairs = clip(9);
  const auto expected = scores_of({}, pairs, Backend::cpu);
  for (const int threads : {1, 2, 8})
    expect_same(scores_of({.threads = threads}, pairs, Backend::hip), expected);
  for (const int batch : {1, 2, 3, 32})
    expect_same(scores_of({.batch = batch}, pairs, Backend::hip), expected);
}

TEST_F(HipSessionTest, LayoutsInMemory) {
  const auto narrow = clip(3), deep = clip(3, kWidth, kHeight, 10);
  for (const Layout &layout :
       {Layout{8}, Layout{.padding = 13}, Layout{.offset = 1}, Layout{.step = 2}, Layout{.flip = true}})
    expect_same_scores({}, repack(narrow, layout, {8}));
  for (const Layout &layout :
       {Layout{10, 6}, Layout{10, 6, 2}, Layout{.depth = 10, .padding = 7, .flip = true}})
    expect_same_scores({}, repack(deep, {10}, layout));
  expect_same_scores({}, repack(narrow, {8}, {12}));
}

TEST_F(HipSessionTest, ScaledPictures) {
  auto pairs = clip(3, kWide, kHeight);
  const auto larger = clip(3, kWide + 14, 50);
  for (size_t n = 0; n < pairs.size(); ++n) pairs[n].dist = larger[n].dist;
  expect_same_scores({.features = "psnr|" + of_the_cpu_}, pairs);
}

TEST_F(HipSessionTest, PinnedPictures) {
  const auto plain = clip(4);
  const auto expected = scores_of({}, plain, Backend::cpu);
  for (const Layout &layout : {Layout{}, Layout{.padding = 80}, Layout{.padding = 80, .flip = true}}) {
    auto pairs = repack(plain, layout, {});
    // The simulated runtime copies from any memory of the host.
    for (Pair &pair : pairs) pair.ref.format.memory = pair.dist.format.memory = MemoryKind::pinned;
    expect_same(scores_of({}, pairs, Backend::hip), expected);
  }
}

// ---- Life -------------------------------------------------------------------------------------------------

TEST_F(HipSessionTest, ResetAndNewFormatsUnderWay) {
  const std::vector<std::vector<Pair>> clips = {clip(5), clip(4, 40, 60), clip(4, 36, 34, 10), clip(5)};
  std::vector<std::vector<FrameScores>> expected;
  for (const auto &pairs : clips) expected.push_back(scores_of({}, pairs, Backend::cpu));
  const auto session = make({});
  for (int round = 0; round < 2; ++round)
    for (size_t i = 0; i < clips.size(); ++i) {
      ASSERT_TRUE(configure(*session, clips[i]).ok());
      for (size_t n = 0; n < i + 1; ++n) EXPECT_TRUE(session->submit(clips[i][n].ref, clips[i][n].dist));
      session->reset();
      expect_same(run(*session, clips[i]), expected[i]);
      session->reset();
      expect_same(run(*session, clips[i]), expected[i]);
      // Left with frames in flight.
      session->reset();
      EXPECT_TRUE(session->submit(clips[i][0].ref, clips[i][0].dist));
    }
}

TEST_F(HipSessionTest, ManyAtATime) {
  const auto pairs = clip(4);
  const auto expected = scores_of({}, pairs, Backend::cpu);
  std::vector<std::thread> threads;
  std::vector<std::vector<FrameScores>> all(8);
  for (auto &scores : all)
    threads.emplace_back([&] { scores = scores_of({.threads = 1}, pairs, Backend::hip); });
  for (std::thread &t : threads) t.join();
  for (const auto &scores : all) expect_same(scores, expected);
}

TEST_F(HipSessionTest, InFlightIsBounded) {
  const auto pairs = clip(1);
  const auto session = make({.batch = 2});
  ASSERT_TRUE(configure(*session, pairs).ok());
  int taken = 0;
  while (session->submit(pairs[0].ref, pairs[0].dist)) ++taken;
  EXPECT_EQ(taken, session->max_in_flight());
  FrameScores scores;
  EXPECT_EQ(session->wait(scores), Next::ready);
  EXPECT_TRUE(session->has_room());
}

// ---- Which back end ---------------------------------------------------------------------------------------

TEST_F(HipSessionTest, AutomaticTakesTheGpu) {
  const auto session = make({}, Backend::automatic);
  ASSERT_TRUE(configure(*session, clip(1)).ok());
  EXPECT_EQ(session->backend_description().find("hip ("), 0u) << session->backend_description();
  EXPECT_EQ(session->backend_reason(), "");
}

TEST_F(HipSessionTest, AutomaticTakesTheCpuWhereThereIsNoGpu) {
  sim_.configure("devices=0");
  const auto session = make({}, Backend::automatic);
  const auto pairs = clip(3);
  ASSERT_TRUE(configure(*session, pairs).ok());
  EXPECT_EQ(session->backend_description().find("cpu ("), 0u) << session->backend_description();
  EXPECT_NE(session->backend_reason().find("finds no GPU"), std::string::npos) << session->backend_reason();
  EXPECT_TRUE(session->remarks().empty()) << "most machines have none";
  expect_same(run(*session, pairs), scores_of({}, pairs, Backend::cpu));

  const auto refused = Session::create({.backend = Backend::hip});
  ASSERT_FALSE(refused.ok());
  for (const char *word : {"backend=hip", "finds no GPU", "backend=cpu"})
    EXPECT_NE(refused.status().message().find(word), std::string::npos) << refused.status().message();
}

TEST_F(HipSessionTest, WithoutKernels) {
  const SessionOptions options = {.models = "", .features = of_the_cpu_};
  const auto pairs = clip(2, kWide, 20);
  {
    const auto session = make(options, Backend::automatic);
    ASSERT_TRUE(configure(*session, pairs).ok());
    EXPECT_EQ(session->backend_description().find("cpu ("), 0u) << session->backend_description();
    EXPECT_NE(session->backend_reason().find("there are no GPU kernels for"), std::string::npos);
    EXPECT_EQ(run(*session, pairs).size(), pairs.size());
  }
  const Status refused = configure(*make(options), pairs);
  EXPECT_EQ(refused.message().find("backend=hip: there are no GPU kernels for"), 0u) << refused.message();
}

TEST_F(HipSessionTest, NumbersThatDoNotExist) {
  for (const int device : {-2, 1, 99}) {
    const auto session = Session::create({.backend = Backend::hip, .device = device});
    ASSERT_FALSE(session.ok());
    EXPECT_NE(session.status().message().find(std::to_string(device)), std::string::npos);
  }
  for (const int batch : {-1, 33})
    EXPECT_EQ(Session::create({.batch = batch}).status().code(), Code::invalid_argument);
}

TEST_F(HipSessionTest, TooLittleMemory) {
  sim_.configure("memory=1K");
  const auto pairs = clip(3);
  const auto session = make({}, Backend::automatic);
  ASSERT_TRUE(configure(*session, pairs).ok());
  EXPECT_EQ(session->backend_description().find("cpu ("), 0u);
  ASSERT_EQ(session->remarks().size(), 1u);
  EXPECT_NE(session->remarks()[0].find("memory"), std::string::npos) << session->remarks()[0];
  expect_same(run(*session, pairs), scores_of({}, pairs, Backend::cpu));

  const auto strict = make({});
  const Status status = configure(*strict, pairs);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.code(), Code::resource) << status.message();
  EXPECT_FALSE(strict->has_room());
  // When there is enough, both have their GPU.
  sim_.configure("memory=1G");
  EXPECT_TRUE(configure(*strict, pairs).ok());
  ASSERT_TRUE(configure(*session, pairs).ok());
  EXPECT_EQ(session->backend_description().find("hip ("), 0u);
  EXPECT_TRUE(session->remarks().empty());
}

// ---- Pictures in GPU memory -------------------------------------------------------------------------------

TEST_F(HipSessionTest, PicturesInGpuMemoryAreForTheGpu) {
  PictureFormat format = clip(1, kWide, kHeight)[0].ref.format, host = format;
  format.memory = MemoryKind::device;
  const auto refusal = [&](const SessionOptions &options, Backend backend, const PictureFormat &ref,
                           const PictureFormat &dist) {
    return make(options, backend)->configure(ref, dist).message();
  };
  EXPECT_EQ(refusal({}, Backend::hip, format, format), "");
  EXPECT_EQ(refusal({}, Backend::automatic, format, host), "");
  EXPECT_EQ(refusal({}, Backend::hip, host, format), "");
  PictureFormat other = format;
  other.depth = 10;
  for (const auto &[text, words] : {
           std::pair{refusal({}, Backend::cpu, format, format),
                     std::vector{"no GPU measures", "system memory"}},
           {refusal({.features = of_the_cpu_}, Backend::hip, format, format),
            {"cambi has no GPU kernels with these options", "system memory"}},
           {refusal({.features = of_the_cpu_}, Backend::automatic, host, format), {"cambi", "system memory"}},
           {refusal({}, Backend::hip, other, format), {"8 bits", "10 bits", "system memory"}},
       })
    for (const char *word : words) EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
}

// Interleaved samples are seen when the picture comes.
TEST_F(HipSessionTest, PicturesInGpuMemoryThatCannotBeRead) {
  Picture picture = clip(1)[0].ref;
  picture.format.memory = MemoryKind::device;
  const auto session = make({});
  ASSERT_TRUE(session->configure(picture.format, picture.format).ok());
  picture.planes[0].step = 2;
  EXPECT_FALSE(session->submit(picture, picture));
  FrameScores scores;
  EXPECT_EQ(session->wait(scores), Next::failed);
  EXPECT_NE(session->status().message().find("interleaved"), std::string::npos)
      << session->status().message();
  session->reset();
  EXPECT_EQ(session->wait(scores), Next::drained);
  EXPECT_TRUE(session->status().ok());
}

// ---- Failure ----------------------------------------------------------------------------------------------

TEST_F(HipSessionTest, LostGpuIsOpenedAnew) {
  const auto pairs = clip(3);
  const auto session = make({});
  ASSERT_TRUE(configure(*session, pairs).ok());
  sim_.configure("fail=lost:1");
  EXPECT_LT(run(*session, pairs).size(), pairs.size());
  for (int round = 0; round < 2; ++round) {
    const Status status = configure(*session, pairs);
    ASSERT_FALSE(status.ok()) << "not on the CPU";
    EXPECT_EQ(status.message().find("backend=hip: no GPU can be used"), 0u) << status.message();
    EXPECT_FALSE(session->has_room());
  }
  sim_.reset();
  ASSERT_TRUE(configure(*session, pairs).ok());
  expect_same(run(*session, pairs), scores_of({}, pairs, Backend::cpu));
}

class HipFailureTest : public HipSessionTest, public testing::WithParamInterface<const char *> {
 protected:
  // A call of the kind fails, one a round. Of what is allocated all later ones fail too: one that fails is tried again
  // with less.
  static std::vector<std::string> failures() {
    const std::string kind = GetParam();
    const bool allocates = kind == "malloc" || kind == "host" || kind == "stream" || kind == "event";
    std::vector<std::string> all;
    for (const int nth : {1, 2, 3, 5, 9, 16, 40})
      all.push_back(kind + ":" + std::to_string(nth) + (allocates ? "+" : ""));
    return all;
  }
  // Two streams, what goes from frame to frame, planes with and without chroma, and something for the CPU.
  SessionOptions options() const { return {.models = "", .features = "vif|motion|psnr|" + of_the_cpu_}; }
  static std::vector<Pair> clip() { return small_clip(6, kWide, 16); }
};

TEST_P(HipFailureTest, TheCpuGoesOn) {
  const auto pairs = clip();
  const SessionOptions options = this->options();
  const auto expected = scores_of(options, pairs, Backend::cpu);
  int failed_rounds = 0;
  for (const std::string &failure : this->failures()) {
    SCOPED_TRACE(failure);
    const auto session = make(options, Backend::automatic);
    std::set<std::string> remarks;
    sim_.configure("fail=" + failure);
    ASSERT_TRUE(configure(*session, pairs).ok());
    for (const std::string &remark : session->remarks()) remarks.insert(remark);
    for (int round = 0; round < 2; ++round) {
      expect_same(run(*session, pairs), expected);
      EXPECT_TRUE(session->status().ok()) << session->status().message();
      for (const std::string &remark : session->remarks()) remarks.insert(remark);
      session->reset();
    }
    const bool failed = session->backend_description().find("cpu (") == 0;
    failed_rounds += failed;
    EXPECT_EQ(remarks.size(), failed ? 1u : 0u);
    EXPECT_EQ(session->backend_reason().empty(), !failed);
    for (const std::string &remark : remarks) EXPECT_NE(remark.find("hip"), std::string::npos) << remark;
    // The CPU keeps it, or the GPU does it still.
    sim_.reset();
    ASSERT_TRUE(configure(*session, pairs).ok());
    expect_same(run(*session, pairs), expected);
  }
  EXPECT_GT(failed_rounds, 1);
}

TEST_P(HipFailureTest, OneErrorAndNoHang) {
  const auto pairs = clip();
  const SessionOptions options = this->options();
  const auto expected = scores_of(options, pairs, Backend::cpu);
  int failed_rounds = 0;
  for (const std::string &failure : this->failures()) {
    SCOPED_TRACE(failure);
    const auto session = make(options);
    std::atomic<int> told{0};
    session->on_progress([&] { ++told; });
    sim_.configure("fail=" + failure);
    if (const Status status = configure(*session, pairs); !status.ok()) {
      ++failed_rounds;
      EXPECT_NE(status.message().find("hip"), std::string::npos) << status.message();
      EXPECT_FALSE(session->has_room());
    } else {
      const auto scores = run(*session, pairs);
      FrameScores none;
      if (scores.size() < pairs.size()) {
        ++failed_rounds;
        for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
             told == 0 && std::chrono::steady_clock::now() < end;)
          std::this_thread::yield();  // who finds the failure tells of it last
        EXPECT_GT(told, 0);
        EXPECT_EQ(session->next(none), Next::failed);
        EXPECT_EQ(session->wait(none), Next::failed);
        EXPECT_FALSE(session->has_room());
        EXPECT_FALSE(session->submit(pairs[0].ref, pairs[0].dist));
        EXPECT_FALSE(session->status().ok());
        EXPECT_NE(session->status().message().find("hip"), std::string::npos) << session->status().message();
        session->reset();
        EXPECT_EQ(session->wait(none), Next::failed);
        session->interrupt(true);
        session->interrupt(false);
      } else {
        EXPECT_EQ(session->wait(none), Next::drained);
      }
      for (size_t n = 0; n < scores.size(); ++n) expect_same(scores[n].dist[0], expected[n].dist[0], n);
    }
    sim_.reset();
    const Status status = configure(*session, pairs);
    ASSERT_TRUE(status.ok()) << status.message();
    expect_same(run(*session, pairs), expected);
  }
  EXPECT_GT(failed_rounds, 1);
}

INSTANTIATE_TEST_SUITE_P(Calls, HipFailureTest,
                         testing::Values("malloc", "host", "copy", "launch", "sync", "stream", "event",
                                         "module", "lost"),
                         [](const auto &info) { return std::string(info.param); });

}  // namespace
}  // namespace vmafhip
