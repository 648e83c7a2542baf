// Pictures that the GPU reads where others put them (Plane::device), in sessions for host memory: scores of the CPU in
// every bit, nothing uploaded, nothing let go too early or asked of memory that only one side reaches.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <optional>
#include <set>
#include <thread>

#include "engine/registry.h"
#include "tests/hipsim_control.h"
#include "tests/scratch_folder.h"
#include "tests/session_run.h"
#include "tools/gpu_pictures.h"

namespace vmafhip {
namespace {

using namespace test;
using Next = Session::Next;

constexpr int kCambiWidth = 217;  // what it takes at least

// How a picture lies in memory.
struct Form {
  bool interleaved = false;  // NV12, P010
  int shift = 0;
  int padding = 0;  // bytes behind a row
  bool upside = false;
};
constexpr Form kI420 = {}, kNv12 = {.interleaved = true};
constexpr Form kP010 = {true, 6}, kP012 = {true, 4};

// A planar picture anew.
Picture lay_out(const Picture &from, const Form &form) {
  const int bytes = from.format.depth > 8 ? 2 : 1;
  auto memory = std::make_shared<std::vector<std::vector<uint8_t>>>();
  Picture to = from;
  to.shift = form.shift;
  to.owner = memory;
  for (size_t n = 0; n < 3; ++n) {
    const Plane &plane = from.planes[n];
    const bool second = form.interleaved && n == 2;
    const int step = form.interleaved && n > 0 ? 2 : 1;
    const ptrdiff_t stride = ptrdiff_t(plane.width) * step * bytes + form.padding;
    if (!second) memory->emplace_back(size_t(stride * plane.height));
    uint8_t *first =
        memory->back().data() + (second ? bytes : 0) + (form.upside ? stride * (plane.height - 1) : 0);
    to.planes[n] = {first, form.upside ? -stride : stride, plane.width, plane.height, step};
    for (int y = 0; y < plane.height; ++y)
      for (int x = 0; x < plane.width; ++x) {
        uint16_t word = 0;
        std::memcpy(&word, static_cast<const std::byte *>(plane.data) + y * plane.stride + x * bytes,
                    size_t(bytes));
        word = uint16_t(word << form.shift);
        std::memcpy(first + y * to.planes[n].stride + x * step * bytes, &word, size_t(bytes));
      }
  }
  return to;
}

class HipDirectTest : public testing::Test {
 protected:
  void SetUp() override {
    sim_.reset();
    gpu_.emplace(-1);
  }
  void TearDown() override {
    gpu_.reset();
    EXPECT_EQ(sim_.leaks(), 0u);
    EXPECT_EQ(sim_.reports(), "");
  }

  static std::vector<Pair> laid_out(const std::vector<Pair> &clip, const Form &ref, const Form &dist) {
    std::vector<Pair> all;
    for (const Pair &pair : clip) all.push_back({lay_out(pair.ref, ref), lay_out(pair.dist, dist)});
    return all;
  }
  // Where the GPU reads them, and nobody else.
  Picture on_gpu(const Picture &picture, size_t offset = 0) const {
    Picture mirror = gpu_->mirror(picture, offset);
    for (Plane &plane : mirror.planes) plane.data = nullptr;
    return mirror;
  }
  std::vector<Pair> on_gpu(const std::vector<Pair> &clip, size_t offset = 0) const {
    std::vector<Pair> all;
    for (const Pair &pair : clip) all.push_back({on_gpu(pair.ref, offset), on_gpu(pair.dist, offset)});
    return all;
  }

