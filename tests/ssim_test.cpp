// float_ssim and float_ms_ssim: libvmaf's figures, an evaluation by the book in libvmaf's own order, options and limits.
#include "engine/arith/ssim.h"

#include <cmath>
#include <limits>

#include "engine/arith/ssim_decimate.h"
#include "tests/colour_run.h"

namespace vmafhip {
namespace {

using namespace test;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// ---- libvmaf's figures

struct Published {
  const char *name;
  double value[3];  // frames 0 to 2, 12 digits
};

void expect_published(const std::string &extractor, int depth, const std::vector<Published> &published) {
  std::vector<Luma> ref, dist;
  for (int n = 0; n < 3; ++n) {
    const CheckPair pair = check_pair(depth, n);
    ref.push_back(pair.ref.planes[0]);
    dist.push_back(pair.dist.planes[0]);
  }
  const Scores scores = run(extractor, {{"enable_lcs", "true"}}, ref, dist);
  for (const Published &p : published)
    for (size_t n = 0; n < 3; ++n)
      EXPECT_NEAR(scores.at(p.name).at(n), p.value[n], 1e-12)
          << p.name << ", frame " << n << ", " << depth << " bits";
}

TEST(Ssim, EqualsLibvmaf) {
  expect_published("float_ssim", 8,
                   {{"float_ssim", {0.99533188343, 0.995314061642, 0.995346009731}},
                    {"float_ssim_l", {0.99998319149, 0.999983131886, 0.999983131886}},
                    {"float_ssim_c", {0.999800503254, 0.999799013138, 0.999800205231}},
                    {"float_ssim_s", {0.995547235012, 0.995530903339, 0.995561718941}}});
  expect_published("float_ssim", 10,
                   {{"float_ssim", {0.996370971203, 0.996349513531, 0.996352314949}},
                    {"float_ssim_l", {0.999920487404, 0.999920487404, 0.999919831753}},
                    {"float_ssim_c", {0.999835312366, 0.999834954739, 0.999836206436}},
                    {"float_ssim_s", {0.996614277363, 0.996593117714, 0.99659538269}}});
}

TEST(MsSsim, EqualsLibvmaf) {
  expect_published("float_ms_ssim", 8,
                   {{"float_ms_ssim", {0.996881200509, 0.996880864242, 0.996881299848}},
                    {"float_ms_ssim_l_scale4", {0.999995172024, 0.999995231628, 0.999995052814}},
                    {"float_ms_ssim_c_scale0", {0.998011827469, 0.998007893562, 0.998003780842}},
                    {"float_ms_ssim_s_scale0", {0.978351533413, 0.978280901909, 0.978329062462}},
                    {"float_ms_ssim_s_scale4", {0.99997317791, 0.999972641468, 0.999972999096}}});
  expect_published("float_ms_ssim", 10,
                   {{"float_ms_ssim", {0.997481370104, 0.997479954153, 0.997472294682}},
                    {"float_ms_ssim_l_scale4", {0.999958455563, 0.999958336353, 0.999957859516}},
                    {"float_ms_ssim_c_scale0", {0.998749136925, 0.998736023903, 0.998740553856}},
                    {"float_ms_ssim_s_scale0", {0.982594907284, 0.982563197613, 0.982557177544}},
                    {"float_ms_ssim_s_scale4", {0.999972641468, 0.999972343445, 0.999972462654}}});
}

// ---- Evaluation by the book: every sum in f64 over the raster, as libvmaf has it.

struct Plane {
  int width = 0, height = 0;
  std::vector<float> samples;

  Plane(int w, int h) : width(w), height(h), samples(static_cast<size_t>(w) * h) {}
  float &at(int x, int y) { return samples[static_cast<size_t>(y) * width + x]; }
  float at(int x, int y) const { return samples[static_cast<size_t>(y) * width + x]; }
};

Plane plane_of(const Luma &luma) {
  Plane out(luma.width, luma.height);
  for (int y = 0; y < luma.height; ++y)
    for (int x = 0; x < luma.width; ++x)
      out.at(x, y) = static_cast<float>(luma.at(x, y)) / static_cast<float>(1 << (luma.depth - 8));
  return out;
}

// kernel(v, u) of size x size weights.
template <class Kernel>
Plane decimated(const Plane &from, int factor, int size, Kernel kernel) {
  const auto mirrored = [](int i, int n) { return i < 0 ? -1 - i : i >= n ? 2 * n - 1 - i : i; };
  Plane out(from.width / factor + from.width % 2, from.height / factor + from.height % 2);
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x) {
      double sum = 0;
      for (int v = 0; v < size; ++v)
        for (int u = 0; u < size; ++u) {
          const float product = from.at(mirrored(x * factor + u - size / 2, from.width),
                                        mirrored(y * factor + v - size / 2, from.height)) *
                                kernel(v, u);
          sum += static_cast<double>(product);
        }
      out.at(x, y) = static_cast<float>(sum);
    }
  return out;
}

Plane filtered(const Plane &from) {
  Plane rows(from.width - 10, from.height), out(from.width - 10, from.height - 10);
  const auto window = [](auto sample) {
    double sum = 0;
    for (int k = 0; k < 11; ++k) {
      const float product = sample(k) * kSsimWindow[k];
      sum += static_cast<double>(product);
    }
    return static_cast<float>(sum);
  };
  for (int y = 0; y < rows.height; ++y)
    for (int x = 0; x < rows.width; ++x) rows.at(x, y) = window([&](int k) { return from.at(x + k, y); });
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x) out.at(x, y) = window([&](int k) { return rows.at(x, y + k); });
  return out;
}

