// SpEED on every instruction set against the plain one, bit for bit; all of them against the definitions taken one number at
// a time; and what the cut into strips must not change.
#include "tests/speed_run.h"

namespace vmafhip {
namespace {

using namespace test;

MakeMetric make_chroma(const SpeedParams &params = {}) {
  return [params](const CpuKernels &kernels, const PictureFormat &format, int distorted) {
    return make_cpu_speed_chroma(kernels, params, format, distorted);
  };
}

void expect_equal_chroma(const PictureFormat &format, const SpeedParams &params = {}) {
  const Colours ref = noise(format, 1);
  expect_equal_colours(extractor("speed_chroma"), make_chroma(params), ref,
                       {noise(format, 2), disturbed(ref, 1 << (format.depth - 4), 3)});
}

TEST(SpeedIsa, EverySize) {
  for (int width = 80; width <= 150; ++width) expect_equal_chroma({width, 80 + width % 17, 8, Chroma::c444});
  for (int width : {400, 415, 480, 497, 560})
    for (int depth : {8, 10, 12, 16})
      for (const Chroma layout : {Chroma::c420, Chroma::c422, Chroma::c444})
        expect_equal_chroma({width, 323, depth, layout});
}

TEST(SpeedIsa, Prescale) {
  SpeedParams params;
  for (const double factor : {0.5, 0.77, 1.5, 4.0})
    for (const FloatScaling method :
         {FloatScaling::nearest, FloatScaling::bilinear, FloatScaling::bicubic, FloatScaling::lanczos4}) {
      params.prescale = factor;
      params.method = method;
      expect_equal_chroma({203, 171, 10, Chroma::c444}, params);
    }
}

TEST(SpeedIsa, KernelScales) {
  SpeedParams params;
  for (const double scale : kKernelScales) {
    params.kernel_scale = scale;
    expect_equal_chroma({251, 83, 8, Chroma::c444}, params);
  }
}

TEST(SpeedIsa, Stress) {
  const PictureFormat format = {243, 181, 8, Chroma::c444};
  const std::vector<Colours> pictures = {
      plain(format, 0, 0, 0), plain(format, 0, 255, 255), noise(format, 7),
      paint(format, [](int, int x, int y) { return (x / 16 + y / 16) % 2 * 255; }),
      paint(format, [](int, int x, int) { return x; })};
  for (const Colours &ref : pictures)
    for (const Colours &dist : pictures)
      expect_equal_colours(extractor("speed_chroma"), make_chroma(), ref, {dist});
}

TEST(SpeedIsa, AnyLayout) {
  for (int depth : {8, 10}) {
    const PictureFormat format = {331, 247, depth, Chroma::c444};
    const Colours ref = noise(format, 1), dist = noise(format, 2);
    expect_equal_colours(extractor("speed_chroma"), make_chroma(), ref, {dist}, {.padding = 26});
    expect_equal_colours(extractor("speed_chroma"), make_chroma(), ref, {dist},
                         {.padding = 10, .upside = true});
    if (depth == 8)
      expect_equal_colours(extractor("speed_chroma"), make_chroma(), ref, {dist},
                           {.padding = 3, .offset = 1});
  }
}

TEST(SpeedIsa, Temporal) {
  for (const bool minus_ref : {false, true})
    for (int depth : {8, 10, 16}) {
      const PictureFormat format = {371, 283, depth, Chroma::c420};
      const ColourClip clip = {{noise(format, 1), noise(format, 2)}, {noise(format, 3), noise(format, 4)}};
      const StoredPair frame(clip, 1);
      SpeedParams params;
      params.use_ref_diff = minus_ref;
      const auto sums = [&](const CpuKernels &kernels) {
        return measure_colours(extractor("speed_temporal"),
                               *make_cpu_speed_temporal(kernels, params, format, 1), frame.view);
      };
      const auto want = sums(plain_kernels());
      for (const CpuKernels *kernels : wide_kernels()) EXPECT_EQ(sums(*kernels), want) << kernels->isa;
    }
}

// Several distorted pictures get what each gets alone; strips may be done in any order and at the same time.
TEST(SpeedIsa, StripsAndPictures) {
  const PictureFormat format = {1300, 1100, 8, Chroma::c444};
  const Colours ref = noise(format, 1);
  const std::vector<Colours> dists = {noise(format, 2), disturbed(ref, 9, 3), ref};
  const Extractor &e = extractor("speed_chroma");
  for (const CpuKernels *kernels : all_kernels()) {
    const StoredColours frame(ref, dists);
    const auto metric = make_cpu_speed_chroma(*kernels, {}, format, 3);
    EXPECT_GT(metric->strips(0), 8);
    const auto want = measure_colours(e, *metric, frame.view);
    EXPECT_EQ(measure_colours(e, *metric, frame.view, {.backwards = true}), want);
    EXPECT_EQ(measure_colours(e, *metric, frame.view, {.threads = 4}), want);
    for (size_t d = 0; d < dists.size(); ++d) {
      // Made for more pictures than there are.
      const StoredColours alone(ref, {dists[d]});
      EXPECT_EQ(measure_colours(e, *metric, alone.view)[0], want[d]) << d;
    }
  }
}

// ---- The definitions, one number at a time

struct Analysis {
  std::vector<float> variance, entropy;
  bool singular;
};

Analysis by_the_book(const SpeedSetup &setup, const std::vector<float> &coarse) {
  const SpeedShape &shape = setup.shape;
  const int columns = shape.columns, rows = shape.rows, radius = filter_radius(setup.local_mean.length);
  const auto at = [&](const std::vector<float> &plane, int x, int y) {
    return plane[static_cast<size_t>(mirror(y, rows) * columns + mirror(x, columns))];
  };
  std::vector<float> sums(coarse.size()), plane(coarse.size());
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x)
      for (int k = 0; k < setup.local_mean.length; ++k)
        sums[static_cast<size_t>(y * columns + x)] += setup.local_mean.tap[k] * at(coarse, x, y - radius + k);
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x) {
      float sum = 0;
      for (int k = 0; k < setup.local_mean.length; ++k)
        sum += setup.local_mean.tap[k] * at(sums, x - radius + k, y);
      plane[static_cast<size_t>(y * columns + x)] = at(coarse, x, y) - sum;
    }

