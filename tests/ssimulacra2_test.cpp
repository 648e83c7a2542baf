// SSIMULACRA 2: the fork's figures, an evaluation by the book that has every bit of the sums, options and limits.
#include "engine/arith/ssimulacra2.h"

#include <cmath>

#include "tests/colour_run.h"

namespace vmafhip {
namespace {

using namespace test;

double score(const Colours &ref, const Colours &dist, const OptionTexts &texts = {},
             const Layout &layout = {}) {
  return score_colours(extractor("ssimulacra2"), texts, ref, dist, layout);
}

TEST(Ssimulacra2, EqualsTheFork) {
  const double at8[] = {82.0635573666, 82.2509829852, 82.3567437621};
  const double at10[] = {83.7472491866, 83.7185604101, 83.9221684214};
  for (int n = 0; n < 3; ++n) {
    const CheckPair pair8 = check_pair(8, n), pair10 = check_pair(10, n);
    EXPECT_NEAR(score(pair8.ref, pair8.dist), at8[n], 1e-10) << n;
    EXPECT_NEAR(score(pair10.ref, pair10.dist), at10[n], 1e-10) << n;
  }
}

// ---- Evaluation by the book: plane after plane, step after step ------------------------------------------------------

struct Plane {
  int width, height;
  std::vector<float> v;