Plane product(const Plane &a, const Plane &b) {
  Plane out(a.width, a.height);
  for (size_t i = 0; i < a.samples.size(); ++i) out.samples[i] = a.samples[i] * b.samples[i];
  return out;
}

struct Means {
  float l, c, s, lcs;
};

Means plain_means(const Plane &a, const Plane &b) {
  const Plane ma = filtered(a), mb = filtered(b), aa = filtered(product(a, a)), bb = filtered(product(b, b)),
              ab = filtered(product(a, b));
  const float k1 = 0.01f * 255, k2 = 0.03f * 255, c1 = k1 * k1, c2 = k2 * k2, c3 = c2 / 2;
  double sum_l = 0, sum_c = 0, sum_s = 0, sum = 0;
  for (size_t i = 0; i < ma.samples.size(); ++i) {
    const float mu = ma.samples[i], nu = mb.samples[i], mu2 = mu * mu, nu2 = nu * nu, both = mu * nu;
    const float va = std::max(0.0f, aa.samples[i] - mu2), vb = std::max(0.0f, bb.samples[i] - nu2);
    const float cov = ab.samples[i] - both, product = va * vb;
    const float sigma = static_cast<float>(std::sqrt(static_cast<double>(product)));
    const float dl = mu2 + nu2 + c1, dc = va + vb + c2;
    const double l = (2.0 * mu * nu + c1) / dl, c = (2.0 * sigma + c2) / dc;
    const float s = ((cov < 0 && sigma <= 0 ? 0.0f : cov) + c3) / (sigma + c3);
    sum_l += l;
    sum_c += c;
    sum_s += s;
    sum += l * c * s;
  }
  const double n = static_cast<double>(ma.samples.size());
  return {static_cast<float>(sum_l / n), static_cast<float>(sum_c / n), static_cast<float>(sum_s / n),
          static_cast<float>(sum / n)};
}

Scores plain_ssim(const Luma &ref, const Luma &dist, int factor) {
  Plane a = plane_of(ref), b = plane_of(dist);
  if (factor > 1) {
    const float weight = 1.0f / static_cast<float>(factor * factor);
    a = decimated(a, factor, factor, [&](int, int) { return weight; });
    b = decimated(b, factor, factor, [&](int, int) { return weight; });
  }
  const Means m = plain_means(a, b);
  return {{"float_ssim", {m.lcs}}, {"float_ssim_l", {m.l}}, {"float_ssim_c", {m.c}}, {"float_ssim_s", {m.s}}};
}

Scores plain_ms_ssim(const Luma &ref, const Luma &dist) {
  Plane a = plane_of(ref), b = plane_of(dist);
  const float beta[] = {0.0448f, 0.2856f, 0.3001f, 0.2363f, 0.1333f};
  double score = 1;
  Scores scores;
  for (int scale = 0; scale < 5; ++scale) {
    if (scale > 0) {
      const auto kernel = [](int v, int u) { return kSsimHalf[std::min(v, 8 - v)][std::min(u, 8 - u)]; };
      a = decimated(a, 2, 9, kernel);
      b = decimated(b, 2, 9, kernel);
    }
    const Means m = plain_means(a, b);
    const std::string tail = "_scale" + std::to_string(scale);
    scores["float_ms_ssim_l" + tail] = {m.l};
    scores["float_ms_ssim_c" + tail] = {m.c};
    scores["float_ms_ssim_s" + tail] = {m.s};
    score *= std::pow(static_cast<double>(m.l), scale == 4 ? static_cast<double>(0.1333f) : 0.0) *
             std::pow(static_cast<double>(m.c), static_cast<double>(beta[scale])) *
             std::pow(static_cast<double>(m.s), static_cast<double>(beta[scale]));
  }
  scores["float_ms_ssim"] = {score};
  return scores;
}

