// Clips of clipgen as the engine takes them.
#pragma once
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "engine/picture.h"
#include "tests/clipgen/clipgen.h"
#include "tests/golden.h"

namespace vmafhip::test {

inline clipgen::Generator generator_of(const golden::Case &c) {
  clipgen::Format format{c.width, c.height, c.frames, c.depth};
  format.set_chroma(c.chroma);
  return clipgen::Generator(c.clip, format, c.seed);
}

inline PictureFormat picture_format(const clipgen::Format &format) {
  const Chroma chroma = format.sub_y == 2 ? Chroma::c420 : format.sub_x == 2 ? Chroma::c422 : Chroma::c444;
  return {format.width, format.height, format.depth, chroma};
}

// A picture that owns `bytes`: one frame as it stands in a raw planar file.
inline Picture to_picture(const clipgen::Format &format, std::vector<uint8_t> bytes) {
  if (bytes.size() != format.frame_bytes()) throw std::invalid_argument("not one frame of this format");
  const auto owner = std::make_shared<const std::vector<uint8_t>>(std::move(bytes));
  Picture picture;
  picture.format = picture_format(format);
  const uint8_t *data = owner->data();
  for (int p = 0; p < 3; ++p) {
    Plane &plane = picture.planes[p];
    plane.data = data;
    plane.width = format.plane_width(p);
    plane.height = format.plane_height(p);
    plane.stride = static_cast<ptrdiff_t>(plane.width * format.sample_bytes());
    data += format.plane_bytes(p);
  }
  picture.owner = owner;
  return picture;
}

}  // namespace vmafhip::test
