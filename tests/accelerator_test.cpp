// Frames that an accelerator measures beside the workers: who reads what from where, and what remains when it fails.
#include <atomic>
#include <chrono>
#include <cstring>
#include <set>

#include <gtest/gtest.h>

#include "engine/scheduler.h"
#include "engine/view.h"
#include "tests/fake_accelerator.h"

namespace vmafhip {
namespace {

using std::chrono::seconds;
using test::FakeAccelerator;

// What a metric sees of a frame: sums over the samples of each plane, weighted by their place.
struct Sums {
  uint64_t strips, ref, dist, earlier[2], earlier_dist;
};

uint64_t sum_of(const Views &views, PlaneSet planes) {
  uint64_t sum = 0;
  for (size_t n = 0; n < 3; ++n) {
    const PlaneView &view = views[n];
    if (!(planes >> n & 1) || !view.data) continue;
    for (int y = 0; y < view.height; ++y)
      for (int x = 0; x < view.width; ++x)
        sum += uint64_t(view.depth > 8 ? view.row<uint16_t>(y)[x] : view.row<uint8_t>(y)[x]) *
               uint64_t(1 + x + 31 * y + 1009 * int(n));
  }
  return sum;
}

class SumMetric final : public Metric {
 public:
  SumMetric(int strips, const Reads &reads, std::function<void(const FrameView &)> watch = nullptr)
      : strips_(strips), reads_(reads), watch_(std::move(watch)) {}
  int strips(int) const override { return strips_; }
  size_t scratch_bytes() const override { return 64; }
  void measure(const FrameView &frame, int, int strip, std::byte *, std::byte *,
               std::byte *partial) const override {
    if (watch_) watch_(frame);
    for (size_t d = 0; d < frame.dist.size(); ++d) {
      Sums sums = {};
      sums.strips = 1;
      if (strip == 0)
        sums = {1,
                sum_of(frame.ref, reads_.ref),
                sum_of(frame.dist[d], reads_.dist),
                {sum_of(frame.earlier[0], reads_.earlier[0]), sum_of(frame.earlier[1], reads_.earlier[1])},
                sum_of(frame.earlier_dist[d], reads_.earlier_dist)};
      std::memcpy(partial + d * sizeof sums, &sums, sizeof sums);
    }
  }

 private:
  const int strips_;
  const Reads reads_;
  const std::function<void(const FrameView &)> watch_;
};

// Twice as large each way, so that scaled and unscaled pictures differ in all sums.
class Halver final : public PlaneScaler {
 public:
  Halver(int width, int depth) : width_(width), depth_(depth) {}
  size_t scratch_bytes() const override { return 64; }
  void scale(const Picture &picture, int plane, std::byte *out, int first, int last,
             std::byte *) const override {
    const Plane &p = picture.planes[size_t(plane)];
    for (int y = first; y < last; ++y)
      for (int x = 0; x < width_; ++x) {
        const auto *row = static_cast<const std::byte *>(p.data) + 2 * y * p.stride;
        if (depth_ > 8)
          reinterpret_cast<uint16_t *>(out)[y * width_ + x] =
              uint16_t(reinterpret_cast<const uint16_t *>(row)[2 * x] >> picture.shift);
        else
          reinterpret_cast<uint8_t *>(out)[y * width_ + x] = uint8_t(row[2 * x]);
      }
  }

