#include "gst/vmafhip/crop.h"

#include <algorithm>

namespace vmafhip {

Rect inside(const Rect &rect, const Crop &crop) {
  const auto left_over = [](int size, int first, int last) {
    return int(std::max<int64_t>(0, int64_t(size) - first - last));
  };
  const int width = left_over(rect.width, crop.left, crop.right);
  const int height = left_over(rect.height, crop.top, crop.bottom);
  if (width == 0 || height == 0) return {};
  return {rect.x + crop.left, rect.y + crop.top, width, height};
}

void cut(Picture &picture, const Rect &part) {
  PictureFormat &format = picture.format;
  format.width = part.width, format.height = part.height;
  const int bytes = format.depth > 8 ? 2 : 1, count = format.chroma == Chroma::c400 ? 1 : 3;
  for (int p = 0; p < count; ++p) {
    const bool half_width = p > 0 && format.chroma != Chroma::c444;
    const bool half_height = p > 0 && format.chroma == Chroma::c420;
    Plane &plane = picture.planes[size_t(p)];
    const ptrdiff_t x = half_width ? part.x / 2 : part.x, y = half_height ? part.y / 2 : part.y;
    const ptrdiff_t first = y * plane.stride + x * plane.step * bytes;
    if (plane.data) plane.data = static_cast<const std::byte *>(plane.data) + first;
    if (plane.device) plane.device += uint64_t(first);
    plane.width = half_width ? part.width / 2 + part.width % 2 : part.width;
    plane.height = half_height ? part.height / 2 + part.height % 2 : part.height;
  }
}

}  // namespace vmafhip
