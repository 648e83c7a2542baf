// Float ADM: libvmaf's figures, an evaluation by the book, and what must not matter.
#include "engine/arith/adm_float.h"

#include <bit>
#include <cmath>
#include <limits>

#include "engine/arith/power.h"
#include "engine/extractors/extractors.h"
#include "tests/colour_run.h"

namespace vmafhip {
namespace {

using namespace test;

// ---- libvmaf's figures --------------------------------------------------------------------------------------

struct Figure {
  const char *name;
  double value[3];  // by frame
};

// They come from a processor of AMD's; a true quotient moves them by up to 7.2e-8.
void expect_figures(int depth, const std::vector<Figure> &figures) {
  for (int n = 0; n < 3; ++n) {
    const CheckPair pair = check_pair(depth, n);
    const Scores scores = run("float_adm", {}, {pair.ref.planes[0]}, {pair.dist.planes[0]});
    EXPECT_EQ(scores.size(), figures.size());
    for (const Figure &figure : figures) {
      const auto found = scores.find(figure.name);
      ASSERT_NE(found, scores.end()) << figure.name;
      EXPECT_NEAR(found->second[0], figure.value[n], 1e-7 * figure.value[n])
          << figure.name << ", frame " << n;
    }
  }
}

TEST(AdmFloat, EqualsLibvmaf) {
  expect_figures(8, {{"adm2", {0.968744225937, 0.968538297091, 0.968365779997}},
                     {"aim", {0.0357994003823, 0.0361461848951, 0.0362299397114}},
                     {"adm3", {0.966472412777, 0.966196056098, 0.966067920143}},
                     {"adm_scale0", {0.976435622751, 0.976188497908, 0.976389854357}},
                     {"adm_scale1", {0.960607094448, 0.960197230329, 0.959660304404}},
                     {"adm_scale2", {0.952328070754, 0.95324181713, 0.952393934492}},
                     {"adm_scale3", {0.978441017488, 0.977633370979, 0.977778949255}}});
  expect_figures(10, {{"adm2", {0.967075183882, 0.966617864776, 0.967058542159}},
                      {"aim", {0.0285523022862, 0.0287533331019, 0.0286476714706}},
                      {"adm3", {0.969261440798, 0.968932265837, 0.969205435344}},
                      {"adm_scale0", {0.979188646862, 0.979116437232, 0.979120393703}},
                      {"adm_scale1", {0.961116957508, 0.961044635424, 0.961394031624}},
                      {"adm_scale2", {0.946501367794, 0.946231228663, 0.945903610897}},
                      {"adm_scale3", {0.972210661963, 0.970792293239, 0.972424579971}}});
}

// ---- Options ------------------------------------------------------------------------------------------------

TEST(AdmFloat, NamesOfScores) {
  const Luma picture = noise(40, 30, 8, 1);
  const Scores plain = run("float_adm", {{"debug", "true"}}, {picture}, {picture});
  std::vector<std::string> names;
  for (const auto &[name, values] : plain) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{
                       "adm", "adm2", "adm3", "adm_den", "adm_den_scale0", "adm_den_scale1", "adm_den_scale2",
                       "adm_den_scale3", "adm_num", "adm_num_scale0", "adm_num_scale1", "adm_num_scale2",
                       "adm_num_scale3", "adm_scale0", "adm_scale1", "adm_scale2", "adm_scale3", "aim"}));
  const Extractor &e = extractor("float_adm");
  EXPECT_EQ(e.options.size(), 23u);
  const OptionTexts all = {{"adm_enhn_gain_limit", "1.5"},
                           {"adm_norm_view_dist", "4"},
                           {"adm_noise_weight", "0.5"},
                           {"adm_csf_scale", "2"},
                           {"adm_csf_diag_scale", "3"},
                           {"adm_ref_display_height", "720"},
                           {"adm_csf_mode", "1"},
                           {"adm_bypass_cm", "1"},
                           {"adm_adm3_apply_hm", "true"},
                           {"adm_p_norm", "2.5"},
                           {"adm_dlm_weight", "0.25"},
                           {"adm_min_val", "0.125"},
                           {"adm_f1s0", "0"},
                           {"adm_f1s1", "1"},
                           {"adm_f1s2", "2"},
                           {"adm_f1s3", "3"},
                           {"adm_f2s0", "4"},
                           {"adm_f2s1", "5"},
                           {"adm_f2s2", "6"},
                           {"adm_f2s3", "7"},
                           {"adm_skip_aim_scale", "0"},
                           {"adm_skip_scale0", "true"},
                           {"debug", "true"}};
  EXPECT_EQ(
      parse(e, all).suffix(),
      "_aah_bcm_1_scfd_3_csf_1_scf_2_dlmw_0.25_egl_1.5_f1s0_0_f1s1_1_f1s2_2_f1s3_3_f2s0_4_f2s1_5_f2s2_6_"
      "f2s3_7_min_0.125_nw_0.5_nvd_4_apn_2.5_rdf_720_sasc_0_ssz");
}

