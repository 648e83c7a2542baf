// psnr_hvs: libvmaf's figures, sums by the book, limits.
#include "engine/arith/psnr_hvs.h"

#include <cmath>

#include "tests/colour_scores.h"

namespace vmafhip {
namespace {

using namespace test;

TEST(PsnrHvs, EqualsLibvmaf) {
  const Scores at8 = run_colours("psnr_hvs", {}, check_pairs(8));
  expect_digits(at8, "psnr_hvs_y", {46.6724669217, 46.6424125951, 46.6882764102});
  expect_digits(at8, "psnr_hvs_cb", {47.4561122131, 47.284249011, 47.1903132657});
  expect_digits(at8, "psnr_hvs_cr", {46.74149473, 46.8275022672, 46.8249821277});
  expect_digits(at8, "psnr_hvs", {46.751735342, 46.7209038433, 46.7495752484});
  const Scores at10 = run_colours("psnr_hvs", {}, check_pairs(10));
  expect_digits(at10, "psnr_hvs_y", {45.0417078303, 45.0239227003, 45.0339397452});
  expect_digits(at10, "psnr_hvs_cb", {44.2200457397, 44.2159312098, 44.3374398837});
  expect_digits(at10, "psnr_hvs_cr", {43.6677055063, 43.6315037444, 43.613041615});
  expect_digits(at10, "psnr_hvs", {44.7966779819, 44.7780581763, 44.7968919155});
}

// ---- By the book: one block, one coefficient after the other --------------------------------------------

int half(int a) { return (a + (a < 0)) >> 1; }
int rotate(int a, int k, int n) { return (a * k + (1 << (n - 1))) >> n; }

// Column i of `from` to row i of `to`.
void transform(const int (&from)[8][8], int (&to)[8][8]) {
  for (int i = 0; i < 8; ++i) {
    const auto a = [&](int k) { return from[k][i]; };
    const int d = a(0) - a(7), dh = half(d), s = a(0) - dh;
    const int p = a(1) + a(6), ph = half(p), q = a(6) - ph;
    const int u = a(2) - a(5), v = a(2) - half(u);
    const int z = a(3) + a(4), zh = half(z), y = zh - a(4);
    int e0 = s + zh, e6 = e0 - z, e2 = ph - v, e4 = e2 - p;
    e0 -= rotate(e4, 13573, 15), e4 += rotate(e0, 11585, 14), e0 -= rotate(e4, 13573, 15);
    e6 -= rotate(e2, 21895, 15), e2 += rotate(e6, 15137, 14), e6 -= rotate(e2, 21895, 15);
    int o3 = u, o5 = q, o7 = y, o1 = d;
    o3 += rotate(o5, 19195, 15), o5 += rotate(o3, 11585, 14), o3 -= rotate(o5, 7489, 13);
    o7 = half(o5) - o7, o5 -= o7, o3 = dh - o3, o1 -= o3;
    o7 += rotate(o1, 3227, 15), o1 -= rotate(o7, 6393, 15), o7 += rotate(o1, 3227, 15);
    o5 += rotate(o3, 2485, 13), o3 -= rotate(o5, 18205, 15), o5 += rotate(o3, 2485, 13);
    const int out[8] = {e0, o1, e2, o3, e4, o5, e6, o7};
    for (int k = 0; k < 8; ++k) to[i][k] = out[k];
  }
}

struct BookBlock {
  int c[8][8];
  float masking;
};

BookBlock book_block(const Luma &plane, int x, int y, int number) {
  BookBlock out;
  int samples[8][8], temporary[8][8];
  float mean = 0, means[4] = {};
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) {
      samples[i][j] = plane.at(x + j, y + i);
      mean += static_cast<float>(samples[i][j]);
      means[(i >= 4) + 2 * (j >= 4)] += static_cast<float>(samples[i][j]);
    }
  mean /= 64;
  for (float &m : means) m /= 16;
  float block = 0, part[4] = {};
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) {
      const int q = (i >= 4) + 2 * (j >= 4);
      const float v = static_cast<float>(samples[i][j]), d = v - mean, e = v - means[q];
      block += d * d;
      part[q] += e * e;
    }
  block *= 1.0f / 63 * 64;
  for (float &v : part) v *= 1.0f / 15 * 16;
  if (block > 0) block = (part[0] + part[1] + part[2] + part[3]) / block;
  transform(samples, temporary);
  transform(temporary, out.c);
  float sum = 0;
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) {
      if (i == 0 && j == 0) continue;
      const double t = static_cast<double>(kHvsSensitivity[number][8 * i + j]) * 0.3885746225901003;
      sum += static_cast<float>(out.c[i][j] * out.c[i][j]) * static_cast<float>(t * t);
    }
  const float product = sum * block;
  out.masking = static_cast<float>(std::sqrt(static_cast<double>(product)) / 32);
  return out;
}

float book_errors(const Luma &ref, const Luma &dist, int number) {
  float total = 0;
  for (int y = 0; y < ref.height - 7; y += 7)
    for (int x = 0; x < ref.width - 7; x += 7) {
      const BookBlock a = book_block(ref, x, y, number), b = book_block(dist, x, y, number);
      const float masking = b.masking > a.masking ? b.masking : a.masking;
      for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) {
          const float sensitivity = kHvsSensitivity[number][8 * i + j];
          float error = static_cast<float>(std::abs(a.c[i][j] - b.c[i][j]));
          if (i != 0 || j != 0) {
            const double t = static_cast<double>(sensitivity) * 0.3885746225901003;
            const float threshold = masking / static_cast<float>(t * t);
            error = error < threshold ? 0 : error - threshold;
          }
          total += (error * sensitivity) * (error * sensitivity);
        }
    }
  return total;
}

