// float_ansnr: libvmaf's figures, sums by the book, limits.
#include "engine/arith/ansnr.h"

#include <cmath>

#include "tests/colour_scores.h"

namespace vmafhip {
namespace {

using namespace test;

TEST(FloatAnsnr, EqualsLibvmaf) {
  const Scores at8 = run_colours("float_ansnr", {}, check_pairs(8));
  expect_digits(at8, "float_ansnr", {39.8241169865, 39.8485452826, 39.8870467322});
  expect_digits(at8, "float_anpsnr", {52.622691908, 52.6414461029, 52.6734474064});
  const Scores at10 = run_colours("float_ansnr", {}, check_pairs(10));
  expect_digits(at10, "float_ansnr", {36.1840946664, 36.1816259286, 36.2007589147});
  expect_digits(at10, "float_anpsnr", {49.0127808334, 49.0047069354, 49.0174415191});
}

// Filters as integer weights with their sum, one place at a time.
AnsnrSums sums_by_the_book(const Luma &ref, const Luma &dist) {
  const int small[3][3] = {{1, 2, 1}, {2, 4, 2}, {1, 2, 1}};
  const int large[5][5] = {
      {2, 7, 12, 7, 2}, {7, 31, 52, 31, 7}, {12, 52, 127, 52, 12}, {7, 31, 52, 31, 7}, {2, 7, 12, 7, 2}};
  const auto mirrored = [](int i, int n) { return i < 0 ? -i : i < n ? i : 2 * n - 1 - i; };
  const auto value = [&](const Luma &luma, int x, int y) {
    const int sample = luma.at(mirrored(x, luma.width), mirrored(y, luma.height));
    return static_cast<float>(sample) / static_cast<float>(1 << (luma.depth - 8)) - 128.0f;
  };
  AnsnrSums total = {};
  for (int y = 0; y < ref.height; ++y) {
    float signal = 0, noise = 0;
    for (int x = 0; x < ref.width; ++x) {
      float r = 0, d = 0;
      for (int i = 0; i < 3; ++i) {
        float sum = 0;
        for (int j = 0; j < 3; ++j)
          sum += static_cast<float>(small[i][j]) / 16.0f * value(ref, x + j - 1, y + i - 1);
        r += sum;
      }
      for (int i = 0; i < 5; ++i) {
        float sum = 0;
        for (int j = 0; j < 5; ++j)
          sum += static_cast<float>(large[i][j]) / 571.0f * value(dist, x + j - 2, y + i - 2);
        d += sum;
      }
      signal += r * r;
      noise += (r - d) * (r - d);
    }
    total.signal += signal;
    total.noise += noise;
  }
  return total;
}

AnsnrSums engine_sums(const Luma &ref, const Luma &dist, const Layout &layout = {}) {
  const Extractor &e = extractor("float_ansnr");
  const auto bytes = measure(e, parse(e, {}), {ref}, {dist}, layout)[0];
  AnsnrSums sums;
  std::memcpy(&sums, bytes.data(), sizeof sums);
  return sums;
}

TEST(FloatAnsnr, SumsEqualTheBook) {
  for (int depth : {8, 10, 12, 16})
    for (const auto &[width, height] :
         std::vector<std::pair<int, int>>{{3, 3}, {4, 9}, {17, 5}, {33, 18}, {70, 6}}) {
      const auto pictures = stress_pictures(width, height, depth);
      for (size_t i = 0; i < pictures.size(); ++i) {
        const Luma &ref = pictures[i], &dist = pictures[(i + 1) % pictures.size()];
        const AnsnrSums want = sums_by_the_book(ref, dist), got = engine_sums(ref, dist);
        EXPECT_EQ(got.signal, want.signal) << width << "x" << height << ", depth " << depth << ", " << i;
        EXPECT_EQ(got.noise, want.noise) << width << "x" << height << ", depth " << depth << ", " << i;
        EXPECT_EQ(engine_sums(ref, dist, {.padding = 6, .upside = true}).noise, want.noise);
      }
    }
}

TEST(FloatAnsnr, WithoutNoiseTheCap) {
  const std::pair<int, double> caps[] = {{8, 60}, {10, 72}, {12, 84}, {16, 108}};
  for (const auto &[depth, cap] : caps) {
    const AnsnrSums quiet = {1234.5f, 0};
    EXPECT_EQ(ansnr_score(quiet, cap), cap);
    EXPECT_EQ(anpsnr_score(quiet, 255, 64, cap), cap);
    // Middle grey is zero, of which every filter makes zero.
    const PictureFormat format = {24, 16, depth, Chroma::c420};
    const Colours grey = plain(format, 1 << (depth - 1), 0, 0);
    const Scores scores = run_colours("float_ansnr", {}, {{grey, grey}});
    EXPECT_EQ(scores.at("float_ansnr")[0], cap);
    EXPECT_EQ(scores.at("float_anpsnr")[0], cap);
  }
}

TEST(FloatAnsnr, RefusesWhatItIsNotDefinedFor) {
  const Extractor &e = extractor("float_ansnr");
  const Options options = parse(e, {});
  EXPECT_TRUE(e.check(options, {3, 3, 8, Chroma::c420}).ok());
  EXPECT_EQ(e.check(options, {3, 2, 8, Chroma::c420}).message(),
            "float_ansnr needs at least 3x3 samples, the picture is 3x2");
  EXPECT_FALSE(e.check(options, {64, 64, 11, Chroma::c420}).ok());
}

}  // namespace
}  // namespace vmafhip