TEST(AdmFloat, PicturesThatItRefuses) {
  const Extractor &e = extractor("float_adm");
  const auto check = [&](int width, int height, int depth) {
    return e.check(parse(e, {}), {width, height, depth, Chroma::c400});
  };
  for (int depth : {8, 10, 12, 16}) EXPECT_TRUE(check(17, 17, depth).ok());
  EXPECT_EQ(check(16, 17, 8).message(), "float_adm needs at least 17x17 samples, the picture is 16x17");
  EXPECT_EQ(check(17, 16, 8).code(), Code::unsupported);
  for (int depth : {9, 11, 14})
    EXPECT_EQ(check(64, 64, depth).message(),
              "float_adm needs 8, 10, 12 or 16 bits a sample, the picture is 64x64 at " +
                  std::to_string(depth) + " bits");
}

// ---- Per sample ---------------------------------------------------------------------------------------------

// The order that the definition gives: products added one after the other, from zero.
TEST(AdmFloat, FiltersInAscendingOrder) {
  const float low[] = {0.482962913144690f, 0.836516303737469f, 0.224143868041857f, -0.129409522550921f};
  const float high[] = {-0.129409522550921f, -0.224143868041857f, 0.836516303737469f, -0.482962913144690f};
  Noise source(2);
  for (int i = 0; i < 100000; ++i) {
    float s[4], l = 0, h = 0;
    for (int k = 0; k < 4; ++k) {
      s[k] = static_cast<float>(source.below(65536) - 32768) / 256 +
             static_cast<float>(source.below(1000)) * 1e-5f;
      l += low[k] * s[k];
      h += high[k] * s[k];
    }
    ASSERT_EQ(adm_float_low(s[0], s[1], s[2], s[3]), l);
    ASSERT_EQ(adm_float_high(s[0], s[1], s[2], s[3]), h);
  }
}

// As libvmaf writes it: the limit in f64, rounded afterwards.
float restored_by_the_book(float ref, float dist, bool same_angle, double limit) {
  float k = dist / (ref + 1e-30f);
  k = k < 0 ? 0 : k > 1 ? 1 : k;
  const float restored = k * ref;
  if (same_angle && restored > 0)
    return static_cast<float>(std::min(restored * limit, static_cast<double>(dist)));
  if (same_angle && restored < 0)
    return static_cast<float>(std::max(restored * limit, static_cast<double>(dist)));
  return restored;
}

TEST(AdmFloat, RestoresUpToTheGainLimit) {
  Noise source(3);
  const auto sample = [&] {
    const float v = static_cast<float>(source.below(20001) - 10000) / 77;
    return source.below(20) == 0 ? 0.0f : source.below(4) == 0 ? v * 1e-3f : v;
  };
  for (double limit : {1.0, 1.2, 1.5, 1.7, 3.3, 99.99, 100.0}) {
    const float gain = static_cast<float>(limit);
    for (int i = 0; i < 200000; ++i) {
      const float ref = sample(),
                  dist = source.below(3) ? ref * static_cast<float>(source.below(3000)) / 1000 : sample();
      const bool same = source.below(2) == 1;
      const float want = restored_by_the_book(ref, dist, same, limit);
      ASSERT_EQ((adm_float_restore<false>(ref, dist, same, gain, limit)), want) << ref << ", " << dist;
      if (gain == limit) {
        ASSERT_EQ((adm_float_restore<true>(ref, dist, same, gain, limit)), want) << ref << ", " << dist;
      }
    }
  }
}