  const int count = shape.window_columns() * shape.window_rows();
  const auto sample = [&](int offset, int x, int y) { return at(plane, x + offset % 5, y + offset / 5); };
  float mean[25] = {};
  for (int o = 0; o < 25; ++o) {
    for (int y = 0; y < shape.window_rows(); ++y)
      for (int x = 0; x < shape.window_columns(); ++x) mean[o] += sample(o, x, y);
    mean[o] /= static_cast<float>(count);
  }
  SpeedMatrix k = {}, eigen, h;
  for (int a = 0; a < 25; ++a)
    for (int b = 0; b <= a; ++b) {
      double sum = 0;
      for (int y = 0; y < shape.window_rows(); ++y)
        for (int x = 0; x < shape.window_columns(); ++x)
          sum += (double{sample(a, x, y)} - mean[a]) * (double{sample(b, x, y)} - mean[b]);
      k[a][b] = k[b][a] = static_cast<float>(sum / count);
    }

  float v[kSpeedRow] = {}, x[kSpeedRow] = {}, eigenvalues[25], beside[25];
  std::memcpy(eigen, k, sizeof k);
  speed_tridiagonal<SingleTeam>(eigen, v, x, eigenvalues, beside);
  speed_diagonalise(eigenvalues, beside);
  SpeedFactors factors;
  Analysis out;
  out.singular = std::any_of(eigenvalues, eigenvalues + 25, [](float e) { return e < 1e-6; }) ||
                 !speed_factorise<SingleTeam>(k, factors, eigen, h, v);
  for (int j = 0; j < shape.blocks(); ++j) {
    float y[25], x[25];
    for (int o = 0; o < 25; ++o) y[o] = sample(o, j % shape.across * 5, j / shape.across * 5);
    const float s = out.singular ? 0 : speed_variance<SingleTeam>(factors, y, x);
    out.variance.push_back(s);
    out.entropy.push_back(speed_entropy<SingleTeam>(eigenvalues, static_cast<float>(setup.params.sigma), s));
  }
  return out;
}

