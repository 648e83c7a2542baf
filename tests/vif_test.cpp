// VIF: libvmaf's figures, an evaluation by the book, and what must not matter.
#include "engine/arith/vif.h"

#include <cmath>
#include <stdexcept>

#include "tests/metric_run.h"

namespace vmafhip {
namespace {

using namespace test;

const std::vector<Expected> kDepth8Frame1 = {
    {"integer_vif_scale0", 0.71248531341552734},  {"integer_vif_scale1", 0.99961411952972412},
    {"integer_vif_scale2", 0.99992656707763672},  {"integer_vif_scale3", 1.0000143051147461},
    {"integer_vif", 0.77251398151698136},         {"integer_vif_num", 41796.65283203125},
    {"integer_vif_den", 54104.72021484375},       {"integer_vif_num_scale0", 30491.498046875},
    {"integer_vif_den_scale0", 42795.96875},      {"integer_vif_num_scale1", 8955.09375},
    {"integer_vif_den_scale1", 8958.55078125},    {"integer_vif_num_scale2", 1974.1953125},
    {"integer_vif_den_scale2", 1974.34033203125}, {"integer_vif_num_scale3", 375.86572265625},
    {"integer_vif_den_scale3", 375.8603515625}};

const std::vector<Expected> kDepth8Frame2 = {
    {"integer_vif_scale0", 0.71222919225692749},  {"integer_vif_scale1", 0.99961483478546143},
    {"integer_vif_scale2", 0.99998098611831665},  {"integer_vif_scale3", 1.000074028968811},
    {"integer_vif", 0.77217515413413651},         {"integer_vif_num", 41694.578125},
    {"integer_vif_den", 53996.27001953125},       {"integer_vif_num_scale0", 30438.02734375},
    {"integer_vif_den_scale0", 42736.28125},      {"integer_vif_num_scale1", 8899.078125},
    {"integer_vif_den_scale1", 8902.5068359375},  {"integer_vif_num_scale2", 1975.07421875},
    {"integer_vif_den_scale2", 1975.11181640625}, {"integer_vif_num_scale3", 382.3984375},
    {"integer_vif_den_scale3", 382.3701171875}};

const std::vector<Expected> kDepth10Frame1 = {
    {"integer_vif_scale0", 0.71078610420227051},  {"integer_vif_scale1", 0.99961388111114502},
    {"integer_vif_scale2", 0.99994605779647827},  {"integer_vif_scale3", 0.99992728233337402},
    {"integer_vif", 0.77116968801550467},         {"integer_vif_num", 41724.14990234375},
    {"integer_vif_den", 54105.01806640625},       {"integer_vif_num_scale0", 30418.990234375},
    {"integer_vif_den_scale0", 42796.265625},     {"integer_vif_num_scale1", 8955.09765625},
    {"integer_vif_den_scale1", 8958.556640625},   {"integer_vif_num_scale2", 1974.20849609375},
    {"integer_vif_den_scale2", 1974.31494140625}, {"integer_vif_num_scale3", 375.853515625},
    {"integer_vif_den_scale3", 375.880859375}};

const std::vector<Expected> kDepth16Frame1 = {
    {"integer_vif_scale0", 0.71229928731918335}, {"integer_vif_scale1", 0.99918615818023682},
    {"integer_vif_scale2", 0.99970000982284546}, {"integer_vif_scale3", 1.0002585649490356},
    {"integer_vif", 0.77228875979508682},        {"integer_vif_num", 41785.22900390625},
    {"integer_vif_den", 54105.70654296875},      {"integer_vif_num_scale0", 30484.1796875},
    {"integer_vif_den_scale0", 42796.87109375},  {"integer_vif_num_scale1", 8951.42578125},
    {"integer_vif_den_scale1", 8958.716796875},  {"integer_vif_num_scale2", 1973.68994140625},
    {"integer_vif_den_scale2", 1974.2822265625}, {"integer_vif_num_scale3", 375.93359375},
    {"integer_vif_den_scale3", 375.83642578125}};

const std::vector<Expected> kVariantDepth8 = {{"integer_vif_scale0_egl_1", 0.71146833896636963},
                                              {"integer_vif_scale1_egl_1", 0.99955147504806519},
                                              {"integer_vif_scale2_egl_1", 0.99986279010772705},
                                              {"integer_vif_scale3_egl_1", 0.99974715709686279}};

const std::vector<Expected> kVariantDepth10 = {{"integer_vif_scale0_egl_1", 0.70979398488998413},
                                               {"integer_vif_scale1_egl_1", 0.99955159425735474},
                                               {"integer_vif_scale2_egl_1", 0.99985861778259277},
                                               {"integer_vif_scale3_egl_1", 0.9997982382774353}};

const OptionTexts kDebug = {{"debug", "true"}};

TEST(Vif, EqualsLibvmaf) {
  const Scores at8 = run("vif", kDebug, formula_refs(3, 8), formula_dists(3, 8));
  EXPECT_EQ(at8.size(), 15u);
  expect_scores(at8, 1, kDepth8Frame1);
  expect_scores(at8, 2, kDepth8Frame2);
  expect_scores(run("vif", kDebug, formula_refs(2, 10), formula_dists(2, 10)), 1, kDepth10Frame1);
  expect_scores(run("vif", kDebug, formula_refs(2, 16), formula_dists(2, 16)), 1, kDepth16Frame1);
}

TEST(Vif, EqualsLibvmafWithoutEnhancement) {
  const OptionTexts options = {{"vif_enhn_gain_limit", "1"}};
  expect_scores(run("vif", options, formula_refs(3, 8), formula_dists(3, 8)), 2, kVariantDepth8);
  expect_scores(run("vif", options, formula_refs(3, 10), formula_dists(3, 10)), 2, kVariantDepth10);
}

// ---- Tables ---------------------------------------------------------------------------------------------

TEST(Vif, LogTable) {
  std::vector<uint16_t> table(kVifLogEntries);
  vif_fill_log_table(table.data());
  EXPECT_EQ(table[0], 30720);
  EXPECT_EQ(table[33108 - 32768], 30751);  // 30750 if the logarithm is not rounded to f32
  EXPECT_EQ(table[49152 - 32768], 31918);
  EXPECT_EQ(table[32767], 32768);
  uint64_t sum = 0, hash = 0;
  for (uint16_t entry : table) {
    sum += entry;
    hash = hash * 1000003 + entry;
  }
  EXPECT_EQ(sum, 1044032097u);
  EXPECT_EQ(hash, 0x74eb149f6f015d3du);

  EXPECT_EQ(vif_log2(table.data(), 1u << 17), 2048 * 17);
  EXPECT_EQ(vif_log2(table.data(), (1u << 18) - 1), 2048 * 2 + table[32767]);
  EXPECT_EQ(vif_log2(table.data(), uint64_t{1} << 43), 2048 * 43);
}

// Rounding can make a variance negative; only that of the distorted picture is kept from it.
TEST(Vif, StatisticsOfRounding) {
  const uint32_t mean = 100u << 16;  // squared: 10000 in units of 2^-32
  const VifStatistics s = vif_statistics(mean, mean, 9990, 9990, 9990);
  EXPECT_EQ(s.ref, -10);
  EXPECT_EQ(s.dist, 0);
  EXPECT_EQ(s.cross, -10);
  // The largest means and squares of 16 bits: 2^32 - 2^17 + 1.
  EXPECT_EQ(vif_statistics(65535u << 16, 0, 65535u * 65535u, 77, 0).ref, 0);
  EXPECT_EQ(vif_statistics(65535u << 16, 0, 65535u * 65535u, 77, 0).dist, 77);
}

TEST(Vif, Reflection) {
  const int expected[] = {2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1};  // 4 samples, from -4 on
  for (int i = 0; i < 12; ++i) EXPECT_EQ(reflect(i - 4, 4), expected[i]) << i - 4;
  for (int i = -8; i < 10; ++i) EXPECT_EQ(reflect(i, 2), i & 1) << i;
  for (int i = -7; i < 14; ++i) EXPECT_EQ(reflect(i, 8), mirror(i, 8)) << i;
}

// ---- Evaluation by the book -----------------------------------------------------------------------------

using Plane2d = std::vector<std::vector<uint64_t>>;

// sum of F(scale) * value, columns first; the column sum is rounded by `shift`, the row sum is not.
Plane2d filtered(const Plane2d &in, int scale, int shift) {
  const int h = static_cast<int>(in.size()), w = static_cast<int>(in[0].size()), r = kVifTapCount[scale] / 2;
  Plane2d columns(in), out(in);
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      uint64_t sum = shift > 0 ? uint64_t{1} << (shift - 1) : 0;
      for (int k = -r; k <= r; ++k) sum += kVifTaps[scale][k + r] * in[reflect(y + k, h)][x];
      columns[y][x] = sum >> shift;
    }
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      out[y][x] = 0;
      for (int k = -r; k <= r; ++k) out[y][x] += kVifTaps[scale][k + r] * columns[y][reflect(x + k, w)];
    }
  return out;
}

