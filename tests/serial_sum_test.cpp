// Serial sums by runs against additions one after the other, bit for bit.
#include "engine/arith/serial_sum.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "tests/metric_run.h"

namespace vmafhip {
namespace {

using Numbers = std::vector<float>;

float plain(const Numbers &numbers, float sum = 0) {
  for (const float t : numbers) sum += t;
  return sum;
}

struct Result {
  float sum;
  int left;  // runs that had to be added number by number
};

// Runs of `length`, `joined` of which are joined, half with half, before they are added.
Result by_runs(const Numbers &numbers, size_t length, size_t joined, float sum = 0) {
  uint32_t bits = std::bit_cast<uint32_t>(sum);
  int left = 0;
  for (size_t first = 0; first < numbers.size();) {
    const uint32_t binade = serial_binade(bits);
    std::vector<SerialRun> runs;
    size_t last = first;
    for (; runs.size() < joined && last < numbers.size(); last = std::min(last + length, numbers.size())) {
      const size_t count = std::min(length, numbers.size() - last);
      runs.push_back(serial_run(binade, static_cast<int>(count),
                                [&](int i) { return numbers[last + static_cast<size_t>(i)]; }));
    }
    for (; runs.size() > 1; runs.resize((runs.size() + 1) / 2))
      for (size_t i = 0; 2 * i < runs.size(); ++i)
        runs[i] = 2 * i + 1 < runs.size() ? serial_join(runs[2 * i], runs[2 * i + 1]) : runs[2 * i];
    if (!serial_add(binade, runs[0], &bits)) {
      ++left;
      const float start = std::bit_cast<float>(bits);
      bits = std::bit_cast<uint32_t>(plain(
          {numbers.begin() + static_cast<ptrdiff_t>(first), numbers.begin() + static_cast<ptrdiff_t>(last)},
          start));
    }
    first = last;
  }
  return {std::bit_cast<float>(bits), left};
}

void expect_equal(const Numbers &numbers, float start = 0) {
  const float want = plain(numbers, start);
  for (const auto &[length, joined] : {std::pair<size_t, size_t>{1, 1}, {1, 7}, {3, 2}, {16, 8}, {64, 5}}) {
    const Result got = by_runs(numbers, length, joined, start);
    EXPECT_EQ(std::bit_cast<uint32_t>(got.sum), std::bit_cast<uint32_t>(want))
        << numbers.size() << " numbers from " << start << ", runs of " << length << ", " << joined
        << " joined";
  }
}

// Mantissas of `bits` bits, exponents of `low` to `high`.
Numbers random(size_t count, int bits, int low, int high, uint32_t seed) {
  test::Noise noise(seed);
  Numbers out(count);
  for (float &t : out)
    t = std::ldexp(static_cast<float>(noise.below(1 << bits)), low + noise.below(high - low + 1) - bits);
  return out;
}

TEST(SerialSum, EqualsPlainSum) {
  uint32_t seed = 1;
  for (const int bits : {1, 2, 5, 12, 24})
    for (const auto &[low, high] : {std::pair(0, 0), {-3, 3}, {-24, 2}, {-40, 10}})
      for (const size_t count : {size_t{1}, size_t{10}, size_t{1000}, size_t{40000}})
        expect_equal(random(count, bits, low, high, seed++));
}

// Half units everywhere: each addition is a tie, and what it adds hangs on the one before.
TEST(SerialSum, Ties) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    test::Noise noise(seed);
    Numbers numbers(3000);
    for (float &t : numbers) t = static_cast<float>(2 * noise.below(4) + 1) / 2;
    const float start = 8388608.0f + static_cast<float>(noise.below(1000));
    expect_equal(numbers, start);
    for (float &t : numbers) t *= 0x1p-20f;
    expect_equal(numbers, start * 0x1p-20f);
  }
}

// The sum ends just below, at and just above the end of its binade.
TEST(SerialSum, EndsOfBinades) {
  for (int units = -3; units <= 3; ++units)
    for (const float t : {0.5f, 1.0f, 1.5f, 2.0f, 4.0f, 16777215.0f, 16777216.0f, 3e30f})
      for (const float lift : {1.0f, 0x1p-30f, 0x1p60f})
        expect_equal({t * lift, 0.25f * lift, t * lift, 0, lift},
                     (16777216.0f + static_cast<float>(units)) * lift);
}

TEST(SerialSum, ZerosAndSubnormals) {
  expect_equal(Numbers(100, 0.0f));
  for (uint32_t seed = 0; seed < 20; ++seed) {
    Numbers numbers = random(500, 10, -149 + 5, -130, seed);
    expect_equal(numbers);
    expect_equal(numbers, 0x1p-126f);
    expect_equal(numbers, 0x1p-140f);
    for (float &t : numbers) t *= 0x1p16f;
    expect_equal(numbers);
    expect_equal(numbers, 0x1.fffffep-126f);
  }
}

// Nearly all runs are added whole: that is what they are for.
TEST(SerialSum, FewRunsLeaveTheBinade) {
  const Numbers numbers = random(200000, 24, 0, 8, 5);
  EXPECT_LE(by_runs(numbers, 64, 1).left, 20);
  EXPECT_EQ(by_runs(Numbers(10000, 0.0f), 64, 4).left, 0);
}

}  // namespace
}  // namespace vmafhip