  static std::unique_ptr<Session> make(SessionOptions options, Backend backend,
                                       const std::vector<Pair> &clip) {
    options.backend = backend;
    options.threads = 2;
    auto session = Session::create(options);
    if (!session.ok()) throw std::runtime_error(session.status().message());
    const Status status = (*session)->configure(clip[0].ref.format,
                                                std::vector(size_t(options.distorted), clip[0].dist.format));
    if (!status.ok()) throw std::runtime_error(status.message());
    return std::move(*session);
  }
  // Of several distorted pictures, the others are references.
  static std::vector<FrameScores> run(Session &session, const std::vector<Pair> &clip) {
    std::vector<FrameScores> all;
    FrameScores scores;
    for (const Pair &pair : clip) {
      std::vector<Picture> dist(size_t(session.distorted()), pair.ref);
      dist[0] = pair.dist;
      while (!session.submit(pair.ref, dist)) {
        if (session.wait(scores) == Next::ready)
          all.push_back(scores);
        else if (!session.has_room())
          return all;
      }
    }
    session.finish();
    while (session.wait(scores) == Next::ready) all.push_back(scores);
    return all;
  }
  static std::vector<FrameScores> scores_of(const SessionOptions &options, Backend backend,
                                            const std::vector<Pair> &clip) {
    const auto session = make(options, backend, clip);
    auto scores = run(*session, clip);
    EXPECT_TRUE(session->status().ok()) << session->status().message();
    return scores;
  }
  // Bytes that go to the GPU while `work` is done.
  uint64_t upload_bytes(const std::function<void()> &work) const {
    const uint64_t before = sim_.traffic().upload_bytes;
    work();
    return sim_.traffic().upload_bytes - before;
  }
  void expect_direct(const SessionOptions &options, const std::vector<Pair> &clip, size_t offset = 0) const {
    const auto expected = scores_of(options, Backend::cpu, clip);
    ASSERT_FALSE(expected.empty());
    const auto there = on_gpu(clip, offset);
    const auto session = make(options, Backend::hip, there);
    for (int picture = 0; picture <= options.distorted; ++picture)
      EXPECT_EQ(session->host_planes(picture), 0);
    EXPECT_EQ(upload_bytes([&] { expect_same(run(*session, there), expected); }), 0u);
    EXPECT_TRUE(session->status().ok()) << session->status().message();
  }
  // `next` is what a session says in the end, `words` are in its error.
  static void expect_failed(Session &session, const std::vector<const char *> &words) {
    FrameScores scores;
    EXPECT_EQ(session.wait(scores), Next::failed);
    EXPECT_FALSE(session.has_room());
    for (const char *word : words)
      EXPECT_NE(session.status().message().find(word), std::string::npos)
          << word << " in: " << session.status().message();
  }