Plane2d product(const Plane2d &a, const Plane2d &b) {
  Plane2d out(a);
  for (size_t y = 0; y < a.size(); ++y)
    for (size_t x = 0; x < a[y].size(); ++x) out[y][x] = a[y][x] * b[y][x];
  return out;
}

Plane2d halved(const Plane2d &in, int next, int shift) {
  const Plane2d low = filtered(in, next, shift);
  Plane2d out(in.size() / 2, std::vector<uint64_t>(in[0].size() / 2));
  for (size_t y = 0; y < out.size(); ++y)
    for (size_t x = 0; x < out[y].size(); ++x) out[y][x] = (low[2 * y][2 * x] + 32768) >> 16;
  return out;
}

int64_t plain_log2(uint64_t v) {
  int k = 0;
  while (v >> k >= 65536) ++k;
  const float log = std::log2(static_cast<float>(v >> k));
  return std::llround(static_cast<double>(log) * 2048.0) + 2048 * k;
}

VifSums by_the_book(const Luma &ref, const Luma &dist, double gain_limit) {
  Plane2d p(ref.height, std::vector<uint64_t>(ref.width)), q(p);
  for (int y = 0; y < ref.height; ++y)
    for (int x = 0; x < ref.width; ++x) {
      p[y][x] = static_cast<uint64_t>(ref.at(x, y));
      q[y][x] = static_cast<uint64_t>(dist.at(x, y));
    }
  VifSums sums;
  for (int s = 0; s < kVifScales; ++s) {
    if (s > 0) {
      p = halved(p, s, s == 1 ? ref.depth : 16);
      q = halved(q, s, s == 1 ? ref.depth : 16);
    }
    const int mean_shift = s == 0 ? ref.depth : 16, square_shift = s == 0 ? 2 * (ref.depth - 8) : 16;
    const Plane2d a = filtered(p, s, mean_shift), b = filtered(q, s, mean_shift);
    const Plane2d pp = filtered(product(p, p), s, square_shift),
                  qq = filtered(product(q, q), s, square_shift),
                  pq = filtered(product(p, q), s, square_shift);
    const auto rounded = [](uint64_t v, int shift) {
      return static_cast<int64_t>((v + (uint64_t{1} << (shift - 1))) >> shift);
    };
    for (size_t y = 0; y < a.size(); ++y)
      for (size_t x = 0; x < a[y].size(); ++x) {
        const int64_t s1 = rounded(pp[y][x], 16) - rounded(a[y][x] * a[y][x], 32);
        const int64_t s2 = std::max<int64_t>(rounded(qq[y][x], 16) - rounded(b[y][x] * b[y][x], 32), 0);
        const int64_t s12 = rounded(pq[y][x], 16) - rounded(a[y][x] * b[y][x], 32);
        if (s1 < 131072) {
          sums.scale[s].num_low += s2;
          sums.scale[s].den_low += 1;
          continue;
        }
        sums.scale[s].den_log += plain_log2(static_cast<uint64_t>(131072 + s1)) - 34816;
        if (s12 <= 0 || s2 <= 0) continue;
        const double g = static_cast<double>(s12) / (static_cast<double>(s1) + 65536 * 1e-10);
        const int64_t sv = std::max<int64_t>(
            static_cast<int64_t>(static_cast<double>(s2) - g * static_cast<double>(s12)), 0);
        const double limited = std::min(g, gain_limit);
        const int64_t n1 = sv + 131072;
        const int64_t n2 = static_cast<int64_t>(limited * limited * static_cast<double>(s1)) + n1;
        sums.scale[s].num_log +=
            plain_log2(static_cast<uint64_t>(n2)) - plain_log2(static_cast<uint64_t>(n1));
      }
  }
  return sums;
}