// Bits, but any NaN is as good as another.
void expect_same(const Scores &actual, const Scores &expected, const std::string &what) {
  ASSERT_EQ(actual.size(), expected.size());
  for (const auto &[name, values] : expected) {
    const double a = actual.at(name).at(0), e = values.at(0);
    EXPECT_TRUE(a == e || (std::isnan(a) && std::isnan(e)))
        << name << " of " << what << ": " << a << ", not " << e;
  }
}

Luma blurred(const Luma &from) {
  return paint(from.width, from.height, from.depth, [&](int x, int y) {
    const int right = std::min(x + 1, from.width - 1), below = std::min(y + 1, from.height - 1);
    return (from.at(x, y) * 5 + from.at(right, y) + from.at(x, below) + from.at(right, below)) / 8;
  });
}

TEST(Ssim, EqualsTheBook) {
  for (int depth : {8, 9, 10, 12, 16})
    for (const auto &[width, height] :
         std::vector<std::pair<int, int>>{{11, 11}, {12, 30}, {25, 12}, {27, 11}, {83, 41}}) {
      const std::string size =
          std::to_string(width) + "x" + std::to_string(height) + ", " + std::to_string(depth);
      const Luma a = noise(width, height, depth, 5);
      for (const Luma &b : {blurred(a), noise(width, height, depth, 6), a})
        expect_same(run("float_ssim", {{"enable_lcs", "true"}}, {a}, {b}), plain_ssim(a, b, 1), size);
      for (const Luma &b : stress_pictures(width, height, depth))
        expect_same(run("float_ssim", {{"enable_lcs", "true"}}, {a}, {b}), plain_ssim(a, b, 1), size);
    }
}

TEST(Ssim, EqualsTheBookDecimated) {
  for (int depth : {8, 10, 16})
    for (int factor = 2; factor <= 10; ++factor)
      // With a remainder, without, and odd with a remainder, which adds a sample.
      for (const auto &[more_x, more_y] :
           std::vector<std::pair<int, int>>{{0, 0}, {factor - 1, 1}, {1, factor / 2}}) {
        const int width = 13 * factor + more_x, height = 12 * factor + more_y;
        const Luma a = noise(width, height, depth, 7), b = blurred(a);
        const std::string what =
            std::to_string(width) + "x" + std::to_string(height) + ", " + std::to_string(depth);
        expect_same(run("float_ssim", {{"enable_lcs", "true"}, {"scale", std::to_string(factor)}}, {a}, {b}),
                    plain_ssim(a, b, factor), what + " bits by " + std::to_string(factor));
      }
}

TEST(MsSsim, EqualsTheBook) {
  for (int depth : {8, 12, 16})
    for (const auto &[width, height] : std::vector<std::pair<int, int>>{{176, 176}, {177, 191}, {203, 180}}) {
      const Luma a = noise(width, height, depth, 8);
      const std::string what =
          std::to_string(width) + "x" + std::to_string(height) + ", " + std::to_string(depth);
      for (const Luma &b : {blurred(a), noise(width, height, depth, 9)})
        expect_same(run("float_ms_ssim", {{"enable_lcs", "true"}}, {a}, {b}), plain_ms_ssim(a, b), what);
    }
}

// ---- Options

TEST(Ssim, MeansOfPartsChangeNoScore) {
  const Luma a = noise(180, 190, 8, 1), b = blurred(a);
  for (const char *name : {"float_ssim", "float_ms_ssim"}) {
    const Scores alone = run(name, {}, {a}, {b});
    EXPECT_EQ(alone.size(), 1u);
    EXPECT_EQ(alone.at(name), run(name, {{"enable_lcs", "true"}}, {a}, {b}).at(name));
  }
}

TEST(Ssim, AutomaticFactor) {
  const std::pair<int, int> factors[] = {{11, 1},  {256, 1}, {383, 1}, {384, 2},  {639, 2}, {640, 3},
                                         {720, 3}, {895, 3}, {896, 4}, {1080, 4}, {2160, 8}};
  for (const auto &[size, factor] : factors) {
    EXPECT_EQ(ssim_automatic_factor(size, 10000), factor) << size;
    EXPECT_EQ(ssim_automatic_factor(10000, size), factor) << size;
  }
  const Luma a = noise(390, 386, 8, 2), b = blurred(a);
  EXPECT_EQ(run("float_ssim", {}, {a}, {b}), run("float_ssim", {{"scale", "2"}}, {a}, {b}));
  EXPECT_NE(run("float_ssim", {}, {a}, {b}), run("float_ssim", {{"scale", "1"}}, {a}, {b}));
}

