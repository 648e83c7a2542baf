// Pictures of the tests in the layouts that video has in memory.
#pragma once
#include <cstring>
#include <memory>
#include <vector>

#include "tests/session_run.h"

namespace vmafhip::test {

inline int sample(const Picture &picture, int x, int y) {
  const Plane &plane = picture.planes[0];
  const auto *row = static_cast<const std::byte *>(plane.data) + y * plane.stride;
  if (picture.format.depth == 8) return int(row[x]);
  uint16_t word;
  std::memcpy(&word, row + 2 * x, 2);
  return word >> picture.shift;
}

// How luma lies in memory, and at which depth.
struct Layout {
  int depth = 8;      // samples are shifted up to it
  int shift = 0;      // unused low bits of a word
  int step = 1;       // samples from one to the next
  int padding = 0;    // bytes behind a row
  int offset = 0;     // bytes from an even address
  bool flip = false;  // last row first in memory
};

// The luma of a picture anew; whatever is no sample is filled with ones.
inline Picture repack(const Picture &from, const Layout &to) {
  const int bytes = to.depth > 8 ? 2 : 1, width = from.format.width, height = from.format.height;
  const ptrdiff_t row_bytes = ptrdiff_t(width) * to.step * bytes + to.padding;
  const auto memory =
      std::make_shared<std::vector<uint8_t>>(size_t(row_bytes) * size_t(height) + size_t(to.offset), 0xff);
  Picture picture;
  picture.format = {width, height, to.depth, Chroma::c400};
  picture.shift = to.shift;
  picture.owner = memory;
  uint8_t *first = memory->data() + to.offset + (to.flip ? row_bytes * (height - 1) : 0);
  const ptrdiff_t stride = to.flip ? -row_bytes : row_bytes;
  picture.planes[0] = {first, stride, width, height, to.step};
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const int value = sample(from, x, y) << (to.depth - from.format.depth);
      uint8_t *at = first + y * stride + ptrdiff_t(x) * to.step * bytes;
      const uint16_t word = uint16_t(value << to.shift | ((1 << to.shift) - 1));
      if (bytes == 1)
        *at = uint8_t(value);
      else
        std::memcpy(at, &word, 2);
    }
  return picture;
}

inline std::vector<Pair> repack(const std::vector<Pair> &clip, const Layout &ref, const Layout &dist) {
  std::vector<Pair> out;
  for (const Pair &p : clip) out.push_back({repack(p.ref, ref), repack(p.dist, dist)});
  return out;
}

}  // namespace vmafhip::test
