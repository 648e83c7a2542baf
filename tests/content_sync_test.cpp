// Content synchronisation on drawn programmes: what must be found, followed and refused. The measure of real pictures
// is tests/content/judge.cpp.
#include "gst/vmafhip/content/content_sync.h"

#include <functional>
#include <map>

#include <gtest/gtest.h>

#include "tests/content/drawn.h"

namespace vmafhip::content::test {
namespace {

struct Sample {
  double time;   // time stamp
  double shown;  // time of the programme that is shown
};
using Samples = std::vector<Sample>;
using Draw = std::function<Drawing(double shown)>;

// Frames at `rate` from time 0 on; each shows the programme `offset` later.
Samples regular(double seconds, double rate, double offset = 0) {
  Samples samples;
  for (int n = 0; n < seconds * rate; ++n) samples.push_back({n / rate, n / rate + offset});
  return samples;
}

struct Event {
  double time;
  State state;
  double offset;
};

struct Outcome {
  int matched = 0, exact = 0, near = 0;  // distorted frames; within half a frame, within one and a half
  int shown = 0;                         // distorted frames that show what the reference stream also has
  std::vector<Event> events;
  double offset = 0, confidence = 0;
  State state = State::searching;
  int locks = 0, losses = 0;
  size_t bytes = 0;
  std::map<int, int> pairs;  // distorted frame -> reference frame
  std::vector<int64_t> order;