TEST(Ssim, Decibels) {
  const Luma a = noise(200, 180, 10, 3), b = blurred(a);
  for (const char *name : {"float_ssim", "float_ms_ssim"}) {
    const double score = run(name, {}, {a}, {b}).at(name)[0];
    const OptionTexts db = {{"enable_db", "true"}, {"enable_lcs", "true"}};
    const OptionTexts clipped = {{"enable_db", "true"}, {"clip_db", "true"}};
    const Scores scores = run(name, db, {a}, {b});
    EXPECT_EQ(scores.at(name)[0], -10 * std::log10(1 - score));
    for (const auto &[part, values] : scores)
      if (part != name) {
        EXPECT_LE(values[0], 1) << part << " is no dB";
      }
    EXPECT_EQ(run(name, clipped, {a}, {b}).at(name)[0], -10 * std::log10(1 - score));
    EXPECT_EQ(run(name, db, {a}, {a}).at(name)[0], kInfinity);
    // 10 log10(1023^2 * 2 * 200 * 180) = 108.77
    EXPECT_EQ(run(name, clipped, {a}, {a}).at(name)[0], 109);
    EXPECT_EQ(run(name, {{"clip_db", "true"}}, {a}, {a}).at(name)[0], 1) << "clip_db alone does nothing";
  }
  EXPECT_EQ(ssim_decibels(std::nan(""), 50), 50);
}

// A picture and its negative: structure is inverted, and libvmaf has no score for that.
TEST(MsSsim, InvertedIsNotANumber) {
  const Luma a = noise(176, 176, 8, 4),
             b = paint(176, 176, 8, [&](int x, int y) { return 255 - a.at(x, y); });
  EXPECT_TRUE(std::isnan(run("float_ms_ssim", {}, {a}, {b}).at("float_ms_ssim")[0]));
  const double capped =
      run("float_ms_ssim", {{"enable_db", "true"}, {"clip_db", "true"}}, {a}, {b}).at("float_ms_ssim")[0];
  EXPECT_EQ(capped, ssim_decibel_cap(176, 176, 8));
}

TEST(Ssim, OptionsLeaveNamesAlone) {
  for (const char *name : {"float_ssim", "float_ms_ssim"})
    EXPECT_EQ(
        parse(extractor(name), {{"enable_lcs", "true"}, {"enable_db", "true"}, {"clip_db", "true"}}).suffix(),
        "");
  EXPECT_EQ(parse(extractor("float_ssim"), {{"scale", "3"}}).suffix(), "");
}

TEST(Ssim, LayoutDoesNotMatter) {
  for (const char *name : {"float_ssim", "float_ms_ssim"})
    for (int depth : {8, 10}) {
      const Luma a = noise(201, 183, depth, 1), b = blurred(a);
      const Scores plain = run(name, {}, {a}, {b});
      EXPECT_EQ(run(name, {}, {a}, {b}, {.padding = 14}), plain);
      EXPECT_EQ(run(name, {}, {a}, {b}, {.padding = 6, .upside = true}), plain);
      if (depth == 8) {
        EXPECT_EQ(run(name, {}, {a}, {b}, {.padding = 3, .offset = 1}), plain);
      }
    }
}

// ---- Limits

TEST(Ssim, RefusesWhatItIsNotDefinedFor) {
  const Extractor &single = extractor("float_ssim"), &multi = extractor("float_ms_ssim");
  const Options defaults = parse(single, {});
  EXPECT_TRUE(single.check(defaults, {11, 11, 8, Chroma::c400}).ok());
  EXPECT_EQ(single.check(defaults, {10, 400, 8, Chroma::c420}).message(),
            "float_ssim needs at least 11x11 samples, the picture is 10x400");
  EXPECT_TRUE(single.check(parse(single, {{"scale", "10"}}), {110, 110, 8, Chroma::c420}).ok());
  EXPECT_EQ(single.check(parse(single, {{"scale", "10"}}), {400, 108, 8, Chroma::c420}).message(),
            "float_ssim needs at least 11x11 samples, the picture of 400x108 decimated by 10 has 40x10; "
            "a smaller option scale leaves more");
  EXPECT_TRUE(multi.check(parse(multi, {}), {176, 176, 16, Chroma::c420}).ok());
  EXPECT_EQ(multi.check(parse(multi, {}), {177, 175, 8, Chroma::c420}).message(),
            "float_ms_ssim needs at least 176x176 samples, the picture is 177x175");
  EXPECT_FALSE(Options::parse("float_ssim", single.options, {{"scale", "11"}}).ok());
  EXPECT_FALSE(Options::parse("float_ms_ssim", multi.options, {{"scale", "1"}}).ok());
}

}  // namespace
}  // namespace vmafhip
