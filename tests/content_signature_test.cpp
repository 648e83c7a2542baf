// Signatures: block means of every depth and layout, and black bars that come, stay and go.
#include "gst/vmafhip/content/signature.h"

#include <cmath>
#include <cstring>
#include <memory>

#include <gtest/gtest.h>

#include "tests/content/drawn.h"

namespace vmafhip::content::test {
namespace {

// The same picture at another depth: words of value << shift, low bits filled with what must not count.
struct Words {
  Words(const Drawing &drawing, int depth, int shift) : words(drawing.luma.size()) {
    for (size_t i = 0; i < words.size(); ++i)
      words[i] = uint16_t(drawing.luma[i] << (depth - 8 + shift) | (shift > 0 ? 1 : 0));
    luma = {words.data(), ptrdiff_t(drawing.width) * 2, drawing.width, drawing.height, depth, shift};
  }
  std::vector<uint16_t> words;
  Luma luma;
};

float largest_difference(const std::array<float, kGrid> &a, const std::array<float, kGrid> &b) {
  float most = 0;
  for (size_t i = 0; i < kGrid; ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

TEST(Signature, BlockMeans) {
  const Drawing drawing = Programme{3, 320, 180}(1);  // every line is read
  Signature signature;
  Signer().sign(drawing.view(), 0, signature);
  EXPECT_FALSE(signature.bars);
  for (int by = 0; by < kGridHeight; ++by)
    for (int bx = 0; bx < kGridWidth; ++bx) {
      int sum = 0;
      for (int y = 0; y < 10; ++y)
        for (int x = 0; x < 10; ++x) sum += drawing.luma[size_t((by * 10 + y) * 320 + bx * 10 + x)];
      EXPECT_NEAR(signature.full[size_t(by * kGridWidth + bx)], sum / 100., 1e-4) << bx << ' ' << by;
    }
}

TEST(Signature, AllDepthsAndShiftsAlike) {
  const Drawing drawing = letterboxed(Programme{3, 640, 360}(1), 0.75);
  Signature expected, signature;
  Signer().sign(drawing.view(), 0, expected);
  EXPECT_TRUE(expected.bars);
  for (const auto &[depth, shift] : {std::pair(10, 0), {10, 6}, {12, 0}, {12, 4}, {14, 0}, {16, 0}, {9, 0}}) {
    SCOPED_TRACE(std::to_string(depth) + " bits, shift " + std::to_string(shift));
    Words words(drawing, depth, shift);
    Signer().sign(words.luma, 0, signature);
    EXPECT_TRUE(signature.bars);
    EXPECT_EQ(largest_difference(signature.full, expected.full), 0);
    EXPECT_EQ(largest_difference(signature.active, expected.active), 0);
  }
}

TEST(Signature, LargestSamplesDoNotOverflow) {
  // As many lines a block as there can be.
  for (const int height : {719, 720, 1079, 1080, 2160}) {
    Drawing drawing(64, height, 255);
    Signature signature;
    Signer().sign(drawing.view(), 0, signature);
    EXPECT_EQ(signature.full[0], 255);
    EXPECT_EQ(signature.full[kGrid - 1], 255);
    std::vector<uint16_t> words(size_t(64) * size_t(height), 0xffff);
    for (const auto &[depth, shift] : {std::pair(10, 6), {16, 0}, {12, 4}}) {
      Signer().sign({words.data(), 128, 64, height, depth, shift}, 0, signature);
      EXPECT_NEAR(signature.full[0], 1023 / 4., 1e-3);
      EXPECT_NEAR(signature.full[kGrid - 1], 1023 / 4., 1e-3);
    }
  }
}

TEST(Signature, StridesUpsideDownAndOddSizes) {
  const Drawing drawing = Programme{3, 321, 181}(1);
  Signature expected, signature;
  Signer().sign(drawing.view(), 0, expected);
  // Bottom up in memory, with padding.
  std::vector<uint8_t> padded(400 * 181);
  for (int y = 0; y < 181; ++y)
    std::copy_n(&drawing.luma[size_t(y) * 321], 321, &padded[size_t(180 - y) * 400]);
  Signer().sign({&padded[180 * 400], -400, 321, 181, 8, 0}, 0, signature);
  EXPECT_EQ(largest_difference(signature.full, expected.full), 0);
}

// A sanitizer sees it if words are read as if they lay at even ones.
TEST(Signature, WordsAtOddAddresses) {
  const Drawing drawing = letterboxed(Programme{3, 640, 360}(1), 0.75);
  const Words even(drawing, 10, 0);
  const ptrdiff_t row = 2 * drawing.width, stride = row + 3;
  std::vector<char> bytes(size_t(1 + stride * drawing.height));
  for (int y = 0; y < drawing.height; ++y)
    std::memcpy(&bytes[size_t(1 + stride * y)], &even.words[size_t(y * drawing.width)], size_t(row));
  Luma odd = even.luma;
  odd.data = bytes.data() + 1;
  odd.stride = stride;
  Signature expected, signature;
  Signer().sign(even.luma, 0, expected);
  Signer().sign(odd, 0, signature);
  EXPECT_EQ(signature.full, expected.full);
  EXPECT_EQ(signature.active, expected.active);
}

TEST(Signature, SmallestPicturesStayInsideTheirMemory) {
  // Exactly as much memory as there are samples: a sanitizer sees a step beside it.
  for (const auto &[width, height] : {std::pair(1, 1), {33, 33}, {5, 400}, {400, 5}, {31, 17}}) {
    const size_t samples = size_t(width) * size_t(height);
    const auto bytes = std::make_unique<uint8_t[]>(samples);
    const auto words = std::make_unique<uint16_t[]>(samples);
    std::fill_n(bytes.get(), samples, uint8_t(90));
    std::fill_n(words.get(), samples, uint16_t(90 * 4));
    Signature signature;
    Signer().sign({bytes.get(), width, width, height, 8, 0}, 0, signature);
    for (float mean : signature.full) EXPECT_EQ(mean, 90);
    Signer().sign({words.get(), 2 * width, width, height, 10, 0}, 0, signature);
    for (float mean : signature.full) EXPECT_EQ(mean, 90);
  }
}

TEST(Signature, ActiveIsThePictureBetweenTheBars) {
  const Drawing drawing = Programme{3, 640, 360}(1);
  Signature whole, boxed;
  Signer().sign(drawing.view(), 0, whole);
  Signer signer;
  signer.sign(letterboxed(drawing, 0.75).view(), 0, boxed);
  EXPECT_EQ(signer.active(), (Signer::Area{0, 45, 640, 270}));
  double sum = 0;
  for (size_t i = 0; i < kGrid; ++i) sum += std::abs(whole.full[i] - boxed.active[i]);
  EXPECT_LT(sum / kGrid, 2);
  // Bars change nothing of the whole picture's means.
  Signer seen;
  Signature before, after;
  seen.sign(Drawing(640, 360, 128).view(), 0, before);
  for (int n = 0; n < 60; ++n) seen.sign(letterboxed(drawing, 0.75).view(), n / 25., after);
  EXPECT_TRUE(after.bars);
  EXPECT_EQ(largest_difference(after.full, boxed.full), 0);
}

TEST(Signature, BarsCountAfterASecondAndGoAtOnce) {
  const Drawing drawing = Programme{3, 320, 180}(1), boxed = letterboxed(drawing, 0.75);
  Signer signer;
  Signature signature;
  double time = 0;
  const auto bars = [&](const Drawing &picture, int frames) {
    for (int n = 0; n < frames; ++n) signer.sign(picture.view(), time += 0.04, signature);
    return signature.bars;
  };
  EXPECT_FALSE(bars(drawing, 1));
  EXPECT_FALSE(bars(boxed, 25));
  EXPECT_TRUE(bars(boxed, 3));
  EXPECT_TRUE(bars(Drawing(320, 180), 50));  // black tells nothing
  EXPECT_TRUE(bars(drawing, 1));
  EXPECT_FALSE(bars(drawing, 2));
  // Another size starts anew: its first picture decides.
  EXPECT_TRUE(bars(letterboxed(Programme{3, 160, 90}(1), 0.75), 1));
}

TEST(Signature, DarkEdgesThatAreNoPairAreNoBars) {
  Drawing drawing = Programme{3, 320, 180}(1);
  for (int y = 0; y < 30; ++y)
    for (int x = 0; x < 320; ++x) drawing.at(x, y) = 16;  // a dark sky
  Signer signer;
  Signature signature;
  for (int n = 0; n < 100; ++n) signer.sign(drawing.view(), n / 25., signature);
  EXPECT_FALSE(signature.bars);
}

}  // namespace
}  // namespace vmafhip::content::test