void expect_sums(const Luma &ref, const Luma &dist, const OptionTexts &texts, double gain_limit) {
  const Extractor &e = extractor("vif");
  VifSums got;
  std::memcpy(&got, measure(e, parse(e, texts), {ref}, {dist})[0].data(), sizeof got);
  const VifSums want = by_the_book(ref, dist, gain_limit);
  for (int s = 0; s < kVifScales; ++s) {
    EXPECT_EQ(got.scale[s].num_log, want.scale[s].num_log) << "scale " << s;
    EXPECT_EQ(got.scale[s].den_log, want.scale[s].den_log) << "scale " << s;
    EXPECT_EQ(got.scale[s].num_low, want.scale[s].num_low) << "scale " << s;
    EXPECT_EQ(got.scale[s].den_low, want.scale[s].den_low) << "scale " << s;
  }
}

TEST(Vif, EqualsTheBookOnStress) {
  for (int depth : {8, 9, 10, 12, 16}) {
    const auto pictures = stress_pictures(37, 33, depth);
    for (size_t r = 0; r < pictures.size(); ++r)
      for (size_t d = 0; d < pictures.size(); ++d) {
        SCOPED_TRACE("depth " + std::to_string(depth) + ", pictures " + std::to_string(r) + " and " +
                     std::to_string(d));
        expect_sums(pictures[r], pictures[d], {}, 100);
      }
  }
}

