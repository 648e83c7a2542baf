// The steps by which frames are paired in content mode: each once and in order, bounded waiting, time stamps where the
// pictures do not tell, new starts.
#include "gst/vmafhip/content_aligner.h"

#include <functional>
#include <map>

#include <gtest/gtest.h>

#include "tests/content/drawn.h"

namespace vmafhip::test {
namespace {

using content::Signature;
using content::test::Drawing;
using content::test::Programme;
using Pairs = ContentAligner<int>;
using State = Pairs::State;

constexpr int64_t kSecond = 1'000'000'000, kFrame = kSecond / 25;
constexpr uint64_t kBytes = 1000;  // of a frame

struct Input {
  std::vector<int64_t> times;
  std::function<Drawing(double)> draw;  // of the frame's time
  size_t next = 0;
  content::Signer signer;
};

Input input(int frames, std::function<Drawing(double)> draw, int64_t interval = kFrame) {
  Input in;
  for (int n = 0; n < frames; ++n) in.times.push_back(n * interval);
  in.draw = std::move(draw);
  return in;
}

struct Outcome {
  std::vector<std::pair<int, int>> pairs;
  std::vector<bool> by_time;  // of each pair
  std::vector<int> ref_dropped, dist_dropped;
  std::vector<Pairs::News> news;
  uint64_t most_bytes = 0;
  size_t most_ref = 0, most_dist = 0;  // frames given and not decided
  bool out_of_room = false;

