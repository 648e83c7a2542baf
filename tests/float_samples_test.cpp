// Rows of samples as floats: the definition's values at every depth, and nothing read or written outside the row.
#include "engine/cpu/float_samples.h"

#include <vector>

#include "tests/metric_run.h"

namespace vmafhip {
namespace {

using namespace test;

TEST(FloatSamples, StepsOfEightBits) {
  EXPECT_EQ(float_sample_step(8), 1.0f);
  EXPECT_EQ(float_sample_step(10), 0.25f);
  EXPECT_EQ(float_sample_step(12), 0.0625f);
  EXPECT_EQ(float_sample_step(16), 0.00390625f);
}

// f32(f32(sample) / D + offset) with a true division, which is exact here.
TEST(FloatSamples, EveryValue) {
  for (int depth : {8, 10, 12, 16}) {
    const double unit = 1 << (depth - 8);
    for (float offset : {0.0f, -kFloatSampleMiddle})
      for (int sample = 0; sample < 1 << depth; ++sample)
        ASSERT_EQ(float_sample(static_cast<float>(sample), float_sample_step(depth), offset),
                  sample / unit + offset)
            << sample << " at " << depth << " bits";
  }
}

TEST(FloatSamples, RowsOfEveryWidth) {
  constexpr float kUntouched = 12345.0f;
  for (int depth : {8, 10, 12, 16})
    for (int width = 1; width <= 70; ++width) {
      const Luma luma = noise(width, 3, depth, static_cast<uint32_t>(width));
      const StoredLuma stored(luma, {.padding = 2, .upside = width % 2 == 0});
      for (float offset : {0.0f, -kFloatSampleMiddle})
        for (int y = 0; y < 3; ++y) {
          std::vector<float> row(static_cast<size_t>(width) + 32, kUntouched);
          read_float_row(stored.view(), y, offset, row.data());
          for (int x = 0; x < width; ++x)
            ASSERT_EQ(row[static_cast<size_t>(x)],
                      static_cast<float>(luma.at(x, y)) / static_cast<float>(1 << (depth - 8)) + offset)
                << depth << " bits, " << width << " wide, at " << x << ", " << y;
          for (size_t x = static_cast<size_t>(width); x < row.size(); ++x) ASSERT_EQ(row[x], kUntouched);
        }
    }
}

}  // namespace
}  // namespace vmafhip
