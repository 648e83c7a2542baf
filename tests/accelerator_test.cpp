// Frames that an accelerator measures beside the workers: who reads what from where, and what remains when it fails.
#include <atomic>
#include <chrono>
#include <set>

#include "tests/accelerator_run.h"
#include "tests/fake_accelerator.h"
#include "tests/meeting.h"

namespace vmafhip {
namespace {

using namespace test;
using std::chrono::seconds;

class AcceleratorTest : public AcceleratorRun {
 protected:
  void start(const Case &given, const FakeAccelerator::Script &script, bool accelerate = true) {
    AcceleratorRun::start(given, accelerate ? fake(script) : nullptr);
  }
  Make fake(const FakeAccelerator::Script &script) {
    return [this, script](const FrameLayout &layout) {
      std::vector<FakeAccelerator::Item> items;
      for (size_t i = 0; i < case_.items.size(); ++i)
        if (case_.items[i].on_device)
          items.push_back({std::make_unique<SumMetric>(1 + int(i), case_.items[i].reads), sizeof(Sums),
                           layout.sums_at(i, 0), add_integer_sums<Sums>, case_.items[i].every_frame});
      FakeAccelerator::Script with = script;
      with.subsample = case_.subsample;
      return std::make_unique<FakeAccelerator>(std::move(items), case_.distorted, layout.upload_bytes(),
                                               std::move(with));
    };
  }
};

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
  configure(nullptr);
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

// Whether the pictures of a frame are held while the device measures it; they go back before it is said to be done.
class HeldTest : public AcceleratorTest {
 protected:
  void expect_held(Case given, bool held) {
    Meeting begun(2), end(2);
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
  start({.items = {{Reads::both(kLuma), false}, {Reads::both(kLuma), true}}, .threads = 1},
        {.on_start = [&](const FrameView &) { calls.push_back("start"); }});
  ASSERT_TRUE(submit(0));
  EXPECT_TRUE(scheduler_->wait(0));
  EXPECT_EQ(calls, (std::vector<std::string>{"start", "metric"}));
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

// It may take long to get, and others ask the scheduler meanwhile: whether there is room, say.
TEST_F(AcceleratorTest, MemoryOfAPlaceIsMadeWithoutTheLock) {
  std::mutex mutex;
  std::set<int> made;
  const auto on_memory = [&](int place) {
    {
      const std::lock_guard lock(mutex);
      if (!made.insert(place).second) return;
    }
    (void)scheduler_->has_room();
  };
  start({.threads = 3}, {.places = 5, .on_memory = on_memory});
  run(13);
  EXPECT_FALSE(made.empty());
  scheduler_.reset();
}

// ---- Failure ----------------------------------------------------------------------------------------------

TEST_F(AcceleratorTest, WorkersGoOnWhereAPlaceHasNoMemory) {
  int failures = 0;
  for (const Case &given : cases()) {
    if (!given.keeps) continue;
    start(given, {}, false);
    const All expected = run(12);
    for (int place = 0; place < 3; ++place) {
      SCOPED_TRACE(place);
      takeovers_ = 0;
      start(given, {.places = 3, .no_memory = place});
      expect_same(run(12), expected);
      failures += takeovers_;
    }
  }
  EXPECT_GT(failures, 20);
}

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
  start({.items = {{Reads::both(kLuma), true}}, .threads = 1}, {.places = 4,
                                                                .on_measured =
                                                                    [&](uint64_t frame) {
                                                                      std::lock_guard lock(mutex);
                                                                      measured.insert(frame);
                                                                    },
                                                                .fail_at = 3});
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

// Frames that workers measure alone are begun anew as well if they were under way: their pictures are needed again.
TEST_F(AcceleratorTest, FramesBetweenKeepTheirPicturesToo) {
  const Case given = {
      .items = {{Reads::both(kLuma), true, false}, {Reads::both(kLuma), false, false}, {kTemporal, false}},
      .format = {18, 11, 10, Chroma::c420},
      .subsample = 2,
      .shift = 6};
  start(given, {}, false);
  const All expected = run(2);

  Meeting busy(3),
      lost(3);  // two workers at strips of frame 1, of which there are three, and the device at frame 0
  watch_ = [&](const FrameView &view) {
    if (view.index != 1 || takeovers_ > 0) return;
    EXPECT_TRUE(busy.pass());
    EXPECT_TRUE(lost.pass());
  };
  start(given, {.on_measure = [&](const FrameView &) { EXPECT_TRUE(busy.pass()); }, .fail_at = 0});
  scheduler_->on_progress([&] {
    if (takeovers_ == 0) {
      EXPECT_TRUE(lost.pass());
    }
  });
  ASSERT_TRUE(submit(0));
  Picture ref = picture(given.format, 1);
  std::vector<Picture> dist = {picture(given.format, 1001)};
  const std::weak_ptr<const void> owners[] = {ref.owner, dist[0].owner};
  ASSERT_TRUE(scheduler_->submit(std::move(ref), dist));
  scheduler_->finish();
  EXPECT_TRUE(scheduler_->wait(1));
  ASSERT_TRUE(scheduler_->can_resume());
  All all;
  auto items = scheduler_->withdraw()->take_items();
  for (const auto &owner : owners) ASSERT_FALSE(owner.expired());
  ++takeovers_;
  for (size_t i = 0; i < items.size(); ++i)
    if (!items[i].metric) items[i].metric = metric(i);
  EXPECT_TRUE(scheduler_->resume(
      std::make_unique<FrameLayout>(std::move(items), case_.format, 1, case_.subsample, scalers()), kLost));
  for (uint64_t n = 0; n < 2; ++n) {
    EXPECT_TRUE(scheduler_->wait(n));
    const std::byte *sums = scheduler_->measured(n);
    ASSERT_NE(sums, nullptr);
    all.emplace_back(sums, sums + scheduler_->layout()->sums_bytes());
  }
  expect_same(all, expected);
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
    configure(fake({}));
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