TEST(Vif, EqualsTheBookAtAnySize) {
  for (const auto &[width, height] : std::vector<std::pair<int, int>>{
           {16, 16}, {17, 16}, {16, 19}, {23, 31}, {64, 18}, {129, 40}, {131, 17}, {257, 21}})
    for (int depth : {8, 10}) {
      SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height) + ", depth " + std::to_string(depth));
      const Luma ref = noise(width, height, depth, 1);
      Noise source(2);
      // Less contrast and more, so that both sides of the gain limit occur.
      const Luma dist = paint(width, height, depth, [&](int x, int y) {
        const int mid = 1 << (depth - 1), gain = x < width / 2 ? 2 : 6;
        return std::clamp(mid + (ref.at(x, y) - mid) * gain / 4 + source.below(9) - 4, 0, 2 * mid - 1);
      });
      expect_sums(ref, dist, {}, 100);
      expect_sums(ref, dist, {{"vif_enhn_gain_limit", "1"}}, 1);
      expect_sums(ref, dist, {{"vif_enhn_gain_limit", "1.25"}}, 1.25);
    }
}

// ---- What must not matter -------------------------------------------------------------------------------

TEST(Vif, LayoutDoesNotMatter) {
  for (int depth : {8, 10}) {
    const std::vector<Luma> ref = {noise(70, 45, depth, 3)}, dist = {noise(70, 45, depth, 4)};
    const Scores plain = run("vif", kDebug, ref, dist);
    EXPECT_EQ(run("vif", kDebug, ref, dist, {.padding = 26}), plain);
    EXPECT_EQ(run("vif", kDebug, ref, dist, {.padding = 10, .upside = true}), plain);
    if (depth == 8) {
      EXPECT_EQ(run("vif", kDebug, ref, dist, {.padding = 3, .offset = 1}), plain);
    }
  }
}

// The finest scale's squares are rounded once more above 8 bits, and to nothing if the low bits are 0.
TEST(Vif, DepthOnlyScales) {
  const Luma ref = noise(60, 50, 8, 5), dist = noise(60, 50, 8, 6);
  const Scores at8 = run("vif", kDebug, {ref}, {dist});
  for (int depth = 9; depth <= 16; ++depth) {
    const auto up = [&](const Luma &l) {
      return paint(l.width, l.height, depth, [&](int x, int y) { return l.at(x, y) << (depth - 8); });
    };
    EXPECT_EQ(run("vif", kDebug, {up(ref)}, {up(dist)}), at8) << depth;
  }
}

TEST(Vif, IdenticalPicturesScoreOne) {
  for (const Luma &picture : stress_pictures(40, 40, 8)) {
    const Scores scores = run("vif", {}, {picture}, {picture});
    for (int s = 0; s < 4; ++s) EXPECT_NEAR(scores.at("integer_vif_scale" + std::to_string(s))[0], 1.0, 2e-3);
  }
  // No information and none lost.
  const Luma flat = paint(40, 40, 8, [](int, int) { return 90; });
  EXPECT_EQ(run("vif", kDebug, {flat}, {flat}).at("integer_vif")[0], 1.0);
}