PsnrHvsSums engine_sums(const Colours &ref, const Colours &dist, const Layout &layout = {}) {
  const Extractor &e = extractor("psnr_hvs");
  const StoredColours frame(ref, {dist}, layout);
  const auto metric = CpuBackend::choose()->make(e, parse(e, {}), ref.format);
  const Bytes bytes = measure_colours(e, *metric, frame.view)[0];
  PsnrHvsSums sums;
  std::memcpy(&sums, bytes.data(), sizeof sums);
  return sums;
}

void expect_book(const Colours &ref, const Colours &dist, const Layout &layout = {}) {
  const PsnrHvsSums sums = engine_sums(ref, dist, layout);
  for (size_t p = 0; p < 3; ++p)
    EXPECT_EQ(sums.errors[p], book_errors(ref.planes[p], dist.planes[p], static_cast<int>(p)))
        << "plane " << p << " of " << ref.format.width << "x" << ref.format.height << ", depth "
        << ref.format.depth;
}

TEST(PsnrHvs, SumsEqualTheBook) {
  for (int depth : {8, 10, 12})
    for (const auto &[width, height] :
         std::vector<std::pair<int, int>>{{8, 8}, {14, 15}, {16, 9}, {23, 22}, {71, 64}, {260, 40}}) {
      const PictureFormat format = {width, height, depth, Chroma::c444};
      const int top = (1 << depth) - 1;
      const Colours ref = noise(format, 1);
      const Colours board = paint(format, [&](int p, int x, int y) { return (x + y + p) % 2 ? top : 0; });
      const Colours slope =
          paint(format, [&](int p, int x, int y) { return (x * 3 + y * 2 + 50 * p) & top; });
      expect_book(ref, disturbed(ref, 1 << (depth - 6), 2));
      expect_book(slope, disturbed(slope, 1 << (depth - 6), 3));
      expect_book(board, plain(format, top, 0, top / 2));
      expect_book(plain(format, 0, top, 0), plain(format, top, 0, top));
      expect_book(ref, board, {.padding = 6, .upside = true});
    }
}

// Several bands of several strips.
TEST(PsnrHvs, SumsOfALargePictureEqualTheBook) {
  const PictureFormat format = {421, 333, 8, Chroma::c444};
  const Colours ref = noise(format, 4);
  expect_book(ref, disturbed(ref, 12, 5));
}

// Odd sizes: what libvmaf does not look at.
TEST(PsnrHvs, OddSizesLoseTheLastChroma) {
  const PictureFormat format = {33, 33, 8, Chroma::c420};
  const Colours ref = plain(format, 90, 90, 90);
  Colours dist = ref;
  for (int i = 0; i < 17; ++i) dist.planes[1].at(16, i) = dist.planes[1].at(i, 16) = 250;
  EXPECT_EQ(engine_sums(ref, dist).errors[1], 0.0f);
  dist.planes[1].at(14, 14) = 250;
  EXPECT_GT(engine_sums(ref, dist).errors[1], 0.0f);
}

TEST(PsnrHvs, EqualPicturesAreInfinitelyGood) {
  const PictureFormat format = {48, 32, 10, Chroma::c420};
  const Colours ref = noise(format, 1);
  const Scores scores = run_colours("psnr_hvs", {}, {{ref, ref}});
  for (const char *name : {"psnr_hvs_y", "psnr_hvs_cb", "psnr_hvs_cr", "psnr_hvs"})
    EXPECT_EQ(scores.at(name)[0], std::numeric_limits<double>::infinity()) << name;
}

// Where 16 bits would not do first: nothing but the largest samples, at the largest depth.
TEST(PsnrHvs, CoefficientsFitWords) {
  Noise source(9);
  for (int trial = 0; trial < 2000; ++trial) {
    int32_t a[8][8], lines[8][8], out[8][8];
    for (auto &row : a)
      for (int32_t &v : row) v = trial == 0 ? 4095 : source.below(2) * 4095;
    for (int i = 0; i < 8; ++i) {
      const int32_t column[8] = {a[0][i], a[1][i], a[2][i], a[3][i], a[4][i], a[5][i], a[6][i], a[7][i]};
      hvs_transform(column, lines[i]);
    }
    for (int i = 0; i < 8; ++i) {
      const int32_t column[8] = {lines[0][i], lines[1][i], lines[2][i], lines[3][i],
                                 lines[4][i], lines[5][i], lines[6][i], lines[7][i]};
      hvs_transform(column, out[i]);
      for (int32_t v : out[i]) ASSERT_EQ(v, static_cast<int16_t>(v));
    }
  }
}

TEST(PsnrHvs, RefusesWhatItIsNotDefinedFor) {
  const Extractor &e = extractor("psnr_hvs");
  const Options options = parse(e, {});
  EXPECT_TRUE(e.check(options, {16, 16, 12, Chroma::c420}).ok());
  EXPECT_TRUE(e.check(options, {8, 8, 8, Chroma::c444}).ok());
  EXPECT_EQ(e.check(options, {64, 64, 16, Chroma::c420}).message(),
            "psnr_hvs needs 8 to 12 bits a sample, the picture is 64x64 at 16 bits");
  EXPECT_EQ(e.check(options, {64, 64, 8, Chroma::c400}).message(),
            "psnr_hvs needs pictures with chroma, these have luma alone");
  EXPECT_EQ(e.check(options, {7, 64, 8, Chroma::c444}).message(),
            "psnr_hvs needs at least 8x8 samples, the picture is 7x64");
  EXPECT_EQ(e.check(options, {15, 64, 8, Chroma::c420}).message(),
            "psnr_hvs needs chroma planes of at least 8x8 samples, they are 7x32");
}

}  // namespace
}  // namespace vmafhip