 private:
  const int width_, depth_;
};

// Noise that is different in every picture; `shift` > 0: words that have to be unpacked.
Picture noise(const PictureFormat &format, uint32_t seed, int shift = 0,
              MemoryKind memory = MemoryKind::host) {
  Picture picture;
  picture.format = format;
  picture.format.memory = memory;
  picture.shift = shift;
  auto bytes = std::make_shared<std::vector<std::vector<uint16_t>>>();
  for (int n = 0; n < (format.chroma == Chroma::c400 ? 1 : 3); ++n) {
    const auto [width, height] = plane_size(format, n);
    const int pitch = width + 5;
    auto &plane = bytes->emplace_back(size_t(pitch) * size_t(height));
    for (uint16_t &word : plane) {
      seed = seed * 1664525 + 1013904223;
      word = uint16_t((seed >> 8 & ((1u << format.depth) - 1)) << shift);
    }
    if (format.depth == 8) {
      auto *narrow = reinterpret_cast<uint8_t *>(plane.data());
      for (size_t i = 0; i < plane.size(); ++i) narrow[i] = uint8_t(plane[i]);
    }
    picture.planes[size_t(n)] = {plane.data(), pitch * (format.depth > 8 ? 2 : 1), width, height, 1};
  }
  picture.owner = bytes;
  return picture;
}

struct Planned {
  Reads reads;
  bool on_device = false, every_frame = true;
};
constexpr Reads kTemporal = {kLuma, kLuma, {kLuma, kLuma}, kLuma};

struct Case {
  std::vector<Planned> items = {{Reads::both(kAllPlanes), true}, {kTemporal, false}, {kTemporal, true}};
  PictureFormat format = {18, 11, 8, Chroma::c420};
  int distorted = 1, threads = 2;
  uint64_t subsample = 1;
  int shift = 0;
  bool scaled = false;  // the last distorted picture is of twice the size
  bool keeps = true;
  MemoryKind memory = MemoryKind::host;
};

class AcceleratorTest : public testing::Test {
 protected:
  void start(const Case &given, FakeAccelerator::Script script = {}, bool accelerate = true) {
    case_ = given;
    script.subsample = given.subsample;
    scheduler_ = std::make_unique<Scheduler>(given.threads, given.threads + 4);
    ASSERT_TRUE(scheduler_->start());
    configure(std::move(script), accelerate);
  }
  void configure(FakeAccelerator::Script script, bool accelerate) {
    script.subsample = case_.subsample;
    scheduler_->close();
    auto layout = make_layout(accelerate);
    std::unique_ptr<Accelerator> accelerator;
    std::vector<FakeAccelerator::Item> items;
    for (size_t i = 0; accelerate && i < case_.items.size(); ++i)
      if (case_.items[i].on_device)
        items.push_back({metric(i), sizeof(Sums), layout->sums_at(i, 0), add_integer_sums<Sums>,
                         case_.items[i].every_frame});
    if (!items.empty())
      accelerator = std::make_unique<FakeAccelerator>(std::move(items), case_.distorted,
                                                      layout->upload_bytes(), std::move(script));
    ASSERT_TRUE(scheduler_->configure(std::move(layout), true, std::move(accelerator)));
  }
  std::unique_ptr<Metric> metric(size_t item) {
    return std::make_unique<SumMetric>(1 + int(item), case_.items[item].reads, watch_);
  }
  std::unique_ptr<FrameLayout> make_layout(bool accelerate) {
    std::vector<FrameLayout::Item> items;
    for (size_t i = 0; i < case_.items.size(); ++i) {
      const Planned &planned = case_.items[i];
      items.push_back({accelerate && planned.on_device ? nullptr : metric(i), sizeof(Sums),
                       add_integer_sums<Sums>, planned.reads, planned.every_frame});
    }
    DeviceUse use;
    use.keeps = accelerate && case_.keeps;
    use.ref = case_.memory == MemoryKind::device;
    use.dist.assign(size_t(case_.distorted), use.ref);
    return std::make_unique<FrameLayout>(std::move(items), case_.format, case_.distorted, case_.subsample,
                                         scalers(), use);
  }
  std::vector<FrameLayout::Scalers> scalers() const {
    std::vector<FrameLayout::Scalers> scalers(size_t(case_.distorted));
    for (int n = 0; case_.scaled && n < 3; ++n)
      scalers.back()[size_t(n)] =
          std::make_unique<Halver>(plane_size(case_.format, n).width, case_.format.depth);
    return scalers;
  }
  bool submit(uint64_t n) {
    std::vector<Picture> dist;
    for (int d = 0; d < case_.distorted; ++d) {
      PictureFormat format = case_.format;
      if (case_.scaled && d + 1 == case_.distorted) {
        format.width *= 2;
        format.height *= 2;
      }
      dist.push_back(noise(format, uint32_t(1000 * (d + 1) + int(n)), case_.shift, case_.memory));
    }
    return scheduler_->submit(noise(case_.format, uint32_t(n), case_.shift, case_.memory), dist);
  }
  // Sums of frames one after the other, as a session takes them; those that fail end it.
  using All = std::vector<std::vector<std::byte>>;
  All run(uint64_t frames, bool resume = true) {
    All all;
    uint64_t submitted = 0;
    while (all.size() < frames) {
      while (submitted < frames && submit(submitted)) ++submitted;
      if (scheduler_->can_resume() && resume) take_over();
      if (scheduler_->has_lost_frames()) return all;
      if (!scheduler_->measured(all.size())) {
        EXPECT_TRUE(scheduler_->wait(all.size()));
        continue;
      }
      const std::byte *sums = scheduler_->measured(all.size());
      all.emplace_back(sums, sums + scheduler_->layout()->sums_bytes());
      scheduler_->release(all.size());
    }
    return all;
  }
  void take_over() {
    ++takeovers_;
    auto items = scheduler_->withdraw()->take_items();
    for (size_t i = 0; i < items.size(); ++i)
      if (!items[i].metric) items[i].metric = metric(i);
    EXPECT_TRUE(scheduler_->resume(std::make_unique<FrameLayout>(
        std::move(items), case_.format, case_.distorted, case_.subsample, scalers())));
  }
  // Padding between sums is nobody's, nor is a frame that no item measures.
  void expect_same(const All &a, const All &b) const {
    ASSERT_EQ(a.size(), b.size());
    for (size_t n = 0; n < a.size(); ++n)
      for (size_t i = 0; i < case_.items.size(); ++i)
        for (int d = 0; d < case_.distorted; ++d) {
          if (!scheduler_->layout()->measures(n)) continue;
          const uint64_t at = scheduler_->layout()->sums_at(i, d);
          ASSERT_EQ(std::memcmp(a[n].data() + at, b[n].data() + at, sizeof(Sums)), 0)
              << "frame " << n << ", item " << i << ", distorted picture " << d;
        }
  }

