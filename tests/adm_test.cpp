// ADM: libvmaf's figures, an evaluation by the book, and what must not matter.
#include "engine/arith/adm.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "tests/metric_run.h"

namespace vmafhip {
namespace {

using namespace test;

const std::vector<Expected> kDepth8Frame1 = {
    {"integer_adm2", 0.99444628103890242},          {"integer_aim", 0.0023978475845826777},
    {"integer_adm3", 0.99602421672715979},          {"integer_adm_scale0", 0.96547514021463299},
    {"integer_adm_scale1", 0.99024278887530726},    {"integer_adm_scale2", 0.99983418251778722},
    {"integer_adm_scale3", 1.0007634245385204},     {"integer_adm", 0.99444628103890242},
    {"integer_adm_num", 154.20783042907715},        {"integer_adm_den", 155.06904029846191},
    {"integer_adm_num_scale0", 17.435600280761719}, {"integer_adm_den_scale0", 18.059087753295898},
    {"integer_adm_num_scale1", 27.278581619262695}, {"integer_adm_den_scale1", 27.547367095947266},
    {"integer_adm_num_scale2", 56.491889953613281}, {"integer_adm_den_scale2", 56.501258850097656},
    {"integer_adm_num_scale3", 53.001758575439453}, {"integer_adm_den_scale3", 52.961326599121094}};

const std::vector<Expected> kDepth8Frame2 = {
    {"integer_adm2", 0.99428157258156236},          {"integer_aim", 0.0025243209379125875},
    {"integer_adm3", 0.99587862582182485},          {"integer_adm_scale0", 0.96557411576914443},
    {"integer_adm_scale1", 0.99163444210888063},    {"integer_adm_scale2", 0.99990652750098574},
    {"integer_adm_scale3", 0.99965994034306094},    {"integer_adm", 0.99428157258156236},
    {"integer_adm_num", 152.15003967285156},        {"integer_adm_den", 153.02510261535645},
    {"integer_adm_num_scale0", 17.435842514038086}, {"integer_adm_den_scale0", 18.057487487792969},
    {"integer_adm_num_scale1", 27.254133224487305}, {"integer_adm_den_scale1", 27.484052658081055},
    {"integer_adm_num_scale2", 52.926795959472656}, {"integer_adm_den_scale2", 52.931743621826172},
    {"integer_adm_num_scale3", 54.533267974853516}, {"integer_adm_den_scale3", 54.55181884765625}};

const std::vector<Expected> kDepth10Frame1 = {
    {"integer_adm2", 0.99435805496752194},          {"integer_aim", 0.0022533805717022382},
    {"integer_adm3", 0.99605233719790987},          {"integer_adm_scale0", 0.96555991178632683},
    {"integer_adm_scale1", 0.98978137053259097},    {"integer_adm_scale2", 0.99977862277848062},
    {"integer_adm_scale3", 1.0007751084240621},     {"integer_adm", 0.99435805496752194},
    {"integer_adm_num", 154.1928539276123},         {"integer_adm_den", 155.0677375793457},
    {"integer_adm_num_scale0", 17.436683654785156}, {"integer_adm_den_scale0", 18.058624267578125},
    {"integer_adm_num_scale1", 27.264734268188477}, {"integer_adm_den_scale1", 27.546218872070312},
    {"integer_adm_num_scale2", 56.490108489990234}, {"integer_adm_den_scale2", 56.502616882324219},
    {"integer_adm_num_scale3", 53.001327514648438}, {"integer_adm_den_scale3", 52.960277557373047}};

const std::vector<Expected> kDepth16Frame1 = {
    {"integer_adm2", 0.99444045631121236},          {"integer_aim", 0.0023977554736559735},
    {"integer_adm3", 0.99602135041877826},          {"integer_adm_scale0", 0.96549014140588407},
    {"integer_adm_scale1", 0.98991139548135654},    {"integer_adm_scale2", 0.99988860023973225},
    {"integer_adm_scale3", 1.0008555507872896},     {"integer_adm", 0.99444045631121236},
    {"integer_adm_num", 154.20707893371582},        {"integer_adm_den", 155.06919288635254},
    {"integer_adm_num_scale0", 17.435819625854492}, {"integer_adm_den_scale0", 18.05903434753418},
    {"integer_adm_num_scale1", 27.269596099853516}, {"integer_adm_den_scale1", 27.547512054443359},
    {"integer_adm_num_scale2", 56.49517822265625},  {"integer_adm_den_scale2", 56.501472473144531},
    {"integer_adm_num_scale3", 53.006484985351562}, {"integer_adm_den_scale3", 52.961174011230469}};

const std::vector<Expected> kVariantDepth8 = {
    {"integer_adm2_csf_2_dlmw_0.7_egl_1_min_0.5_nw_0.02", 0.99171173702411397},
    {"integer_aim_csf_2_dlmw_0.7_egl_1_min_0.5_nw_0.02", 0.0017348438032011577},
    {"integer_adm3_csf_2_dlmw_0.7_egl_1_min_0.5_nw_0.02", 0.99367776277591946},
    {"integer_adm_scale0_csf_2_dlmw_0.7_egl_1_min_0.5_nw_0.02", 0.96504199126823875},
    {"integer_adm_scale1_csf_2_dlmw_0.7_egl_1_min_0.5_nw_0.02", 0.98166433079166648},
    {"integer_adm_scale2_csf_2_dlmw_0.7_egl_1_min_0.5_nw_0.02", 0.99489094243289267},
    {"integer_adm_scale3_csf_2_dlmw_0.7_egl_1_min_0.5_nw_0.02", 0.99812647099834428}};

const std::vector<Expected> kVariantDepth10 = {
    {"integer_adm2_csf_2_dlmw_0.7_egl_1_min_0.5_nw_0.02", 0.99166559091098194},
    {"integer_aim_csf_2_dlmw_0.7_egl_1_min_0.5_nw_0.02", 0.0016011425433247637},
    {"integer_adm3_csf_2_dlmw_0.7_egl_1_min_0.5_nw_0.02", 0.99368557087468989},
    {"integer_adm_scale0_csf_2_dlmw_0.7_egl_1_min_0.5_nw_0.02", 0.96516242438056044},
    {"integer_adm_scale1_csf_2_dlmw_0.7_egl_1_min_0.5_nw_0.02", 0.98132035287912101},
    {"integer_adm_scale2_csf_2_dlmw_0.7_egl_1_min_0.5_nw_0.02", 0.99488047278255176},
    {"integer_adm_scale3_csf_2_dlmw_0.7_egl_1_min_0.5_nw_0.02", 0.99811591822771206}};

const OptionTexts kDebug = {{"debug", "true"}};
const OptionTexts kVariant = {{"adm_csf_mode", "2"},
                              {"adm_dlm_weight", "0.7"},
                              {"adm_enhn_gain_limit", "1"},
                              {"adm_noise_weight", "0.02"},
                              {"adm_min_val", "0.5"}};

TEST(Adm, EqualsLibvmaf) {
  const Scores at8 = run("adm", kDebug, formula_refs(3, 8), formula_dists(3, 8));
  EXPECT_EQ(at8.size(), 18u);
  expect_scores(at8, 1, kDepth8Frame1);
  expect_scores(at8, 2, kDepth8Frame2);
  expect_scores(run("adm", kDebug, formula_refs(2, 10), formula_dists(2, 10)), 1, kDepth10Frame1);
  expect_scores(run("adm", kDebug, formula_refs(2, 16), formula_dists(2, 16)), 1, kDepth16Frame1);
}

TEST(Adm, EqualsLibvmafWithOtherOptions) {
  expect_scores(run("adm", kVariant, formula_refs(3, 8), formula_dists(3, 8)), 2, kVariantDepth8);
  expect_scores(run("adm", kVariant, formula_refs(3, 10), formula_dists(3, 10)), 2, kVariantDepth10);
}

// ---- Per sample -----------------------------------------------------------------------------------------

TEST(Adm, WaveletBorders) {
  const int expected[] = {1, 0, 1, 2, 3, 4, 4, 3};  // 5 samples, from -1 on
  for (int i = 0; i < 8; ++i) EXPECT_EQ(adm_index(i - 1, 5), expected[i]) << i - 1;
}

TEST(Adm, RatioWithoutBranchesIsTheRatio) {
  const auto check = [](int32_t ref, int32_t dist) {
    if (ref == 0) return;  // decoupling does not ask
    ASSERT_EQ(adm_ratio_small(ref, ref < 0 ? -dist : dist), adm_ratio(ref, dist)) << ref << ", " << dist;
  };
  for (int ref : {-32768, -32767, -16385, -16384, -3, -2, -1, 1, 2, 3, 7, 16383, 16384, 16385, 22930, 32767})
    for (int dist = -32768; dist < 32768; ++dist) check(ref, dist);
  Noise source(1);
  for (int i = 0; i < 2000000; ++i) check(source.below(65536) - 32768, source.below(65536) - 32768);
}

TEST(Adm, RatioLimits) {
  EXPECT_EQ(adm_ratio(0, -5), 32768);
  EXPECT_EQ(adm_ratio(100, -1), 0);
  EXPECT_EQ(adm_ratio(100, 50), 16384);
  EXPECT_EQ(adm_ratio(-100, -50), 16384);
  EXPECT_EQ(adm_ratio(100, 101), 32768);
  EXPECT_EQ(adm_ratio(1 << 30, 1 << 29), 16384);
  EXPECT_EQ(adm_ratio(-(1 << 30), (1 << 30)), 0);
}

// What vectors of 16-bit lanes rest on: up to 2^14, and up to 7,020 of larger references, dividing and multiplying back restores
// the distorted sample, cut off at the reference.
TEST(Adm, RestoringSmallSamplesNeedsNoDivision) {
  const auto restored = [](int ref, int dist) {
    return adm_restore(ref, dist, adm_ratio(ref, dist), false, 1);
  };
  for (int ref = 1; ref <= 22931; ref += ref < 16000 ? 1 + ref / 40 : 1)
    for (int dist = 0; dist <= (ref <= 16384 ? 22931 : 7020); dist += 1 + (dist * 7 + ref) % 31) {
      const int want = smaller(ref, dist);
      ASSERT_EQ(restored(ref, dist), want) << ref << ", " << dist;
      ASSERT_EQ(restored(-ref, -dist), -want) << ref << ", " << dist;
      ASSERT_EQ(restored(ref, -dist), 0);
    }
  for (int ref = 15000; ref <= 16384; ++ref)
    for (int dist = ref - 40; dist <= ref + 2; ++dist) ASSERT_EQ(restored(ref, dist), smaller(ref, dist));
  // There are others beyond.
  EXPECT_EQ(restored(22931, 22931), 22930);
}

// Of all displays and modes; weights at scale 0 fit 16 bits for these. What is weighted by 0 the vectors do not know.
TEST(Adm, TheStandardDisplayIsTheMostSensitiveAtScale0) {
  const auto expect_within = [](const AdmOptions &options) {
    const AdmScaleParams p = adm_configure(options, 1920, 1080).scale[0];
    EXPECT_LE(p.csf[0], 36453u);
    EXPECT_LE(p.csf[1], 36453u);
    EXPECT_LE(p.csf[2], 49417u);
    EXPECT_GT(p.csf[2], 0u);
  };
  for (int lines : {135, 480, 720, 1080, 1440, 2160, 4320})
    for (double distance = 0.75; distance <= 24; distance += 0.05)
      if (distance * lines >= 3240) expect_within({.norm_view_dist = distance, .ref_display_height = lines});
  expect_within({.norm_view_dist = 24, .ref_display_height = 4320});  // the least sensitive
  for (const AdmCsfRow &row : kAdmCsfRows)
    for (int mode : {2, 3})
      expect_within({.norm_view_dist = row.norm_view_dist,
                     .ref_display_height = row.ref_display_height,
                     .csf_mode = mode});
}

TEST(Adm, RestoreTruncatesWhereTheGainDecides) {
  EXPECT_EQ(adm_restore(10, 30, 32768, false, 2.0), 10);
  EXPECT_EQ(adm_restore(10, 30, 32768, true, 2.0), 20);
  EXPECT_EQ(adm_restore(10, 15, 32768, true, 2.0), 15);
  EXPECT_EQ(adm_restore(-9, -30, 32768, true, 1.05), -9);  // -9.45
  EXPECT_EQ(adm_restore(0, 30, 32768, true, 2.0), 0);
  EXPECT_EQ(adm_restore(10, -30, 0, true, 2.0), 0);
}

TEST(Adm, AngleOfOneDegree) {
  EXPECT_TRUE(adm_same_angle(0, 0, 0));
  EXPECT_TRUE(adm_same_angle(100, 100, 100));
  EXPECT_FALSE(adm_same_angle(-100, 100, 100));
  const auto at = [](double degrees) {
    const double r = degrees * 3.14159265358979 / 180;
    return adm_same_angle(static_cast<float>(1e6 * std::cos(r)), 1e6f, 1e6f);
  };
  EXPECT_TRUE(at(0.99));
  EXPECT_FALSE(at(1.01));
}

// Roundings that look like mistakes and are the definition.
TEST(Adm, MaskWeights) {
  const AdmMask nothing = adm_mask(0, 137373792);
  EXPECT_EQ(nothing.centre, -1);
  EXPECT_EQ(nothing.neighbour, -1);
  const AdmMask nothing0 = adm_mask0(0, 36453, 0);
  EXPECT_EQ(nothing0.centre, 0);
  EXPECT_EQ(nothing0.neighbour, 0);
  // d: (49417 * m + 65535) >> 17, where a half would be 65536.
  EXPECT_EQ(adm_mask0(65537, 1, 2).centre, (8738 + 2048) >> 12);
  EXPECT_EQ(adm_mask0(65536, 1, 2).centre, 0);
}

TEST(Adm, CubeIsASignedShift) {
  Noise source(3);
  for (int i = 0; i < 1000000; ++i) {
    const int32_t x = static_cast<int32_t>((source.next() << 8 ^ source.next()) >> (1 + source.below(20)));
    const int square_shift = 29 + i % 2, shift = source.below(13);
    const int32_t square = static_cast<int32_t>(
        static_cast<uint32_t>((int64_t{x} * x + (int64_t{1} << (square_shift - 1))) >> square_shift));
    const int64_t want = (int64_t{square} * x + half_of(shift)) >> shift;
    ASSERT_EQ(static_cast<int64_t>(adm_cube_offset(x, square_shift, shift) - ((uint64_t{1} << 63) >> shift)),
              want)
        << x;
  }
}

TEST(Adm, Products) {
  for (int32_t s : {INT32_MIN, -77, -1, 0, 1, 77, INT32_MAX})
    for (uint32_t u : {0u, 1u, 99u, 0x80000000u, 0xffffffffu})
      EXPECT_EQ(multiply_wrapping(s, u), static_cast<uint64_t>(int64_t{s}) * u) << s << " * " << u;
}

// ---- Contrast sensitivity -------------------------------------------------------------------------------

TEST(Adm, SensitivityOfTheStandardDisplay) {
  const AdmParams p = adm_configure({}, 1920, 1080);
  const double h[] = {0.0173815377, 0.0319848284, 0.0433726609, 0.0456734113};
  const double d[] = {0.005890687, 0.0142990677, 0.0243969075, 0.0313127376};
  for (int s = 0; s < 4; ++s) {
    EXPECT_NEAR(p.scale[s].sensitivity[0], h[s], 5e-11);
    EXPECT_NEAR(p.scale[s].sensitivity[1], d[s], 5e-11);
  }
  const auto factors = [&](int s) { return std::vector<uint32_t>(p.scale[s].csf, p.scale[s].csf + 3); };
  EXPECT_EQ(factors(0), (std::vector<uint32_t>{36453, 36453, 49417}));
  EXPECT_EQ(factors(1), (std::vector<uint32_t>{137373792, 137373792, 61414028}));
  EXPECT_EQ(factors(2), (std::vector<uint32_t>{186284160, 186284160, 104783920}));
  EXPECT_EQ(factors(3), (std::vector<uint32_t>{196165808, 196165808, 134487184}));
}

TEST(Adm, DisplaysAreOnlyThoseOfTheTables) {
  const Extractor &e = extractor("adm");
  const auto check = [&](const OptionTexts &texts) { return e.check(parse(e, texts)); };
  const auto display = [](const char *mode, const char *distance, const char *height) {
    return OptionTexts{
        {"adm_csf_mode", mode}, {"adm_norm_view_dist", distance}, {"adm_ref_display_height", height}};
  };
  for (const char *mode : {"2", "3"}) {
    EXPECT_TRUE(check(display(mode, "3", "1080")).ok());
    EXPECT_TRUE(check(display(mode, "5", "1080")).ok());
    EXPECT_TRUE(check(display(mode, "1.5", "2160")).ok());
    EXPECT_TRUE(check(display(mode, "3", "2160")).ok());
    EXPECT_TRUE(check(display(mode, "5", "2160")).ok());
    EXPECT_TRUE(check(display(mode, "5", "720")).ok());
    EXPECT_FALSE(check(display(mode, "4", "1080")).ok());
    EXPECT_FALSE(check(display(mode, "5", "1081")).ok());
  }
  EXPECT_EQ(check(display("2", "4", "1080")).message(),
            "adm: adm_csf_mode=2 is not defined for adm_ref_display_height 1080 at 4 (adm_norm_view_dist), "
            "only for "
            "1080 at 3, 2160 at 1.5, 1080 at 5, 2160 at 3, 2160 at 5, 720 at 5");
  EXPECT_TRUE(check(display("0", "4", "1080")).ok());
  EXPECT_EQ(check(display("0", "2.5", "1080")).message(),
            "adm: adm_norm_view_dist * adm_ref_display_height must be at least 3240, not 1080 at 2.5");
  const Status mode1 = check({{"adm_csf_mode", "1"}});
  EXPECT_EQ(mode1.code(), Code::unsupported);
  EXPECT_NE(mode1.message().find("adm_csf_mode=1"), std::string::npos);
}

// ---- Evaluation by the book -----------------------------------------------------------------------------

using Plane2d = std::vector<std::vector<int64_t>>;

struct Bands {
  Plane2d a, band[3];
};

int64_t wrapped(int64_t v, int bits) {
  return bits == 16 ? int64_t{static_cast<int16_t>(v)} : int64_t{static_cast<int32_t>(v)};
}

Bands wavelet(const Plane2d &in, int scale, int depth) {
  const int h = static_cast<int>(in.size()), w = static_cast<int>(in[0].size());
  const int h2 = (h + 1) / 2, w2 = (w + 1) / 2, bits = scale == 0 ? 16 : 32;
  const int64_t lo[] = {15826, 27411, 7345, -4240}, hi[] = {-4240, -7345, 27411, -15826};
  const int vertical[] = {depth, 0, 16, 16}, horizontal[] = {16, 15, 16, 15};
  const int vs = vertical[scale], hs = horizontal[scale];
  const auto at = [](int k, int n) { return k < 0 ? -k : k >= n ? 2 * n - 1 - k : k; };
  Plane2d low(h2, std::vector<int64_t>(w)), high(low);
  for (int y = 0; y < h2; ++y)
    for (int x = 0; x < w; ++x) {
      int64_t l = vs > 0 ? int64_t{1} << (vs - 1) : 0, t = l;
      if (scale == 0) l -= int64_t{46342} << (depth - 1);
      for (int k = 0; k < 4; ++k) {
        const int64_t sample = in[at(2 * y - 1 + k, h)][x];
        l += lo[k] * sample;
        t += hi[k] * sample;
      }
      low[y][x] = wrapped(l >> vs, bits);
      high[y][x] = wrapped(t >> vs, bits);
    }
  const auto across = [&](const Plane2d &from, const int64_t *taps) {
    Plane2d out(h2, std::vector<int64_t>(w2));
    for (int y = 0; y < h2; ++y)
      for (int x = 0; x < w2; ++x) {
        int64_t sum = int64_t{1} << (hs - 1);
        for (int k = 0; k < 4; ++k) sum += taps[k] * from[y][at(2 * x - 1 + k, w)];
        out[y][x] = wrapped(sum >> hs, bits);
      }
    return out;
  };
  return {across(low, lo), {across(high, lo), across(low, hi), across(high, hi)}};
}

struct Region {
  int left, top, right, bottom;
};

// Sums of signal S masked by M, per band.
void masked(const Plane2d *S, const Plane2d *M, int scale, const uint32_t *f, const Region &r, int64_t *acc) {
  const int h = static_cast<int>(S[0].size()), w = static_cast<int>(S[0][0].size());
  Plane2d centre(h, std::vector<int64_t>(w)), around(centre);
  for (int t = 0; t < 3; ++t)
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) {
        const int64_t product = int64_t{f[t]} * M[t][y][x];
        if (scale == 0) {
          const int64_t c = std::abs(wrapped(t == 2 ? (product + 65535) >> 17 : (product + 16384) >> 15, 16));
          around[y][x] += wrapped((4369 * c + 2048) >> 12, 16);
          centre[y][x] += wrapped((8738 * c + 2048) >> 12, 16);
        } else {
          const int64_t c = std::abs(wrapped((product + (1 << 27)) >> 28, 32));
          around[y][x] += (143165577 * c - (int64_t{1} << 31)) >> 32;
          centre[y][x] += (286331153 * c - (int64_t{1} << 31)) >> 32;
        }
      }
  const int ci = static_cast<int>(std::ceil(std::log2(static_cast<double>(h))));
  for (int t = 0; t < 3; ++t) {
    const double columns = std::log2(static_cast<double>(w));
    const int c3 = static_cast<int>(std::ceil(scale > 0 ? columns : t == 2 ? columns - 3 : columns - 4));
    const int e = scale == 0 && t < 2 ? 29 : 30;
    acc[t] = 0;
    for (int y = r.top; y < r.bottom; ++y) {
      int64_t row = 0;
      for (int x = r.left; x < r.right; ++x) {
        int64_t threshold = centre[y][x];
        for (int j = -1; j <= 1; ++j)
          for (int i = -1; i <= 1; ++i) {
            if (i == 0 && j == 0) continue;
            const int yy = y + j < 0    ? 1
                           : y + j == h ? h - 1
                                        : y + j,
                      xx = x + i < 0    ? 1
                           : x + i == w ? w - 1
                                        : x + i;
            threshold += around[yy][xx];
          }
        const int64_t product = int64_t{f[t]} * S[t][y][x];
        int64_t v = scale == 0
                        ? wrapped(std::abs(product) - wrapped(threshold * (t == 2 ? 4096 : 1024), 32), 32)
                        : wrapped(std::abs(wrapped((product + (1 << 27)) >> 28, 32)) - threshold, 32);
        v = std::max<int64_t>(v, 0);
        const int64_t square = wrapped((v * v + (int64_t{1} << (e - 1))) >> e, 32);
        row += (square * v + (c3 > 0 ? int64_t{1} << (c3 - 1) : 0)) >> c3;
      }
      acc[t] += (row + (ci > 0 ? int64_t{1} << (ci - 1) : 0)) >> ci;
    }
  }
}

AdmSums by_the_book(const Luma &ref, const Luma &dist, const AdmParams &params) {
  const double limit = params.options.gain_limit;
  Plane2d p(ref.height, std::vector<int64_t>(ref.width)), q(p);
  for (int y = 0; y < ref.height; ++y)
    for (int x = 0; x < ref.width; ++x) {
      p[y][x] = ref.at(x, y);
      q[y][x] = dist.at(x, y);
    }
  AdmSums sums;
  for (int s = 0; s < 4; ++s) {
    const Bands o = wavelet(p, s, ref.depth), d = wavelet(q, s, ref.depth);
    p = o.a;
    q = d.a;
    const int h = static_cast<int>(p.size()), w = static_cast<int>(p[0].size());
    Region r;
    r.left = static_cast<int>(w * 0.1 - 0.5);
    r.top = static_cast<int>(h * 0.1 - 0.5);
    r.right = w - r.left;
    r.bottom = h - r.top;
    Plane2d restored[3], additive[3];
    for (int t = 0; t < 3; ++t) restored[t] = additive[t] = Plane2d(h, std::vector<int64_t>(w));
    const double cos2 = std::bit_cast<float>(0x3f7fec0au);
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) {
        const int64_t oh = o.band[0][y][x], ov = o.band[1][y][x], dh = d.band[0][y][x], dv = d.band[1][y][x];
        const volatile float dot = static_cast<float>(oh * dh + ov * dv),
                             on = static_cast<float>(oh * oh + ov * ov),
                             dn = static_cast<float>(dh * dh + dv * dv);
        const double X = dot / 4096.0, P = on / 4096.0, Q = dn / 4096.0;
        const bool angle = X >= 0 && X * X >= cos2 * P * Q;
        for (int t = 0; t < 3; ++t) {
          const int64_t O = o.band[t][y][x], D = d.band[t][y][x];
          int64_t k = 32768;
          if (O != 0) {
            const int64_t A = std::abs(O);
            int sh = 0;
            while (A >> sh >= 32768) ++sh;
            const int64_t m = sh ? (A + (int64_t{1} << (sh - 1))) >> sh : A;
            const int64_t inverse = (int64_t{1} << 30) / m * (O < 0 ? -1 : 1);
            k = std::clamp<int64_t>((inverse * D + (int64_t{1} << (14 + sh))) >> (15 + sh), 0, 32768);
          }
          int64_t rst = (k * O + 16384) >> 15;
          if (angle && k > 0 && O != 0) {
            const double e = static_cast<double>(rst) * limit, dd = static_cast<double>(D);
            rst = static_cast<int64_t>(O > 0 ? (e < dd ? e : dd) : (e > dd ? e : dd));
          }
          restored[t][y][x] = wrapped(rst, s == 0 ? 16 : 32);
          additive[t][y][x] = wrapped(D - rst, s == 0 ? 16 : 32);
        }
      }
    const uint32_t *f = params.scale[s].csf;
    masked(restored, additive, s, f, r, sums.scale[s].num);
    masked(additive, restored, s, f, r, sums.scale[s].aim);
    const double area = static_cast<double>(r.bottom - r.top) * (r.right - r.left);
    const int row_shift = s == 0 ? std::max(0, static_cast<int>(std::ceil(std::log2(area) - 20)))
                                 : static_cast<int>(std::ceil(std::log2(r.bottom - r.top)));
    const int col_shift = s == 0 ? 0 : static_cast<int>(std::ceil(std::log2(r.right - r.left)));
    const int square_shift[] = {0, 31, 30, 31};
    for (int t = 0; t < 3; ++t)
      for (int y = r.top; y < r.bottom; ++y) {
        uint64_t row = 0;
        for (int x = r.left; x < r.right; ++x) {
          const uint64_t A = static_cast<uint64_t>(std::abs(o.band[t][y][x]));
          const int n = square_shift[s];
          row += s == 0 ? A * A * A
                        : (((A * A + (uint64_t{1} << n)) >> n) * A +
                           (col_shift ? uint64_t{1} << (col_shift - 1) : 0)) >>
                              col_shift;
        }
        sums.scale[s].den[t] += (row + (row_shift ? uint64_t{1} << (row_shift - 1) : 0)) >> row_shift;
      }
  }
  return sums;
}