  Plane(int w, int h) : width(w), height(h), v(static_cast<size_t>(w) * h) {}
  float &at(int x, int y) { return v[static_cast<size_t>(y) * width + x]; }
  float at(int x, int y) const { return v[static_cast<size_t>(y) * width + x]; }
};
using Planes = std::vector<Plane>;

float book_linear(float coded) {
  static const std::vector<float> table = [] {
    std::vector<float> t;
    for (int i = 0; i < 1024; ++i) {
      const double v = i / 1023.0;
      t.push_back(static_cast<float>(v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4)));
    }
    return t;
  }();
  if (coded <= 0) return 0;
  if (coded >= 1) return 1;
  const float position = coded * 1023;
  const size_t i = static_cast<size_t>(position);
  return table[i] + (table[i + 1] - table[i]) * (position - static_cast<float>(i));
}

Planes book_rgb(const Colours &picture, int matrix) {
  const PictureFormat &f = picture.format;
  const bool full = matrix >= 2;
  const float kr = matrix % 2 ? 0.299f : 0.2126f, kg = matrix % 2 ? 0.587f : 0.7152f,
              kb = matrix % 2 ? 0.114f : 0.0722f;
  const float unit = 1 / static_cast<float>((1 << f.depth) - 1);
  Planes out(3, Plane(f.width, f.height));
  for (int y = 0; y < f.height; ++y)
    for (int x = 0; x < f.width; ++x) {
      const auto sample = [&](size_t p) {
        const Luma &plane = picture.planes[p];
        const auto place = [](int i, int count, int luma) {
          return static_cast<int>(int64_t{i} * count / luma);
        };
        return static_cast<float>(
                   plane.at(place(x, plane.width, f.width), place(y, plane.height, f.height))) *
               unit;
      };
      const float luma = full ? sample(0) : (sample(0) - 16.0f / 255) * (255.0f / 219);
      const float u = (sample(1) - 0.5f) * (full ? 1 : 255.0f / 224),
                  v = (sample(2) - 0.5f) * (full ? 1 : 255.0f / 224);
      const auto put = [&](size_t p, float coded) {
        out[p].at(x, y) = book_linear(std::clamp(coded, 0.0f, 1.0f));
      };
      put(0, luma + 2 * (1 - kr) * v);
      put(1, luma + -(2 * kb * (1 - kb)) / kg * u + -(2 * kr * (1 - kr)) / kg * v);
      put(2, luma + 2 * (1 - kb) * u);
    }
  return out;
}

float book_root(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits = bits / 3 + 0x2a5137a0u;
  float y;
  std::memcpy(&y, &bits, sizeof y);
  for (int i = 0; i < 2; ++i) y = (2 * y + x / (y * y)) * (1.0f / 3);
  return y;
}

Planes book_xyb(const Planes &rgb) {
  Planes out = rgb;
  const float bias = 0.0037930732552754493f;
  for (size_t i = 0; i < rgb[0].v.size(); ++i) {
    const auto cone = [&](float r, float b, float g) {
      return book_root(r * rgb[0].v[i] + g * rgb[1].v[i] + b * rgb[2].v[i] + bias) - book_root(bias);
    };
    const float l = cone(0.30f, 0.078f, 1 - 0.30f - 0.078f), m = cone(0.23f, 0.078f, 1 - 0.23f - 0.078f);
    const float r = 0.24342268924547819f, g = 0.20476744424496821f, s = cone(r, 1 - r - g, g);
    out[0].v[i] = 0.5f * (l - m) * 14 + 0.42f;
    out[1].v[i] = 0.5f * (l + m) + 0.01f;
    out[2].v[i] = s - 0.5f * (l + m) + 0.55f;
  }
  return out;
}

std::vector<float> book_blur_line(const std::vector<float> &in) {
  const int n = static_cast<int>(in.size());
  const auto at = [&](int i) { return i >= 0 && i < n ? in[static_cast<size_t>(i)] : 0.0f; };
  std::vector<float> out;
  float last[3] = {}, before[3] = {};
  for (int t = -4; t < n; ++t) {
    float o[3];
    for (int k = 0; k < 3; ++k) {
      o[k] = kSsimulacra2BlurWeights[k] * (at(t - 6) + at(t + 4)) - kSsimulacra2BlurFactors[k] * last[k] -
             before[k];
      before[k] = last[k];
      last[k] = o[k];
    }
    if (t >= 0) out.push_back(o[0] + o[1] + o[2]);
  }
  return out;
}

Plane book_blur(Plane plane) {
  for (int y = 0; y < plane.height; ++y) {
    const auto row = plane.v.begin() + static_cast<ptrdiff_t>(y) * plane.width;
    const std::vector<float> line = book_blur_line(std::vector<float>(row, row + plane.width));
    std::copy(line.begin(), line.end(), row);
  }
  for (int x = 0; x < plane.width; ++x) {
    std::vector<float> line;
    for (int y = 0; y < plane.height; ++y) line.push_back(plane.at(x, y));
    line = book_blur_line(line);
    for (int y = 0; y < plane.height; ++y) plane.at(x, y) = line[static_cast<size_t>(y)];
  }
  return plane;
}

void book_maps(const Plane &a, const Plane &b, double *sums) {
  const auto product = [](const Plane &p, const Plane &q) {
    Plane out = p;
    for (size_t i = 0; i < p.v.size(); ++i) out.v[i] = p.v[i] * q.v[i];
    return out;
  };
  const Plane ma = book_blur(a), mb = book_blur(b), maa = book_blur(product(a, a)),
              mbb = book_blur(product(b, b)), mab = book_blur(product(a, b));
  double lanes[6][kSumLanes] = {};
  for (int x = 0; x < a.width; ++x) {
    double column[6] = {};
    for (int y = 0; y < a.height; ++y) {
      const float p = ma.at(x, y), q = mb.at(x, y);
      const float nm = 1 - (p - q) * (p - q), ns = 2 * (mab.at(x, y) - p * q) + 0.0009f;
      const float ds = (maa.at(x, y) - p * p) + (mbb.at(x, y) - q * q) + 0.0009f;
      const double ea = std::fabs(double{a.at(x, y)} - p), eb = std::fabs(double{b.at(x, y)} - q);
      const double gain = (1 + eb) / (1 + ea) - 1;
      const double maps[] = {std::max(0.0, 1 - double{nm} * ns / ds), std::max(gain, 0.0),
                             std::max(-gain, 0.0)};
      for (int k = 0; k < 3; ++k) {
        column[k] += maps[k];
        column[3 + k] += maps[k] * maps[k] * (maps[k] * maps[k]);
      }
    }
    for (int k = 0; k < 6; ++k) lanes[k][x % kSumLanes] += column[k];
  }
  for (int k = 0; k < 6; ++k) sums[k] = lane_sum(lanes[k]);
}

Planes book_half(const Planes &in) {
  Planes out;
  for (const Plane &from : in) {
    Plane to((from.width + 1) / 2, (from.height + 1) / 2);
    for (int y = 0; y < to.height; ++y)
      for (int x = 0; x < to.width; ++x) {
        float sum = 0;
        for (int i = 0; i < 4; ++i)
          sum += from.at(std::min(2 * x + i % 2, from.width - 1), std::min(2 * y + i / 2, from.height - 1));
        to.at(x, y) = 0.25f * sum;
      }
    out.push_back(to);
  }
  return out;
}

Ssimulacra2Sums book_sums(const Colours &ref, const Colours &dist, int matrix) {
  Ssimulacra2Sums sums;
  Planes a = book_rgb(ref, matrix), b = book_rgb(dist, matrix);
  for (int s = 0; s < 6 && a[0].width >= 8 && a[0].height >= 8; ++s) {
    const Planes xa = book_xyb(a), xb = book_xyb(b);
    for (size_t c = 0; c < 3; ++c) book_maps(xa[c], xb[c], sums.sum[s][c]);
    a = book_half(a);
    b = book_half(b);
  }
  return sums;
}

Ssimulacra2Sums engine_sums(const Colours &ref, const Colours &dist, int matrix) {
  const Extractor &e = extractor("ssimulacra2");
  const auto metric =
      CpuBackend::choose()->make(e, parse(e, {{"yuv_matrix", std::to_string(matrix)}}), ref.format);
  const StoredColours frame(ref, {dist});
  Ssimulacra2Sums sums;
  std::memcpy(&sums, measure_colours(e, *metric, frame.view)[0].data(), sizeof sums);
  return sums;
}

void expect_book(const PictureFormat &format, const Colours &ref, const Colours &dist, int matrix = 0) {
  const Ssimulacra2Sums want = book_sums(ref, dist, matrix), got = engine_sums(ref, dist, matrix);
  for (int s = 0; s < 6; ++s)
    for (int c = 0; c < 3; ++c)
      for (int k = 0; k < 6; ++k)
        ASSERT_EQ(got.sum[s][c][k], ssimulacra2_artefacts_alone(s, c) && k % 3 != 1 ? 0.0 : want.sum[s][c][k])
            << format.width << "x" << format.height << ", depth " << format.depth << ", chroma "
            << static_cast<int>(format.chroma) << ", matrix " << matrix << ": scale " << s << ", channel "
            << c << ", sum " << k;
}

void expect_book(const PictureFormat &format, int matrix = 0) {
  const Colours ref = noise(format, 1);
  expect_book(format, ref, disturbed(ref, 9 << (format.depth - 8), 2), matrix);
}

TEST(Ssimulacra2, EqualsTheBook) {
  for (Chroma chroma : {Chroma::c420, Chroma::c422, Chroma::c444})
    for (int depth : {8, 9, 10, 12, 16}) expect_book({53, 41, depth, chroma});
  for (int matrix = 0; matrix < 4; ++matrix) {
    expect_book({53, 41, 8, Chroma::c420}, matrix);
    expect_book({53, 41, 10, Chroma::c444}, matrix);
  }
}

// Around blocks, strips and the smallest size.
TEST(Ssimulacra2, EverySizeEqualsTheBook) {
  for (int width : {8, 9, 11, 12, 13, 15, 16, 17, 252, 253, 255, 256, 257, 268, 508, 509, 521})
    expect_book({width, 8 + width % 7, 8, Chroma::c420});
  for (int height : {8, 9, 11, 12, 13, 15, 16, 17, 27, 28, 29, 65, 140})
    expect_book({19, height, 8, Chroma::c420});
}

TEST(Ssimulacra2, AllSixScales) {
  ASSERT_EQ(ssimulacra2_scales(256, 255), 6);
  expect_book({256, 255, 8, Chroma::c420});
}

TEST(Ssimulacra2, ExtremesEqualTheBook) {
  const PictureFormat format = {37, 29, 8, Chroma::c444};
  Noise source(3);
  const auto corner = [&](int, int, int) { return source.below(2) * 255; };
  for (int i = 0; i < 4; ++i) {
    const Colours a = paint(format, corner), b = paint(format, corner);
    expect_book(format, a, b);
  }
  expect_book(format, plain(format, 0, 128, 128), plain(format, 255, 128, 128));
  expect_book(format, plain(format, 255, 0, 255), plain(format, 16, 255, 0));
}

// The text's derivation of the recursion's numbers.
TEST(Ssimulacra2, BlurIsDerived) {
  const double pi = std::acos(-1.0), sigma = 1.5;
  const int n = static_cast<int>(std::lround(3.2795 * sigma + 0.2546));
  EXPECT_EQ(n, kSsimulacra2Radius);
  double w[3], p[3], r[3], rho[3];
  for (int i = 0; i < 3; ++i) {
    const double sign = i == 1 ? -1 : 1;
    w[i] = (2 * i + 1) * pi / (2 * n);
    p[i] = sign / std::tan(w[i] / 2);
    r[i] = sign * p[i] * p[i] / std::sin(w[i]);
    rho[i] = std::exp(-sigma * sigma * w[i] * w[i] / 2) / n;
  }
  const auto minor = [&](int i, int j) { return p[i] * r[j] - r[i] * p[j]; };
  const double zeta[] = {minor(1, 2) / minor(0, 1), minor(2, 0) / minor(0, 1), 1};
  // [p; r; zeta] beta = [1; n^2 - sigma^2; zeta . rho] by Cramer's rule.
  const double right[] = {1, n * n - sigma * sigma, zeta[0] * rho[0] + zeta[1] * rho[1] + rho[2]};
  const auto determinant = [&](int replaced) {
    double m[3][3];
    for (int j = 0; j < 3; ++j) {
      m[0][j] = j == replaced ? right[0] : p[j];
      m[1][j] = j == replaced ? right[1] : r[j];
      m[2][j] = j == replaced ? right[2] : zeta[j];
    }
    return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
           m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
           m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
  };
  for (int k = 0; k < 3; ++k) {
    const double beta = determinant(k) / determinant(3);
    EXPECT_EQ(kSsimulacra2BlurWeights[k], static_cast<float>(-beta * std::cos(w[k] * (n + 1)))) << k;
    EXPECT_EQ(kSsimulacra2BlurFactors[k], static_cast<float>(-2 * std::cos(w[k]))) << k;
  }
}

// ---- Interface -------------------------------------------------------------------------------------------------------

TEST(Ssimulacra2, NothingDiffers) {
  for (Chroma chroma : {Chroma::c420, Chroma::c422, Chroma::c444}) {
    const Colours picture = noise({75, 31, 8, chroma}, 1);
    EXPECT_EQ(score(picture, picture), 100);
  }
}

TEST(Ssimulacra2, MatrixAndRangeCount) {
  const PictureFormat format = {64, 48, 8, Chroma::c420};
  const Colours ref = noise(format, 1), dist = disturbed(ref, 20, 2);
  std::vector<double> scores;
  for (const char *matrix : {"0", "1", "2", "3"})
    scores.push_back(score(ref, dist, {{"yuv_matrix", matrix}}));
  EXPECT_EQ(scores[0], score(ref, dist));
  for (size_t i = 0; i < 4; ++i)
    for (size_t j = 0; j < i; ++j) EXPECT_NE(scores[i], scores[j]);
}

TEST(Ssimulacra2, LayoutDoesNotMatter) { expect_layout_does_not_matter(extractor("ssimulacra2")); }

TEST(Ssimulacra2, RefusesWhatItIsNotDefinedFor) {
  const Extractor &e = extractor("ssimulacra2");
  const Options options = parse(e, {});
  EXPECT_TRUE(e.check(options, {8, 8, 8, Chroma::c420}).ok());
  EXPECT_EQ(e.check(options, {400, 7, 8, Chroma::c420}).message(),
            "ssimulacra2 needs at least 8x8 samples, the picture is 400x7");
  EXPECT_EQ(e.check(options, {64, 64, 8, Chroma::c400}).message(),
            "ssimulacra2 needs pictures with chroma, these have luma alone");
}

TEST(Ssimulacra2, NameStaysWhateverTheOption) {
  const Extractor &e = extractor("ssimulacra2");
  EXPECT_EQ(log_name(e.outputs[0], parse(e, {{"yuv_matrix", "3"}})), "ssimulacra2");
  for (const char *wrong : {"4", "-1", "bt709"})
    EXPECT_FALSE(Options::parse(e.name, e.options, {{"yuv_matrix", wrong}}).ok()) << wrong;
}

}  // namespace
}  // namespace vmafhip