TEST(AdmFloat, AngleOfOneDegree) {
  EXPECT_EQ(std::bit_cast<uint32_t>(0.99969541886f), 0x3f7fec0au);
  const auto at = [](double degrees, float size) {
    const double r = degrees * 3.14159265358979 / 180;
    return bool(adm_float_same_angle(10.0f, 0.0f, static_cast<float>(size * std::cos(r)),
                                     static_cast<float>(size * std::sin(r))));
  };
  for (float size : {0.5f, 10.0f, 300.0f}) {
    EXPECT_TRUE(at(0, size));
    EXPECT_TRUE(at(0.99, size));
    EXPECT_TRUE(at(-0.99, size));
    EXPECT_FALSE(at(1.01, size));
    EXPECT_FALSE(at(180, size));
  }
  EXPECT_TRUE(adm_float_same_angle(0.0f, 0.0f, 0.0f, 0.0f));
  EXPECT_TRUE(adm_float_same_angle(0.0f, 0.0f, 3.0f, 4.0f));
}

TEST(AdmFloat, PowersAreNearlyTheNearestFloats) {
  const auto check = [](float v, float exponent) {
    const double want = std::pow(static_cast<double>(v), static_cast<double>(exponent));
    const float got = real_power(v, exponent);
    if (want > std::numeric_limits<float>::max()) {
      ASSERT_EQ(got, std::numeric_limits<float>::infinity()) << v << ", " << exponent;
    } else if (want < 1.2e-38) {
      ASSERT_NEAR(got, want, 3e-45) << v << ", " << exponent;
    } else {
      // Half a unit of the last digit is 2^-24.
      ASSERT_NEAR(got, want, want * (0x1p-24 + 2e-9)) << v << ", " << exponent;
    }
  };
  Noise source(4);
  for (float exponent : {1.0f, 1.5f, 2.0f, 2.5f, 3.0f, 7.3f, 20.0f}) {
    for (int i = 0; i < 20000; ++i) {
      const float m = 1 + static_cast<float>(source.next()) * 0x1p-24f;
      check(std::ldexp(m, source.below(40) - 28), exponent);
      check(std::ldexp(m, source.below(250) - 125), exponent);
    }
    for (float v :
         {0.0f, 1.0f, 0.70710677f, 0.70710683f, 1.4142135f, 1.4142137f, 2.0f, 3.0f, 1.2e-38f, 3e38f})
      check(v, exponent);
  }
  EXPECT_EQ(real_power(0.0f, 1.0f), 0.0f);
  EXPECT_EQ(real_power(1e-38f, 1.0f), 0.0f);  // not a normal float
  EXPECT_EQ(real_power(std::numeric_limits<float>::infinity(), 1.0f), std::numeric_limits<float>::infinity());
}

// ---- Contrast sensitivity -----------------------------------------------------------------------------------

TEST(AdmFloat, SensitivityOfTheStandardDisplay) {
  const auto check = [](const AdmFloatOptions &options, const std::vector<float> &h,
                        const std::vector<float> &d) {
    const AdmFloatParams p = adm_float_configure(options, 1920, 1080);
    for (size_t s = 0; s < 4; ++s) {
      EXPECT_NEAR(p.scale[s].sensitivity[0], h[s], 1e-6f * h[s])
          << "mode " << options.csf_mode << ", scale " << s;
      EXPECT_EQ(p.scale[s].sensitivity[1], p.scale[s].sensitivity[0]);
      EXPECT_NEAR(p.scale[s].sensitivity[2], d[s], 1e-6f * d[s])
          << "mode " << options.csf_mode << ", scale " << s;
    }
  };
  const std::vector<float> watson_h = {0.0173815377f, 0.0319848284f, 0.0433726609f, 0.0456734113f},
                           watson_d = {0.005890687f, 0.0142990677f, 0.0243969075f, 0.0313127376f};
  AdmFloatOptions options;
  check(options, watson_h, watson_d);
  options.csf_mode = 9;
  check(options, watson_h, watson_d);

  // r = 3 * 1080 * pi / 180 = 56.548668 samples a degree; f = 28.274334, 14.137167, 7.0685835, 3.5342917.
  options.csf_mode = 2;
  const auto native = [](double f) { return static_cast<float>((0.31 + 0.69 * f) * std::exp(-0.29 * f)); };
  std::vector<float> h, d;
  for (double f = 28.274334; f > 3; f /= 2) {
    h.push_back(native(f));
    d.push_back(native(f / 0.7));
  }
  check(options, h, d);

  options.factor[1][0] = 0;
  options.factor[2][1] = 0.5;
  h[1] = 0;
  d[2] = 0.5f;
  check(options, h, d);
}

