// A session's promises about work that is shared: several distorted pictures, no allocations, memory that is missing.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <map>

#include "engine/memory.h"
#include "tests/session_run.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // sanitizers allocate and take address space as they like
#else
constexpr bool kSanitized = false;
#endif

namespace vmafhip::test {
extern std::atomic<uint64_t> allocations;  // count_allocations.cpp
}

namespace vmafhip {
namespace {

using namespace test;
using Next = Session::Next;

class SessionStripsTest : public testing::Test {
 protected:
  ModelPath no_files_{""};  // fitted surfaces only
};

std::unique_ptr<Session> make_session_for(int distorted, int threads, const std::string &features = "") {
  SessionOptions options;
  options.features = features;
  options.threads = threads;
  options.distorted = distorted;
  auto session = Session::create(options);
  EXPECT_TRUE(session.ok()) << session.status().message();
  return std::move(*session);
}

// One reference with several distorted pictures.
struct Group {
  Picture ref;
  std::vector<Picture> dist;
};

// Distorted picture d of frame n is that of frame n + d of the clip, with wrap.
std::vector<Group> groups_of(const std::vector<Pair> &clip, size_t distorted) {
  std::vector<Group> groups;
  for (size_t n = 0; n < clip.size(); ++n) {
    groups.push_back({clip[n].ref, {}});
    for (size_t d = 0; d < distorted; ++d) groups.back().dist.push_back(clip[(n + d) % clip.size()].dist);
  }
  return groups;
}

std::vector<FrameScores> run_groups(Session &session, const std::vector<Group> &groups,
                                    bool reluctant = false) {
  std::vector<PictureFormat> formats;
  for (const Picture &p : groups[0].dist) formats.push_back(p.format);
  const Status status = session.configure(groups[0].ref.format, formats);
  EXPECT_TRUE(status.ok()) << status.message();
  std::vector<FrameScores> all;
  FrameScores scores;
  for (const Group &group : groups) {
    std::vector<Picture> dist = group.dist;
    while (reluctant && session.wait(scores) == Next::ready) all.push_back(scores);
    while (!session.submit(group.ref, dist))
      if (session.wait(scores) == Next::ready) all.push_back(scores);
  }
  session.finish();
  while (session.wait(scores) == Next::ready) all.push_back(scores);
  return all;
}

// Each distorted picture in a session of its own, joined.
std::vector<FrameScores> run_apart(const std::vector<Group> &groups, const std::string &features = "") {
  std::vector<FrameScores> joined;
  for (size_t d = 0; d < groups[0].dist.size(); ++d) {
    std::vector<Group> alone;
    for (const Group &group : groups) alone.push_back({group.ref, {group.dist[d]}});
    const auto scores = run_groups(*make_session_for(1, 1, features), alone);
    if (d == 0) joined = scores;
    for (size_t n = 0; d > 0 && n < scores.size(); ++n) joined[n].dist.push_back(scores[n].dist[0]);
  }
  return joined;
}

TEST_F(SessionStripsTest, SeveralDistortedPicturesAsIfApart) {
  const auto clip = small_clip(5, 121, 75);
  for (const size_t distorted : {1, 2, 5}) {
    const auto groups = groups_of(clip, distorted);
    const auto expected = run_apart(groups);
    ASSERT_EQ(expected.size(), clip.size());
    for (const int threads : {1, 2, 3, 8})
      for (const bool reluctant : {false, true}) {
        SCOPED_TRACE(testing::Message() << distorted << " pictures, " << threads << " threads");
        const auto session = make_session_for(int(distorted), threads);
        EXPECT_EQ(session->distorted(), int(distorted));
        expect_same(run_groups(*session, groups, reluctant), expected);
      }
  }
}

TEST_F(SessionStripsTest, SeveralPicturesAndVariantsInDeepPictures) {
  const std::string features =
      "vif=debug=true|adm=debug=true|motion=motion_five_frame_window=true|vif=vif_enhn_gain_limit=1";
  for (const int depth : {10, 16}) {
    const auto groups = groups_of(small_clip(5, 96, 80, depth), 3);
    expect_same(run_groups(*make_session_for(3, 3, features), groups), run_apart(groups, features));
  }
}

// Sets of options that one pass measures give what each gives in a session of its own.
TEST_F(SessionStripsTest, SetsOfOptionsAsIfApart) {
  const std::vector<std::string> features = {"adm=adm_enhn_gain_limit=1.2",
                                             "vif=vif_enhn_gain_limit=2:debug=true",
                                             "adm=debug=true:adm_min_val=0.9",
                                             "vif=vif_skip_scale0=true",
                                             "vif=vif_enhn_gain_limit=1",
                                             "adm=adm_enhn_gain_limit=1",
                                             "motion",
                                             "adm=adm_csf_mode=2"};
  std::string all;
  for (const std::string &feature : features) all += "|" + feature;
  const auto groups = groups_of(small_clip(3, 101, 67), 2);
  const auto make = [](const std::string &text) {
    SessionOptions options;
    options.models = "";
    options.features = text;
    options.distorted = 2;
    options.threads = 2;
    auto session = Session::create(options);
    EXPECT_TRUE(session.ok()) << session.status().message();
    return std::move(*session);
  };
  const auto together = make(all.substr(1));
  const auto got = run_groups(*together, groups);
  const std::vector<std::string> &names = together->feature_names();
  size_t seen = 0;
  for (const std::string &feature : features) {
    const auto alone = make(feature);
    const auto want = run_groups(*alone, groups);
    for (size_t i = 0; i < alone->feature_names().size(); ++i, ++seen) {
      const auto at = std::find(names.begin(), names.end(), alone->feature_names()[i]);
      ASSERT_NE(at, names.end()) << alone->feature_names()[i];
      for (size_t n = 0; n < want.size(); ++n)
        for (size_t d = 0; d < 2; ++d)
          EXPECT_EQ(got[n].dist[d].features[size_t(at - names.begin())], want[n].dist[d].features[i])
              << *at << ", frame " << n << ", picture " << d;
    }
  }
  EXPECT_EQ(seen, names.size());
}

TEST_F(SessionStripsTest, LargePicturesOnAnyNumberOfThreads) {
  const auto groups = groups_of(small_clip(2, 770, 427), 2);
  const auto expected = run_apart(groups);
  for (const int threads : {1, 2, 3, 8})
    expect_same(run_groups(*make_session_for(2, threads), groups), expected);
}

TEST_F(SessionStripsTest, DepthsOfDistortedPicturesMayDiffer) {
  const auto deep = small_clip(3, 96, 64, 10), shallow = small_clip(3);
  std::vector<Group> groups;
  for (size_t n = 0; n < deep.size(); ++n) groups.push_back({deep[n].ref, {deep[n].dist, shallow[n].dist}});
  expect_same(run_groups(*make_session_for(2, 2), groups), run_apart(groups));
}

TEST_F(SessionStripsTest, PoolsAreAPicturesOwn) {
  const auto groups = groups_of(small_clip(6), 2);
  const auto session = make_session_for(2, 2);
  const auto scores = run_groups(*session, groups);
  for (size_t d = 0; d < 2; ++d) {
    RunningPool model, feature;
    for (const FrameScores &s : scores) {
      model.add(s.dist[d].models[0]);
      feature.add(s.dist[d].features[1]);
    }
    EXPECT_EQ(session->model_pools(d)[0].get(PoolMethod::mean), model.get(PoolMethod::mean));
    EXPECT_EQ(session->feature_pools(d)[1].get(PoolMethod::harmonic_mean),
              feature.get(PoolMethod::harmonic_mean));
  }
  EXPECT_NE(session->model_pools(0)[0].get(PoolMethod::mean),
            session->model_pools(1)[0].get(PoolMethod::mean));
  session->reset();
  for (size_t d = 0; d < 2; ++d) EXPECT_EQ(session->model_pools(d)[0].count(), 0u);
}

TEST_F(SessionStripsTest, WrongNumbersOfPicturesAreRefused) {
  for (const int distorted : {0, -1, 65, INT32_MAX}) {
    SessionOptions options;
    options.distorted = distorted;
    const auto session = Session::create(options);
    EXPECT_EQ(session.status().code(), Code::invalid_argument);
    EXPECT_NE(session.status().message().find(std::to_string(distorted)), std::string::npos);
  }
  auto groups = groups_of(small_clip(1), 3);
  const auto session = make_session_for(2, 1);
  const PictureFormat format = groups[0].ref.format;
  const std::vector<PictureFormat> three(3, format), two(2, format);
  EXPECT_EQ(session->configure(format, three).code(), Code::invalid_argument);
  EXPECT_EQ(session->configure(format, format).code(), Code::invalid_argument);
  ASSERT_TRUE(session->configure(format, two).ok());
  EXPECT_FALSE(session->submit(groups[0].ref, groups[0].dist));
  EXPECT_FALSE(session->submit(groups[0].ref, groups[0].dist[0]));
  EXPECT_TRUE(session->submit(groups[0].ref, {groups[0].dist.data(), 2}));
  std::vector<PictureFormat> unlike = two;
  unlike[1].depth = 7;
  EXPECT_EQ(session->configure(format, unlike).code(), Code::unsupported);
}

TEST_F(SessionStripsTest, StageTimesOnlyIfAskedFor) {
  const auto clip = small_clip(3);
  EXPECT_TRUE(make_session()->stage_times().empty());
  SessionOptions options;
  options.stage_times = true;
  auto session = Session::create(options);
  ASSERT_TRUE(session.ok());
  ASSERT_TRUE((*session)->configure(clip[0].ref.format, clip[0].dist.format).ok());
  run_clip(**session, clip);
  std::map<std::string, double> total;
  for (const StageTime &time : (*session)->stage_times()) total[time.extractor] += time.seconds;
  EXPECT_EQ(total.size(), 5u);
  for (const char *name : {"vif", "adm", "motion"}) EXPECT_GT(total[name], 0) << name;
  for (const char *name : {"unpack", "scale"})
    EXPECT_EQ(total[name], 0) << name << ": these pictures are read in place";
}

// ---- Memory -----------------------------------------------------------------------------------------------

TEST_F(SessionStripsTest, NothingIsAllocatedPerFrame) {
  for (const int depth : {8, 10})
    for (const int threads : {1, 3}) {
      // 8-bit pictures are shifted up to the 10 bits of the other ones, so that there is something to unpack.
      const auto clip = small_clip(4), deep = small_clip(4, 96, 64, depth);
      const auto session =
          make_session("vmaf_v0.6.1|vmaf_v0.6.1neg", "motion=motion_five_frame_window=true", threads);
      ASSERT_TRUE(session->configure(clip[0].ref.format, deep[0].dist.format).ok());
      FrameScores scores;
      uint64_t at_first = 0;
      for (size_t n = 0; n < 150; ++n) {
        if (n == 50) at_first = allocations;
        while (!session->submit(clip[n % 4].ref, deep[n % 4].dist))
          ASSERT_EQ(session->wait(scores), Next::ready);
      }
      EXPECT_GT(at_first, 0u);
      EXPECT_EQ(allocations - at_first, 0u) << depth << " bits, " << threads << " threads";
    }
}

void expect_refused(const Status &status) {
  EXPECT_EQ(status.code(), Code::resource);
  for (const char *word : {"iB", "threads", "memory"})
    EXPECT_NE(status.message().find(word), std::string::npos) << word << " in: " << status.message();
}

TEST_F(SessionStripsTest, MoreMemoryThanTheMachineHas) {
  const auto session = make_session_for(64, 2);
  const PictureFormat huge = {32768, 32768, 16};
  if (physical_memory() > uint64_t(120) << 30) GTEST_SKIP() << "this machine has enough";
  expect_refused(session->configure(huge, std::vector<PictureFormat>(64, huge)));
  EXPECT_FALSE(session->has_room());
}

TEST_F(SessionStripsTest, MoreMemoryThanTheSystemGives) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer takes address space as it likes";
  const auto clip = small_clip(2);
  const auto session = make_session("vmaf_v0.6.1", "", 4);
  std::ifstream file("/proc/self/statm");
  uint64_t pages = 0;
  ASSERT_TRUE(file >> pages);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const rlimit small = {pages * uint64_t(sysconf(_SC_PAGESIZE)) + (100 << 20), before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &small), 0);
  const Status status = session->configure({8192, 8192, 8}, {8192, 8192, 8});
  EXPECT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  expect_refused(status);
  EXPECT_FALSE(session->has_room());
  ASSERT_TRUE(session->configure(clip[0].ref.format, clip[0].dist.format).ok());
  EXPECT_EQ(run_clip(*session, clip).size(), clip.size());
}

}  // namespace
}  // namespace vmafhip
