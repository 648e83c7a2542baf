// Planes as metrics read them: in place where that is possible, unpacked where not.
#include "engine/view.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace vmafhip {
namespace {

// 3x2 samples in a luma plane.
Picture picture_of(const void *data, ptrdiff_t stride, int depth, int shift = 0, int step = 1) {
  Picture picture;
  picture.format = {3, 2, depth, Chroma::c400};
  picture.shift = shift;
  picture.planes[0] = {data, stride, 3, 2, step};
  return picture;
}

std::vector<int> samples(const PlaneView &view) {
  std::vector<int> out;
  for (int y = 0; y < view.height; ++y)
    for (int x = 0; x < view.width; ++x)
      out.push_back(view.depth > 8 ? view.row<uint16_t>(y)[x] : view.row<uint8_t>(y)[x]);
  return out;
}

using Samples = std::vector<int>;

class ViewTest : public testing::Test {
 protected:
  PlaneView unpacked(const Picture &picture, int depth) {
    EXPECT_FALSE(readable_in_place(picture, 0, depth));
    // Exactly as large as asked for, so that a sanitizer sees a byte too many.
    buffer_.reset(new (std::align_val_t(64)) std::byte[unpacked_bytes(picture.planes[0], depth)]);
    const PlaneView view = view_plane(picture, 0, depth, buffer_.get());
    EXPECT_EQ(view.data, buffer_.get());
    EXPECT_EQ(view.depth, depth);
    return view;
  }
  struct Free {
    void operator()(std::byte *p) const { ::operator delete[](p, std::align_val_t(64)); }
  };
  std::unique_ptr<std::byte, Free> buffer_;
};

// What a device reads is what metrics read, however wide and wherever rows lie.
TEST_F(ViewTest, ForADevice) {
  std::vector<uint16_t> words(40'000);
  for (size_t i = 0; i < words.size(); ++i) words[i] = uint16_t(i * 2654435761u >> 7 & 1023);
  for (const int width : {3, 63, 64, 511, 512, 1000, 1920})
    for (const int depth : {8, 10})
      for (const int padding : {0, 2, 64, -1}) {  // -1: upside down
        const int row = width * (depth > 8 ? 2 : 1), height = 7;
        const ptrdiff_t stride = padding < 0 ? -row : row + padding;
        Picture picture;
        picture.format = {width, height, depth, Chroma::c400};
        const auto *first = reinterpret_cast<const std::byte *>(words.data() + 1);
        picture.planes[0] = {padding < 0 ? first + (height - 1) * row : first, stride, width, height, 1};
        std::vector<std::byte> expected(size_t(row) * size_t(height));
        unpack_rows(picture, 0, depth, expected.data(), 0, height);
        for (const size_t at : {0, 16, 2}) {
          std::vector<std::byte> got(at + expected.size() + 2, std::byte{0xee});
          for (const auto &[from, to] : {std::pair{0, 3}, {3, 4}, {4, 100}})
            unpack_rows_for_device(picture, 0, depth, got.data() + at, from, to);
          EXPECT_TRUE(std::equal(expected.begin(), expected.end(), got.begin() + ptrdiff_t(at)))
              << width << " samples of " << depth << " bits, padding " << padding << ", at " << at;
          EXPECT_EQ(got[got.size() - 2], std::byte{0xee}) << "a byte too many";
        }
      }
  const uint16_t high[] = {64, 128, 192, 256, 320, 384};  // to be shifted
  std::byte to[12] = {}, expected[12] = {};
  unpack_rows(picture_of(high, 6, 10, 6), 0, 10, expected, 0, 2);
  unpack_rows_for_device(picture_of(high, 6, 10, 6), 0, 10, to, 0, 2);
  EXPECT_EQ(std::memcmp(to, expected, sizeof to), 0);
}

TEST_F(ViewTest, BytesInPlace) {
  const uint8_t data[] = {1, 2, 3, 99, 4, 5, 6};
  const PlaneView view = view_plane(picture_of(data, 4, 8), 0, 8, nullptr);
  EXPECT_EQ(view.data, data);
  EXPECT_EQ(samples(view), (Samples{1, 2, 3, 4, 5, 6}));
}

TEST_F(ViewTest, BytesUpsideDownInPlace) {
  const uint8_t data[] = {1, 2, 3, 99, 4, 5, 6};
  EXPECT_EQ(samples(view_plane(picture_of(data + 4, -4, 8), 0, 8, nullptr)), (Samples{4, 5, 6, 1, 2, 3}));
}

TEST_F(ViewTest, WordsInPlace) {
  const uint16_t data[] = {100, 200, 1023, 9, 0, 1, 2};
  const PlaneView view = view_plane(picture_of(data, 8, 10), 0, 10, nullptr);
  EXPECT_EQ(view.data, data);
  EXPECT_EQ(samples(view), (Samples{100, 200, 1023, 0, 1, 2}));
  EXPECT_EQ(samples(view_plane(picture_of(data + 4, -8, 10), 0, 10, nullptr)),
            (Samples{0, 1, 2, 100, 200, 1023}));
}

TEST_F(ViewTest, WordsAtOddAddresses) {
  const uint16_t words[] = {100, 200, 1023, 0, 1, 2};
  std::vector<uint8_t> data(13);
  std::memcpy(data.data() + 1, words, 12);
  EXPECT_EQ(samples(unpacked(picture_of(data.data() + 1, 6, 10), 10)), (Samples{100, 200, 1023, 0, 1, 2}));
}

TEST_F(ViewTest, WordsWithAnOddStride) {
  const uint16_t words[] = {100, 200, 1023, 0, 1, 2};
  std::vector<uint16_t> memory(7);
  uint8_t *data = reinterpret_cast<uint8_t *>(memory.data());
  std::memcpy(data, words, 6);
  std::memcpy(data + 7, words + 3, 6);
  EXPECT_EQ(samples(unpacked(picture_of(data, 7, 10), 10)), (Samples{100, 200, 1023, 0, 1, 2}));
}

TEST_F(ViewTest, HighBits) {
  // P010: whatever lies in the low bits is no part of the sample.
  const uint16_t data[] = {100 << 6 | 63, 200 << 6, 1023 << 6, 0, 1 << 6, 2 << 6 | 1};
  EXPECT_EQ(samples(unpacked(picture_of(data, 6, 10, 6), 10)), (Samples{100, 200, 1023, 0, 1, 2}));
  EXPECT_EQ(samples(unpacked(picture_of(data, 6, 10, 6), 12)), (Samples{400, 800, 4092, 0, 4, 8}));
  EXPECT_EQ(samples(unpacked(picture_of(data + 3, -6, 10, 6), 10)), (Samples{0, 1, 2, 100, 200, 1023}));
}

TEST_F(ViewTest, ShallowerIsShiftedUp) {
  const uint8_t bytes[] = {1, 2, 255, 4, 5, 0};
  EXPECT_EQ(samples(unpacked(picture_of(bytes, 3, 8), 10)), (Samples{4, 8, 1020, 16, 20, 0}));
  EXPECT_EQ(samples(unpacked(picture_of(bytes, 3, 8), 16)), (Samples{256, 512, 255 * 256, 1024, 1280, 0}));
  const uint16_t words[] = {1, 2, 1023, 4, 5, 0};
  EXPECT_EQ(samples(unpacked(picture_of(words, 6, 10), 16)), (Samples{64, 128, 1023 * 64, 256, 320, 0}));
}

TEST_F(ViewTest, InterleavedSamplesAreGathered) {
  const uint8_t bytes[] = {1, 90, 2, 91, 3, 92, 4, 93, 5, 94, 6};
  EXPECT_EQ(samples(unpacked(picture_of(bytes, 6, 8, 0, 2), 8)), (Samples{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(samples(unpacked(picture_of(bytes + 1, 5, 8, 0, 2), 10)), (Samples{360, 364, 368, 16, 20, 24}));
  const uint16_t words[] = {64, 0, 128, 0, 192, 0, 256, 0, 320, 0, 384};
  EXPECT_EQ(samples(unpacked(picture_of(words, 12, 10, 6, 2), 10)), (Samples{1, 2, 3, 4, 5, 6}));
}

TEST_F(ViewTest, BytesNeeded) {
  const Plane plane = {nullptr, 0, 1921, 1081, 1};
  EXPECT_EQ(unpacked_bytes(plane, 8), size_t(1921) * 1081);
  EXPECT_EQ(unpacked_bytes(plane, 9), size_t(1921) * 1081 * 2);
  const Plane large = {nullptr, 0, 65536, 65536, 1};
  EXPECT_EQ(unpacked_bytes(large, 16), size_t(1) << 33);
}

}  // namespace
}  // namespace vmafhip