  Case case_;
  std::function<void(const FrameView &)> watch_;  // of all metrics
  int takeovers_ = 0;
  std::unique_ptr<Scheduler> scheduler_;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const int threads : {1, 2, 8}) all.push_back({.threads = threads});
  all.push_back({.format = {17, 9, 10, Chroma::c422}, .shift = 6});
  all.push_back({.format = {17, 9, 10, Chroma::c444}, .distorted = 3, .scaled = true});
  all.push_back({.format = {16, 8, 8, Chroma::c420}, .distorted = 2, .scaled = true, .keeps = false});
  all.push_back({.format = {16, 8, 8, Chroma::c400}});
  all.push_back({.memory = MemoryKind::pinned});
  all.push_back({.distorted = 2, .keeps = false, .memory = MemoryKind::pinned});
  for (const uint64_t subsample : {2, 3}) {
    const Reads both = Reads::both(kAllPlanes);
    all.push_back(
        {.items = {{both, true, false}, {kTemporal, false}, {kTemporal, true}}, .subsample = subsample});
    all.push_back({.items = {{both, true, false}, {kTemporal, false}}, .subsample = subsample});
    all.push_back(
        {.items = {{both, false, false}, {kTemporal, true}}, .distorted = 2, .subsample = subsample});
    all.push_back({.items = {{both, true, false}, {both, false, false}}, .subsample = subsample, .shift = 0});
  }
  return all;
}

TEST_F(AcceleratorTest, SameSumsAsWorkersAlone) {
  for (const Case &given : cases())
    for (const int places : {1, 3, 7}) {
      SCOPED_TRACE(testing::Message() << "threads " << given.threads << ", distorted " << given.distorted
                                      << ", subsample " << given.subsample << ", places " << places);
      start(given, {}, false);
      const All expected = run(13);
      start(given, {.places = places});
      expect_same(run(13), expected);
      scheduler_->clear();
      expect_same(run(13), expected);
    }
}

TEST_F(AcceleratorTest, SlotsForAllPlaces) {
  start({.threads = 2}, {.places = 9});
  EXPECT_EQ(scheduler_->slots(), 2 + 4 + 7);
  configure({}, false);
  EXPECT_EQ(scheduler_->slots(), 2 + 4);
}

// Planes that no item of the device reads do not go there, and earlier ones are there already.
TEST_F(AcceleratorTest, OnlyWhatIsReadIsHandedOver) {
  std::atomic<int> wrong{0};
  const auto planes = [](const Views &views) {
    return (views[0].data ? 1 : 0) + (views[1].data ? 2 : 0) + (views[2].data ? 4 : 0);
  };
  const auto check = [&](const FrameView &view) {
    wrong += planes(view.ref) != (view.index % 2 == 0 ? (kLuma | kChroma) : kChroma);
    wrong += planes(view.dist[0]) != (view.index % 2 == 0 ? kLuma : 0);
    wrong += planes(view.earlier[0]) + planes(view.earlier[1]) + planes(view.earlier_dist[0]);
  };
  start({.items = {{Reads::both(kLuma), true, false}, {{0, 0, {0, kChroma}}, true}, {kTemporal, false}},
         .subsample = 2},
        {.on_start = check});
  run(9);
  EXPECT_EQ(wrong, 0);
}

TEST_F(AcceleratorTest, PicturesInDeviceMemoryAreReadThere) {
  std::atomic<int> wrong{0};
  const auto check = [&](const FrameView &view) {
    for (const PlaneView &plane :
         {view.ref[0], view.dist[0][0], view.earlier[0][0], view.earlier[1][0], view.earlier_dist[0][0]})
      wrong += plane.data && plane.memory != MemoryKind::device;
    wrong += (view.earlier[1][0].data != nullptr) != (view.index >= 2);
    wrong += (view.earlier_dist[0][0].data != nullptr) != (view.index >= 1);
  };
  Case given = {.items = {{kTemporal, true}}};
  start(given, {}, false);
  const All expected = run(8);
  given.memory = MemoryKind::device;
  given.keeps = false;
  start(given, {.on_start = check});
  EXPECT_EQ(scheduler_->layout()->upload_bytes(), 0u);
  EXPECT_EQ(scheduler_->layout()->uploads_ref(), 0);
  expect_same(run(8), expected);
  EXPECT_EQ(wrong, 0);
}

// ---- Pictures ---------------------------------------------------------------------------------------------

// Opens for all when `count` have come; false if they do not come.
class Gate {
 public:
  explicit Gate(int count) : missing_(count) {}
  bool pass() {
    std::unique_lock lock(mutex_);
    if (--missing_ <= 0) all_.notify_all();
    return all_.wait_for(lock, seconds(30), [&] { return missing_ <= 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_;
  int missing_;
};

// Whether the pictures of a frame are held while the device measures it; they go back before it is said to be done.
class HeldTest : public AcceleratorTest {
 protected:
  void expect_held(Case given, bool held) {
    Gate begun(2), end(2);
    given.items = {{kTemporal, true}};
    start(given, {.on_measure = [&](const FrameView &view) {
            if (view.index != 0) return;
            EXPECT_TRUE(begun.pass());
            EXPECT_TRUE(end.pass());
          }});
    Picture ref = noise(given.format, 1, given.shift, given.memory);
    std::vector<Picture> dist = {noise(given.format, 2, given.shift, given.memory)};
    const std::weak_ptr<const void> owners[] = {ref.owner, dist[0].owner};
    ASSERT_TRUE(scheduler_->submit(std::move(ref), dist));
    scheduler_->finish();
    EXPECT_TRUE(begun.pass());
    for (const auto &owner : owners) EXPECT_EQ(owner.expired(), !held);
    EXPECT_TRUE(end.pass());
    EXPECT_TRUE(scheduler_->wait(0));
    for (const auto &owner : owners) EXPECT_TRUE(owner.expired());
  }
};

TEST_F(HeldTest, UntilTheyAreCopied) { expect_held({.keeps = false}, false); }
TEST_F(HeldTest, UntilMeasuredIfTheCpuMayHaveTo) { expect_held({.keeps = true}, true); }
TEST_F(HeldTest, UntilMeasuredIfTheDeviceCopies) {
  expect_held({.keeps = false, .memory = MemoryKind::pinned}, true);
}
TEST_F(HeldTest, UntilUnpackedEvenIfPinned) {
  expect_held(
      {.format = {18, 11, 10, Chroma::c420}, .shift = 6, .keeps = false, .memory = MemoryKind::pinned},
      false);
}
TEST_F(HeldTest, UntilMeasuredOnTheDevice) {
  expect_held({.keeps = false, .memory = MemoryKind::device}, true);
}

// ---- Order ------------------------------------------------------------------------------------------------

// One worker: what it does first for a frame that is prepared is to hand it over.
TEST_F(AcceleratorTest, TheDeviceComesBeforeTheWorkersOwnTasks) {
  std::vector<std::string> calls;
  watch_ = [&](const FrameView &) { calls.push_back("metric"); };
  start({.items = {{Reads::both(kLuma), false}, {Reads::both(kLuma), true}}, .threads = 1});
  watch_ = nullptr;
  Gate end(2);
  configure({.on_start = [&](const FrameView &) { calls.push_back("start"); },
             .on_measure = [&](const FrameView &) { EXPECT_TRUE(end.pass()); }},
            true);
  calls.clear();
  ASSERT_TRUE(submit(0));
  EXPECT_TRUE(end.pass());
  EXPECT_TRUE(scheduler_->wait(0));
  EXPECT_EQ(calls.front(), "start");
}

// The device is done before the worker is back from handing the frame over.
TEST_F(AcceleratorTest, MeasuredBeforeStartReturns) {
  std::mutex mutex;
  std::condition_variable changed;
  bool measured = false;
  start({.items = {{Reads::both(kLuma), true}}, .threads = 1},
        {.on_started =
             [&](uint64_t) {
               std::unique_lock lock(mutex);
               EXPECT_TRUE(changed.wait_for(lock, seconds(30), [&] { return measured; }));
               measured = false;
             },
         .on_measured =
             [&](uint64_t) {
               std::lock_guard lock(mutex);
               measured = true;
               changed.notify_all();
             }});
  EXPECT_EQ(run(5).size(), 5u);
}

// More frames than workers are with the device at the same time.
TEST_F(AcceleratorTest, AllPlacesAreUsed) {
  std::atomic<int> started{0};
  start({.items = {{Reads::both(kLuma), true}}, .threads = 2},
        {.places = 5,
         .on_start = [&](const FrameView &) { ++started; },
         .on_measure =
             [&](const FrameView &view) {
               if (view.index == 0)
                 for (const auto end = std::chrono::steady_clock::now() + seconds(30);
                      started < 5 && std::chrono::steady_clock::now() < end;)
                   std::this_thread::yield();
             }});
  for (uint64_t n = 0; n < 8; ++n) ASSERT_TRUE(submit(n));
  EXPECT_TRUE(scheduler_->wait(0));
  EXPECT_GE(started, 5);
  EXPECT_TRUE(scheduler_->wait(7));
}

TEST_F(AcceleratorTest, ClearAtAnyTime) {
  start({.threads = 3}, {.places = 5});
  const All expected = run(6);
  for (int round = 0; round < 200; ++round) {
    scheduler_->clear();
    for (int n = 0; n < round % 9; ++n) submit(uint64_t(n + 50));
    if (round % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(round));
    scheduler_->clear();
    if (round % 20 == 0) expect_same(run(6), expected);
  }
}

TEST_F(AcceleratorTest, EndsWithFramesInFlight) {
  for (int round = 0; round < 50; ++round) {
    start({.threads = 2}, {.places = 4});
    for (int n = 0; n < round % 8; ++n) submit(uint64_t(n));
    scheduler_.reset();
  }
}

// ---- Failure ----------------------------------------------------------------------------------------------

TEST_F(AcceleratorTest, WorkersGoOnWhereItFails) {
  for (const Case &given : cases()) {
    if (!given.keeps) continue;
    start(given, {}, false);
    const All expected = run(12);
    for (const bool in_start : {false, true})
      for (uint64_t at = 0; at < 12; at += given.subsample) {
        SCOPED_TRACE(testing::Message() << "at " << at << (in_start ? " in start()" : ""));
        takeovers_ = 0;
        start(given, {.places = 3, .fail_at = at, .fail_in_start = in_start});
        expect_same(run(12), expected);
        EXPECT_EQ(takeovers_, 1);
        EXPECT_TRUE(scheduler_->failure().ok());
        scheduler_->clear();
        expect_same(run(12), expected);
      }
  }
}

// Sums that were there when it failed are not measured again.
TEST_F(AcceleratorTest, WhatIsMeasuredStays) {
  std::mutex mutex;
  std::multiset<uint64_t> measured;
  watch_ = [&](const FrameView &view) {
    std::lock_guard lock(mutex);
    measured.insert(view.index);
  };
  start({.items = {{Reads::both(kLuma), true}}, .threads = 1}, {.places = 4, .fail_at = 3});
  for (uint64_t n = 0; n < 6; ++n) ASSERT_TRUE(submit(n));
  EXPECT_TRUE(scheduler_->wait(5));
  ASSERT_TRUE(scheduler_->can_resume());
  EXPECT_EQ(scheduler_->failure().message(), "the fake is lost");
  take_over();
  EXPECT_TRUE(scheduler_->wait(5));
  for (uint64_t n = 0; n < 6; ++n) {
    EXPECT_TRUE(scheduler_->wait(n));
    EXPECT_EQ(measured.count(n), 1u) << n;
  }
}

TEST_F(AcceleratorTest, NothingComesIfPicturesWereNotKept) {
  for (const bool in_start : {false, true}) {
    std::atomic<int> told{0};
    scheduler_ = nullptr;
    start({.threads = 2, .keeps = false}, {.places = 3, .fail_at = 4, .fail_in_start = in_start});
    scheduler_->on_progress([&] { ++told; });
    const All all = run(12);
    EXPECT_LE(all.size(), 4u);
    EXPECT_FALSE(scheduler_->can_resume());
    EXPECT_FALSE(scheduler_->has_room());
    EXPECT_FALSE(submit(all.size()));
    EXPECT_TRUE(scheduler_->wait(4)) << "nobody waits for what does not come";
    EXPECT_FALSE(scheduler_->failure().ok());
    EXPECT_GT(told, 0);
    scheduler_->clear();
    EXPECT_FALSE(scheduler_->has_room()) << "until the next configuration";
    configure({}, true);
    EXPECT_TRUE(scheduler_->failure().ok());
    EXPECT_EQ(run(12).size(), 12u);
  }
}

TEST_F(AcceleratorTest, RefusedFrames) {
  start({}, {.places = 3});
  for (uint64_t n = 0; n < 2; ++n) ASSERT_TRUE(submit(n));
  scheduler_->refuse(Status(Code::unsupported, "not this one"));
  EXPECT_FALSE(scheduler_->has_room());
  EXPECT_TRUE(scheduler_->wait(1));
  EXPECT_NE(scheduler_->measured(1), nullptr) << "what came before is measured";
  EXPECT_FALSE(scheduler_->has_lost_frames());
  EXPECT_EQ(scheduler_->failure().message(), "not this one");
  scheduler_->clear();
  EXPECT_TRUE(scheduler_->failure().ok());
  EXPECT_TRUE(scheduler_->has_room());
}

}  // namespace
}  // namespace vmafhip