TEST(SpeedIsa, AnalysisByTheBook) {
  for (const auto &[columns, rows] : std::vector<std::pair<int, int>>{{5, 5}, {12, 21}, {41, 17}, {86, 33}}) {
    SpeedSetup setup;
    setup.shape = speed_shape(setup.params, columns * 16 + 3, rows * 16 + 9);
    setup.antialias = speed_antialias(setup.params);
    setup.local_mean = speed_local_mean(setup.params);
    Noise source(9);
    std::vector<float> coarse(static_cast<size_t>(columns * rows));
    for (float &c : coarse) c = static_cast<float>(source.below(65536)) / 256 - 128;
    const Analysis want = by_the_book(setup, coarse);
    EXPECT_EQ(want.singular, columns == 5);
    for (const CpuKernels *kernels : all_kernels()) {
      const size_t blocks = static_cast<size_t>(setup.shape.blocks());
      std::vector<float> variance(blocks + kSpeedBeyond), entropy(blocks + kSpeedBeyond);
      const Rubbish scratch(kernels->speed->analyse_scratch_bytes(setup));
      EXPECT_EQ(kernels->speed->analyse(setup, coarse.data(), variance.data(), entropy.data(), scratch.get()),
                want.singular);
      variance.resize(blocks);
      entropy.resize(blocks);
      EXPECT_EQ(variance, want.variance) << kernels->isa << ", " << columns;
      EXPECT_EQ(entropy, want.entropy) << kernels->isa << ", " << columns;
    }
  }
}

// A second difference: eigenvalues 2 - 2 cos(k pi / 26), in a basis that has to be reduced first.
TEST(SpeedIsa, EigenvaluesOfAKnownMatrix) {
  const double pi = std::acos(-1.0);
  SpeedMatrix a = {};
  // Rows and columns in another order, so that it is not tridiagonal.
  const auto place = [](int i) { return i * 7 % 25; };
  for (int i = 0; i < 25; ++i) {
    a[place(i)][place(i)] = 2;
    if (i > 0) a[place(i)][place(i - 1)] = a[place(i - 1)][place(i)] = -1;
  }
  float v[kSpeedRow] = {}, x[kSpeedRow] = {}, eigenvalues[25], beside[25];
  speed_tridiagonal<SingleTeam>(a, v, x, eigenvalues, beside);
  speed_diagonalise(eigenvalues, beside);
  std::sort(eigenvalues, eigenvalues + 25);
  for (int k = 0; k < 25; ++k) EXPECT_NEAR(eigenvalues[k], 2 - 2 * std::cos((k + 1) * pi / 26), 1e-5) << k;
}

// y' K^-1 y / 25 of a matrix whose inverse is known: K = 2 + 1 1', K^-1 = 1/2 - 1 1' / 54.
TEST(SpeedIsa, VarianceOfAKnownMatrix) {
  SpeedMatrix k = {}, z, h;
  for (int i = 0; i < 25; ++i)
    for (int j = 0; j < 25; ++j) k[i][j] = i == j ? 3 : 1;
  float v[kSpeedRow] = {}, y[25];
  double sum = 0, squares = 0;
  for (int i = 0; i < 25; ++i) {
    y[i] = static_cast<float>(i % 7 - 2);
    sum += y[i];
    squares += y[i] * y[i];
  }
  SpeedFactors factors;
  ASSERT_TRUE(speed_factorise<SingleTeam>(k, factors, z, h, v));
  float x[25];
  EXPECT_NEAR(speed_variance<SingleTeam>(factors, y, x), (squares / 2 - sum * sum / 54) / 25, 1e-5);

  for (int i = 0; i < 25; ++i) k[i][3] = k[3][i] = k[i][4] = k[4][i] = 1;
  EXPECT_FALSE(speed_factorise<SingleTeam>(k, factors, z, h, v));
}

}  // namespace
}  // namespace vmafhip