// Barten's, against the formula in f64.
TEST(AdmFloat, SensitivityByBarten) {
  AdmFloatOptions options;
  options.csf_mode = 1;
  options.csf_scale = 2;
  options.csf_diag_scale = 0.5;
  const AdmFloatParams params = adm_float_configure(options, 1920, 1080);
  const double at = (2 - std::log10(20)) / (std::log10(150) - std::log10(20));
  const auto between = [&](double left, double right) { return left + (right - left) * at; };
  const double p0 = between(0.334278, 0.394533), p1 = between(3.79542, 2.7755),
               p2 = between(1.07327, 1.16577), p3 = between(6.4635, 7.45665);
  double f = 28.274333882308138;
  for (const AdmFloatScaleParams &scale : params.scale) {
    const double a = 1 + std::pow(p0 * f, p1), b = 1 / std::pow(1 - std::exp(-std::pow(f / 7, 2)), p2);
    const double optics = 0.424838596301290 * std::exp(-0.028 * f) + 0.572435103936480 * std::exp(-0.37 * f) +
                          0.000167576239164937 * std::exp(-37 * f) + 0.00255872352306433 * std::exp(-360 * f);
    const double rods = 30.162 * std::pow(std::pow(4.0627 / 100, 1.6596) + 1, -0.2712);
    const double want = p3 / std::sqrt(a * b) * optics * rods;
    EXPECT_NEAR(scale.sensitivity[0], 2 * want, 2e-6 * want);
    EXPECT_NEAR(scale.sensitivity[2], 0.5 * want, 1e-6 * want);
    f /= 2;
  }
}

TEST(AdmFloat, RegionsLeaveATenthOut) {
  const AdmFloatParams p = adm_float_configure({}, 1920, 1080);
  EXPECT_EQ(p.scale[0].width, 960);
  EXPECT_EQ(p.scale[0].left, 95);
  EXPECT_EQ(p.scale[0].right, 865);
  EXPECT_EQ(p.scale[0].top, 53);
  EXPECT_EQ(p.scale[3].height, 68);
  EXPECT_EQ(p.scale[3].top, 6);
  EXPECT_EQ(p.scale[3].bottom, 62);
  const AdmFloatParams small = adm_float_configure({}, 17, 29);
  EXPECT_EQ(small.scale[3].width, 2);
  EXPECT_EQ(small.scale[3].left, 0);
  EXPECT_EQ(small.scale[0].top, 1);  // 15 rows: 1.5 - 0.5
}

// ---- Evaluation by the book ---------------------------------------------------------------------------------

using Plane2d = std::vector<std::vector<float>>;

Plane2d plane(size_t height, size_t width) { return Plane2d(height, std::vector<float>(width)); }

struct Bands {
  Plane2d a, band[3];
};