TEST(Vif, SkipScale0) {
  const std::vector<Luma> ref = formula_refs(1, 8), dist = formula_dists(1, 8);
  const Scores all = run("vif", kDebug, ref, dist);
  const Scores some = run("vif", {{"debug", "true"}, {"vif_skip_scale0", "true"}}, ref, dist);
  const auto value = [&](const std::string &name) { return some.at(name + "_ssclz")[0]; };
  EXPECT_EQ(value("integer_vif_scale0"), 0.0);
  EXPECT_EQ(value("integer_vif_num_scale0"), 0.0);
  EXPECT_EQ(value("integer_vif_den_scale0"), -1.0);
  double num = 0, den = 0;
  for (int s = 1; s < 4; ++s) {
    const std::string n = std::to_string(s);
    EXPECT_EQ(value("integer_vif_scale" + n), all.at("integer_vif_scale" + n)[0]);
    num += all.at("integer_vif_num_scale" + n)[0];
    den += all.at("integer_vif_den_scale" + n)[0];
  }
  EXPECT_EQ(value("integer_vif_num"), num);
  EXPECT_EQ(value("integer_vif_den"), den);
  EXPECT_EQ(value("integer_vif"), num / den);
}

TEST(Vif, RefusesWhatItIsNotDefinedFor) {
  const Extractor &e = extractor("vif");
  const Options options = parse(e, {});
  EXPECT_TRUE(e.check(options, {16, 16, 8, Chroma::c420}).ok());
  EXPECT_TRUE(e.check(options, {16, 16, 16, Chroma::c420}).ok());
  EXPECT_EQ(e.check(options, {16, 15, 8, Chroma::c420}).message(),
            "vif needs at least 16x16 samples, the picture is 16x15");
  EXPECT_FALSE(e.check(options, {15, 16, 8, Chroma::c420}).ok());
  EXPECT_FALSE(e.check(options, {16, 16, 17, Chroma::c420}).ok());
}

TEST(Vif, ChromaNeedsPlanesOfItsSize) {
  const Extractor &e = extractor("vif");
  EXPECT_FALSE(e.reads(parse(e, {})).chroma());
  const Options options = parse(e, {{"enable_chroma", "true"}});
  EXPECT_TRUE(e.reads(options).chroma());
  EXPECT_EQ(options.suffix(), "_enable_chroma");
  EXPECT_TRUE(e.check(options, {31, 31, 8, Chroma::c420}).ok());
  EXPECT_TRUE(e.check(options, {31, 16, 8, Chroma::c422}).ok());
  EXPECT_TRUE(e.check(options, {16, 16, 8, Chroma::c444}).ok());
  EXPECT_EQ(e.check(options, {32, 30, 8, Chroma::c420}).message(),
            "vif with enable_chroma needs chroma planes of at least 16x16 samples, they are 16x15");
  EXPECT_EQ(e.check(options, {30, 32, 8, Chroma::c422}).message(),
            "vif with enable_chroma needs chroma planes of at least 16x16 samples, they are 15x32");
  EXPECT_EQ(e.check(options, {64, 64, 8, Chroma::c400}).message(),
            "vif with enable_chroma needs pictures with chroma");
  EXPECT_EQ(e.check(options, {64, 15, 8, Chroma::c444}).message(),
            "vif needs at least 16x16 samples, the picture is 64x15");
}

// Luma divides in f32, chroma in f64; a plane without pixels scores 1.
TEST(Vif, ChromaScoresAreNotRoundedToSingle) {
  VifSums sums;
  sums.scale[2] = sums.chroma[1][2] = {.num_log = 2048 * 5, .den_log = 2048 * 7};
  const VifScores scores = vif_finish(sums, {.chroma = true});
  EXPECT_EQ(scores.score[2], static_cast<double>(5.0f / 7.0f));
  EXPECT_EQ(scores.chroma[1][2], 5.0 / 7.0);
  EXPECT_EQ(scores.chroma[0][2], 1.0);
}

}  // namespace
}  // namespace vmafhip