void expect_sums(const Luma &ref, const Luma &dist, const OptionTexts &texts) {
  const Extractor &e = extractor("adm");
  const Options options = parse(e, texts);
  AdmOptions o;
  o.gain_limit = options.real("adm_enhn_gain_limit");
  o.csf_mode = options.integer("adm_csf_mode");
  o.norm_view_dist = options.real("adm_norm_view_dist");
  AdmSums got;
  std::memcpy(&got, measure(e, options, {ref}, {dist})[0].data(), sizeof got);
  const AdmSums want = by_the_book(ref, dist, adm_configure(o, ref.width, ref.height));
  for (int s = 0; s < 4; ++s)
    for (int band = 0; band < 3; ++band) {
      EXPECT_EQ(got.scale[s].num[band], want.scale[s].num[band]) << "scale " << s << ", band " << band;
      EXPECT_EQ(got.scale[s].aim[band], want.scale[s].aim[band]) << "scale " << s << ", band " << band;
      EXPECT_EQ(got.scale[s].den[band], want.scale[s].den[band]) << "scale " << s << ", band " << band;
    }
}

TEST(Adm, EqualsTheBookOnStress) {
  for (int depth : {8, 10, 12, 16}) {
    const auto pictures = stress_pictures(67, 45, depth);
    for (size_t r = 0; r < pictures.size(); ++r)
      for (size_t d = 0; d < pictures.size(); ++d) {
        SCOPED_TRACE("depth " + std::to_string(depth) + ", pictures " + std::to_string(r) + " and " +
                     std::to_string(d));
        expect_sums(pictures[r], pictures[d], {});
      }
  }
}

