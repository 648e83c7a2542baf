// What holds for every pair of streams: thousands of random ones.
#include <set>

#include "tests/aligner_run.h"

namespace vmafhip {
namespace {

using namespace test;

// A stream of which every frame's true number is known.
struct Known {
  Times times;
  std::vector<int> numbers;
};

// 30 frames/s, each off by up to `jitter` ns, of which a share (percent) is lost; the first two are not, so that
// the interval can be measured.
Known known_stream(std::mt19937 &random, int frames, int64_t jitter, int lost_percent) {
  std::uniform_int_distribution<int64_t> off(-jitter, jitter);
  std::uniform_int_distribution<int> percent(0, 99);
  Known stream;
  const Times exact = grid(frames, 1, 30);
  for (int n = 0; n < frames; ++n) {
    const int64_t time = exact[size_t(n)] + off(random);
    if (percent(random) < lost_percent && n > 1) continue;
    stream.times.push_back(time);
    stream.numbers.push_back(n);
  }
  return stream;
}

// Every frame that both streams have is paired with itself, and nothing else is paired.
void expect_true_partners(const Known &ref, const Known &dist) {
  const std::set<int> in_ref(ref.numbers.begin(), ref.numbers.end());
  const std::set<int> in_dist(dist.numbers.begin(), dist.numbers.end());
  for (const Verdict &v : align(ref.times, dist.times)) {
    if (v.ref >= 0 && v.dist >= 0) {
      ASSERT_EQ(ref.numbers[size_t(v.ref)], dist.numbers[size_t(v.dist)]);
    } else if (v.ref >= 0) {
      ASSERT_FALSE(in_dist.count(ref.numbers[size_t(v.ref)])) << ref.numbers[size_t(v.ref)];
    } else {
      ASSERT_FALSE(in_ref.count(dist.numbers[size_t(v.dist)])) << dist.numbers[size_t(v.dist)];
    }
  }
}

TEST(AlignerProperty, JitterChangesNoPartner) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const Known ref = known_stream(random, 200, kMs, 0), dist = known_stream(random, 200, kMs, 0);
    expect_true_partners(ref, dist);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(AlignerProperty, LossesChangeNoOtherPartner) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const Known ref = known_stream(random, 200, kMs, 20), dist = known_stream(random, 200, kMs, 20);
    expect_true_partners(ref, dist);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

// Frames 1 to 60 ms apart, now and then a duplicate.
Times any_stream(std::mt19937 &random) {
  std::uniform_int_distribution<int> count(0, 40), start(-50, 50), gap(1, 60), one_in(0, 9);
  int64_t time = start(random) * kMs;
  Times times;
  for (int n = count(random); n > 0; --n) {
    times.push_back(time);
    if (one_in(random) > 0) time += gap(random) * kMs;
  }
  return times;
}

int64_t distance(int64_t a, int64_t b) { return std::abs(a - b); }

// Whether no other frame of either side is as near to one of the two.
bool nearest_to_each_other(const Times &ref, const Times &dist, size_t r, size_t d) {
  const int64_t apart = distance(ref[r], dist[d]);
  for (size_t i = 0; i < ref.size(); ++i)
    if (i != r && distance(ref[i], dist[d]) <= apart) return false;
  for (size_t i = 0; i < dist.size(); ++i)
    if (i != d && distance(dist[i], ref[r]) <= apart) return false;
  return true;
}

TEST(AlignerProperty, RandomStreams) {
  size_t mutual = 0, pairs = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const Times ref = any_stream(random), dist = any_stream(random);
    const int64_t tolerance = std::uniform_int_distribution<int64_t>(0, 40)(random) * kMs;
    const Verdicts verdicts = align(ref, dist, tolerance);

    // Each frame exactly once, in order.
    int next_ref = 0, next_dist = 0;
    std::set<std::pair<size_t, size_t>> paired;
    for (const Verdict &v : verdicts) {
      if (v.ref >= 0) {
        ASSERT_EQ(v.ref, next_ref++);
      }
      if (v.dist >= 0) {
        ASSERT_EQ(v.dist, next_dist++);
      }
      if (v.ref < 0 || v.dist < 0) continue;
      paired.insert({size_t(v.ref), size_t(v.dist)});
      ASSERT_LE(distance(ref[size_t(v.ref)], dist[size_t(v.dist)]), tolerance);
    }
    ASSERT_EQ(size_t(next_ref), ref.size());
    ASSERT_EQ(size_t(next_dist), dist.size());

    for (size_t r = 0; r < ref.size(); ++r)
      for (size_t d = 0; d < dist.size(); ++d) {
        if (distance(ref[r], dist[d]) > tolerance || !nearest_to_each_other(ref, dist, r, d)) continue;
        ++mutual;
        ASSERT_TRUE(paired.count({r, d})) << r << " and " << d << " in " << text_of(verdicts);
      }
    pairs += paired.size();
  }
  EXPECT_GT(mutual, 5000u) << "the streams are meant to have such pairs";
  EXPECT_GE(pairs, mutual);
}

// Times that go back are no reason to hang, or to lose or repeat a frame.
TEST(AlignerProperty, TimesInAnyOrder) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Times ref = any_stream(random), dist = any_stream(random);
    std::shuffle(ref.begin(), ref.end(), random);
    std::shuffle(dist.begin(), dist.end(), random);
    int next_ref = 0, next_dist = 0;
    for (const Verdict &v : align(ref, dist)) {
      if (v.ref >= 0) {
        ASSERT_EQ(v.ref, next_ref++);
      }
      if (v.dist >= 0) {
        ASSERT_EQ(v.dist, next_dist++);
      }
    }
    ASSERT_EQ(size_t(next_ref), ref.size());
    ASSERT_EQ(size_t(next_dist), dist.size());
  }
}

}  // namespace
}  // namespace vmafhip