  std::vector<State> states() const {
    std::vector<State> s;
    for (const Pairs::News &n : news) s.push_back(n.state);
    return s;
  }
};

// As the comparing thread does: frames are given when they are asked for.
void run(Pairs &aligner, Input &ref, Input &dist, Outcome &out, bool to_the_end = true) {
  for (int guard = 0; guard < 100000; ++guard) {
    while (auto news = aligner.news()) out.news.push_back(*news);
    out.out_of_room |= aligner.ran_out_of_room();
    out.most_bytes = std::max(out.most_bytes, aligner.bytes());
    const bool by_time = aligner.by_time();
    auto decision = aligner.step();
    switch (decision.step) {
      case Pairs::Step::need_ref:
      case Pairs::Step::need_dist: {
        const Side side = decision.step == Pairs::Step::need_ref ? Side::ref : Side::dist;
        Input &in = side == Side::ref ? ref : dist;
        if (in.next == in.times.size()) {
          if (!to_the_end) return;
          ASSERT_FALSE(aligner.ended(side)) << "asks for a frame after the end";
          aligner.end(side);
          break;
        }
        const int64_t time = in.times[in.next];
        Signature signature;
        in.signer.sign(in.draw(double(time) / kSecond).view(), double(time) / kSecond, signature);
        aligner.push(side, {int(in.next++), time}, kBytes, signature);
        break;
      }
      case Pairs::Step::drop_ref:
        out.ref_dropped.push_back(decision.ref->data);
        break;
      case Pairs::Step::drop_dist:
        out.dist_dropped.push_back(decision.dist->data);
        break;
      case Pairs::Step::pair:
        out.pairs.push_back({decision.ref->data, decision.dist->data});
        out.by_time.push_back(by_time);
        break;
      case Pairs::Step::end:
        // Every frame has come out once.
        EXPECT_EQ(out.pairs.size() + out.ref_dropped.size(), ref.next);
        EXPECT_EQ(out.pairs.size() + out.dist_dropped.size(), dist.next);
        EXPECT_EQ(aligner.bytes(), 0u);
        return;
    }
  }
  FAIL() << "no end";
}

Outcome run(Input ref, Input dist, int64_t window = 5 * kSecond, uint64_t most_bytes = 1u << 30) {
  Pairs aligner(window, most_bytes, -1);
  Outcome out;
  run(aligner, ref, dist, out);
  for (size_t i = 1; i < out.pairs.size(); ++i) {
    EXPECT_GT(out.pairs[i].first, out.pairs[i - 1].first);
    EXPECT_GT(out.pairs[i].second, out.pairs[i - 1].second);
  }
  EXPECT_TRUE(std::is_sorted(out.ref_dropped.begin(), out.ref_dropped.end()));
  EXPECT_TRUE(std::is_sorted(out.dist_dropped.begin(), out.dist_dropped.end()));
  return out;
}

std::function<Drawing(double)> shifted(double offset) {
  return [offset](double t) { return Programme{}(t + offset); };
}

TEST(ContentAligner, PairsTheFramesOfOneMoment) {
  for (const int frames_off : {32, -17, 0}) {
    SCOPED_TRACE(frames_off);
    const Outcome out = run(input(150, shifted(0)), input(150, shifted(frames_off / 25.)));
    EXPECT_EQ(out.pairs.size(), size_t(150 - std::abs(frames_off)));
    for (const auto &[ref, dist] : out.pairs) EXPECT_EQ(ref, dist + frames_off);
    EXPECT_EQ(out.states(), (std::vector{State::searching, State::locked}));
    EXPECT_NEAR(double(out.news.back().offset), frames_off * double(kFrame), 0.1 * kFrame);
    EXPECT_GT(out.news.back().confidence, 0.3);
    EXPECT_GT(out.news.back().frames, 20);
    EXPECT_FALSE(out.out_of_room);
  }
}

TEST(ContentAligner, EachReferenceFrameOnce) {
  // Every reference frame is shown by two distorted frames, the first of which has its time.
  Input dist = input(
      300, [](double t) { return Programme{}(std::floor(t * 25 + 1e-6) / 25 + 0.4); }, kFrame / 2);
  const Outcome out = run(input(150, shifted(0)), std::move(dist));
  EXPECT_GT(out.pairs.size(), 130u);
  int exact = 0;
  for (const auto &[ref, shown] : out.pairs) exact += shown / 2 + 10 == ref;
  EXPECT_GE(exact, int(out.pairs.size()) - 3);
}

TEST(ContentAligner, UnlikeStreamsArePairedByTimeStamps) {
  const Outcome out = run(input(250, Programme{1}), input(250, Programme{2}));
  EXPECT_EQ(out.states(), (std::vector{State::searching, State::unknowable}));
  ASSERT_EQ(out.pairs.size(), 250u);
  for (size_t i = 0; i < out.pairs.size(); ++i) {
    EXPECT_EQ(out.pairs[i].first, out.pairs[i].second);
    EXPECT_TRUE(out.by_time[i]);
  }
}

TEST(ContentAligner, ALockEndsPairingByTimeStamps) {
  const auto draw = [](double t) { return t < 8 ? Drawing(128, 72) : Programme{}(t); };
  const Outcome out = run(input(300, draw), input(300, [&](double t) { return draw(t + 0.6); }));
  EXPECT_EQ(out.states(), (std::vector{State::searching, State::unknowable, State::locked}));
  bool content = false;
  for (size_t i = 0; i < out.pairs.size(); ++i) {
    content |= !out.by_time[i];
    EXPECT_EQ(out.by_time[i], !content);
    EXPECT_EQ(out.pairs[i].first - out.pairs[i].second, content ? 15 : 0);
  }
  EXPECT_TRUE(content);
}

TEST(ContentAligner, AShortClipIsDecidedAtItsEnd) {
  const Outcome out = run(input(38, shifted(0)), input(38, shifted(0.2)));
  EXPECT_EQ(out.pairs.size(), 33u);
  for (const auto &[ref, dist] : out.pairs) EXPECT_EQ(ref, dist + 5);
  const Outcome unlike = run(input(38, Programme{1}), input(38, Programme{2}));
  EXPECT_EQ(unlike.states(), (std::vector{State::searching, State::unknowable}));
  EXPECT_EQ(unlike.pairs.size(), 38u);
}

TEST(ContentAligner, OneStreamEndsLongBeforeTheOther) {
  const Outcome ref_first = run(input(100, shifted(0)), input(200, shifted(0.2)));
  EXPECT_EQ(ref_first.pairs.size(), 95u);
  const Outcome dist_first = run(input(200, shifted(0)), input(100, shifted(-0.2)));
  EXPECT_EQ(dist_first.pairs.size(), 95u);
  for (const auto &[ref, dist] : dist_first.pairs) EXPECT_EQ(ref, dist - 5);
}

TEST(ContentAligner, WaitingIsBounded) {
  // Nothing is found for six seconds: frames go without partner before that where there is no room.
  const Outcome small = run(input(250, Programme{1}), input(250, Programme{2}), 5 * kSecond, 100 * kBytes);
  EXPECT_LE(small.most_bytes, 101 * kBytes);
  EXPECT_TRUE(small.out_of_room);
  EXPECT_GT(small.ref_dropped.size(), 50u);
  const Outcome wide = run(input(250, Programme{1}), input(250, Programme{2}));
  EXPECT_LE(wide.most_bytes, 2 * (6 * 25 + 2) * kBytes);
  // An offset found is of no use if frames cannot wait for so long.
  const Outcome late = run(input(250, shifted(0)), input(250, shifted(2)), 5 * kSecond, 60 * kBytes);
  EXPECT_LE(late.most_bytes, 61 * kBytes);
  EXPECT_TRUE(late.out_of_room);
  for (const auto &[ref, dist] : late.pairs) EXPECT_EQ(ref, dist + 50);
}

TEST(ContentAligner, SearchesAnewAfterAFlush) {
  Pairs aligner(5 * kSecond, 1u << 30, -1);
  Outcome out;
  Input ref = input(100, shifted(0)), dist = input(100, shifted(0.4));
  run(aligner, ref, dist, out, false);
  const size_t before = out.pairs.size();
  EXPECT_GT(before, 60u);
  for (const auto &[r, d] : out.pairs) EXPECT_EQ(r, d + 10);
  aligner.restart(Side::ref);
  aligner.restart(Side::dist);
  EXPECT_EQ(aligner.bytes(), 0u);
  EXPECT_EQ(aligner.offset(), 0);
  Outcome after;
  ref = input(100, shifted(20));
  dist = input(100, shifted(19.6));
  run(aligner, ref, dist, after);
  EXPECT_EQ(after.pairs.size(), 90u);
  for (const auto &[r, d] : after.pairs) EXPECT_EQ(r, d - 10);
  EXPECT_EQ(after.news.front().state, State::searching);
  EXPECT_EQ(after.news.back().state, State::locked);
}

TEST(ContentAligner, FramesWhoseTimeDoesNotRiseGetNoPartner) {
  Input dist = input(150, shifted(0.4));
  dist.times[60] = dist.times[59];
  dist.times[61] = dist.times[30];
  const Outcome out = run(input(150, shifted(0)), std::move(dist));
  EXPECT_TRUE(std::count(out.dist_dropped.begin(), out.dist_dropped.end(), 60));
  EXPECT_TRUE(std::count(out.dist_dropped.begin(), out.dist_dropped.end(), 61));
  EXPECT_GT(out.pairs.size(), 130u);
  for (const auto &[ref, shown] : out.pairs) EXPECT_EQ(ref, shown + 10);
}

TEST(ContentAligner, InAHurryTheOtherStreamsFramesGo) {
  Pairs aligner(5 * kSecond, 1u << 30, -1);
  Signature signature = {};
  for (int n = 0; n < 5; ++n) aligner.push(Side::ref, {n, n * kFrame}, kBytes, signature);
  EXPECT_EQ(aligner.step().step, Pairs::Step::need_dist);
  const auto decision = aligner.step(true);
  ASSERT_EQ(decision.step, Pairs::Step::drop_ref);
  EXPECT_EQ(decision.ref->data, 0);
  // A stream that is known to have nothing for a while need not be waited for.
  aligner.advance(Side::dist, 10 * kFrame);
  EXPECT_EQ(aligner.step().step, Pairs::Step::need_ref);
}

// Both streams begin anew in mid-stream, the reference first: the search does too, and neither waits for an hour.
TEST(ContentAligner, SearchesAnewWhenTimesBeginAnew) {
  const auto twice = [](int lead) {
    Input in = input(150, shifted(0));
    for (int64_t &t : in.times) t += 3600 * kSecond;
    for (int n = 0; n < 150; ++n) in.times.push_back((n + lead) * kFrame);
    return in;
  };
  const Outcome out = run(twice(0), twice(0));
  EXPECT_EQ(out.states(),
            (std::vector<State>{State::searching, State::locked, State::searching, State::locked}));
  for (const auto &[ref, dist] : out.pairs) EXPECT_EQ(ref, dist);
  EXPECT_GT(out.pairs.size(), 250u);
  EXPECT_LT(out.most_ref, 200u);
}

TEST(ContentAligner, GoesOnWhenTimesOfOneSideBeginAnew) {
  Input ref = input(600, shifted(0)), dist = input(150, shifted(0));
  for (int n = 0; n < 450; ++n) dist.times.push_back((n + 100) * kFrame);  // two seconds back
  const Outcome out = run(ref, dist);
  ASSERT_FALSE(out.pairs.empty());
  EXPECT_GT(out.pairs.back().first, 400);  // found again
  EXPECT_EQ(out.pairs.back().second, out.pairs.back().first + 50);
}

}  // namespace
}  // namespace vmafhip::test