Bands wavelet(const Plane2d &in) {
  const int h = static_cast<int>(in.size()), w = static_cast<int>(in[0].size()), h2 = (h + 1) / 2,
            w2 = (w + 1) / 2;
  const float lo[] = {0.482962913144690f, 0.836516303737469f, 0.224143868041857f, -0.129409522550921f};
  const float hi[] = {-0.129409522550921f, -0.224143868041857f, 0.836516303737469f, -0.482962913144690f};
  const auto at = [](int k, int n) { return static_cast<size_t>(k < 0 ? -k : k >= n ? 2 * n - 1 - k : k); };
  const auto down = [&](const float *taps) {
    Plane2d out = plane(h2, w);
    for (int y = 0; y < h2; ++y)
      for (int x = 0; x < w; ++x)
        for (int k = 0; k < 4; ++k) out[y][x] += taps[k] * in[at(2 * y - 1 + k, h)][x];
    return out;
  };
  const auto across = [&](const Plane2d &from, const float *taps) {
    Plane2d out = plane(h2, w2);
    for (int y = 0; y < h2; ++y)
      for (int x = 0; x < w2; ++x)
        for (int k = 0; k < 4; ++k) out[y][x] += taps[k] * from[y][at(2 * x - 1 + k, w)];
    return out;
  };
  const Plane2d low = down(lo), high = down(hi);
  return {across(low, lo), {across(high, lo), across(low, hi), across(high, hi)}};
}

float pooled(float v, double p_norm) {
  return p_norm == 3 ? v * v * v : real_power(v, static_cast<float>(p_norm));
}

// Sums of |csf * signal| above the thresholds of `masker`, if there is one.
void masked(const Plane2d *signal, const Plane2d *masker, const AdmFloatScaleParams &p, double p_norm,
            float *sums) {
  const int h = static_cast<int>(signal[0].size()), w = static_cast<int>(signal[0][0].size());
  const auto inside = [](int i, int n) { return i < 0 ? 1 : i >= n ? n - 1 : i; };
  const auto threshold = [&](int y, int x) {
    float all = 0;
    for (int t = 0; masker && t < 3; ++t) {
      float sum = 0;
      for (int j = -1; j <= 1; ++j)
        for (int i = -1; i <= 1; ++i) {
          const float v = std::fabs(p.sensitivity[t] * masker[t][inside(y + j, h)][inside(x + i, w)]);
          if (i == 0 && j == 0)
            sum = static_cast<float>(sum + 0.0666666701 * v);
          else
            sum += static_cast<float>(0.0333333351 * v);
        }
      all += sum;
    }
    return all;
  };
  for (int t = 0; t < 3; ++t) {
    sums[t] = 0;
    for (int y = p.top; y < p.bottom; ++y) {
      float row = 0;
      for (int x = p.left; x < p.right; ++x) {
        const float v = std::fabs(signal[t][y][x] * p.sensitivity[t]) - threshold(y, x);
        row += pooled(v > 0 ? v : 0, p_norm);
      }
      sums[t] += row;
    }
  }
}

AdmFloatSums by_the_book(const Luma &ref, const Luma &dist, const AdmFloatParams &params) {
  const auto floats = [](const Luma &from) {
    Plane2d out = plane(from.height, from.width);
    for (int y = 0; y < from.height; ++y)
      for (int x = 0; x < from.width; ++x)
        out[y][x] = static_cast<float>(from.at(x, y)) / static_cast<float>(1 << (from.depth - 8)) + -128;
    return out;
  };
  const AdmFloatOptions &options = params.options;
  Plane2d p = floats(ref), q = floats(dist);
  AdmFloatSums sums = {};
  for (int s = 0; s < 4; ++s) {
    const Bands o = wavelet(p), d = wavelet(q);
    p = o.a;
    q = d.a;
    if (s == 0 && options.skip_scale0) continue;
    const size_t h = p.size(), w = p[0].size();
    Plane2d restored[3], additive[3];
    for (int t = 0; t < 3; ++t) restored[t] = additive[t] = plane(h, w);
    for (size_t y = 0; y < h; ++y)
      for (size_t x = 0; x < w; ++x) {
        const float oh = o.band[0][y][x], ov = o.band[1][y][x], th = d.band[0][y][x], tv = d.band[1][y][x];
        const float dot = oh * th + ov * tv, no = oh * oh + ov * ov, nt = th * th + tv * tv;
        const bool same = dot >= 0 && dot * dot >= std::bit_cast<float>(0x3f7fec0au) * no * nt;
        for (int t = 0; t < 3; ++t) {
          restored[t][y][x] =
              restored_by_the_book(o.band[t][y][x], d.band[t][y][x], same, options.gain_limit);
          additive[t][y][x] = d.band[t][y][x] - restored[t][y][x];
        }
      }
    const bool bypass = options.bypass_masking;
    masked(o.band, nullptr, params.scale[s], options.p_norm, sums.scale[s].den);
    masked(restored, bypass ? nullptr : additive, params.scale[s], options.p_norm, sums.scale[s].num);
    masked(additive, bypass ? nullptr : restored, params.scale[s], options.p_norm, sums.scale[s].aim);
  }
  return sums;
}

