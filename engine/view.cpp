#include "engine/view.h"

#include <cstring>

namespace vmafhip {
namespace {

template <class T>
T load(const std::byte *p) {
  T value;  // through memcpy: a buffer may put words at odd addresses
  std::memcpy(&value, p, sizeof value);
  return value;
}

template <class In, class Out>
void unpack(const Plane &plane, int down, int up, std::byte *buffer) {
  Out *out = reinterpret_cast<Out *>(buffer);
  for (int y = 0; y < plane.height; ++y) {
    const std::byte *row = static_cast<const std::byte *>(plane.data) + y * plane.stride;
    for (int x = 0; x < plane.width; ++x)
      *out++ = Out((load<In>(row + size_t(x) * plane.step * sizeof(In)) >> down) << up);
  }
}

}  // namespace

bool readable_in_place(const Picture &picture, int plane, int depth) {
  const Plane &p = picture.planes[plane];
  if (p.step != 1 || picture.shift != 0 || picture.format.depth != depth) return false;
  return depth == 8 || (reinterpret_cast<uintptr_t>(p.data) % 2 == 0 && p.stride % 2 == 0);
}

size_t unpacked_bytes(const Plane &plane, int depth) {
  return size_t(plane.width) * plane.height * (depth > 8 ? 2 : 1);
}

PlaneView view_plane(const Picture &picture, int plane, int depth, std::byte *buffer) {
  const Plane &p = picture.planes[plane];
  if (readable_in_place(picture, plane, depth)) return {p.data, p.stride, p.width, p.height, depth};
  const int up = depth - picture.format.depth;
  if (depth == 8)
    unpack<uint8_t, uint8_t>(p, 0, 0, buffer);
  else if (picture.format.depth == 8)
    unpack<uint8_t, uint16_t>(p, 0, up, buffer);
  else
    unpack<uint16_t, uint16_t>(p, picture.shift, up, buffer);
  return {buffer, ptrdiff_t(p.width) * (depth > 8 ? 2 : 1), p.width, p.height, depth};
}

}  // namespace vmafhip
