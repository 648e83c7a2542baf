// Crops: which samples are left, against a count of samples one by one.
#include "gst/vmafhip/crop.h"

#include <climits>
#include <vector>

#include <gtest/gtest.h>

namespace vmafhip {
namespace {

TEST(Inside, TakesEdgesOff) {
  EXPECT_EQ(inside({0, 0, 70, 50}, {}), (Rect{0, 0, 70, 50}));
  EXPECT_EQ(inside({0, 0, 70, 50}, {1, 2, 3, 4}), (Rect{1, 3, 67, 43}));
  EXPECT_EQ(inside({10, 20, 70, 50}, {1, 2, 3, 4}), (Rect{11, 23, 67, 43}));
  EXPECT_EQ(inside({0, 0, 70, 50}, {69, 0, 0, 49}), (Rect{69, 0, 1, 1}));
}

TEST(Inside, NothingLeft) {
  for (const Crop &crop :
       {Crop{70, 0, 0, 0}, Crop{35, 35, 0, 0}, Crop{0, 0, 25, 25}, Crop{0, 0, 0, 51},
        Crop{INT_MAX, INT_MAX, 0, 0}, Crop{0, 0, INT_MAX, INT_MAX}, Crop{1, INT_MAX, 0, 0}})
    EXPECT_EQ(inside({0, 0, 70, 50}, crop), Rect()) << crop.left << " " << crop.right;
  EXPECT_EQ(inside({3, 3, 0, 7}, {}), Rect());
}

// A frame whose every sample says where it lies and in which plane.
struct Frame {
  Picture picture;
  std::vector<uint8_t> bytes;
};

Frame frame_of(Chroma chroma, int depth, int step, int width, int height, bool upside_down) {
  Frame frame;
  frame.picture.format = {width, height, depth, chroma};
  const int word = depth > 8 ? 2 : 1, count = chroma == Chroma::c400 ? 1 : 3;
  const ptrdiff_t stride = ptrdiff_t(width) * step * word + 6;
  const size_t plane_bytes = size_t(stride) * size_t(height);
  frame.bytes.assign(plane_bytes * size_t(count), 0xff);
  for (int p = 0; p < count; ++p) {
    const bool half_width = p && chroma != Chroma::c444, half_height = p && chroma == Chroma::c420;
    const int w = half_width ? (width + 1) / 2 : width, h = half_height ? (height + 1) / 2 : height;
    const ptrdiff_t down = upside_down ? -stride : stride;
    uint8_t *first = frame.bytes.data() + size_t(p) * plane_bytes + (upside_down ? stride * (h - 1) : 0);
    frame.picture.planes[size_t(p)] = {first, down, w, h, step};
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) first[y * down + x * step * word] = uint8_t((x + 8 * y) * 4 + p);
  }
  return frame;
}

int value(const Plane &plane, int x, int y, int word) {
  return static_cast<const uint8_t *>(plane.data)[y * plane.stride + x * plane.step * word];
}

// All parts of a small frame: luma to the sample, chroma as documented, and never a sample outside.
TEST(Cut, EveryPartOfEveryLayout) {
  constexpr int kWidth = 7, kHeight = 6;
  for (const Chroma chroma : {Chroma::c400, Chroma::c420, Chroma::c422, Chroma::c444})
    for (const auto &[depth, step] : {std::pair(8, 1), std::pair(8, 2), std::pair(10, 1), std::pair(10, 2)})
      for (int x = 0; x < kWidth; ++x)
        for (int y = 0; y < kHeight; ++y)
          for (int width = 1; x + width <= kWidth; ++width)
            for (int height = 1; y + height <= kHeight; ++height) {
              const bool upside_down = (x + y) % 2;
              Frame frame = frame_of(chroma, depth, step, kWidth, kHeight, upside_down);
              const Picture whole = frame.picture;
              cut(frame.picture, {x, y, width, height});
              const Picture &part = frame.picture;
              ASSERT_EQ(part.format, (PictureFormat{width, height, depth, chroma}));
              for (int p = 0; p < (chroma == Chroma::c400 ? 1 : 3); ++p) {
                const int sx = p && chroma != Chroma::c444 ? 2 : 1, sy = p && chroma == Chroma::c420 ? 2 : 1;
                const Plane &from = whole.planes[size_t(p)], &to = part.planes[size_t(p)];
                ASSERT_EQ(to.width, (width + sx - 1) / sx);
                ASSERT_EQ(to.height, (height + sy - 1) / sy);
                ASSERT_LE(x / sx + to.width, from.width);
                ASSERT_LE(y / sy + to.height, from.height);
                ASSERT_EQ(to.stride, from.stride);
                ASSERT_EQ(to.step, from.step);
                const int word = depth > 8 ? 2 : 1;
                for (int j = 0; j < to.height; ++j)
                  for (int i = 0; i < to.width; ++i)
                    ASSERT_EQ(value(to, i, j, word), value(from, x / sx + i, y / sy + j, word))
                        << "plane " << p << " at " << i << "," << j;
              }
              if (chroma == Chroma::c400) {
                ASSERT_EQ(part.planes[1].data, nullptr);
              }
            }
}

}  // namespace
}  // namespace vmafhip