  HipSim sim_;
  std::optional<GpuPictures> gpu_;
  // What has no kernels, whatever else has.
  const ScratchFolder maps_;
  const std::string of_the_cpu_ = "cambi=heatmaps_path=" + maps_.path();
  ModelPath no_files_{""};
};

const SessionOptions kAll = {.features = "psnr|vif=enable_chroma=true|motion=motion_five_frame_window=true"};

// ---- The same scores --------------------------------------------------------------------------------------

TEST_F(HipDirectTest, Layouts) {
  const auto narrow = small_clip(4, 52, 38), deep = small_clip(4, 50, 38, 10),
             deeper = small_clip(3, 50, 36, 12);
  for (const Form &form : {kI420, kNv12}) expect_direct(kAll, laid_out(narrow, form, form));
  expect_direct(kAll, laid_out(narrow, kNv12, kI420));
  for (const Form &form : {kI420, kP010}) expect_direct(kAll, laid_out(deep, form, form));
  expect_direct(kAll, laid_out(deep, kI420, kP010));
  expect_direct(kAll, laid_out(deeper, kP012, kI420));
  for (const Form &form : {Form{.upside = true}, Form{true, 0, 3, true}, Form{.padding = 5}})
    expect_direct(kAll, laid_out(narrow, form, kNv12));
  for (const Form &form : {Form{.upside = true}, Form{true, 6, 3, true}, Form{.padding = 5}})
    expect_direct(kAll, laid_out(deep, kP010, form));
}

TEST_F(HipDirectTest, DepthsOfTheirOwn) {
  const auto narrow = small_clip(3, 52, 38), deep = small_clip(3, 52, 38, 10);
  for (const auto &[ref_form, dist_form] : {std::pair{kNv12, kP010}, std::pair{kI420, kI420}}) {
    std::vector<Pair> clip = laid_out(narrow, ref_form, ref_form);
    const std::vector<Pair> other = laid_out(deep, dist_form, dist_form);
    for (size_t n = 0; n < clip.size(); ++n) clip[n].dist = other[n].dist;
    expect_direct(kAll, clip);
  }
}

TEST_F(HipDirectTest, SeveralPicturesSubsampledInBatches) {
  const auto narrow = laid_out(small_clip(7, 52, 38), kNv12, kI420),
             deep = laid_out(small_clip(6, 52, 38, 10), kP010, kI420);
  expect_direct({.features = kAll.features, .distorted = 3}, narrow);
  expect_direct({.features = kAll.features, .distorted = 2}, deep);
  for (const int subsample : {2, 3})
    expect_direct({.features = kAll.features, .subsample = subsample}, narrow);
  for (const int batch : {1, 3, 32}) expect_direct({.features = kAll.features, .batch = batch}, deep);
}

// Imported buffers begin where they like, and rows are as long as they like.
TEST_F(HipDirectTest, EveryExtractorAtOddAddresses) {
  int measured = 0;
  for (const Extractor *extractor : extractors()) {
    for (const int depth : {8, 10}) {
      PictureFormat format{.width = 66, .height = 64, .depth = depth};
      const auto options = Options::parse(extractor->name, extractor->options, {});
      while (format.width < 500 && !extractor->check(*options, format).ok()) {
        format.width += 18;
        format.height += 16;
      }
      if (format.width >= 500) continue;  // of another depth
      SCOPED_TRACE(testing::Message() << extractor->name << " at " << depth << " bits");
      const auto clip = small_clip(2, format.width, format.height, depth);
      ++measured;
      // At 10 bits one that is odd, one of single samples.
      expect_direct({.models = "", .features = extractor->name},
                    laid_out(clip, {.padding = depth == 8 ? 1 : 2}, {.padding = 3, .upside = true}),
                    depth == 8 ? 1 : 2);
      expect_direct({.models = "", .features = extractor->name},
                    laid_out(clip, {.padding = 3}, {.padding = 3}), 3);
    }
  }
  EXPECT_GT(measured, 20);
}

// ---- Beside other pictures --------------------------------------------------------------------------------

// What a frame reads of the ones before it is where these were.
TEST_F(HipDirectTest, InTurnWithPicturesOfTheHost) {
  for (const Form &form : {kNv12, kI420}) {
    const auto clip = laid_out(small_clip(12, 52, 38), form, form);
    for (const SessionOptions &options :
         {kAll, SessionOptions{.features = kAll.features, .distorted = 2, .subsample = 2}}) {
      const auto expected = scores_of(options, Backend::cpu, clip);
      for (const Backend backend : {Backend::hip, Backend::automatic}) {
        std::vector<Pair> mixed = clip;
        for (size_t n = 0; n < mixed.size(); ++n) {
          if (n % 3 == 0) mixed[n] = {on_gpu(clip[n].ref, n), on_gpu(clip[n].dist, 1)};
          if (n % 3 == 1) mixed[n].ref.format.memory = MemoryKind::pinned;
          if (n % 4 == 1) mixed[n].dist = on_gpu(clip[n].dist);
        }
        expect_same(scores_of(options, backend, mixed), expected);
      }
    }
  }
}

TEST_F(HipDirectTest, OnlyWhatIsElsewhereGoesUp) {
  const auto clip = laid_out(small_clip(4, 52, 38), kI420, kI420);
  auto mixed = clip;
  mixed[1].ref = on_gpu(clip[1].ref);
  mixed[2] = {on_gpu(clip[2].ref), on_gpu(clip[2].dist)};
  const uint64_t picture = 52 * 38 * 3 / 2;
  // The address counts, not that there is host memory as well.
  mixed[1].ref.planes[0].data = clip[1].ref.planes[0].data;
  const auto session = make(kAll, Backend::hip, clip);
  EXPECT_EQ(upload_bytes([&] { (void)run(*session, clip); }), 8 * picture);
  session->reset();
  EXPECT_EQ(upload_bytes([&] { (void)run(*session, mixed); }), 5 * picture);
}

// Planes, not pictures: chroma may be where luma is not.
TEST_F(HipDirectTest, SomePlanes) {
  const auto clip = laid_out(small_clip(3, 52, 38), kNv12, kNv12);
  auto mixed = on_gpu(clip);
  for (size_t n = 0; n < clip.size(); ++n) {
    mixed[n].ref.planes[0] = clip[n].ref.planes[0];
    mixed[n].ref.owner = std::make_shared<std::pair<Picture, Picture>>(mixed[n].ref, clip[n].ref);
    mixed[n].dist.planes[2] = clip[n].dist.planes[2];
    mixed[n].dist.owner = std::make_shared<std::pair<Picture, Picture>>(mixed[n].dist, clip[n].dist);
  }
  expect_same(scores_of(kAll, Backend::hip, mixed), scores_of(kAll, Backend::cpu, clip));
}

TEST_F(HipDirectTest, ExtractorsOfTheCpuReadTheHostsMemory) {
  const SessionOptions options = {.features = "psnr|" + of_the_cpu_};
  const auto clip = laid_out(small_clip(3, kCambiWidth, 36), kNv12, kNv12);
  const auto expected = scores_of(options, Backend::cpu, clip);
  std::vector<Pair> both = on_gpu(clip);
  const auto session = make(options, Backend::hip, both);
  EXPECT_EQ(session->host_planes(0), 0);  // cambi looks at the distorted picture alone
  EXPECT_EQ(session->host_planes(1), kLuma);
  for (size_t n = 0; n < clip.size(); ++n) {
    both[n].dist.planes[0].data = clip[n].dist.planes[0].data;
    both[n].dist.owner = std::make_shared<std::pair<Picture, Picture>>(both[n].dist, clip[n].dist);
  }
  EXPECT_EQ(upload_bytes([&] { expect_same(run(*session, both), expected); }), 0u);
}

TEST_F(HipDirectTest, ScaledPicturesAreReadByTheProcessor) {
  auto clip = laid_out(small_clip(3, 52, 38), kNv12, kNv12);
  const auto larger = laid_out(small_clip(3, 62, 50), kNv12, kNv12);
  for (size_t n = 0; n < clip.size(); ++n) clip[n].dist = larger[n].dist;
  const auto expected = scores_of(kAll, Backend::cpu, clip);
  auto both = clip;
  for (Pair &pair : both) pair = {on_gpu(pair.ref), gpu_->mirror(pair.dist)};
  const auto session = make(kAll, Backend::hip, both);
  EXPECT_EQ(session->host_planes(0), 0);
  EXPECT_EQ(session->host_planes(1), kAllPlanes);
  const uint64_t picture = 52 * 38 * 3 / 2;
  EXPECT_EQ(upload_bytes([&] { expect_same(run(*session, both), expected); }), 3 * picture);
}

// ---- Memory that nobody reaches ---------------------------------------------------------------------------

TEST_F(HipDirectTest, WhatTheProcessorMustReadIsRefused) {
  const auto clip = small_clip(2, kCambiWidth, 36);
  const auto there = on_gpu(clip);
  const auto expect_refused = [&](const SessionOptions &options, Backend backend,
                                  const std::vector<Pair> &pairs, const std::vector<const char *> &words) {
    const auto session = make(options, backend, pairs);
    EXPECT_EQ(run(*session, pairs).size(), 0u);
    expect_failed(*session, words);
    // Another picture is welcome again.
    session->reset();
    EXPECT_TRUE(session->status().ok());
    EXPECT_TRUE(session->has_room());
  };
  expect_refused({}, Backend::cpu, there, {"GPU memory alone", "no GPU measures here", "system memory"});
  expect_refused({.features = of_the_cpu_}, Backend::hip, there,
                 {"GPU memory alone", "cambi", "has no GPU kernels with these options"});
  expect_refused({.features = of_the_cpu_}, Backend::automatic, {{clip[0].ref, there[0].dist}},
                 {"GPU memory alone", "cambi"});
  auto scaled = there;
  scaled[0].dist = on_gpu(small_clip(1, 62, 50)[0].dist);
  expect_refused({}, Backend::hip, scaled, {"GPU memory alone", "scale it to 217x36"});
  auto lacking = there;
  lacking[0].dist.planes[0].device = 0;
  expect_refused({}, Backend::hip, lacking, {"plane 0"});
  // Nothing reads these.
  auto luma = there;
  for (Pair &pair : luma) pair.ref.planes[1] = pair.dist.planes[2] = {};
  expect_same(scores_of({}, Backend::hip, luma), scores_of({}, Backend::cpu, clip));
}

// ---- Failure ----------------------------------------------------------------------------------------------

TEST_F(HipDirectTest, TheCpuGoesOnWithPicturesThatItReaches) {
  const auto clip = laid_out(small_clip(6, 52, 38), kNv12, kI420);
  const auto expected = scores_of(kAll, Backend::cpu, clip);
  auto both = clip;
  for (Pair &pair : both) pair = {gpu_->mirror(pair.ref), gpu_->mirror(pair.dist)};
  int failed = 0;
  for (const char *kind : {"launch", "sync", "event"})
    for (const int nth : {1, 2, 5, 9, 16, 40}) {
      SCOPED_TRACE(testing::Message() << kind << ":" << nth);
      const auto session = make(kAll, Backend::automatic, both);
      sim_.configure(std::string("fail=") + kind + ":" + std::to_string(nth));
      expect_same(run(*session, both), expected);
      EXPECT_TRUE(session->status().ok()) << session->status().message();
      const bool on_cpu = session->backend_description().starts_with("cpu (");
      EXPECT_EQ(session->host_planes(0), on_cpu ? kAllPlanes : 0);
      failed += on_cpu;
      sim_.configure("fail=");
    }
  EXPECT_GT(failed, 3);
}

// Those before are done anew, those after are not to be had; never a hang, and one error.
TEST_F(HipDirectTest, PicturesThatItDoesNotReachAreLost) {
  const auto clip = laid_out(small_clip(8, 52, 38), kNv12, kI420);
  const auto expected = scores_of({.features = "psnr"}, Backend::cpu, clip);
  std::set<size_t> counts;
  for (const size_t gone : {0u, 3u, 5u}) {  // the first frame that only the GPU reaches
    auto mixed = clip;
    for (size_t n = gone; n < mixed.size(); n += 2) mixed[n].dist = on_gpu(clip[n].dist);
    for (const char *failure : {"launch:1", "launch:9", "sync:1", "sync:3", "lost:3", "event:20"}) {
      SCOPED_TRACE(testing::Message() << failure << ", from frame " << gone);
      const auto session = make({.features = "psnr", .batch = 1}, Backend::automatic, mixed);
      sim_.configure(std::string("fail=") + failure);
      const auto scores = run(*session, mixed);
      sim_.configure("fail=");
      counts.insert(scores.size());
      if (scores.size() == mixed.size()) continue;
      EXPECT_GE(scores.size(), gone);
      for (size_t n = 0; n + 1 < scores.size(); ++n) expect_same(scores[n].dist[0], expected[n].dist[0], n);
      expect_failed(*session, {"GPU", "memory alone", "system memory"});
      EXPECT_EQ(session->remarks().size(), 1u);
      // The CPU does what it can afterwards.
      session->reset();
      expect_same(run(*session, clip), expected);
      sim_.forget();
    }
  }
  EXPECT_GT(counts.size(), 2u);
}

// A picture that was measured in time can be missed later: frame 3 reads that of frame 1.
TEST_F(HipDirectTest, EarlierPicturesThatItDoesNotReachAreMissed) {
  const auto clip = small_clip(4, 52, 38);
  const SessionOptions options = {.models = "", .features = "vif|motion=motion_five_frame_window=true"};
  const auto expected = scores_of(options, Backend::cpu, clip);
  const auto session = make(options, Backend::automatic, clip);
  ASSERT_TRUE(session->submit(clip[0].ref, clip[0].dist));
  Picture dist = on_gpu(clip[1].dist);
  const std::weak_ptr<const void> measured = dist.owner;
  ASSERT_TRUE(session->submit(on_gpu(clip[1].ref), std::move(dist)));
  std::vector<FrameScores> all;
  FrameScores scores;
  const auto take_until = [&](const std::function<bool()> &there) {
    for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
         !there() && std::chrono::steady_clock::now() < end;) {
      if (session->next(scores) == Next::ready)
        all.push_back(scores);
      else
        std::this_thread::yield();
    }
    EXPECT_TRUE(there());
  };
  take_until([&] { return measured.expired(); });
  sim_.configure("fail=launch:1");
  ASSERT_TRUE(session->submit(clip[2].ref, clip[2].dist));
  take_until([&] { return session->backend_description().starts_with("cpu ("); });
  EXPECT_TRUE(session->status().ok()) << session->status().message();
  EXPECT_FALSE(session->submit(clip[3].ref, clip[3].dist));
  while (session->wait(scores) == Next::ready) all.push_back(scores);
  ASSERT_EQ(all.size(), 3u);
  expect_same(all[0].dist[0], expected[0].dist[0], 0);
  expect_failed(*session, {"GPU", "memory alone", "system memory"});
  session->reset();
  expect_same(run(*session, clip), expected);
}

TEST_F(HipDirectTest, AFailureWithoutTheCpuIsOneError) {
  const auto there = on_gpu(laid_out(small_clip(6, 52, 38), kNv12, kI420));
  int failed = 0;
  for (const char *failure : {"launch:1", "launch:20", "sync:1", "lost:3"}) {
    SCOPED_TRACE(failure);
    const auto session = make(kAll, Backend::hip, there);
    sim_.configure(std::string("fail=") + failure);
    const bool all = run(*session, there).size() == there.size();
    failed += !all;
    if (!all) expect_failed(*session, {"backend=hip", "backend=auto"});
    sim_.forget();
  }
  EXPECT_GT(failed, 2);
}

// ---- How long pictures are held ---------------------------------------------------------------------------

// The runtime is lazy here: it reads as late as can be, and says so if memory is gone by then.
TEST_F(HipDirectTest, UntilTheDeviceHasReadThem) {
  const auto planar = small_clip(5, 52, 38), clip = laid_out(planar, kNv12, kI420);
  const auto expected = scores_of(kAll, Backend::cpu, clip);
  for (const Backend backend : {Backend::hip, Backend::automatic}) {
    auto session = make(kAll, backend, clip);
    for (int round = 0; round < 3; ++round) {
      // Nobody else holds these. Beside some, workers copy others, which are let go before.
      for (size_t n = 0; n < clip.size(); ++n) {
        Picture ref = n % 2 == 0 ? on_gpu(clip[n].ref) : lay_out(planar[n].ref, {.padding = 2});
        ASSERT_TRUE(session->submit(std::move(ref), on_gpu(clip[n].dist)));
      }
      if (round == 1) {
        session->reset();
        continue;
      }
      if (round == 2) break;
      session->finish();
      std::vector<FrameScores> all(clip.size());
      for (FrameScores &scores : all) EXPECT_EQ(session->wait(scores), Next::ready);
      expect_same(all, expected);
      session->reset();
    }
    session.reset();
  }
}

TEST_F(HipDirectTest, OrUntilItReadsNoMore) {
  const auto clip = laid_out(small_clip(5, 52, 38), kNv12, kI420);
  int failed = 0;
  for (const Backend backend : {Backend::hip, Backend::automatic})
    for (const char *failure : {"launch:1", "launch:9", "launch:25", "sync:1", "event:12", "lost:30"}) {
      SCOPED_TRACE(failure);
      auto session = make(kAll, backend, clip);
      std::vector<Pair> there = on_gpu(clip);
      const std::weak_ptr<const void> last = there.back().dist.owner;
      sim_.configure(std::string("fail=") + failure);
      for (Pair &pair : there) (void)session->submit(std::move(pair.ref), std::move(pair.dist));
      there.clear();
      FrameScores scores;
      Next next;
      do next = session->wait(scores);
      while (next == Next::ready);
      failed += next == Next::failed;
      if (failed % 2 == 0) session->reset();
      session.reset();
      EXPECT_TRUE(last.expired());
      sim_.configure("fail=");
      EXPECT_EQ(sim_.reports(), "");
      sim_.forget();
    }
  EXPECT_GT(failed, 6);
}

TEST_F(HipDirectTest, AndNoLonger) {
  const auto clip = small_clip(6, 52, 38);
  // VIF reads distorted pictures, too; `later` frames read a reference as an earlier one.
  const std::pair<const char *, size_t> cases[] = {
      {"vif", 0}, {"vif|motion", 1}, {"vif|motion=motion_five_frame_window=true", 2}};
  for (const auto &[features, later] : cases)
    for (const Backend backend : {Backend::hip, Backend::automatic}) {
      SCOPED_TRACE(features);
      const auto session = make({.models = "", .features = features}, backend, clip);
      std::vector<std::weak_ptr<const void>> refs, dists;
      FrameScores scores;
      for (const Pair &pair : clip) {
        Picture ref = on_gpu(pair.ref), other = on_gpu(pair.dist);
        refs.push_back(ref.owner);
        dists.push_back(other.owner);
        ASSERT_TRUE(session->submit(std::move(ref), std::move(other)));
        // Until it is measured; features that look ahead give no score before.
        for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
             !dists.back().expired() && std::chrono::steady_clock::now() < end;) {
          if (session->next(scores) != Next::ready) std::this_thread::yield();
        }
        EXPECT_TRUE(dists.back().expired());
        for (size_t n = 0; n < refs.size(); ++n) EXPECT_EQ(refs[n].expired(), n + later < refs.size()) << n;
      }
      session->finish();
      for (const auto &ref : refs) EXPECT_TRUE(ref.expired());
    }
}