TEST(Adm, EqualsTheBookAtAnySize) {
  for (const auto &[width, height] : std::vector<std::pair<int, int>>{
           {33, 33}, {34, 33}, {33, 64}, {47, 39}, {64, 64}, {81, 50}, {128, 35}, {259, 33}, {36, 243}})
    for (int depth : {8, 10}) {
      SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height) + ", depth " + std::to_string(depth));
      const Luma ref = noise(width, height, depth, 1);
      Noise source(2);
      // Less contrast and more, so that both sides of the gain limit occur, with angles small and large.
      const Luma dist = paint(width, height, depth, [&](int x, int y) {
        const int mid = 1 << (depth - 1), gain = x < width / 2 ? 2 : 6, grain = y < height / 2 ? 1 : 9;
        return std::clamp(mid + (ref.at(x, y) - mid) * gain / 4 + source.below(grain), 0, 2 * mid - 1);
      });
      expect_sums(ref, dist, {});
      expect_sums(ref, dist, {{"adm_enhn_gain_limit", "1"}});
      expect_sums(ref, dist, {{"adm_enhn_gain_limit", "1.05"}, {"adm_csf_mode", "3"}});
      expect_sums(ref, dist, {{"adm_norm_view_dist", "5"}});
    }
}

// ---- What must not matter -------------------------------------------------------------------------------

