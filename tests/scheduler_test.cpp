// Workers and tasks, with metrics that watch when and where they are called.
#include "engine/scheduler.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "tests/meeting.h"

namespace vmafhip {
namespace {

using std::chrono::seconds;

struct Sums {
  uint64_t tasks, order;
};

// The order of additions shows in the result.
void add_in_order(std::byte *total, const std::byte *partial) {
  Sums a, b;
  std::memcpy(&a, total, sizeof a);
  std::memcpy(&b, partial, sizeof b);
  a = {a.tasks + 1, a.order * 1000003 + b.order};
  std::memcpy(total, &a, sizeof a);
}

struct Call {
  const FrameView &frame;
  int stage, strip;
  std::byte *memory, *scratch;
};

class WatchedMetric final : public Metric {
 public:
  using Watch = std::function<void(const Call &)>;
  WatchedMetric(std::vector<int> strips, Watch watch)
      : strips_(std::move(strips)), watch_(std::move(watch)) {}
  int stages() const override { return int(strips_.size()); }
  int strips(int stage) const override { return strips_[size_t(stage)]; }
  size_t scratch_bytes() const override { return 256; }
  size_t frame_bytes() const override { return 64; }
  void measure(const FrameView &frame, int stage, int strip, std::byte *memory, std::byte *scratch,
               std::byte *partial) const override {
    if (watch_) watch_({frame, stage, strip, memory, scratch});
    for (size_t d = 0; d < frame.dist.size(); ++d) {
      const Sums sums = {0, frame.index * 10000 + uint64_t(stage) * 100 + uint64_t(strip) + d * 1000000};
      std::memcpy(partial + d * sizeof sums, &sums, sizeof sums);
    }
  }

 private:
  const std::vector<int> strips_;
  const Watch watch_;
};

// Writes the number of each row into it; adds up what it is asked for.
class WatchedScaler final : public PlaneScaler {
 public:
  struct Log {
    std::atomic<int> calls{0}, rows{0}, wrong{0};
  };
  WatchedScaler(int width, Log &log, std::function<void()> watch = nullptr)
      : width_(width), log_(log), watch_(std::move(watch)) {}
  size_t scratch_bytes() const override { return 1024; }  // more than any metric
  void scale(const Picture &picture, int plane, std::byte *out, int first, int last,
             std::byte *scratch) const override {
    if (watch_) watch_();
    log_.wrong += plane != 0 || !picture.planes[0].data;
    std::memset(scratch, 1, scratch_bytes());
    for (int y = first; y < last; ++y) std::memset(out + ptrdiff_t(y) * width_, y & 255, size_t(width_));
    ++log_.calls;
    log_.rows += last - first;
  }

 private:
  const int width_;
  Log &log_;
  const std::function<void()> watch_;
};

// The same in words.
class WordScaler final : public PlaneScaler {
 public:
  WordScaler(int width, WatchedScaler::Log &log) : width_(width), log_(log) {}
  size_t scratch_bytes() const override { return 64; }
  void scale(const Picture &picture, int plane, std::byte *out, int first, int last,
             std::byte *) const override {
    log_.wrong += plane != 0 || !picture.planes[0].data;
    for (int y = first; y < last; ++y)
      std::fill_n(reinterpret_cast<uint16_t *>(out) + ptrdiff_t(y) * width_, width_, uint16_t(y));
  }

 private:
  const int width_;
  WatchedScaler::Log &log_;
};

// A 4x2 picture; `shift` > 0: as words, so that it has to be unpacked.
Picture picture_of(uint8_t value, int shift = 0) {
  auto bytes = std::make_shared<std::vector<uint8_t>>(16, value);
  Picture picture;
  picture.format = {4, 2, shift ? 10 : 8, Chroma::c400};
  picture.shift = shift;
  picture.planes[0] = {bytes->data(), shift ? 8 : 4, 4, 2, 1};
  picture.owner = bytes;
  return picture;
}

class SchedulerTest : public testing::Test {
 protected:
  void add(std::vector<int> strips, WatchedMetric::Watch watch = nullptr,
           const Reads &reads = Reads::both(kLuma), bool every_frame = true) {
    items_.push_back({std::make_unique<WatchedMetric>(std::move(strips), std::move(watch)), sizeof(Sums),
                      add_in_order, reads, every_frame});
  }
  void start(int threads, int slots = 8, const PictureFormat &format = {4, 2, 8, Chroma::c400},
             int distorted = 1, uint64_t subsample = 1, std::vector<FrameLayout::Scalers> scalers = {}) {
    scheduler_ = std::make_unique<Scheduler>(threads, slots);
    ASSERT_TRUE(scheduler_->start());
    ASSERT_TRUE(scheduler_->configure(
        std::make_unique<FrameLayout>(std::move(items_), format, distorted, subsample, std::move(scalers)),
        true));
  }
  bool submit(Picture ref = picture_of(1), Picture dist = picture_of(2)) {
    return scheduler_->submit(std::move(ref), {&dist, 1});
  }
  // Waits for the frame.
  Sums sums(uint64_t frame, int distorted = 0, size_t item = 0) {
    EXPECT_TRUE(scheduler_->wait(frame));
    Sums out;
    std::memcpy(&out, scheduler_->measured(frame) + scheduler_->layout()->sums_at(item, distorted),
                sizeof out);
    return out;
  }