// A pool as a camera has it: buffers that other devices write, imported once, and written anew as soon as they come back.
class Pool {
 public:
  Pool(size_t buffers, size_t bytes, const Importer &importer) : bytes_(bytes), buffers_(buffers) {
    for (Buffer &buffer : buffers_) {
      buffer.fd = ::memfd_create("pool", MFD_CLOEXEC);
      if (::ftruncate(buffer.fd, off_t(bytes)) != 0) throw std::runtime_error("no memory");
      buffer.data =
          static_cast<std::byte *>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, buffer.fd, 0));
      auto memory = importer.import(buffer.fd, bytes);
      if (!memory.ok()) throw std::runtime_error(memory.status().message());
      buffer.memory = *memory;
    }
  }
  ~Pool() {
    for (Buffer &buffer : buffers_) {
      ::munmap(buffer.data, bytes_);
      ::close(buffer.fd);
    }
  }
  Pool(const Pool &) = delete;

  // A buffer with the picture, or nothing while all are in use. Nobody but the GPU reaches it.
  std::optional<Picture> write(const Picture &from) {
    for (Buffer &buffer : buffers_) {
      if (buffer.in_use) continue;
      buffer.in_use = true;
      Picture picture = from;
      size_t at = 0;
      for (size_t n = 0; n < 3; ++n) {
        Plane &plane = picture.planes[n];
        if (n < 2) std::memcpy(buffer.data + at, plane.data, size_t(plane.stride * plane.height));
        plane.data = nullptr;
        plane.device = buffer.memory.address + at;
        at += n == 0 ? size_t(plane.stride * plane.height) : 1;  // V is beside U
      }
      picture.owner = std::shared_ptr<const void>(&buffer, [this, &buffer](const void *) {
        std::memset(buffer.data, 0xee, bytes_);
        buffer.in_use = false;
      });
      return picture;
    }
    return std::nullopt;
  }

 private:
  struct Buffer {
    int fd = -1;
    std::byte *data = nullptr;
    ExternalMemory memory;
    std::atomic<bool> in_use{false};
  };
  const size_t bytes_;
  std::vector<Buffer> buffers_;
};