void expect_sums(const Luma &ref, const Luma &dist, const OptionTexts &texts) {
  const Extractor &e = extractor("float_adm");
  const Options options = parse(e, texts);
  const PictureFormat format = {ref.width, ref.height, ref.depth, Chroma::c400};
  AdmFloatSums got;
  std::memcpy(&got, measure(e, options, {ref}, {dist})[0].data(), sizeof got);
  const AdmFloatSums want = by_the_book(ref, dist, adm_float_params(options, format));
  for (int s = 0; s < 4; ++s)
    for (int band = 0; band < 3; ++band) {
      EXPECT_EQ(got.scale[s].den[band], want.scale[s].den[band]) << "scale " << s << ", band " << band;
      EXPECT_EQ(got.scale[s].num[band], want.scale[s].num[band]) << "scale " << s << ", band " << band;
      EXPECT_EQ(got.scale[s].aim[band], want.scale[s].aim[band]) << "scale " << s << ", band " << band;
    }
}

const std::vector<OptionTexts> kVariants = {
    {},
    {{"adm_enhn_gain_limit", "1"}},
    {{"adm_enhn_gain_limit", "1.2"}},
    {{"adm_p_norm", "2"}, {"adm_bypass_cm", "1"}},
    {{"adm_p_norm", "5.5"}, {"adm_enhn_gain_limit", "1.7"}},
    {{"adm_csf_mode", "1"}},
    {{"adm_csf_mode", "2"}, {"adm_f1s0", "0.5"}},
    {{"adm_skip_scale0", "true"}},
};

TEST(AdmFloat, SumsByTheBook) {
  for (int depth : {8, 10, 12, 16})
    for (const OptionTexts &texts : kVariants) {
      const Luma ref = waves(101, 67, depth, 0);
      expect_sums(ref, distorted_from(ref, 2), texts);
    }
  for (const auto &[width, height] : std::vector<std::pair<int, int>>{
           {17, 17}, {18, 40}, {33, 17}, {29, 30}, {64, 64}, {143, 35}, {322, 40}}) {
    const Luma ref = noise(width, height, 8, 5);
    expect_sums(ref, distorted_from(ref, 6), {});
    expect_sums(ref, noise(width, height, 8, 7), {});
  }
}

TEST(AdmFloat, SumsOfStressPictures) {
  const std::vector<Luma> pictures = stress_pictures(60, 45, 8);
  for (const Luma &ref : pictures)
    for (const Luma &dist : pictures) expect_sums(ref, dist, {});
}

TEST(AdmFloat, LayoutDoesNotMatter) {
  for (int depth : {8, 10}) {
    const Luma ref = waves(75, 41, depth, 0), dist = distorted_from(ref, 1);
    const auto plain = run("float_adm", {}, {ref}, {dist});
    EXPECT_EQ(run("float_adm", {}, {ref}, {dist}, {.padding = 26}), plain);
    EXPECT_EQ(run("float_adm", {}, {ref}, {dist}, {.padding = 2, .upside = true}), plain);
    if (depth == 8) {
      EXPECT_EQ(run("float_adm", {}, {ref}, {dist}, {.padding = 3, .offset = 1}), plain);
    }
  }
}

// ---- Scores -------------------------------------------------------------------------------------------------

// Sums that make each root a small number: scale s, band t gives den 4 + s, num 2, aim 1, without noise.
AdmFloatSums simple_sums() {
  AdmFloatSums sums = {};
  for (int s = 0; s < 4; ++s)
    for (int t = 0; t < 3; ++t) {
      const float den = static_cast<float>(4 + s);
      sums.scale[s].den[t] = den * den * den;
      sums.scale[s].num[t] = 8;
      sums.scale[s].aim[t] = 1;
    }
  return sums;
}

