// With subsample=N a session gives every Nth frame the scores that it has among all frames, and looks at nothing of the
// others that no temporal feature needs.
#include <limits>

#include "tests/session_run.h"

namespace vmafhip {
namespace {

using namespace test;
using Next = Session::Next;

class SubsampleTest : public testing::Test {
 protected:
  ModelPath no_files_{""};  // fitted surfaces only
};

std::unique_ptr<Session> subsampling_session(int subsample, int threads = 2,
                                             const std::string &models = "vmaf_v0.6.1",
                                             const std::string &features = "", int distorted = 1) {
  SessionOptions options;
  options.models = models;
  options.features = features;
  options.threads = threads;
  options.subsample = subsample;
  options.distorted = distorted;
  auto session = Session::create(options);
  if (!session.ok()) throw std::runtime_error(session.status().message());
  return std::move(*session);
}

// Every Nth of `all`.
std::vector<FrameScores> thinned(const std::vector<FrameScores> &all, int subsample) {
  std::vector<FrameScores> some;
  for (size_t n = 0; n < all.size(); n += size_t(subsample)) some.push_back(all[n]);
  return some;
}

// Where nothing is mapped: whoever reads it ends the test.
const void *const kNowhere = reinterpret_cast<const void *>(uintptr_t(4096));

struct Case {
  const char *models, *features;
};

const Case kCases[] = {
    {"vmaf_v0.6.1", ""},
    {"vmaf_v0.6.1|vmaf_v0.6.1neg:name=neg",
     "motion=motion_five_frame_window=true:motion_moving_average=true"},
    {"", "vif=debug=true|adm"},                 // nothing temporal
    {"", "motion"},                             // nothing else
    {"", "vif|motion=motion_force_zero=true"},  // not temporal any more
};

TEST_F(SubsampleTest, EveryNthFrameHasTheScoresItHasAmongAll) {
  const auto clip = small_clip(11);
  for (const Case &c : kCases) {
    SCOPED_TRACE(testing::Message() << c.models << " + " << c.features);
    const auto full = subsampling_session(1, 2, c.models, c.features);
    ASSERT_TRUE(full->configure(clip[0].ref.format, clip[0].dist.format).ok());
    const auto all = run_clip(*full, clip);
    for (const int subsample : {2, 3, 5, 10, 11, 12, std::numeric_limits<int>::max()})
      for (const int threads : {1, 3})
        for (const Pace pace : {Pace::full, Pace::reluctant, Pace::polling}) {
          SCOPED_TRACE(testing::Message() << "every " << subsample << "th, " << threads << " threads");
          const auto session = subsampling_session(subsample, threads, c.models, c.features);
          ASSERT_TRUE(session->configure(clip[0].ref.format, clip[0].dist.format).ok());
          expect_same(run_clip(*session, clip, pace), thinned(all, subsample));
        }
  }
}

TEST_F(SubsampleTest, PoolsAreThoseOfTheScoredFrames) {
  const auto clip = small_clip(10);
  const auto expected = thinned(scores_of(clip), 3);
  const auto session = subsampling_session(3);
  ASSERT_TRUE(session->configure(clip[0].ref.format, clip[0].dist.format).ok());
  for (int round = 0; round < 2; ++round) {
    expect_same(run_clip(*session, clip), expected);
    RunningPool vmaf, first;
    for (const FrameScores &s : expected) {
      vmaf.add(s.dist[0].models[0]);
      first.add(s.dist[0].features[0]);
    }
    EXPECT_EQ(session->model_pools()[0].count(), 4u);
    for (const PoolMethod m :
         {PoolMethod::mean, PoolMethod::min, PoolMethod::max, PoolMethod::harmonic_mean}) {
      EXPECT_EQ(session->model_pools()[0].get(m), vmaf.get(m));
      EXPECT_EQ(session->feature_pools()[0].get(m), first.get(m));
    }
    session->reset();  // frame 0 is scored again
  }
}

TEST_F(SubsampleTest, SeveralDistortedPictures) {
  const auto clip = small_clip(7);
  const auto session = subsampling_session(2, 2, "vmaf_v0.6.1", "", 2);
  const PictureFormat formats[] = {clip[0].dist.format, clip[0].ref.format};
  ASSERT_TRUE(session->configure(clip[0].ref.format, formats).ok());
  std::vector<FrameScores> all;
  FrameScores scores;
  for (const Pair &pair : clip) {
    Picture dist[] = {pair.dist, pair.ref};
    while (!session->submit(pair.ref, dist)) {
      ASSERT_EQ(session->wait(scores), Next::ready);
      all.push_back(scores);
    }
  }
  session->finish();
  while (session->wait(scores) == Next::ready) all.push_back(scores);
  const auto expected = thinned(scores_of(clip), 2);
  ASSERT_EQ(all.size(), expected.size());
  for (size_t n = 0; n < all.size(); ++n) {
    ASSERT_EQ(all[n].dist.size(), 2u);
    expect_same(all[n].dist[0], expected[n].dist[0], n);
    EXPECT_GT(all[n].dist[1].models[0], all[n].dist[0].models[0]);
  }
}

TEST_F(SubsampleTest, SaysWhichFrameIsScoredNext) {
  const auto clip = small_clip(8);
  const auto session = subsampling_session(3);
  ASSERT_TRUE(session->configure(clip[0].ref.format, clip[0].dist.format).ok());
  FrameScores scores;
  for (int round = 0; round < 2; ++round) {
    for (size_t n = 0; n < clip.size(); ++n) {
      EXPECT_EQ(session->scores_next(), n % 3 == 0) << n;
      while (!session->submit(clip[n].ref, clip[n].dist)) ASSERT_EQ(session->wait(scores), Next::ready);
    }
    session->reset();
  }
}

TEST_F(SubsampleTest, DistortedPicturesInBetweenAreNotRead) {
  const auto clip = small_clip(9);
  const auto expected = thinned(scores_of(clip), 4);
  auto damaged = clip;
  for (size_t n = 0; n < damaged.size(); ++n) {
    if (n % 4 == 0) continue;
    for (Plane &plane : damaged[n].dist.planes) plane.data = kNowhere;
    for (const int chroma : {1, 2}) damaged[n].ref.planes[size_t(chroma)].data = kNowhere;
  }
  for (const char *features : {"", "vif=enable_chroma=true"}) {
    const auto session = subsampling_session(4, 2, "vmaf_v0.6.1", features);
    ASSERT_TRUE(session->configure(clip[0].ref.format, clip[0].dist.format).ok());
    const auto scores = run_clip(*session, damaged);
    ASSERT_EQ(scores.size(), expected.size());
    for (size_t n = 0; n < scores.size(); ++n)
      EXPECT_EQ(bits_of(scores[n].dist[0].models), bits_of(expected[n].dist[0].models));
  }
}

TEST_F(SubsampleTest, DistortedPicturesInBetweenAreNotScaled) {
  auto clip = small_clip(9);
  const auto small = small_clip(9, 64, 48);
  for (size_t n = 0; n < clip.size(); ++n) clip[n].dist = small[n].dist;
  const auto expected = thinned(scores_of(clip), 4);
  for (size_t n = 0; n < clip.size(); ++n)
    for (Plane &plane : clip[n].dist.planes)
      if (n % 4) plane.data = kNowhere;
  const auto session = subsampling_session(4);
  ASSERT_TRUE(session->configure(clip[0].ref.format, clip[0].dist.format).ok());
  expect_same(run_clip(*session, clip), expected);
}

TEST_F(SubsampleTest, WithoutTemporalFeaturesNothingInBetweenIsReadOrKept) {
  const auto clip = small_clip(9);
  const auto session = subsampling_session(4, 2, "", "vif");
  ASSERT_TRUE(session->configure(clip[0].ref.format, clip[0].dist.format).ok());
  FrameScores scores;
  uint64_t last = 0;
  for (int round = 0; round < 40; ++round)  // longer than any queue
    for (size_t n = 0; n < 8; ++n) {
      Pair pair = clip[n];
      const auto owner = std::make_shared<int>();
      if (n % 4) {
        for (Picture *p : {&pair.ref, &pair.dist}) {
          for (Plane &plane : p->planes) plane.data = kNowhere;
          p->owner = owner;
        }
      }
      while (!session->has_room()) {
        ASSERT_EQ(session->wait(scores), Next::ready);
        last = scores.index;
      }
      ASSERT_TRUE(session->submit(std::move(pair.ref), std::move(pair.dist)));
      EXPECT_EQ(owner.use_count(), 1) << n;
    }
  session->finish();
  while (session->wait(scores) == Next::ready) last = scores.index;
  EXPECT_EQ(last, 316u);
  EXPECT_EQ(session->feature_pools()[0].count(), 80u);
}

TEST_F(SubsampleTest, LessThanOneIsAnError) {
  for (const int bad : {0, -1}) {
    SessionOptions options;
    options.subsample = bad;
    const auto session = Session::create(options);
    ASSERT_FALSE(session.ok());
    EXPECT_EQ(session.status().code(), Code::invalid_argument);
    EXPECT_NE(session.status().message().find("subsample"), std::string::npos);
  }
}

}  // namespace
}  // namespace vmafhip
