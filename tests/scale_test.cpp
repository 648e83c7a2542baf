// Scaling against its definition: real arithmetic written down anew, and what must hold whatever the kernel.
#include "engine/arith/scale.h"

#include <cmath>
#include <numbers>
#include <numeric>

#include "tests/scale_run.h"

namespace vmafhip {
namespace {

using namespace test;

constexpr ScaleKernel kKernels[] = {ScaleKernel::bilinear, ScaleKernel::bicubic, ScaleKernel::lanczos};

// ---- Real arithmetic ----------------------------------------------------------------------------------------

double real_kernel(ScaleMethod method, double t) {
  t = std::abs(t);
  const auto sinc = [](double x) {
    return x == 0 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
  };
  switch (method) {
    case ScaleMethod::bilinear:
      return t < 1 ? 1 - t : 0;
    case ScaleMethod::lanczos:
      return t < 3 ? sinc(t) * sinc(t / 3) : 0;
    default:
      // Cubic Hermite through the samples, with the slope of the line between the two neighbours.
      if (t >= 2) return 0;
      if (t >= 1) return -0.5 * t * t * t + 2.5 * t * t - 4 * t + 2;
      return 1.5 * t * t * t - 2.5 * t * t + 1;
  }
}

// One row or column; a copy if it keeps its length.
std::vector<double> real_line(const std::vector<double> &in, int out, ScaleMethod method) {
  const int n = int(in.size());
  if (n == out) return in;
  const double ratio = double(n) / out, wide = std::max(1.0, ratio);
  std::vector<double> line;
  for (int x = 0; x < out; ++x) {
    const double centre = (x + 0.5) * ratio - 0.5;
    double sum = 0, total = 0;
    for (int j = int(std::floor(centre - 3 * wide)); j <= int(std::ceil(centre + 3 * wide)); ++j) {
      const double weight = real_kernel(method, (j - centre) / wide);
      sum += weight * in[size_t(std::clamp(j, 0, n - 1))];
      total += weight;
    }
    line.push_back(sum / total);
  }
  return line;
}

std::vector<double> real_plane(const Luma &in, int width, int height, int depth, ScaleMethod method) {
  std::vector<std::vector<double>> rows;
  for (int y = 0; y < in.height; ++y) {
    std::vector<double> row;
    for (int x = 0; x < in.width; ++x) row.push_back(std::ldexp(in.at(x, y), depth - in.depth));
    rows.push_back(real_line(row, width, method));
  }
  std::vector<double> out(size_t(width) * size_t(height));
  for (int x = 0; x < width; ++x) {
    std::vector<double> column;
    for (const auto &row : rows) column.push_back(row[size_t(x)]);
    column = real_line(column, height, method);
    for (int y = 0; y < height; ++y)
      out[size_t(y) * size_t(width) + size_t(x)] =
          std::clamp(column[size_t(y)], 0.0, double((1 << depth) - 1));
  }
  return out;
}

// What the header says that rounding may do.
double bound(const Luma &in, int width, int height, int depth, ScaleMethod method) {
  const ScaleKernel kernel = method == ScaleMethod::bilinear  ? ScaleKernel::bilinear
                             : method == ScaleMethod::lanczos ? ScaleKernel::lanczos
                                                              : ScaleKernel::bicubic;
  const int taps_x = in.width == width ? 1 : scale_taps(kernel, in.width, width),
            taps_y = in.height == height ? 1 : scale_taps(kernel, in.height, height);
  return 0.5 + 1.6 * (1 << depth) * ((taps_x - 1 + taps_y - 1) / 32768.0 + 1 / 65536.0);
}

double largest_difference(const Luma &in, int width, int height, int depth, ScaleMethod method) {
  const Luma got = scaled(plain_kernels(), in, width, height, depth, method);
  const std::vector<double> want = real_plane(in, width, height, depth, method);
  double most = 0;
  for (size_t i = 0; i < want.size(); ++i) most = std::max(most, std::abs(got.samples[i] - want[i]));
  return most;
}

struct Size {
  int from_width, from_height, width, height;
};
constexpr Size kSizes[] = {{64, 36, 96, 54},   {96, 54, 64, 36},  {48, 27, 96, 54}, {96, 54, 48, 27},
                           {53, 31, 97, 61},   {97, 61, 53, 31},  {40, 30, 40, 61}, {40, 61, 40, 30},
                           {40, 30, 77, 30},   {77, 30, 40, 30},  {33, 90, 99, 30}, {1, 1, 50, 40},
                           {1, 30, 20, 10},    {30, 1, 10, 20},   {2, 2, 33, 33},   {200, 150, 11, 7},
                           {90, 90, 1, 1},     {64, 64, 1, 64},   {7, 5, 300, 200}, {128, 3, 2, 100},
                           {255, 40, 256, 41}, {256, 41, 255, 40}};

TEST(Scale, EqualsRealArithmetic) {
  for (const ScaleMethod method : kScaleMethods)
    for (const Size &s : kSizes)
      for (const int depth : {8, 10}) {
        const Luma rough = noise(s.from_width, s.from_height, depth, 7),
                   smooth = waves(s.from_width, s.from_height, depth, 3);
        for (const Luma *in : {&rough, &smooth})
          EXPECT_LE(largest_difference(*in, s.width, s.height, depth, method),
                    bound(*in, s.width, s.height, depth, method))
              << name_of(method) << " " << s.from_width << "x" << s.from_height << " to " << s.width << "x"
              << s.height << ", " << depth;
      }
}

TEST(Scale, EveryPairOfDepths) {
  for (const ScaleMethod method : kScaleMethods)
    for (int from = 8; from <= 16; ++from)
      for (int to = from; to <= 16; ++to)
        for (const Size &s : {Size{40, 30, 60, 45}, Size{40, 30, 60, 30}, Size{40, 30, 40, 20}}) {
          const Luma in = noise(s.from_width, s.from_height, from, uint32_t(from + to));
          EXPECT_LE(largest_difference(in, s.width, s.height, to, method),
                    bound(in, s.width, s.height, to, method))
              << name_of(method) << " " << from << " to " << to;
        }
}

// With 8 bits, one step at most: what is said of it in the README.
TEST(Scale, WithinAStepAtEightBits) {
  for (const ScaleMethod method : kScaleMethods)
    for (const Size &s : {Size{96, 54, 192, 108}, Size{128, 72, 192, 108}, Size{256, 144, 192, 108}})
      EXPECT_LT(largest_difference(noise(s.from_width, s.from_height, 8, 3), s.width, s.height, 8, method),
                1);
}

// Interpolated values get the bits that a shallow input does not have.
TEST(Scale, ScalesIntoTheLargerDepth) {
  const Luma in = waves(48, 32, 8, 0);
  const Luma deep = scaled(plain_kernels(), in, 96, 64, 10, ScaleMethod::bicubic),
             shallow = scaled(plain_kernels(), in, 96, 64, 8, ScaleMethod::bicubic);
  int between = 0;
  for (size_t i = 0; i < deep.samples.size(); ++i) {
    between += deep.samples[i] % 4 != 0;
    if (shallow.samples[i] > 0 && shallow.samples[i] < 255) {
      EXPECT_NEAR(deep.samples[i] / 4.0, shallow.samples[i], 0.63);
    }
  }
  EXPECT_GT(between, int(deep.samples.size()) / 3);
}

// ---- Weights ------------------------------------------------------------------------------------------------

std::vector<int> weights_of(ScaleKernel kernel, int in, int out, int x, int *first = nullptr) {
  std::vector<int16_t> weights(size_t(scale_taps(kernel, in, out)));
  const int from = scale_weights(kernel, in, out, x, weights.data());
  if (first) *first = from;
  return {weights.begin(), weights.end()};
}

using Weights = std::vector<int>;

TEST(ScaleWeights, AreThoseOfTheKernels) {
  int first = 0;
  // Output 2 of 2:1 lies at 0.75, output 3 at 1.25.
  EXPECT_EQ(weights_of(ScaleKernel::bicubic, 10, 20, 2, &first), (Weights{-384, 3712, 14208, -1152}));
  EXPECT_EQ(first, -1);
  EXPECT_EQ(weights_of(ScaleKernel::bicubic, 10, 20, 3, &first), (Weights{-1152, 14208, 3712, -384}));
  EXPECT_EQ(first, 0);
  EXPECT_EQ(weights_of(ScaleKernel::bilinear, 10, 20, 2, &first), (Weights{4096, 12288}));
  EXPECT_EQ(first, 0);
  // Twice as wide where two inputs become one: 1/8, 3/8, 3/8, 1/8.
  EXPECT_EQ(weights_of(ScaleKernel::bilinear, 20, 10, 3, &first), (Weights{2048, 6144, 6144, 2048}));
  EXPECT_EQ(first, 5);
  // Output 1 of 3 lies on input 1 of 3, whatever the kernel; bicubic from 1 to 3 inputs an output has it at 4.
  for (const ScaleKernel kernel : kKernels) {
    const Weights w = weights_of(kernel, 5, 15, 4, &first);
    for (size_t k = 0; k < w.size(); ++k) EXPECT_EQ(w[k], first + int(k) == 1 ? 16384 : 0);
  }
}

constexpr std::pair<int, int> kLengths[] = {
    {720, 1080}, {1280, 1920},   {540, 1080},  {1080, 540}, {1920, 1280}, {1, 2160},   {1, 1},
    {2, 3},      {3, 2},         {1, 32768},   {64, 1},     {6400, 100},  {6399, 101}, {640, 10},
    {857, 641},  {32767, 32768}, {1440, 1080}, {1000, 999}, {999, 1000},  {320, 1920}, {4320, 240}};

TEST(ScaleWeights, SumToOneAndStayWithinTheGain) {
  for (const ScaleKernel kernel : kKernels)
    for (const auto &[in, out] : kLengths)
      for (int x = 0; x < out; ++x) {
        const Weights w = weights_of(kernel, in, out, x);
        ASSERT_EQ(w.size() % 2, 0u);
        ASSERT_EQ(std::accumulate(w.begin(), w.end(), 0), 16384) << in << " to " << out << ", " << x;
        int gain = 0;
        for (const int weight : w) gain += std::abs(weight);
        ASSERT_LT(gain, kScaleGain * 16384) << in << " to " << out << ", " << x;
      }
}

TEST(ScaleWeights, AreMirroredWhereThePictureIs) {
  for (const ScaleKernel kernel : kKernels)
    for (const auto &[in, out] : kLengths)
      for (int x = 0; x < out; ++x) {
        // By input, so that a zero at either end does not count.
        std::map<int, int> a, b;
        int first = 0;
        const Weights left = weights_of(kernel, in, out, x, &first);
        for (size_t k = 0; k < left.size(); ++k)
          if (left[k] != 0) a[first + int(k)] = left[k];
        const Weights right = weights_of(kernel, in, out, out - 1 - x, &first);
        for (size_t k = 0; k < right.size(); ++k)
          if (right[k] != 0) b[in - 1 - first - int(k)] = right[k];
        ASSERT_EQ(a, b) << in << " to " << out << ", " << x;
      }
}

// The same on every machine: no library's sine has a say in them.
TEST(ScaleWeights, AreTheSameEverywhere) {
  const auto checksum = [](ScaleKernel kernel) {
    uint64_t sum = 0xcbf29ce484222325;
    for (const auto &[in, out] : kLengths)
      for (int x = 0; x < out; ++x) {
        int first = 0;
        const Weights w = weights_of(kernel, in, out, x, &first);
        sum = (sum ^ uint32_t(first)) * 0x100000001b3;
        for (const int weight : w) sum = (sum ^ uint32_t(weight)) * 0x100000001b3;
      }
    return sum;
  };
  EXPECT_EQ(checksum(ScaleKernel::bilinear), 5130733054073031396u);
  EXPECT_EQ(checksum(ScaleKernel::bicubic), 6878116089871465255u);
  EXPECT_EQ(checksum(ScaleKernel::lanczos), 5085857853775034254u);
}

TEST(ScaleWeights, SineIsExact) {
  for (int n = 0; n <= 1000; ++n)
    EXPECT_NEAR(scale_sine(n, 1000), std::sin(std::numbers::pi * n / 1000), 1e-15) << n;
  EXPECT_EQ(scale_sine(0, 7), 0);
  EXPECT_EQ(scale_sine(7, 7), 0);
}

// ---- What holds for all kernels -------------------------------------------------------------------------------

TEST(Scale, ConstantsStay) {
  for (const ScaleMethod method : kScaleMethods)
    for (const Size &s : kSizes)
      for (const int depth : {8, 10, 16})
        for (const int value : {0, 1, (1 << (depth - 1)) - 1, 1 << (depth - 1), (1 << depth) - 1}) {
          const Luma in = paint(s.from_width, s.from_height, depth, [&](int, int) { return value; });
          for (const int to : {depth, 16}) {
            const Luma out = scaled(plain_kernels(), in, s.width, s.height, to, method);
            for (const int sample : out.samples) ASSERT_EQ(sample, value << (to - depth)) << name_of(method);
          }
        }
}

Luma mirrored(const Luma &in, bool across, bool down) {
  return paint(in.width, in.height, in.depth, [&](int x, int y) {
    return in.at(across ? in.width - 1 - x : x, down ? in.height - 1 - y : y);
  });
}

TEST(Scale, MirroredPicturesGiveMirroredPictures) {
  for (const ScaleMethod method : kScaleMethods)
    for (const Size &s : kSizes)
      for (const int depth : {8, 12}) {
        const Luma in = noise(s.from_width, s.from_height, depth, 11);
        const Luma out = scaled(plain_kernels(), in, s.width, s.height, depth, method);
        for (const auto &[across, down] : {std::pair{true, false}, {false, true}, {true, true}})
          ASSERT_EQ(
              scaled(plain_kernels(), mirrored(in, across, down), s.width, s.height, depth, method).samples,
              mirrored(out, across, down).samples)
              << name_of(method) << " " << s.from_width << "x" << s.from_height;
      }
}

// A direction that keeps its size is left alone: each row or column is as if there were no other.
TEST(Scale, OneDirectionAtATime) {
  for (const ScaleMethod method : kScaleMethods)
    for (const int depth : {8, 10, 16}) {
      const Luma in = noise(50, 40, depth, 5);
      const Luma wide = scaled(plain_kernels(), in, 75, 40, depth, method);
      for (int y = 0; y < 40; ++y) {
        const Luma row = paint(50, 1, depth, [&](int x, int) { return in.at(x, y); });
        const Luma alone = scaled(plain_kernels(), row, 75, 1, depth, method);
        for (int x = 0; x < 75; ++x) ASSERT_EQ(wide.at(x, y), alone.at(x, 0));
      }
      const Luma high = scaled(plain_kernels(), in, 50, 60, depth, method);
      for (int x = 0; x < 50; ++x) {
        const Luma column = paint(1, 40, depth, [&](int, int y) { return in.at(x, y); });
        const Luma alone = scaled(plain_kernels(), column, 1, 60, depth, method);
        for (int y = 0; y < 60; ++y) ASSERT_EQ(high.at(x, y), alone.at(0, y));
      }
    }
}

// Neither direction changes: every sample as it was, in the last bit, or shifted up.
TEST(Scale, EqualSizesAreIdentity) {
  for (const ScaleMethod method : kScaleMethods)
    for (int depth = 8; depth <= 16; ++depth)
      for (int to = depth; to <= 16; ++to) {
        const Luma in = noise(37, 21, depth, uint32_t(depth));
        const Luma want = paint(37, 21, to, [&](int x, int y) { return in.at(x, y) << (to - depth); });
        EXPECT_EQ(scaled(plain_kernels(), in, 37, 21, to, method).samples, want.samples);
      }
}

// One bright sample: the kernel itself, at three times the size sampled at thirds.
TEST(Scale, ImpulseResponse) {
  constexpr int kHigh = 1 << 15, kLow = 1 << 14;  // of 16 bits: room for undershoot
  for (const ScaleMethod method : kScaleMethods) {
    const Luma in = paint(15, 1, 16, [](int x, int) { return x == 7 ? kLow + kHigh : kLow; });
    const Luma out = scaled(plain_kernels(), in, 45, 1, 16, method);
    for (int x = 0; x < 45; ++x) {
      const double t = (x + 0.5) / 3 - 0.5 - 7;
      double total = 0;
      for (int j = -4; j < 20; ++j) total += real_kernel(method, (x + 0.5) / 3 - 0.5 - j);
      EXPECT_NEAR(out.at(x, 0), kLow + kHigh * real_kernel(method, t) / total, 3) << name_of(method) << x;
    }
  }
}

// Overshoot is clamped, not wrapped.
TEST(Scale, ClampsToTheRange) {
  for (const ScaleMethod method : kScaleMethods)
    for (int depth = 8; depth <= 16; ++depth) {
      const int top = (1 << depth) - 1;
      for (const Size &s : {Size{40, 40, 90, 90}, Size{40, 40, 90, 40}, Size{40, 40, 40, 90}}) {
        const Luma in = paint(40, 40, depth, [&](int x, int y) { return (x / 5 + y / 5) % 2 ? top : 0; });
        const Luma out = scaled(plain_kernels(), in, s.width, s.height, depth, method);
        // Away from edges, samples are what the nearest inputs are, and beside them nothing beyond.
        for (int y = 0; y < s.height; ++y)
          for (int x = 0; x < s.width; ++x) {
            const int sample = out.at(x, y);
            ASSERT_TRUE(sample >= 0 && sample <= top);
          }
        EXPECT_EQ(*std::max_element(out.samples.begin(), out.samples.end()), top);
        EXPECT_EQ(*std::min_element(out.samples.begin(), out.samples.end()), 0);
        EXPECT_LE(largest_difference(in, s.width, s.height, depth, method),
                  bound(in, s.width, s.height, depth, method));
      }
    }
}

TEST(Scale, LargestAndSmallest) {
  // One sample becomes a picture, and a picture of the largest ratio one sample.
  const Luma one = paint(1, 1, 8, [](int, int) { return 77; });
  const Luma large = scaled(plain_kernels(), one, 3840, 2160, 8, ScaleMethod::lanczos);
  EXPECT_TRUE(std::all_of(large.samples.begin(), large.samples.end(), [](int s) { return s == 77; }));
  for (const ScaleMethod method : kScaleMethods) {
    const Luma in = waves(64 * 5, 64 * 3, 10, 1);
    EXPECT_LE(largest_difference(in, 5, 3, 10, method), bound(in, 5, 3, 10, method));
  }
}

TEST(Scale, StripsMakeNoDifference) {
  for (const ScaleMethod method : kScaleMethods)
    for (const Size &s :
         {Size{53, 31, 97, 61}, Size{97, 61, 53, 31}, Size{40, 30, 77, 30}, Size{40, 30, 40, 61}}) {
      const Luma in = noise(s.from_width, s.from_height, 8, 2);
      const Luma want = scaled(plain_kernels(), in, s.width, s.height, 8, method);
      for (const int rows : {1, 2, 7, 20})
        for (const bool backwards : {false, true})
          ASSERT_EQ(scaled(plain_kernels(), in, s.width, s.height, 8, method, {}, {rows, backwards}).samples,
                    want.samples)
              << rows;
    }
}

}  // namespace
}  // namespace vmafhip