TEST(Adm, LayoutDoesNotMatter) {
  for (int depth : {8, 10}) {
    const std::vector<Luma> ref = {noise(71, 45, depth, 3)}, dist = {noise(71, 45, depth, 4)};
    const Scores plain = run("adm", kDebug, ref, dist);
    EXPECT_EQ(run("adm", kDebug, ref, dist, {.padding = 26}), plain);
    EXPECT_EQ(run("adm", kDebug, ref, dist, {.padding = 10, .upside = true}), plain);
    if (depth == 8) {
      EXPECT_EQ(run("adm", kDebug, ref, dist, {.padding = 3, .offset = 1}), plain);
    }
  }
}

TEST(Adm, DepthOnlyScales) {
  const Luma ref = noise(60, 50, 8, 5), dist = noise(60, 50, 8, 6);
  const Scores at8 = run("adm", kDebug, {ref}, {dist});
  for (int depth = 9; depth <= 16; ++depth) {
    const auto up = [&](const Luma &l) {
      return paint(l.width, l.height, depth, [&](int x, int y) { return l.at(x, y) << (depth - 8); });
    };
    EXPECT_EQ(run("adm", kDebug, {up(ref)}, {up(dist)}), at8) << depth;
  }
}

TEST(Adm, SkippedParts) {
  const std::vector<Luma> ref = formula_refs(1, 8), dist = formula_dists(1, 8);
  const Scores all = run("adm", kDebug, ref, dist);
  const Scores no_aim = run("adm", {{"debug", "true"}, {"adm_skip_aim", "true"}}, ref, dist);
  EXPECT_EQ(no_aim.at("integer_aim")[0], 0.0);
  EXPECT_EQ(no_aim.at("integer_adm2"), all.at("integer_adm2"));
  EXPECT_EQ(no_aim.at("integer_adm3")[0], all.at("integer_adm2")[0] * 0.5 + 0.5);

  const Scores coarse = run("adm", {{"debug", "true"}, {"adm_skip_scale0", "true"}}, ref, dist);
  EXPECT_EQ(coarse.at("integer_adm_num_scale0_ssz")[0], 0.0);
  EXPECT_EQ(coarse.at("integer_adm_den_scale0_ssz")[0], 1e-10f);
  for (int s = 1; s < 4; ++s) {
    const std::string name = "integer_adm_scale" + std::to_string(s);
    EXPECT_EQ(coarse.at(name + "_ssz"), all.at(name));
  }
}

TEST(Adm, NothingToLose) {
  const Luma flat = paint(64, 64, 8, [](int, int) { return 128; });
  const Scores scores = run("adm", {{"adm_noise_weight", "0"}}, {flat}, {flat});
  EXPECT_EQ(scores.at("integer_adm2_nw_0")[0], 1.0);
  EXPECT_EQ(scores.at("integer_aim_nw_0")[0], 0.0);
  EXPECT_EQ(scores.at("integer_adm3_nw_0")[0], 1.0);
}

TEST(Adm, RefusesWhatItIsNotDefinedFor) {
  const Extractor &e = extractor("adm");
  const Options options = parse(e, {});
  EXPECT_TRUE(e.check(options, {33, 33, 8, Chroma::c420}).ok());
  EXPECT_EQ(e.check(options, {32, 20, 8, Chroma::c420}).message(),
            "adm needs at least 33x33 samples, the picture is 32x20");
  EXPECT_FALSE(e.check(options, {33, 32, 8, Chroma::c420}).ok());
  EXPECT_FALSE(e.check(options, {64, 64, 17, Chroma::c420}).ok());
}

}  // namespace
}  // namespace vmafhip