AdmFloatScores scores_of(const AdmFloatSums &sums, AdmFloatOptions options) {
  return adm_float_finish(sums, adm_float_configure(options, 1920, 1080));
}

TEST(AdmFloat, ScoresFromSums) {
  AdmFloatOptions options;
  options.noise_weight = 0;
  const AdmFloatScores plain = scores_of(simple_sums(), options);  // num 24, aim 12, den 12 + 15 + 18 + 21
  EXPECT_NEAR(plain.total_num, 24, 1e-5);
  EXPECT_NEAR(plain.total_den, 66, 1e-5);
  EXPECT_NEAR(plain.adm2, 24.0 / 66, 1e-6);
  EXPECT_NEAR(plain.aim, 12.0 / 66, 1e-6);
  EXPECT_NEAR(plain.adm3, (24.0 / 66 + 1 - 12.0 / 66) / 2, 1e-6);
  EXPECT_NEAR(plain.score[1], 6.0 / 15, 1e-6);

  options.dlm_weight = 0.25;
  EXPECT_NEAR(scores_of(simple_sums(), options).adm3, 24.0 / 66 / 4 + (1 - 12.0 / 66) * 3 / 4, 1e-6);
  options.harmonic = true;  // of adm2 and aim
  EXPECT_NEAR(scores_of(simple_sums(), options).adm3, 2 * 24.0 * 12 / (24 + 12) / 66, 1e-6);
  options.min_val = 0.75;
  EXPECT_EQ(scores_of(simple_sums(), options).adm3, 0.75);
  EXPECT_NEAR(scores_of(simple_sums(), options).adm2, 24.0 / 66, 1e-6);

  options.skip_aim_scale = 3;
  EXPECT_NEAR(scores_of(simple_sums(), options).aim, 9.0 / 45, 1e-6);
  options.skip_scale0 = true;
  const AdmFloatScores skipped = scores_of(simple_sums(), options);
  EXPECT_NEAR(skipped.aim, 6.0 / 33, 1e-6);
  EXPECT_NEAR(skipped.adm2, 18.0 / 54, 1e-6);
  EXPECT_EQ(skipped.num[0], 0.0f);
  EXPECT_EQ(skipped.den[0], 1e-10f);
  EXPECT_EQ(skipped.score[0], 0.0);
}

// Noise goes to num and den, not to aim: the root of 0.03125 of the region's area, a band.
TEST(AdmFloat, NoiseOfARegion) {
  const AdmFloatParams p = adm_float_configure({}, 1920, 1080);
  EXPECT_FLOAT_EQ(p.scale[0].noise, std::cbrt(770 * 434 * 0.03125f));
  const AdmFloatScores scores = adm_float_finish({}, p);
  EXPECT_FLOAT_EQ(scores.num[0], 3 * p.scale[0].noise);
  EXPECT_EQ(scores.num[0], scores.den[0]);
  EXPECT_EQ(scores.adm2, 1.0);
  EXPECT_EQ(scores.aim, 0.0);
  AdmFloatOptions options;
  options.p_norm = 2;
  EXPECT_FLOAT_EQ(adm_float_configure(options, 1920, 1080).scale[0].noise, std::sqrt(770 * 434 * 0.03125f));
}

// Below 1e-10 of a 1080p frame's samples there is nothing to lose.
TEST(AdmFloat, TotalsBelowTheLimitCountAsZero) {
  AdmFloatOptions options;
  options.noise_weight = 0;
  AdmFloatSums sums = {};
  sums.scale[0].den[0] = 1e-33f;  // a root of 1e-11
  sums.scale[0].num[0] = 1e-33f;
  const AdmFloatScores scores = scores_of(sums, options);
  EXPECT_EQ(scores.total_den, 0.0);
  EXPECT_EQ(scores.total_num, 0.0);
  EXPECT_EQ(scores.adm2, 1.0);
  sums.scale[0].den[0] = 1.0f;
  sums.scale[0].aim[0] = 27.0f;
  EXPECT_EQ(scores_of(sums, options).adm2, 0.0);
  EXPECT_EQ(scores_of(sums, options).aim, 1.0);
  EXPECT_EQ(scores_of({}, options).aim, 0.0);
}

}  // namespace
}  // namespace vmafhip
