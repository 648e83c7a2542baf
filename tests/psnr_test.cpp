// psnr, float_psnr and float_moment: libvmaf's figures, sums by the book, options, limits.
#include "engine/arith/psnr.h"

#include <cmath>

#include "engine/extractors/extractors.h"
#include "tests/colour_scores.h"

namespace vmafhip {
namespace {

using namespace test;

TEST(Psnr, EqualsLibvmaf) {
  const Scores at8 = run_colours("psnr", {}, check_pairs(8));
  expect_digits(at8, "psnr_y", {45.1336134098, 45.11979685, 45.1341823949});
  expect_digits(at8, "psnr_cb", {45.1528074202, 45.1195612749, 45.1365203928});
  expect_digits(at8, "psnr_cr", {45.1215509776, 45.1321081473, 45.1573111631});
  EXPECT_EQ(at8.size(), 3u);
  const Scores at10 = run_colours("psnr", {}, check_pairs(10));
  expect_digits(at10, "psnr_y", {44.9970925692, 44.9889265293, 44.9887350546});
  expect_digits(at10, "psnr_cb", {44.9740629334, 45.002899587, 45.042194732});
  expect_digits(at10, "psnr_cr", {45.0034315775, 45.0088523056, 45.0165725643});
}

TEST(FloatPsnr, EqualsLibvmaf) {
  const Scores at8 = run_colours("float_psnr", {}, check_pairs(8));
  expect_digits(at8, "float_psnr", {45.1336134098, 45.11979685, 45.1341823949});
  const Scores at10 = run_colours("float_psnr", {}, check_pairs(10));
  expect_digits(at10, "float_psnr", {44.9970925692, 44.9889265293, 44.9887350546});
}

TEST(FloatMoment, EqualsLibvmaf) {
  const Scores at8 = run_colours("float_moment", {}, check_pairs(8));
  expect_digits(at8, "float_moment_ref1st", {116.289175026, 116.186213992, 116.074789416});
  expect_digits(at8, "float_moment_dis1st", {116.031362526, 115.930004983, 115.818041892});
  expect_digits(at8, "float_moment_ref2nd", {16803.2915622, 16781.3983893, 16758.0004742});
  expect_digits(at8, "float_moment_dis2nd", {16746.5346338, 16724.7067379, 16701.4607888});
  const Scores at10 = run_colours("float_moment", {}, check_pairs(10));
  expect_digits(at10, "float_moment_ref1st", {116.47436423, 116.371391139, 116.260360404});
  expect_digits(at10, "float_moment_dis1st", {115.725277496, 115.622006012, 115.512225116});
  expect_digits(at10, "float_moment_ref2nd", {16847.1476081, 16825.1909878, 16801.8076835});
  expect_digits(at10, "float_moment_dis2nd", {16673.9332851, 16651.8539758, 16629.0809497});
}

// ---- Sums by the book -----------------------------------------------------------------------------------

template <class Sums>
Sums sums_of(const char *name, const Luma &ref, const Luma &dist, const Layout &layout = {}) {
  const Extractor &e = extractor(name);
  const auto bytes = measure(e, parse(e, {}), {ref}, {dist}, layout)[0];
  Sums sums;
  std::memcpy(&sums, bytes.data(), sizeof sums);
  return sums;
}

uint64_t rounded_square_of(int64_t v) {
  return static_cast<uint64_t>(static_cast<float>(static_cast<float>(v) * static_cast<float>(v)));
}

void expect_book(const Luma &a, const Luma &b, const Layout &layout = {}) {
  uint64_t squares = 0, rounded = 0;
  MomentSums moments = {};
  for (size_t i = 0; i < a.samples.size(); ++i) {
    const int64_t r = a.samples[i], s = b.samples[i];
    squares += static_cast<uint64_t>((r - s) * (r - s));
    rounded += rounded_square_of(r - s);
    moments.ref.first += static_cast<uint64_t>(r);
    moments.ref.second += rounded_square_of(r);
    moments.dist.first += static_cast<uint64_t>(s);
    moments.dist.second += rounded_square_of(s);
  }
  SCOPED_TRACE(std::to_string(a.width) + "x" + std::to_string(a.height) + ", depth " +
               std::to_string(a.depth));
  EXPECT_EQ(sums_of<PsnrSums>("psnr", a, b, layout).squares[0], squares);
  EXPECT_EQ(sums_of<FloatPsnrSums>("float_psnr", a, b, layout).squares, rounded);
  const MomentSums got = sums_of<MomentSums>("float_moment", a, b, layout);
  EXPECT_EQ(got.ref.first, moments.ref.first);
  EXPECT_EQ(got.ref.second, moments.ref.second);
  EXPECT_EQ(got.dist.first, moments.dist.first);
  EXPECT_EQ(got.dist.second, moments.dist.second);
}

TEST(Psnr, SumsEqualTheBook) {
  for (int depth : {8, 10, 12, 16})
    for (const auto &[width, height] :
         std::vector<std::pair<int, int>>{{1, 1}, {2, 3}, {17, 5}, {64, 2}, {131, 7}}) {
      const auto pictures = stress_pictures(width, height, depth);
      for (const Luma &a : pictures)
        for (const Luma &b : pictures) expect_book(a, b);
    }
}

// Sums of a row need more than 32 bits.
TEST(Psnr, WidestRows) {
  for (int depth : {8, 16}) {
    const int top = (1 << depth) - 1;
    const auto flat = [&](int value) { return paint(70001, 1, depth, [=](int, int) { return value; }); };
    expect_book(flat(top), flat(0));
    expect_book(flat(0), flat(top));
  }
}

TEST(Psnr, LayoutDoesNotMatter) {
  for (int depth : {8, 10, 16}) {
    const Luma a = noise(43, 9, depth, 1), b = noise(43, 9, depth, 2);
    expect_book(a, b, {.padding = 14});
    expect_book(a, b, {.padding = 6, .upside = true});
    if (depth == 8) expect_book(a, b, {.padding = 3, .offset = 1});
  }
}

TEST(Psnr, HalvesJoinExactly) {
  for (int a : {0, 1, 255, 256, 257, 32767, 32768, 65535})
    for (int b : {0, 1, 255, 256, 4660, 65280, 65535}) {
      const int64_t high = difference_high(static_cast<uint16_t>(a), static_cast<uint16_t>(b)),
                    low = difference_low(static_cast<uint16_t>(a), static_cast<uint16_t>(b));
      const HalfProducts products = {static_cast<int32_t>(high * high), static_cast<int32_t>(high * low),
                                     static_cast<int32_t>(low * low)};
      EXPECT_EQ(join_halves(products), static_cast<uint64_t>(int64_t{a - b} * (a - b))) << a << ", " << b;
    }
}

// ---- Scores ---------------------------------------------------------------------------------------------

CheckPair plain_pair(const PictureFormat &format, int y, int u, int v) {
  return {plain(format, 100, 100, 100), plain(format, 100 + y, 100 + u, 100 + v)};
}

TEST(Psnr, OfFlatErrors) {
  const PictureFormat format = {16, 8, 8, Chroma::c420};
  const Scores scores = run_colours("psnr", {{"enable_mse", "true"}}, {plain_pair(format, 3, -5, 10)});
  EXPECT_EQ(scores.at("mse_y"), std::vector<double>{9});
  EXPECT_EQ(scores.at("mse_cb"), std::vector<double>{25});
  EXPECT_EQ(scores.at("mse_cr"), std::vector<double>{100});
  EXPECT_DOUBLE_EQ(scores.at("psnr_y")[0], 10 * std::log10(65025.0 / 9));
  EXPECT_DOUBLE_EQ(scores.at("psnr_cb")[0], 10 * std::log10(65025.0 / 25));
  EXPECT_DOUBLE_EQ(scores.at("psnr_cr")[0], 10 * std::log10(65025.0 / 100));
  EXPECT_EQ(scores.size(), 6u);
}

TEST(Psnr, EqualPicturesGetTheCap) {
  const std::pair<int, double> caps[] = {{8, 60}, {10, 72}, {12, 84}, {16, 108}};
  for (const auto &[depth, cap] : caps) {
    const PictureFormat format = {9, 7, depth, Chroma::c444};
    const std::vector<CheckPair> same = {plain_pair(format, 0, 0, 0)};
    const Scores scores = run_colours("psnr", {}, same);
    for (const char *name : {"psnr_y", "psnr_cb", "psnr_cr"}) EXPECT_EQ(scores.at(name)[0], cap) << name;
    EXPECT_EQ(run_colours("float_psnr", {}, same).at("float_psnr")[0], cap);
  }
}

// The cap follows from the size of each plane: ceil(10 log10(255^2 / (0.5 / samples))).
TEST(Psnr, CapFromASumOfSquares) {
  const Scores scores =
      run_colours("psnr", {{"min_sse", "0.5"}}, {plain_pair({352, 288, 8, Chroma::c420}, 0, 0, 0)});
  EXPECT_EQ(scores.at("psnr_y")[0], 102);
  EXPECT_EQ(scores.at("psnr_cb")[0], 96);
  EXPECT_EQ(scores.at("psnr_cr")[0], 96);
}

TEST(Psnr, ReducedPeak) {
  for (int depth : {8, 10, 12, 16}) {
    const double peak = 255 << (depth - 8);
    const Scores scores = run_colours("psnr", {{"reduced_hbd_peak", "true"}},
                                      {plain_pair({8, 8, depth, Chroma::c422}, 7, 1, 2)});
    EXPECT_DOUBLE_EQ(scores.at("psnr_y")[0], 10 * std::log10(peak * peak / 49)) << depth;
  }
}

TEST(FloatPsnr, PeaksAreMultiplesOfAStep) {
  const std::pair<int, double> peaks[] = {{8, 255.0}, {10, 255.75}, {12, 255.9375}, {16, 255.99609375}};
  for (const auto &[depth, peak] : peaks) {
    const double step = 1.0 / (1 << (depth - 8)), mse = 36 * step * step;
    const Scores scores = run_colours("float_psnr", {}, {plain_pair({8, 8, depth, Chroma::c420}, 6, 0, 0)});
    EXPECT_DOUBLE_EQ(scores.at("float_psnr")[0], 10 * std::log10(peak * peak / mse)) << depth;
  }
}

// What libvmaf does not look at in odd-sized pictures: the last column and row of chroma.
TEST(Psnr, OddSizesLoseTheLastChroma) {
  for (Chroma chroma : {Chroma::c420, Chroma::c422}) {
    CheckPair pair = plain_pair({7, 5, 8, chroma}, 0, 0, 0);
    const int rows = chroma == Chroma::c420 ? 3 : 5;
    for (int y = 0; y < rows; ++y) pair.dist.planes[1].at(3, y) = 0;
    if (chroma == Chroma::c420)
      for (int x = 0; x < 4; ++x) pair.dist.planes[1].at(x, 2) = 0;
    EXPECT_EQ(run_colours("psnr", {}, {pair}).at("psnr_cb")[0], 60);
    pair.dist.planes[1].at(2, 1) = 97;
    const double samples = chroma == Chroma::c420 ? 3 * 2 : 3 * 5;
    EXPECT_EQ(run_colours("psnr", {{"enable_mse", "true"}}, {pair}).at("mse_cb")[0], 9 / samples);
  }
}

TEST(Psnr, LumaAlone) {
  const Extractor &e = extractor("psnr");
  const Options with = parse(e, {}), without = parse(e, {{"enable_chroma", "false"}});
  EXPECT_EQ(psnr_planes(with, {8, 8, 8, Chroma::c420}), 3);
  EXPECT_EQ(psnr_planes(with, {8, 8, 8, Chroma::c400}), 1);
  EXPECT_EQ(psnr_planes(without, {8, 8, 8, Chroma::c420}), 1);
  EXPECT_EQ(e.reads(with).chroma(), true);
  EXPECT_EQ(e.reads(without).chroma(), false);
  const Scores scores = run_colours("psnr", {{"enable_chroma", "false"}, {"enable_mse", "true"}},
                                    {plain_pair({8, 8, 8, Chroma::c420}, 1, 2, 3)});
  EXPECT_EQ(scores.size(), 2u);
  EXPECT_EQ(scores.at("mse_y")[0], 1);
}

TEST(Psnr, SeveralDistortedPictures) {
  const Extractor &e = extractor("psnr");
  const PictureFormat format = {720, 800, 8, Chroma::c420};
  const Colours ref = noise(format, 1);
  const std::vector<Colours> dists = {noise(format, 2), disturbed(ref, 9, 3), ref};
  const StoredColours all(ref, dists);
  const auto metric = CpuBackend::choose()->make(e, parse(e, {}), format, 3);
  EXPECT_GT(metric->strips(0), 3) << "of one plane at least";
  const auto sums = measure_colours(e, *metric, all.view, {.backwards = true, .threads = 3});
  for (size_t d = 0; d < dists.size(); ++d) {
    const StoredColours one(ref, {dists[d]});
    EXPECT_EQ(measure_colours(e, *metric, one.view)[0], sums[d]) << d;
  }
  EXPECT_EQ(sums[2], Bytes(sizeof(PsnrSums)));
}

TEST(Psnr, RefusesWhatItIsNotDefinedFor) {
  const Extractor &e = extractor("psnr");
  const Options options = parse(e, {}), luma = parse(e, {{"enable_chroma", "false"}});
  EXPECT_EQ(e.check(options, {64, 64, 9, Chroma::c420}).message(),
            "psnr needs 8, 10, 12 or 16 bits a sample, the picture is 64x64 at 9 bits");
  EXPECT_EQ(e.check(options, {1, 64, 8, Chroma::c422}).message(),
            "psnr needs chroma planes of at least 1x1 samples, a picture of 1x64 has none; "
            "psnr=enable_chroma=false measures luma alone");
  EXPECT_FALSE(e.check(options, {64, 1, 8, Chroma::c420}).ok());
  EXPECT_TRUE(e.check(options, {64, 1, 8, Chroma::c422}).ok());
  EXPECT_TRUE(e.check(options, {1, 1, 8, Chroma::c444}).ok());
  EXPECT_TRUE(e.check(options, {1, 1, 8, Chroma::c400}).ok());
  EXPECT_TRUE(e.check(luma, {1, 1, 16, Chroma::c420}).ok());
  for (const char *name : {"float_psnr", "float_moment"}) {
    const Extractor &other = extractor(name);
    EXPECT_FALSE(other.check(parse(other, {}), {64, 64, 14, Chroma::c420}).ok());
    EXPECT_TRUE(other.check(parse(other, {}), {1, 1, 12, Chroma::c420}).ok());
  }
}

}  // namespace
}  // namespace vmafhip