// As many as temporal features look back, and one for the frame that comes.
TEST_F(HipDirectTest, PoolsOfFewBuffers) {
  sim_.configure("external=any");
  const auto clip = laid_out(small_clip(9, 52, 38), kNv12, kNv12);
  const std::pair<const char *, size_t> cases[] = {
      {"psnr", 1}, {"psnr|motion", 2}, {"psnr|motion=motion_five_frame_window=true", 3}};
  for (const auto &[features, buffers] : cases)
    for (const Backend backend : {Backend::hip, Backend::automatic}) {
      SCOPED_TRACE(features);
      const SessionOptions options = {.models = "", .features = features};
      const auto expected = scores_of(options, Backend::cpu, clip);
      const auto session = make(options, backend, clip);
      Pool refs(buffers, 52 * 38 * 3 / 2, *session->importer()),
          dists(1, 52 * 38 * 3 / 2, *session->importer());
      std::vector<FrameScores> all;
      FrameScores scores;
      const auto take = [&] {
        const bool ready = session->next(scores) == Next::ready;
        if (ready)
          all.push_back(scores);
        else
          std::this_thread::yield();
      };
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
      const uint64_t uploaded = upload_bytes([&] {
        for (const Pair &pair : clip) {
          std::optional<Picture> ref, dist;
          while (!(ref || (ref = refs.write(pair.ref))) || !(dist || (dist = dists.write(pair.dist)))) {
            ASSERT_LT(std::chrono::steady_clock::now(), end) << "nothing comes back";
            take();
          }
          while (!session->has_room()) take();
          ASSERT_TRUE(session->submit(std::move(*ref), std::move(*dist)));
        }
        session->finish();
        while (session->wait(scores) == Next::ready) all.push_back(scores);
      });
      expect_same(all, expected);
      EXPECT_EQ(uploaded, 0u);
      session->reset();
    }
}

// What is elsewhere is copied, and let go as soon as it is: temporal features find it on the device.
TEST_F(HipDirectTest, PicturesOfTheHostAreNotHeldForLaterFrames) {
  const auto clip = small_clip(3, 52, 38);
  const auto session = make({.models = "", .features = "motion"}, Backend::hip, clip);
  std::weak_ptr<const void> owners[3];
  for (size_t n = 0; n < 3; ++n) {
    Picture ref = n == 1 ? on_gpu(clip[n].ref) : lay_out(clip[n].ref, kI420);
    owners[n] = ref.owner;
    ASSERT_TRUE(session->submit(std::move(ref), lay_out(clip[n].dist, kI420)));
  }
  FrameScores scores;
  for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
       !(owners[0].expired() && owners[1].expired() && owners[2].expired()) &&
       std::chrono::steady_clock::now() < end;) {
    if (session->next(scores) != Next::ready) std::this_thread::yield();
  }
  for (const auto &owner : owners) EXPECT_TRUE(owner.expired());
}

}  // namespace
}  // namespace vmafhip
