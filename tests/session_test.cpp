// What a session promises whatever it computes: the same scores for any number of threads and any pace, order,
// room, endings, and that every picture is given back.
#include <atomic>
#include <chrono>
#include <cmath>
#include <future>
#include <thread>

#include "tests/session_run.h"

namespace vmafhip {
namespace {

using namespace test;
using Next = Session::Next;

class SessionTest : public testing::Test {
 protected:
  ModelPath no_files_{""};  // fitted surfaces only
};

// ---- Same scores ------------------------------------------------------------------------------------------

TEST_F(SessionTest, ThreadsAndPaceChangeNothing) {
  const auto clip = small_clip(12);
  const auto expected = scores_of(clip, 1);
  ASSERT_EQ(expected.size(), clip.size());
  for (const int threads : {1, 2, 3, 8})
    for (const Pace pace : {Pace::full, Pace::reluctant, Pace::polling}) {
      SCOPED_TRACE(testing::Message() << threads << " threads, pace " << int(pace));
      const auto session = make_session("vmaf_v0.6.1", "", threads);
      ASSERT_TRUE(session->configure(clip[0].ref.format, clip[0].dist.format).ok());
      expect_same(run_clip(*session, clip, pace), expected);
    }
}

TEST_F(SessionTest, SameAfterReset) {
  const auto clip = small_clip();
  const auto session = make_session();
  ASSERT_TRUE(session->configure(clip[0].ref.format, clip[0].dist.format).ok());
  const auto first = run_clip(*session, clip);
  const double mean = session->model_pools()[0].get(PoolMethod::mean);
  for (const size_t frames_before : {size_t(0), size_t(1), size_t(3)}) {
    session->reset();
    for (size_t n = 0; n < frames_before; ++n) session->submit(clip[5].ref, clip[6].dist);
    session->reset();  // with frames in flight
    EXPECT_EQ(session->model_pools()[0].count(), 0u);
    expect_same(run_clip(*session, clip), first);
    EXPECT_EQ(session->model_pools()[0].count(), clip.size());
    EXPECT_EQ(session->model_pools()[0].get(PoolMethod::mean), mean);
  }
}

TEST_F(SessionTest, SameAfterOtherFormats) {
  const auto clip = small_clip(), large = small_clip(4, 160, 100), deep = small_clip(4, 64, 48, 10);
  const auto session = make_session();
  for (int round = 0; round < 2; ++round)
    for (const auto *c : {&clip, &large, &deep}) {
      ASSERT_TRUE(session->configure((*c)[0].ref.format, (*c)[0].dist.format).ok());
      expect_same(run_clip(*session, *c), scores_of(*c));
    }
}

TEST_F(SessionTest, ConfigureDropsWhatIsInFlight) {
  const auto clip = small_clip(), large = small_clip(4, 160, 100);
  const auto session = make_session();
  ASSERT_TRUE(session->configure(large[0].ref.format, large[0].dist.format).ok());
  for (const Pair &p : large) session->submit(p.ref, p.dist);
  ASSERT_TRUE(session->configure(clip[0].ref.format, clip[0].dist.format).ok());
  expect_same(run_clip(*session, clip), scores_of(clip));
}

// ---- Order, endings, room ---------------------------------------------------------------------------------

TEST_F(SessionTest, FramesAreNumberedAndInOrder) {
  const auto scores = scores_of(small_clip(10), 3);
  for (size_t n = 0; n < scores.size(); ++n) {
    EXPECT_EQ(scores[n].index, n);
    EXPECT_EQ(scores[n].warm_up, n == 0) << n;
    EXPECT_FALSE(std::isnan(scores[n].dist[0].models[0]));
  }
}

TEST_F(SessionTest, NothingToLookBackOnIsNoWarmUp) {
  const auto clip = small_clip(2);
  const auto session = make_session("", "vif|adm");
  EXPECT_EQ(session->lookahead(), 0);
  ASSERT_TRUE(session->configure(clip[0].ref.format, clip[0].dist.format).ok());
  for (const FrameScores &scores : run_clip(*session, clip)) EXPECT_FALSE(scores.warm_up);
}

TEST_F(SessionTest, LookbackOfTwoFrames) {
  const auto clip = small_clip(5);
  for (size_t frames = 0; frames <= clip.size(); ++frames) {
    const auto session = make_session("", "motion=motion_five_frame_window=true");
    ASSERT_EQ(session->lookahead(), 2);
    ASSERT_TRUE(session->configure(clip[0].ref.format, clip[0].dist.format).ok());
    const auto scores = run_clip(*session, {clip.begin(), clip.begin() + std::ptrdiff_t(frames)});
    ASSERT_EQ(scores.size(), frames);
    for (size_t n = 0; n < frames; ++n) EXPECT_EQ(scores[n].warm_up, n < 2);
  }
}

TEST_F(SessionTest, DrainedUntilTheNextFrameComes) {
  const auto clip = small_clip(3);
  const auto session = make_session();
  ASSERT_EQ(session->lookahead(), 1);
  ASSERT_TRUE(session->configure(clip[0].ref.format, clip[0].dist.format).ok());
  FrameScores scores;
  EXPECT_EQ(session->next(scores), Next::drained);
  EXPECT_EQ(session->wait(scores), Next::drained);
  ASSERT_TRUE(session->submit(clip[0].ref, clip[0].dist));
  EXPECT_EQ(session->wait(scores), Next::drained);  // frame 0 needs frame 1
  ASSERT_TRUE(session->submit(clip[1].ref, clip[1].dist));
  EXPECT_EQ(session->wait(scores), Next::ready);
  EXPECT_EQ(scores.index, 0u);
  EXPECT_EQ(session->wait(scores), Next::drained);
  session->finish();
  EXPECT_EQ(session->wait(scores), Next::ready);
  EXPECT_EQ(scores.index, 1u);
  EXPECT_EQ(session->wait(scores), Next::drained);
  EXPECT_EQ(session->next(scores), Next::drained);
}

TEST_F(SessionTest, EmptyAndSingleFrameClips) {
  const auto clip = small_clip(1);
  const auto session = make_session();
  ASSERT_TRUE(session->configure(clip[0].ref.format, clip[0].dist.format).ok());
  EXPECT_TRUE(run_clip(*session, {}).empty());
  session->reset();
  EXPECT_EQ(run_clip(*session, clip).size(), 1u);
}

TEST_F(SessionTest, RoomIsBoundedAndComesFromTakingScores) {
  const auto clip = small_clip(1);
  const auto session = make_session("vmaf_v0.6.1", "", 2);
  ASSERT_TRUE(session->configure(clip[0].ref.format, clip[0].dist.format).ok());
  int taken = 0;
  while (session->submit(clip[0].ref, clip[0].dist)) ++taken;
  EXPECT_EQ(taken, session->max_in_flight());
  EXPECT_FALSE(session->has_room());
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(session->submit(clip[0].ref, clip[0].dist)) << "workers alone make no room";
  FrameScores scores;
  EXPECT_EQ(session->wait(scores), Next::ready);
  EXPECT_TRUE(session->has_room());
  EXPECT_TRUE(session->submit(clip[0].ref, clip[0].dist));
}

TEST_F(SessionTest, NoFrameAfterFinishUntilReset) {
  const auto clip = small_clip(1);
  const auto session = make_session();
  ASSERT_TRUE(session->configure(clip[0].ref.format, clip[0].dist.format).ok());
  session->finish();
  EXPECT_FALSE(session->has_room());
  EXPECT_FALSE(session->submit(clip[0].ref, clip[0].dist));
  session->reset();
  EXPECT_TRUE(session->submit(clip[0].ref, clip[0].dist));
}

TEST_F(SessionTest, NoFrameBeforeAConfigurationThatIsGood) {
  const auto clip = small_clip(1);
  const auto session = make_session();
  EXPECT_FALSE(session->has_room());
  EXPECT_FALSE(session->submit(clip[0].ref, clip[0].dist));
  ASSERT_TRUE(session->configure(clip[0].ref.format, clip[0].dist.format).ok());
  EXPECT_TRUE(session->has_room());
  EXPECT_FALSE(session->configure({8, 8, 8}, {8, 8, 8}).ok());
  EXPECT_FALSE(session->has_room());
  EXPECT_FALSE(session->submit(clip[0].ref, clip[0].dist));
  ASSERT_TRUE(session->configure(clip[0].ref.format, clip[0].dist.format).ok());
  EXPECT_FALSE(session->configure(clip[0].ref.format, {8, 8, 7}).ok());
  EXPECT_FALSE(session->has_room());
}

// ---- Pictures are given back ------------------------------------------------------------------------------

// How many of the clip's owners somebody else than the clip holds.
int held(const std::vector<Pair> &clip) {
  int count = 0;
  for (const Pair &p : clip) count += (p.ref.owner.use_count() > 1) + (p.dist.owner.use_count() > 1);
  return count;
}

TEST_F(SessionTest, PicturesComeBackWithTheScores) {
  const auto clip = small_clip(20);
  const auto session = make_session();
  ASSERT_TRUE(session->configure(clip[0].ref.format, clip[0].dist.format).ok());
  FrameScores scores;
  const auto expect_given_back = [&] {
    EXPECT_EQ(clip[scores.index].ref.owner.use_count(), 1) << "reference " << scores.index;
    EXPECT_EQ(clip[scores.index].dist.owner.use_count(), 1) << "distorted " << scores.index;
  };
  for (const Pair &p : clip)
    while (!session->submit(p.ref, p.dist)) {
      ASSERT_EQ(session->wait(scores), Next::ready);
      expect_given_back();
    }
  session->finish();
  while (session->wait(scores) == Next::ready) expect_given_back();
  EXPECT_EQ(held(clip), 0) << "the last reference is no frame's predecessor";
}

TEST_F(SessionTest, ResetGivesPicturesBack) {
  const auto clip = small_clip(5);
  const auto session = make_session();
  ASSERT_TRUE(session->configure(clip[0].ref.format, clip[0].dist.format).ok());
  for (const Pair &p : clip) ASSERT_TRUE(session->submit(p.ref, p.dist));
  session->reset();
  EXPECT_EQ(held(clip), 0);
  for (const Pair &p : clip) ASSERT_TRUE(session->submit(p.ref, p.dist));
  ASSERT_TRUE(session->configure({320, 200, 8}, {320, 200, 8}).ok());
  EXPECT_EQ(held(clip), 0);
}

TEST_F(SessionTest, DestructionGivesPicturesBack) {
  const auto clip = small_clip(5);
  for (int n = 0; n < 20; ++n) {
    const auto session = make_session();
    ASSERT_TRUE(session->configure(clip[0].ref.format, clip[0].dist.format).ok());
    for (const Pair &p : clip) ASSERT_TRUE(session->submit(p.ref, p.dist));
    if (n % 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(held(clip), 0);
}

// ---- Other threads ----------------------------------------------------------------------------------------

TEST_F(SessionTest, InterruptEndsAWait) {
  const auto clip = small_clip(1);
  // The only worker is held up behind the first frame, so that the second stays pending.
  std::promise<void> let_go;
  auto may_go = let_go.get_future().share();
  const auto session = make_session("vmaf_v0.6.1", "", 1);
  ASSERT_TRUE(session->configure(clip[0].ref.format, clip[0].dist.format).ok());
  session->on_progress([&] { may_go.wait(); });
  for (int n = 0; n < 2; ++n) ASSERT_TRUE(session->submit(clip[0].ref, clip[0].dist));

  FrameScores scores;
  session->interrupt(true);
  EXPECT_EQ(session->wait(scores), Next::pending);
  EXPECT_EQ(session->wait(scores), Next::pending);
  session->interrupt(false);
  auto waiting = std::async(std::launch::async, [&] {
    FrameScores unused;
    return session->wait(unused);
  });
  EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(200)), std::future_status::timeout);
  session->interrupt(true);
  EXPECT_EQ(waiting.get(), Next::pending);

  session->interrupt(false);
  let_go.set_value();
  EXPECT_EQ(session->wait(scores), Next::ready);
  session->finish();
  session->interrupt(true);
  EXPECT_EQ(session->wait(scores), Next::ready) << "what is there is given out all the same";
  EXPECT_EQ(session->wait(scores), Next::drained);
}

TEST_F(SessionTest, ProgressIsToldForEachFrame) {
  const auto clip = small_clip(30);
  std::atomic<int> calls{0};
  {
    const auto session = make_session("vmaf_v0.6.1", "", 3);
    session->on_progress([&] { ++calls; });
    ASSERT_TRUE(session->configure(clip[0].ref.format, clip[0].dist.format).ok());
    EXPECT_EQ(run_clip(*session, clip).size(), clip.size());
  }
  EXPECT_EQ(calls, int(clip.size()));
}

TEST_F(SessionTest, ScoresAreThereWhenProgressIsTold) {
  const auto clip = small_clip(1);
  std::promise<void> told;
  const auto session = make_session("", "vif");
  session->on_progress([&] { told.set_value(); });
  ASSERT_TRUE(session->configure(clip[0].ref.format, clip[0].dist.format).ok());
  ASSERT_TRUE(session->submit(clip[0].ref, clip[0].dist));
  told.get_future().wait();
  FrameScores scores;
  EXPECT_EQ(session->next(scores), Next::ready);
}

TEST_F(SessionTest, RoomIsAskedForByAnotherThread) {
  const auto clip = small_clip(40);
  const auto session = make_session();
  std::atomic<bool> done{false};
  ASSERT_TRUE(session->configure(clip[0].ref.format, clip[0].dist.format).ok());
  std::thread curious([&] {
    while (!done) {
      session->has_room();
      session->interrupt(false);
      std::this_thread::yield();
    }
  });
  EXPECT_EQ(run_clip(*session, clip).size(), clip.size());
  session->reset();
  EXPECT_EQ(run_clip(*session, clip).size(), clip.size());
  done = true;
  curious.join();
}

// ---- Pools ------------------------------------------------------------------------------------------------

TEST_F(SessionTest, PoolsAreOverTheFramesGivenOut) {
  const auto clip = small_clip(9);
  const auto session = make_session();
  ASSERT_TRUE(session->configure(clip[0].ref.format, clip[0].dist.format).ok());
  const auto scores = run_clip(*session, clip);
  const auto check = [&](const RunningPool &pool, auto value_of) {
    double sum = 0, reciprocals = 0, least = value_of(scores[0]), most = least;
    for (const FrameScores &s : scores) {
      sum += value_of(s);
      reciprocals += 1 / (value_of(s) + 1);
      least = std::min(least, value_of(s));
      most = std::max(most, value_of(s));
    }
    EXPECT_EQ(pool.count(), scores.size());
    EXPECT_EQ(pool.get(PoolMethod::mean), sum / double(scores.size()));
    EXPECT_EQ(pool.get(PoolMethod::harmonic_mean), double(scores.size()) / reciprocals - 1);
    EXPECT_EQ(pool.get(PoolMethod::min), least);
    EXPECT_EQ(pool.get(PoolMethod::max), most);
  };
  ASSERT_EQ(session->feature_pools().size(), session->feature_names().size());
  ASSERT_EQ(session->model_pools().size(), 1u);
  for (size_t i = 0; i < session->feature_names().size(); ++i)
    check(session->feature_pools()[i], [i](const FrameScores &s) { return s.dist[0].features[i]; });
  check(session->model_pools()[0], [](const FrameScores &s) { return s.dist[0].models[0]; });
}

}  // namespace
}  // namespace vmafhip
