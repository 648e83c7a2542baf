// Rescaling of float planes: positions and weights by hand, rows by the book, and what all methods have in common.
#include "engine/cpu/float_scale_tables.h"

#include <cmath>
#include <vector>

#include "tests/metric_run.h"

namespace vmafhip {
namespace {

constexpr FloatScaling kMethods[] = {FloatScaling::nearest, FloatScaling::bilinear, FloatScaling::bicubic,
                                     FloatScaling::lanczos4};

TEST(FloatScale, Sizes) {
  EXPECT_EQ(float_scaled_size(1920, 0.5), 960);
  EXPECT_EQ(float_scaled_size(333, 0.5), 167);
  EXPECT_EQ(float_scaled_size(100, 1.001), 100);
  EXPECT_EQ(float_scaled_size(16384, 4), 65536);
}

// Halving takes the mean of two samples, doubling quarters; before the first sample bilinear extrapolates.
TEST(FloatScale, BilinearPositions) {
  const FloatScalePosition half = float_scale_position(FloatScaling::bilinear, 3, 5, 10);
  EXPECT_EQ(half.index[0], 6);
  EXPECT_EQ(half.index[1], 7);
  EXPECT_EQ(half.weight[0], 0.5f);
  EXPECT_EQ(half.weight[1], 0.5f);
  const FloatScalePosition twice = float_scale_position(FloatScaling::bilinear, 3, 20, 10);
  EXPECT_EQ(twice.index[0], 1);
  EXPECT_EQ(twice.index[1], 2);
  EXPECT_EQ(twice.weight[1], 0.25f);
  const FloatScalePosition first = float_scale_position(FloatScaling::bilinear, 0, 20, 10);
  EXPECT_EQ(first.index[0], 1);  // sample -1
  EXPECT_EQ(first.index[1], 0);
  EXPECT_EQ(first.weight[1], -1.25f);
  EXPECT_EQ(first.weight[0], 2.25f);
  const FloatScalePosition last = float_scale_position(FloatScaling::bilinear, 19, 20, 10);
  EXPECT_EQ(last.index[0], 9);
  EXPECT_EQ(last.index[1], 8);  // sample 10
  EXPECT_EQ(last.weight[1], 0.25f);
}

TEST(FloatScale, NearestPositions) {
  const int expected[] = {0, 1, 3, 5, 6, 8};
  for (int i = 0; i < 6; ++i) {
    const FloatScalePosition p = float_scale_position(FloatScaling::nearest, i, 6, 10);
    EXPECT_EQ(p.index[0], expected[i]);
    EXPECT_EQ(p.weight[0], 1);
  }
}

TEST(FloatScale, Kernels) {
  EXPECT_EQ(bicubic_weight(0), 1);
  EXPECT_EQ(bicubic_weight(1), 0);
  EXPECT_EQ(bicubic_weight(2), 0);
  EXPECT_EQ(bicubic_weight(0.5f), 0.59375f);  // 1.25 / 8 - 2.25 / 4 + 1
  EXPECT_EQ(bicubic_weight(1.5f), -0.09375f);
  EXPECT_EQ(lanczos4_weight(0), 1);
  EXPECT_EQ(lanczos4_weight(4), 0);
  EXPECT_NEAR(lanczos4_weight(0.5f), 0.6203830, 1e-6);
  EXPECT_EQ(lanczos4_weight(-1.25f), lanczos4_weight(1.25f));
}

// Whatever is read lies in the plane, however small it is.
TEST(FloatScale, PositionsStayInside) {
  for (const FloatScaling method : kMethods)
    for (int from = 1; from < 40; ++from)
      for (int size = 1; size < 90; size += 1 + size / 9)
        for (int at = 0; at < size; ++at) {
          const FloatScalePosition p = float_scale_position(method, at, size, from);
          for (int t = 0; t < float_scale_taps(method); ++t) {
            ASSERT_GE(p.index[t], 0);
            ASSERT_LT(p.index[t], from);
          }
        }
}

// A row by the book: weights multiplied, products summed row by row.
TEST(FloatScale, RowsByTheBook) {
  for (const FloatScaling method : kMethods)
    for (const int width : {1, 7, 16, 33, 70, 131}) {
      const int from = 61, height = 9, taps = float_scale_taps(method);
      test::Noise source(5);
      std::vector<std::vector<float>> plane(height, std::vector<float>(from));
      for (auto &row : plane)
        for (float &v : row) v = static_cast<float>(source.below(65536)) / 256 - 128;
      const FloatScaleTable columns(method, width, from);
      for (int y = 0; y < 12; ++y) {
        const FloatScalePosition vertical = float_scale_position(method, y, 12, height);
        const float *rows[kFloatScaleMostTaps];
        for (int t = 0; t < taps; ++t) rows[t] = plane[static_cast<size_t>(vertical.index[t])].data();
        std::vector<float> out(static_cast<size_t>(width + kFloatScaleBeyond));
        float_scale_row(method, columns.axis(), rows, vertical.weight, out.data());
        for (int x = 0; x < width; ++x) {
          const FloatScalePosition p = float_scale_position(method, x, width, from);
          float sum = 0, weights = 0;
          for (int j = 0; j < taps; ++j)
            for (int i = 0; i < taps; ++i) {
              const float weight = vertical.weight[j] * p.weight[i];
              sum += weight * rows[j][p.index[i]];
              weights += weight;
            }
          const float want = method == FloatScaling::lanczos4 ? sum / weights : sum;
          ASSERT_EQ(out[static_cast<size_t>(x)], want) << width << ", " << x;
        }
      }
    }
}

// A plane of one value stays one.
TEST(FloatScale, KeepsConstants) {
  const std::vector<float> row(50, 37.5f);
  for (const FloatScaling method : kMethods)
    for (const int width : {20, 50, 130}) {
      const FloatScaleTable columns(method, width, 50);
      const float *rows[kFloatScaleMostTaps];
      for (const float *&r : rows) r = row.data();
      const FloatScalePosition vertical = float_scale_position(method, 7, 11, 50);
      std::vector<float> out(static_cast<size_t>(width + kFloatScaleBeyond));
      float_scale_row(method, columns.axis(), rows, vertical.weight, out.data());
      for (int x = 0; x < width; ++x) ASSERT_NEAR(out[static_cast<size_t>(x)], 37.5f, 1e-4) << width;
    }
}

}  // namespace
}  // namespace vmafhip