  std::vector<FrameLayout::Item> items_;
  std::unique_ptr<Scheduler> scheduler_;
};

// ---- Who works on what ------------------------------------------------------------------------------------

TEST_F(SchedulerTest, OneFrameHasAllWorkers) {
  test::Meeting gate(3);
  std::mutex mutex;
  std::set<std::thread::id> workers;
  add({3}, [&](const Call &) {
    EXPECT_TRUE(gate.pass()) << "the strips of a stage are not done at the same time";
    std::lock_guard lock(mutex);
    workers.insert(std::this_thread::get_id());
  });
  start(3);
  ASSERT_TRUE(submit());
  EXPECT_EQ(sums(0).tasks, 3u);
  EXPECT_EQ(workers.size(), 3u);
}

TEST_F(SchedulerTest, MetricsOfAFrameDoNotWaitForEachOther) {
  test::Meeting gate(2);
  add({1, 1}, [&](const Call &c) { EXPECT_TRUE(c.stage == 0 || gate.pass()); });
  add({1}, [&](const Call &) { EXPECT_TRUE(gate.pass()); });
  start(2);
  ASSERT_TRUE(submit());
  EXPECT_EQ(sums(0, 0, 0).tasks, 2u);
  EXPECT_EQ(sums(0, 0, 1).tasks, 1u);
}

TEST_F(SchedulerTest, WorkersGoOnToLaterFrames) {
  test::Meeting gate(3);
  add({1}, [&](const Call &) { EXPECT_TRUE(gate.pass()); });
  start(3);
  for (int n = 0; n < 3; ++n) ASSERT_TRUE(submit());
  for (uint64_t n = 0; n < 3; ++n) EXPECT_EQ(sums(n).tasks, 1u);
}

TEST_F(SchedulerTest, OldestFrameFirst) {
  std::vector<std::tuple<uint64_t, int, int>> calls, expected;
  add({2, 3}, [&](const Call &c) { calls.emplace_back(c.frame.index, c.stage, c.strip); });
  start(1);
  for (uint64_t n = 0; n < 5; ++n) {
    for (int strip = 0; strip < 2; ++strip) expected.emplace_back(n, 0, strip);
    for (int strip = 0; strip < 3; ++strip) expected.emplace_back(n, 1, strip);
    ASSERT_TRUE(submit());
  }
  EXPECT_EQ(sums(4).tasks, 5u);
  EXPECT_EQ(calls, expected);
}

// ---- Who is told ------------------------------------------------------------------------------------------

TEST_F(SchedulerTest, ToldOfSeveralFrames) {
  std::atomic<uint64_t> allowed{0};
  std::atomic<int> told{0};
  add({1}, [&](const Call &c) {
    while (c.frame.index >= allowed) std::this_thread::yield();
  });
  scheduler_ = std::make_unique<Scheduler>(1, 8);
  scheduler_->on_progress([&] { ++told; });
  ASSERT_TRUE(scheduler_->start());
  ASSERT_TRUE(scheduler_->configure(
      std::make_unique<FrameLayout>(std::move(items_), PictureFormat{4, 2, 8, Chroma::c400}, 1), false));
  const auto see = [&](int times) {
    while (told < times) std::this_thread::yield();
    EXPECT_EQ(told, times);
  };
  EXPECT_TRUE(scheduler_->call_at(1)) << "there is nothing";
  submit();
  allowed = 1;
  see(1);
  EXPECT_FALSE(scheduler_->call_at(1)) << "there is one";
  scheduler_->release(1);
  EXPECT_TRUE(scheduler_->call_at(3));
  for (int n = 1; n <= 4; ++n) submit();
  allowed = 3;
  sums(2);
  allowed = 4;
  see(2);  // of frames 1 to 3, once
  scheduler_->release(4);
  allowed = 5;
  see(3);  // of frame 4, which is all that there is
  scheduler_->release(5);
  for (int n = 5; n <= 6; ++n) submit();
  allowed = 6;
  sums(5);
  EXPECT_TRUE(scheduler_->call_at(2));
  EXPECT_FALSE(scheduler_->call_at(1)) << "one is measured, of which nobody was told";
  allowed = 7;
  see(4);
  scheduler_->clear();
  EXPECT_TRUE(scheduler_->call_at(1));
}

// A worker is held in the first stage of frame 0 while the other one goes through frames 1 and 2; when it is let go,
// what is left of frame 0 comes before what is left of frame 2.
TEST_F(SchedulerTest, BackToTheOldestFrame) {
  using Place = std::tuple<uint64_t, int, int>;
  test::Meeting held(2), let_go(2);
  std::mutex mutex;
  std::vector<Place> calls;
  add({2, 1}, [&](const Call &c) {
    const Place place(c.frame.index, c.stage, c.strip);
    {
      std::lock_guard lock(mutex);
      calls.push_back(place);
    }
    if (place == Place(0, 0, 0) || place == Place(2, 0, 0)) {
      EXPECT_TRUE(held.pass());
    }
    if (place == Place(2, 0, 0)) {
      EXPECT_TRUE(let_go.pass());
    }
  });
  start(2);
  for (int n = 0; n < 3; ++n) ASSERT_TRUE(submit());
  EXPECT_EQ(sums(0).tasks, 3u);
  EXPECT_TRUE(let_go.pass());
  EXPECT_EQ(sums(2).tasks, 3u);
  const auto at = [&](Place place) { return std::find(calls.begin(), calls.end(), place) - calls.begin(); };
  EXPECT_LT(at({1, 1, 0}), at({2, 0, 0})) << "frame 1 was done meanwhile";
  EXPECT_LT(at({0, 1, 0}), at({2, 0, 1})) << "frame 0 comes first as soon as it can";
}

// Metrics in the order in which their tasks are taken by one worker.
TEST_F(SchedulerTest, MetricsReadPicturesSideBySide) {
  for (const bool in_a_hurry : {false, true}) {
    add({2});
    add({6, 1, 1});
    add({3, 1});
    const FrameLayout layout(std::move(items_), {4, 2, 8, Chroma::c400}, 1);
    FrameWork work(layout);
    ASSERT_TRUE(work.allocate());
    FramePictures pictures(1);
    pictures.ref = picture_of(1);
    pictures.dist[0] = picture_of(2);
    alignas(kAlign) std::array<std::byte, 1024> sums;
    ASSERT_LE(layout.sums_bytes(), sums.size());
    work.begin(0, pictures, sums.data());
    std::string order;
    for (Task task; work.take(task, in_a_hurry);) {
      order += char('0' + task.chain);
      EXPECT_EQ(work.done(task), order.size() == 14);
    }
    EXPECT_EQ(order, in_a_hurry ? "22222223331123" : "12322312232223");
  }
}

// ---- What they may rely on --------------------------------------------------------------------------------

TEST_F(SchedulerTest, StagesWaitForTheOnesBefore) {
  const std::vector<int> strips = {5, 1, 0, 7, 2};
  constexpr uint64_t kFrames = 200;
  std::vector<std::array<std::atomic<int>, 5>> done(kFrames);
  std::atomic<int> wrong{0};
  for (int metric = 0; metric < 2; ++metric)
    add(strips, [&](const Call &c) {
      // Both metrics count: no strip of a stage comes before its own metric's strips of the stage before.
      int before = 0, least = 0;
      for (int s = 0; s < c.stage; ++s) {
        before += done[c.frame.index][size_t(s)];
        least += strips[size_t(s)];
      }
      wrong += before < least;
      if (c.strip % 2) std::this_thread::yield();
      ++done[c.frame.index][size_t(c.stage)];
    });
  start(4, 6);
  uint64_t submitted = 0;
  for (uint64_t n = 0; n < kFrames; ++n) {
    while (submitted < kFrames && submit()) ++submitted;
    EXPECT_EQ(sums(n).tasks, 15u);
    scheduler_->release(n + 1);
  }
  EXPECT_EQ(wrong, 0);
}

TEST_F(SchedulerTest, SumsAreAddedInOrderWhateverTheThreads) {
  std::vector<uint64_t> expected;
  for (const int threads : {1, 2, 3, 8}) {
    add({4, 2, 9});
    start(threads, 4, {4, 2, 8, Chroma::c400}, 2);
    for (uint64_t n = 0; n < 50; ++n) {
      Picture dist[] = {picture_of(1), picture_of(2)};
      ASSERT_TRUE(scheduler_->submit(picture_of(3), dist));
      for (int d = 0; d < 2; ++d) {
        const uint64_t order = sums(n, d).order;
        if (threads == 1) expected.push_back(order);
        EXPECT_EQ(order, expected[n * 2 + size_t(d)]);
      }
      scheduler_->release(n + 1);
    }
    EXPECT_NE(expected[0], expected[1]);
  }
}

TEST_F(SchedulerTest, MemoryIsAFramesOwnAndScratchAWorkers) {
  std::atomic<int> wrong{0};
  const auto watch = [&](const Call &c) {
    uint64_t mark = c.frame.index;
    if (c.stage == 0) {
      std::memcpy(c.memory, &mark, sizeof mark);
      std::memset(c.memory + 8, 0x5a, 56);
    } else {
      std::memcpy(&mark, c.memory, sizeof mark);
    }
    std::memset(c.scratch, int(c.frame.index & 255), 256);
    std::this_thread::yield();
    for (int i = 0; i < 256; ++i) wrong += c.scratch[i] != std::byte(c.frame.index & 255);
    wrong += mark != c.frame.index || reinterpret_cast<uintptr_t>(c.memory) % 64 != 0 ||
             reinterpret_cast<uintptr_t>(c.scratch) % 64 != 0;
  };
  add({1, 4, 1}, watch);
  add({1, 1}, watch);
  start(4, 9);
  uint64_t submitted = 0;
  for (uint64_t n = 0; n < 300; ++n) {
    while (submitted < 300 && submit()) ++submitted;
    EXPECT_EQ(sums(n).tasks, 6u);
    scheduler_->release(n + 1);
  }
  EXPECT_EQ(wrong, 0);
}

TEST_F(SchedulerTest, ClearDropsWhatIsInProgress) {
  std::atomic<uint64_t> calls{0};
  add({3, 2}, [&](const Call &c) {
    ++calls;
    if (c.strip == 0) std::this_thread::yield();
  });
  start(3, 5);
  for (int round = 0; round < 200; ++round) {
    for (int n = 0; n < round % 7; ++n) submit();
    scheduler_->clear();
    const uint64_t before = calls;
    ASSERT_TRUE(submit());
    EXPECT_EQ(sums(0).tasks, 5u);
    EXPECT_EQ(calls, before + 5) << "a dropped frame was worked on";
    scheduler_->clear();
  }
}

// ---- Pictures ---------------------------------------------------------------------------------------------

bool comes_back(const std::weak_ptr<const void> &owner) {
  for (const auto end = std::chrono::steady_clock::now() + seconds(30);
       std::chrono::steady_clock::now() < end;) {
    if (owner.expired()) return true;
    std::this_thread::yield();
  }
  return false;
}

TEST_F(SchedulerTest, UnpackedPicturesGoBackBeforeTheFrameIsDone) {
  test::Meeting end(2);
  add({1}, [&](const Call &c) {
    EXPECT_EQ(c.frame.ref[0].row<uint16_t>(1)[3], 0x0101 >> 6);
    EXPECT_EQ(c.frame.dist[0][0].row<uint16_t>(0)[0], 0x0202 >> 6);
    EXPECT_TRUE(end.pass());
    EXPECT_EQ(c.frame.ref[0].row<uint16_t>(0)[0], 0x0101 >> 6);
  });
  start(1, 4, {4, 2, 10, Chroma::c400});
  Picture ref = picture_of(1, 6), dist = picture_of(2, 6);
  const std::weak_ptr<const void> ref_owner = ref.owner, dist_owner = dist.owner;
  ASSERT_TRUE(submit(std::move(ref), std::move(dist)));
  EXPECT_TRUE(comes_back(ref_owner));
  EXPECT_TRUE(comes_back(dist_owner));
  EXPECT_EQ(scheduler_->measured(0), nullptr);
  EXPECT_TRUE(end.pass());
  EXPECT_EQ(sums(0).tasks, 1u);
}

// Whatever lies in place of a picture of another size is not read by the metric.
TEST_F(SchedulerTest, ScaledPicturesGoBackBeforeTheFrameIsDone) {
  test::Meeting end(2);
  add({1}, [&](const Call &c) {
    EXPECT_TRUE(end.pass());
    EXPECT_EQ(c.frame.dist[0][0].width, 4);
    EXPECT_EQ(c.frame.dist[0][0].height, 2);
    EXPECT_EQ(c.frame.dist[0][0].row<uint8_t>(1)[3], 1);
  });
  WatchedScaler::Log log;
  std::vector<FrameLayout::Scalers> scalers(1);
  scalers[0][0] = std::make_unique<WatchedScaler>(4, log);
  start(1, 4, {4, 2, 8, Chroma::c400}, 1, 1, std::move(scalers));
  Picture ref = picture_of(1), dist = picture_of(2);
  const std::weak_ptr<const void> ref_owner = ref.owner, dist_owner = dist.owner;
  ASSERT_TRUE(submit(std::move(ref), std::move(dist)));
  EXPECT_TRUE(comes_back(dist_owner));
  EXPECT_FALSE(ref_owner.expired());
  EXPECT_TRUE(end.pass());
  EXPECT_EQ(sums(0).tasks, 1u);
  EXPECT_EQ(log.wrong, 0);
}

TEST_F(SchedulerTest, PicturesReadInPlaceGoBackAfterTheLastTask) {
  test::Meeting begun(2), end(2);
  add({1}, [&](const Call &) {
    EXPECT_TRUE(begun.pass());
    EXPECT_TRUE(end.pass());
  });
  start(1);
  Picture ref = picture_of(1), dist = picture_of(2);
  const std::weak_ptr<const void> ref_owner = ref.owner, dist_owner = dist.owner;
  ASSERT_TRUE(submit(std::move(ref), std::move(dist)));
  EXPECT_TRUE(begun.pass());
  EXPECT_FALSE(ref_owner.expired());
  EXPECT_FALSE(dist_owner.expired());
  EXPECT_TRUE(end.pass());
  EXPECT_EQ(sums(0).tasks, 1u);
  EXPECT_TRUE(ref_owner.expired()) << "pictures go back before the frame is said to be measured";
  EXPECT_TRUE(dist_owner.expired());
}

TEST_F(SchedulerTest, EarlierReferences) {
  std::atomic<int> wrong{0};
  add({2, 1},
      [&](const Call &c) {
        for (size_t back = 1; back <= 2; ++back) {
          const PlaneView &earlier = c.frame.earlier[back - 1][0];
          if (c.frame.index < back)
            wrong += earlier.data != nullptr;
          else
            wrong += earlier.row<uint16_t>(1)[3] != ((10 + c.frame.index - back) * 0x0101) >> 6;
          wrong += c.frame.earlier_dist[0][0].data != nullptr;
        }
      },
      {kLuma, kLuma, {kLuma, kLuma}});
  start(3, 5, {4, 2, 10, Chroma::c400});
  for (int round = 0; round < 2; ++round) {
    for (uint64_t n = 0; n < 20; ++n) {
      ASSERT_TRUE(submit(picture_of(uint8_t(10 + n), 6), picture_of(1, 6)));
      if (n < 4) continue;
      EXPECT_EQ(sums(n - 4).tasks, 3u);
      scheduler_->release(n - 3);
    }
    scheduler_->clear();
  }
  EXPECT_EQ(wrong, 0);
}

// Whoever reads the reference before the previous one need not have the previous one unpacked.
TEST_F(SchedulerTest, OnlyTheEarlierReferenceThatIsRead) {
  std::atomic<int> wrong{0};
  add({1},
      [&](const Call &c) {
        wrong += c.frame.earlier[0][0].data != nullptr || c.frame.dist[0][0].data != nullptr;
        if (c.frame.index < 2)
          wrong += c.frame.earlier[1][0].data != nullptr;
        else
          wrong += c.frame.earlier[1][0].row<uint8_t>(1)[3] != 8 + c.frame.index;
      },
      {kLuma, 0, {0, kLuma}});
  start(2, 9);
  for (uint64_t n = 0; n < 8; ++n) {
    Picture dist = picture_of(1);
    const std::weak_ptr<const void> dist_owner = dist.owner;
    ASSERT_TRUE(submit(picture_of(uint8_t(10 + n)), std::move(dist)));
    EXPECT_TRUE(dist_owner.expired()) << "a picture that nobody reads is let go at once";
  }
  for (uint64_t n = 0; n < 8; ++n) EXPECT_EQ(sums(n).tasks, 1u);
  EXPECT_EQ(wrong, 0);
}

// Of three, the second one scaled; the frame before is there in the same form as when it was current.
TEST_F(SchedulerTest, EarlierDistortedPictures) {
  std::atomic<int> wrong{0};
  add({2, 1},
      [&](const Call &c) {
        for (size_t d = 0; d < 3; ++d) {
          const PlaneView &now = c.frame.dist[d][0], &earlier = c.frame.earlier_dist[d][0];
          const auto expected = [&](uint64_t frame) {
            return d == 1 ? 1u : unsigned(((10 + 50 * d + frame) * 0x0101) >> 6);
          };
          wrong += now.row<uint16_t>(1)[3] != expected(c.frame.index);
          if (c.frame.index == 0)
            wrong += earlier.data != nullptr;
          else
            wrong += earlier.row<uint16_t>(1)[3] != expected(c.frame.index - 1) || earlier.width != 4 ||
                     earlier.height != 2 || earlier.depth != 10;
        }
        wrong += c.frame.earlier[0][0].data != nullptr;
      },
      {kLuma, kLuma, {}, kLuma});
  WatchedScaler::Log log;
  std::vector<FrameLayout::Scalers> scalers(3);
  scalers[1][0] = std::make_unique<WordScaler>(4, log);
  start(3, 5, {4, 2, 10, Chroma::c400}, 3, 1, std::move(scalers));
  for (int round = 0; round < 2; ++round) {
    for (uint64_t n = 0; n < 20; ++n) {
      std::vector<Picture> dist;
      for (int d = 0; d < 3; ++d) dist.push_back(picture_of(uint8_t(10 + 50 * d + n), 6));
      ASSERT_TRUE(scheduler_->submit(picture_of(1, 6), dist));
      if (n < 4) continue;
      EXPECT_EQ(sums(n - 4).tasks, 3u);
      scheduler_->release(n - 3);
    }
    scheduler_->clear();
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(log.wrong, 0);
}

// A distorted picture that the next frame reads is held as long, and no longer than the stream.
TEST_F(SchedulerTest, EarlierDistortedPicturesGoBack) {
  add({1}, nullptr, {kLuma, kLuma, {kLuma}, kLuma});
  start(1);
  std::vector<std::weak_ptr<const void>> owners;
  for (uint64_t n = 0; n < 3; ++n) {
    Picture ref = picture_of(1), dist = picture_of(2);
    owners.insert(owners.end(), {ref.owner, dist.owner});
    ASSERT_TRUE(submit(std::move(ref), std::move(dist)));
    EXPECT_EQ(sums(n).tasks, 1u);
    for (size_t i = 0; i < 2 * n; ++i) EXPECT_TRUE(owners[i].expired()) << i;
  }
  EXPECT_FALSE(owners[4].expired());
  EXPECT_FALSE(owners[5].expired());
  scheduler_->finish();
  EXPECT_TRUE(owners[4].expired());
  EXPECT_TRUE(owners[5].expired());
}

// Of frames that are not scored, what the others leave is not read.
TEST_F(SchedulerTest, FramesBetweenReadWhatEveryFrameNeeds) {
  std::atomic<int> wrong{0}, scored{0}, temporal{0};
  const auto planes = [](const Views &views) {
    return (views[0].data ? 1 : 0) + (views[1].data ? 2 : 0) + (views[2].data ? 4 : 0);
  };
  add(
      {1},
      [&](const Call &c) {
        ++scored;
        wrong += c.frame.index % 3 != 0;
      },
      Reads::both(kAllPlanes), false);
  add({1},
      [&](const Call &c) {
        ++temporal;
        const bool whole = c.frame.index % 3 == 0;
        wrong += planes(c.frame.ref) != (whole ? kAllPlanes : kChroma);
        wrong += planes(c.frame.dist[0]) != (whole ? kAllPlanes : kLuma);
        wrong += planes(c.frame.earlier[0]) != (c.frame.index == 0 ? 0 : kChroma);
        wrong += planes(c.frame.earlier_dist[0]) != (c.frame.index == 0 ? 0 : kLuma);
      },
      {kChroma, kLuma, {kChroma}, kLuma});
  start(2, 10, {4, 2, 8, Chroma::c444}, 1, 3);
  const std::vector<uint8_t> bytes(8, 7);
  Picture picture;
  picture.format = {4, 2, 8, Chroma::c444};
  for (Plane &plane : picture.planes) plane = {bytes.data(), 4, 4, 2, 1};
  for (uint64_t n = 0; n < 7; ++n) ASSERT_TRUE(submit(picture, picture));
  for (uint64_t n = 0; n < 7; ++n) {
    EXPECT_EQ(sums(n, 0, 0).tasks, n % 3 == 0 ? 1u : 0u);
    EXPECT_EQ(sums(n, 0, 1).tasks, 1u);
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(scored, 3);
  EXPECT_EQ(temporal, 7);
}

// 5x3 samples, 4:2:0 with interleaved chroma: 3x2 samples of each kind.
TEST_F(SchedulerTest, PlanesAreViewedIfTheyAreWanted) {
  auto bytes = std::make_shared<std::vector<uint8_t>>();
  for (int i = 0; i < 5 * 3 + 6 * 2; ++i) bytes->push_back(uint8_t(i));
  Picture picture;
  picture.format = {5, 3, 8, Chroma::c420};
  picture.planes[0] = {bytes->data(), 5, 5, 3, 1};
  picture.planes[1] = {bytes->data() + 15, 6, 3, 2, 2};
  picture.planes[2] = {bytes->data() + 16, 6, 3, 2, 2};
  picture.owner = bytes;
  for (const PlaneSet wanted : {kLuma, kChroma, kAllPlanes, PlaneSet(0)}) {
    add(
        {1},
        [&](const Call &c) {
          for (const Views &views : {c.frame.ref, c.frame.dist[0]}) {
            ASSERT_EQ(views[0].data != nullptr, (wanted & kLuma) != 0);
            if (wanted & kLuma) {
              EXPECT_EQ(views[0].row<uint8_t>(2)[4], 14);
            }
            for (size_t p : {1, 2}) {
              ASSERT_EQ(views[p].data != nullptr, (wanted & kChroma) != 0);
              if (!(wanted & kChroma)) continue;
              EXPECT_EQ(views[p].width, 3);
              EXPECT_EQ(views[p].height, 2);
              EXPECT_EQ(views[p].row<uint8_t>(0)[0], 14 + p);
              EXPECT_EQ(views[p].row<uint8_t>(1)[2], 14 + p + 6 + 4);
            }
          }
        },
        Reads::both(wanted));
    start(2, 4, picture.format);
    ASSERT_TRUE(submit(picture, picture));
    EXPECT_EQ(sums(0).tasks, 1u);
  }
}

// Larger than one unpacking task, so that strips meet.
TEST_F(SchedulerTest, LargePicturesAreUnpackedInStrips) {
  constexpr int kWidth = 1021, kHeight = 1531;
  auto words = std::make_shared<std::vector<uint16_t>>(size_t(kWidth) * kHeight);
  for (size_t i = 0; i < words->size(); ++i) (*words)[i] = uint16_t(i * 40503u);
  Picture picture;
  picture.format = {kWidth, kHeight, 12, Chroma::c400};
  picture.shift = 4;
  picture.planes[0] = {words->data(), kWidth * 2, kWidth, kHeight, 1};
  std::atomic<int> wrong{0};
  add({1}, [&](const Call &c) {
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x) {
        const int expected = (*words)[size_t(y) * kWidth + size_t(x)] >> 4;
        wrong += c.frame.ref[0].row<uint16_t>(y)[x] != expected ||
                 c.frame.dist[0][0].row<uint16_t>(y)[x] != expected;
      }
  });
  start(3, 4, picture.format);
  ASSERT_TRUE(submit(picture, picture));
  EXPECT_EQ(sums(0).tasks, 1u);
  EXPECT_EQ(wrong, 0);
}

// One picture of three is scaled: its rows each once, by all workers at the same time, before any metric begins.
TEST_F(SchedulerTest, LargePicturesAreScaledInStrips) {
  constexpr int kWidth = 1021, kHeight = 1531;
  test::Meeting gate(3);
  WatchedScaler::Log log;
  std::atomic<int> wrong{0}, to_come{3};
  add({1}, [&](const Call &c) {
    wrong += log.rows != kHeight;
    for (int y = 0; y < kHeight; ++y) {
      wrong += c.frame.dist[1][0].row<uint8_t>(y)[0] != (y & 255) ||
               c.frame.dist[1][0].row<uint8_t>(y)[kWidth - 1] != (y & 255);
      for (const size_t other : {0, 2}) wrong += c.frame.dist[other][0].row<uint8_t>(y)[0] != 77;
    }
  });
  std::vector<FrameLayout::Scalers> scalers(3);
  scalers[1][0] = std::make_unique<WatchedScaler>(kWidth, log, [&] {
    if (to_come-- > 0) {
      EXPECT_TRUE(gate.pass()) << "strips are not scaled at the same time";
    }
  });
  start(3, 4, {kWidth, kHeight, 8, Chroma::c400}, 3, 1, std::move(scalers));
  const std::vector<uint8_t> bytes(size_t(kWidth) * kHeight, 77);
  Picture large;
  large.format = {kWidth, kHeight, 8, Chroma::c400};
  large.planes[0] = {bytes.data(), kWidth, kWidth, kHeight, 1};
  std::vector<Picture> dist = {large, picture_of(2), large};
  ASSERT_TRUE(scheduler_->submit(large, dist));
  EXPECT_EQ(sums(0).tasks, 1u);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(log.wrong, 0);
  EXPECT_EQ(log.rows, kHeight);
  EXPECT_GE(log.calls, 3);
  EXPECT_EQ(scheduler_->stage_seconds(0, 0), 0) << "nothing is unpacked";
  EXPECT_GT(scheduler_->stage_seconds(0, 1), 0);
}

// ---- Memory -----------------------------------------------------------------------------------------------

class GreedyMetric final : public Metric {
 public:
  GreedyMetric(uint64_t scratch, uint64_t frame) : scratch_(scratch), frame_(frame) {}
  size_t scratch_bytes() const override { return scratch_; }
  size_t frame_bytes() const override { return frame_; }
  void measure(const FrameView &, int, int, std::byte *, std::byte *, std::byte *partial) const override {
    std::memset(partial, 0, sizeof(Sums));
  }

 private:
  uint64_t scratch_, frame_;
};

TEST_F(SchedulerTest, MemoryThatCannotBeHadIsRefused) {
  Scheduler scheduler(8, 4);
  ASSERT_TRUE(scheduler.start());
  const auto configure = [&](uint64_t scratch, uint64_t frame) {
    std::vector<FrameLayout::Item> items;
    items.push_back({std::make_unique<GreedyMetric>(scratch, frame), sizeof(Sums), add_in_order});
    items.push_back({std::make_unique<GreedyMetric>(scratch, frame), sizeof(Sums), add_in_order});
    scheduler.close();
    return scheduler.configure(
        std::make_unique<FrameLayout>(std::move(items), PictureFormat{4, 2, 8, Chroma::c400}, 1), false);
  };
  constexpr uint64_t kAll = ~uint64_t(0);
  for (const uint64_t absurd : {kAll, kAll / 2, kAll / 8 + 1, uint64_t(1) << 61, uint64_t(1) << 48})
    for (const auto &[scratch, frame] :
         {std::pair{absurd, uint64_t(0)}, {uint64_t(0), absurd}, {absurd, absurd}}) {
      EXPECT_FALSE(configure(scratch, frame)) << scratch << " " << frame;
      EXPECT_GE(scheduler.memory_needed(), absurd / 64 * 64);
      EXPECT_FALSE(scheduler.has_room());
    }
  EXPECT_TRUE(configure(1000, 1000));
  EXPECT_TRUE(scheduler.has_room());
}

TEST(MemoryTest, Units) {
  EXPECT_EQ(in_units(0), "1 MiB");
  EXPECT_EQ(in_units(340 << 20), "341 MiB");
  EXPECT_EQ(in_units(uint64_t(3) << 29), "1.6 GiB");
  EXPECT_EQ(aligned(kMostBytes), kMostBytes);
  EXPECT_EQ(aligned(~uint64_t(0)), kMostBytes);
  EXPECT_EQ(aligned(1), 64u);
  EXPECT_EQ(times(uint64_t(1) << 40, uint64_t(1) << 40), kMostBytes);
  EXPECT_EQ(plus(kMostBytes, 1), kMostBytes);
}

}  // namespace
}  // namespace vmafhip
