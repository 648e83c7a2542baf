#include "engine/view.h"

#include <algorithm>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace vmafhip {
namespace {

template <class T>
T load(const std::byte *p) {
  T value;  // through memcpy: a buffer may put words at odd addresses
  std::memcpy(&value, p, sizeof value);
  return value;
}

// Step 0 is one that is only known at run time.
template <class In, class Out, int Step>
void unpack_row(const std::byte *from, int step, int width, int down, int up, Out *out) {
  if (Step > 0) step = Step;
  for (int x = 0; x < width; ++x)
    out[x] = Out((load<In>(from + size_t(x) * size_t(step) * sizeof(In)) >> down) << up);
}

template <class In, class Out>
void unpack(const Plane &plane, int down, int up, std::byte *buffer, int first, int last) {
  const auto row = plane.step == 1   ? unpack_row<In, Out, 1>
                   : plane.step == 2 ? unpack_row<In, Out, 2>
                                     : unpack_row<In, Out, 0>;
  for (int y = first; y < last; ++y)
    row(static_cast<const std::byte *>(plane.data) + y * plane.stride, plane.step, plane.width, down, up,
        reinterpret_cast<Out *>(buffer) + size_t(y) * size_t(plane.width));
}

// Past the caches, which small rows are not worth: lines that are not written whole cost more than they spare.
void copy_for_device(std::byte *to, const std::byte *from, size_t bytes) {
#ifdef __SSE2__
  constexpr size_t kLine = 64, kVector = 16, kLeast = 8 * kLine;
  if (bytes >= kLeast && reinterpret_cast<uintptr_t>(to) % kVector == 0) {
    const auto *in = reinterpret_cast<const __m128i *>(from);
    auto *out = reinterpret_cast<__m128i *>(to);
    const size_t whole = bytes / kLine * kLine;
    for (size_t i = 0; i < whole / kVector; i += 4) {
      const __m128i a = _mm_loadu_si128(in + i), b = _mm_loadu_si128(in + i + 1),
                    c = _mm_loadu_si128(in + i + 2), d = _mm_loadu_si128(in + i + 3);
      _mm_stream_si128(out + i, a);
      _mm_stream_si128(out + i + 1, b);
      _mm_stream_si128(out + i + 2, c);
      _mm_stream_si128(out + i + 3, d);
    }
    to += whole;
    from += whole;
    bytes -= whole;
  }
#endif
  std::memcpy(to, from, bytes);
}

}  // namespace

PlaneSize plane_size(const PictureFormat &format, int plane) {
  if (plane == 0) return {format.width, format.height};
  const bool half_width = chroma_shift_x(format.chroma) > 0, half_height = chroma_shift_y(format.chroma) > 0;
  if (format.chroma == Chroma::c400) return {};
  return {half_width ? format.width / 2 + format.width % 2 : format.width,
          half_height ? format.height / 2 + format.height % 2 : format.height};
}

bool readable_in_place(const Picture &picture, int plane, int depth) {
  const Plane &p = picture.planes[size_t(plane)];
  if (p.step != 1 || picture.shift != 0 || picture.format.depth != depth) return false;
  return depth == 8 || (reinterpret_cast<uintptr_t>(p.data) % 2 == 0 && p.stride % 2 == 0);
}

bool readable_on_device(const PlaneView &plane, int depth) {
  constexpr ptrdiff_t kMostStride = 1 << 24;  // offsets of some rows have to fit into 32 bits
  if (plane.step != 1 || plane.shift != 0 || plane.depth != depth) return false;
  if (plane.stride < -kMostStride || plane.stride > kMostStride) return false;
  return depth == 8 || (reinterpret_cast<uintptr_t>(plane.data) % 2 == 0 && plane.stride % 2 == 0);
}

size_t unpacked_bytes(const Plane &plane, int depth) {
  return size_t(plane.width) * size_t(plane.height) * (depth > 8 ? 2 : 1);
}

PlaneView packed_view(const std::byte *buffer, PlaneSize size, int depth) {
  return {buffer, ptrdiff_t(size.width) * (depth > 8 ? 2 : 1), size.width, size.height, depth};
}

PlaneView planned_view(const Picture &picture, int plane, int depth, std::byte *buffer) {
  const Plane &p = picture.planes[size_t(plane)];
  if (readable_in_place(picture, plane, depth)) return {p.data, p.stride, p.width, p.height, depth};
  return packed_view(buffer, {p.width, p.height}, depth);
}

void unpack_rows(const Picture &picture, int plane, int depth, std::byte *buffer, int first, int last) {
  const Plane &p = picture.planes[size_t(plane)];
  const int up = depth - picture.format.depth;
  last = std::min(last, p.height);
  if (readable_in_place(picture, plane, depth)) {
    const size_t row = size_t(p.width) * (depth > 8 ? 2 : 1);
    for (int y = first; y < last; ++y)
      std::memcpy(buffer + size_t(y) * row, static_cast<const std::byte *>(p.data) + y * p.stride, row);
    return;
  }
  if (depth == 8)
    unpack<uint8_t, uint8_t>(p, 0, 0, buffer, first, last);
  else if (picture.format.depth == 8)
    unpack<uint8_t, uint16_t>(p, 0, up, buffer, first, last);
  else
    unpack<uint16_t, uint16_t>(p, picture.shift, up, buffer, first, last);
}

void unpack_rows_for_device(const Picture &picture, int plane, int depth, std::byte *buffer, int first,
                            int last) {
  const Plane &p = picture.planes[size_t(plane)];
  if (!readable_in_place(picture, plane, depth))
    return unpack_rows(picture, plane, depth, buffer, first, last);
  last = std::min(last, p.height);
  const size_t row = size_t(p.width) * (depth > 8 ? 2 : 1);
  const auto *from = static_cast<const std::byte *>(p.data);
  if (p.stride == ptrdiff_t(row)) {
    copy_for_device(buffer + size_t(first) * row, from + size_t(first) * row, size_t(last - first) * row);
  } else {
    for (int y = first; y < last; ++y) copy_for_device(buffer + size_t(y) * row, from + y * p.stride, row);
  }
#ifdef __SSE2__
  _mm_sfence();  // such writes come late, and what tells of them must not come before
#endif
}

PlaneView view_plane(const Picture &picture, int plane, int depth, std::byte *buffer) {
  if (!readable_in_place(picture, plane, depth))
    unpack_rows(picture, plane, depth, buffer, 0, picture.planes[size_t(plane)].height);
  return planned_view(picture, plane, depth, buffer);
}

}  // namespace vmafhip