  double exact_share() const { return matched > 0 ? double(exact) / matched : 0; }
  double near_share() const { return matched > 0 ? double(near) / matched : 0; }
  double paired_share() const { return shown > 0 ? double(matched) / shown : 0; }
};

constexpr double kAlien = -1e6;  // a distorted frame's `shown` that is in no reference frame

Outcome run(const Samples &ref, const Draw &draw_ref, const Samples &dist, const Draw &draw_dist,
            double window = 5, double period = 0) {
  Outcome outcome;
  ContentSync sync(window);
  Signer ref_signer, dist_signer;
  Signature signature;
  std::vector<Match> matches;
  const double frame = ref.size() > 1 ? ref[1].time - ref[0].time : 0.04;
  size_t i = 0, j = 0;
  double now = 0;
  const auto look = [&] {
    matches.clear();
    sync.take(matches);
    for (const Match &match : matches) {
      outcome.order.push_back(match.dist);
      if (match.ref < 0) continue;
      outcome.pairs[int(match.dist)] = int(match.ref);
      double off = std::abs(ref[size_t(match.ref)].shown - dist[size_t(match.dist)].shown);
      if (period > 0) off = std::min(std::fmod(off, period), period - std::fmod(off, period));
      ++outcome.matched;
      outcome.exact += off < 0.51 * frame;
      outcome.near += off < 1.51 * frame;
      EXPECT_GE(match.confidence, 0);
      EXPECT_LE(match.confidence, 1);
    }
    if (outcome.events.empty() || outcome.events.back().state != sync.state())
      outcome.events.push_back({now, sync.state(), sync.offset()});
    outcome.bytes = std::max(outcome.bytes, sync.bytes());
  };
  while (i < ref.size() || j < dist.size()) {
    if (j >= dist.size() || (i < ref.size() && ref[i].time <= dist[j].time)) {
      now = ref[i].time;
      ref_signer.sign(draw_ref(ref[i].shown).view(), now, signature);
      sync.push_ref(int64_t(i++), now, signature);
    } else {
      now = dist[j].time;
      dist_signer.sign(draw_dist(dist[j].shown).view(), now, signature);
      sync.push_dist(int64_t(j++), now, signature);
    }
    look();
  }
  sync.end_ref();
  sync.end_dist();
  look();
  for (const Sample &sample : dist)
    outcome.shown +=
        sample.shown >= ref.front().shown - frame / 2 && sample.shown <= ref.back().shown + frame / 2;
  outcome.offset = sync.offset();
  outcome.confidence = sync.confidence();
  outcome.state = sync.state();
  outcome.locks = sync.locks();
  outcome.losses = sync.losses();
  EXPECT_TRUE(std::is_sorted(outcome.order.begin(), outcome.order.end()));
  EXPECT_EQ(std::adjacent_find(outcome.order.begin(), outcome.order.end()), outcome.order.end());
  return outcome;
}

const Programme programme{1};

// One lock that holds to the end, and (nearly) all frames.
void expect_found(const Outcome &o, double offset, double exact = 0.995) {
  EXPECT_EQ(o.state, State::locked);
  EXPECT_EQ(o.losses, 0);
  EXPECT_NEAR(o.offset, offset, 0.02);
  EXPECT_GE(o.exact_share(), exact);
  EXPECT_GE(o.near_share(), 0.995);
  EXPECT_GE(o.paired_share(), 0.95);
  EXPECT_GT(o.confidence, 0.3);
}

TEST(ContentSync, FindsAnOffsetInEitherDirection) {
  // 1.307, -2.993: frames are the reference's, time stamps lie between.
  for (const double offset : {0., 1.32, -0.68, 1.307, -2.993}) {
    SCOPED_TRACE(offset);
    Samples dist = regular(7, 25, offset);
    for (Sample &s : dist) s.shown = std::round(s.shown * 25) / 25;
    const double shift = dist[0].shown - dist[0].time;
    const Outcome o = run(regular(7, 25), programme, dist, programme);
    expect_found(o, shift, 1);
    EXPECT_LE(o.events.at(1).time, std::abs(offset) + 2.1);
    EXPECT_EQ(o.paired_share(), 1);
  }
}

TEST(ContentSync, FindsOffsetsUpToTheWindow) {
  const Samples ref = regular(9, 25), dist = regular(9, 25, 4.6);
  expect_found(run(ref, programme, dist, programme, 5), 4.6, 1);
  const Outcome o = run(ref, programme, dist, programme, 2);
  EXPECT_EQ(o.state, State::unknowable);
  EXPECT_EQ(o.matched, 0);
}

TEST(ContentSync, PairsDifferentRates) {
  // The distorted stream shows the newest frame of a source of the lower rate.
  const auto held = [](Samples samples, double rate) {
    for (Sample &s : samples) s.shown = std::floor(s.shown * rate + 1e-6) / rate;
    return samples;
  };
  Outcome o = run(regular(6, 25), programme, held(regular(6, 50, 0.8), 25), programme);
  EXPECT_GE(o.exact_share(), 0.97);
  EXPECT_GE(o.near_share(), 0.995);
  EXPECT_NEAR(o.offset, 0.8, 0.03);
  o = run(regular(6, 50), programme, held(regular(6, 25, -0.6), 50), programme);
  EXPECT_GE(o.exact_share(), 0.97);
  EXPECT_NEAR(o.offset, -0.6, 0.03);
  o = run(regular(6, 30), programme, held(regular(6, 25, 0.4), 30), programme);
  EXPECT_GE(o.exact_share(), 0.97);
}

TEST(ContentSync, FollowsDroppedFramesThatLeaveNoGap) {
  Samples dist;
  int skipped = 0;
  for (int n = 0; dist.size() < 200; ++n) {
    if (n % 40 == 39) {
      ++skipped;
      continue;
    }
    dist.push_back({double(dist.size()) / 25, n / 25. + 0.4});
  }
  const Outcome o = run(regular(9, 25), programme, dist, programme);
  EXPECT_GE(o.exact_share(), 0.97);
  EXPECT_GE(o.near_share(), 0.995);
  EXPECT_GE(skipped, 5);
}

TEST(ContentSync, FollowsRepeatedFramesAndGaps) {
  Samples repeated;  // each 30th twice, the rest late by so much
  for (int n = 0; repeated.size() < 200; ++n)
    for (int k = 0; k < (n % 30 == 29 ? 2 : 1); ++k)
      repeated.push_back({double(repeated.size()) / 25, n / 25. + 0.5});
  Outcome o = run(regular(9, 25), programme, repeated, programme);
  EXPECT_GE(o.exact_share(), 0.95);
  EXPECT_GE(o.near_share(), 0.99);

  Samples gaps = regular(8, 25, -0.48);
  std::erase_if(gaps, [](const Sample &s) { return hash(uint32_t(s.time * 25 + 0.5), 1, 1) % 12 == 0; });
  o = run(regular(8, 25), programme, gaps, programme);
  expect_found(o, -0.48, 1);
}

TEST(ContentSync, FollowsDrift) {
  Samples dist = regular(20, 25, 0.6);
  for (Sample &s : dist) s.time *= 1.002;  // two seconds in a quarter of an hour: a frame in 20 s
  const Outcome o = run(regular(20, 25), programme, dist, programme);
  EXPECT_EQ(o.losses, 0);
  EXPECT_GE(o.exact_share(), 0.99);
  EXPECT_NEAR(o.offset, 0.6 - 0.04, 0.02);
}

TEST(ContentSync, LocksAnewAfterASplice) {
  Samples dist = regular(12, 25, 0.2);
  for (size_t i = 130; i < dist.size(); ++i) dist[i].shown += 1.2;
  const Outcome o = run(regular(12, 25), programme, dist, programme);
  EXPECT_EQ(o.state, State::locked);
  EXPECT_GE(o.locks, 2);
  EXPECT_NEAR(o.offset, 1.4, 0.02);
  EXPECT_GE(o.near_share(), 0.98);
  EXPECT_GE(o.paired_share(), 0.8);
}

TEST(ContentSync, PairsNoForeignFrame) {
  const Programme other{77};
  Samples dist = regular(14, 25, -0.52);
  const Draw draw = [&](double shown) { return shown > 5 && shown < 8.5 ? other(shown) : programme(shown); };
  const Outcome o = run(regular(14, 25), programme, dist, draw);
  EXPECT_EQ(o.state, State::locked);
  EXPECT_EQ(o.losses, 1);
  for (const auto &[j, i] : o.pairs)
    EXPECT_FALSE(dist[size_t(j)].shown > 5 && dist[size_t(j)].shown < 8.5) << j;
  EXPECT_GE(o.exact_share(), 0.99);
}

TEST(ContentSync, LevelsBarsAndNoiseDoNotMatter) {
  const Samples ref = regular(7, 25), dist = regular(7, 25, 0.88);
  const std::pair<const char *, Draw> changes[] = {
      {"gain", [](double t) { return changed(programme(t), [](double v) { return 0.8 * (v - 16) + 28; }); }},
      {"gamma",
       [](double t) { return changed(programme(t), [](double v) { return 255 * std::pow(v / 255, 1.3); }); }},
      {"letterbox", [](double t) { return letterboxed(programme(t), 0.75); }},
      {"noise", [](double t) { return noisy(programme(t), 20, uint32_t(t * 1000)); }},
      {"half size",
       [](double t) {
         return Programme{1, 64, 36}(t);
       }},
  };
  for (const auto &[name, draw] : changes) {
    SCOPED_TRACE(name);
    expect_found(run(ref, programme, dist, draw), 0.88);
  }
}

TEST(ContentSync, UnlikeStreamsAreUnknowable) {
  for (const uint32_t seed : {2u, 3u, 4u, 5u}) {
    const Outcome o = run(regular(8, 25), programme, regular(8, 25), Programme{seed});
    EXPECT_EQ(o.matched, 0);
    EXPECT_EQ(o.locks, 0);
    ASSERT_EQ(o.events.size(), 2u);
    EXPECT_EQ(o.events[1].state, State::unknowable);
    EXPECT_NEAR(o.events[1].time, 6, 0.1);  // when the window has been searched, and no later
  }
}

TEST(ContentSync, StillAndBlackPicturesAreUnknowable) {
  const Draw still = [](double) { return programme(0.4); };
  const Draw noise = [](double t) { return noisy(programme(0.4), 4, uint32_t(t * 1000)); };
  const Draw black = [](double) { return Drawing(128, 72); };
  for (const auto &[ref, dist] :
       {std::pair(still, still), std::pair(still, noise), std::pair(black, black)}) {
    const Outcome o = run(regular(8, 25), ref, regular(8, 25, 0.3), dist);
    EXPECT_EQ(o.matched, 0);
    EXPECT_EQ(o.state, State::unknowable);
  }
}

TEST(ContentSync, ASingleCutGivesLittleConfidence) {
  // From one still picture to another, the same in both: likely the same moment, but nothing else confirms it.
  const auto cut = [](double at) { return [at](double t) { return programme(t < at ? 0.4 : 30.4); }; };
  const Outcome o = run(regular(7, 25), cut(4), regular(7, 25), cut(4.4));
  ASSERT_EQ(o.state, State::locked);
  EXPECT_NEAR(o.offset, -0.4, 0.3);  // as near as still pictures can tell
  EXPECT_LT(o.confidence, 0.5);
}

TEST(ContentSync, TheSameMotionInAnotherPictureIsUnlike) {
  const auto ball = [](uint32_t background) {
    return [background](double t) {
      Drawing drawing = Programme{background}(0.5);
      const double x = 64 + 50 * std::sin(t * 5), y = 36 + 25 * std::cos(t * 7.3);
      for (int v = 0; v < 72; ++v)
        for (int u = 0; u < 128; ++u)
          if ((u - x) * (u - x) + (v - y) * (v - y) < 60) drawing.at(u, v) = 235;
      return drawing;
    };
  };
  EXPECT_EQ(run(regular(8, 25), ball(1), regular(8, 25), ball(1)).state, State::locked);
  const Outcome o = run(regular(8, 25), ball(1), regular(8, 25), ball(2));
  EXPECT_EQ(o.matched, 0);
  EXPECT_EQ(o.state, State::unknowable);
}

TEST(ContentSync, LocksWhenABlackLeaderEnds) {
  const Draw draw = [](double t) { return t < 7 ? Drawing(128, 72) : programme(t); };
  const Outcome o = run(regular(12, 25), draw, regular(12, 25, 0.6), draw);
  ASSERT_GE(o.events.size(), 3u);
  EXPECT_EQ(o.events[1].state, State::unknowable);
  EXPECT_EQ(o.events[2].state, State::locked);
  EXPECT_LT(o.events[2].time, 9.1);
  EXPECT_NEAR(o.offset, 0.6, 0.02);
}

TEST(ContentSync, PeriodicPicturesAreUnknowable) {
  const auto loop = [](double period) {
    return [period](double t) { return programme(t - period * std::floor(t / period + 1e-6)); };
  };
  Outcome o = run(regular(9, 25), loop(0.48), regular(9, 25, 0.2), loop(0.48));
  EXPECT_EQ(o.matched, 0);
  EXPECT_EQ(o.state, State::unknowable);
  // Of a longer loop an early search sees one repetition only: what it pairs is the same picture, and the lock falls.
  o = run(regular(14, 25), loop(2), regular(14, 25, 0.2), loop(2), 5, 2);
  EXPECT_EQ(o.near_share(), o.matched > 0 ? 1 : 0);
  EXPECT_EQ(o.state, State::unknowable);
}

TEST(ContentSync, KnowsShortClipsAtTheirEnd) {
  expect_found(run(regular(1.6, 25), programme, regular(1.6, 25, 0.2), programme), 0.2, 1);
  expect_found(run(regular(1.2, 25), programme, regular(1.2, 25), programme), 0, 1);
  const Outcome o = run(regular(1.6, 25), programme, regular(1.6, 25), Programme{9});
  EXPECT_EQ(o.state, State::unknowable);
  EXPECT_EQ(o.matched, 0);
}

TEST(ContentSync, BoundedMemory) {
  const Draw draw = [](double t) { return Programme{1, 64, 36}(t); };
  const Outcome short_run = run(regular(20, 25), draw, regular(20, 25, 0.2), draw, 1);
  const Outcome long_run = run(regular(60, 25), draw, regular(60, 25, 0.2), draw, 1);
  EXPECT_EQ(short_run.bytes, long_run.bytes);
  EXPECT_LT(long_run.bytes, size_t(2) << 20);
  // However dense frames are, no more than a fixed number is kept.
  History history(100);
  Signature signature = {};
  for (int i = 0; i < 20000; ++i) history.add(i, i * 1e-4, signature);
  EXPECT_EQ(history.size(), History::kMostFrames);
}

TEST(ContentSync, LeavesOutFramesWhoseTimeDoesNotRise) {
  ContentSync sync(1);
  Signature signature = {};
  EXPECT_TRUE(sync.push_ref(0, 1.0, signature));
  EXPECT_FALSE(sync.push_ref(1, 1.0, signature));
  EXPECT_FALSE(sync.push_ref(2, 0.5, signature));
  EXPECT_TRUE(sync.push_ref(3, 1.1, signature));
  sync.end_ref();
  sync.end_dist();
  EXPECT_EQ(sync.state(), State::unknowable);
}

}  // namespace
}  // namespace vmafhip::content::test
