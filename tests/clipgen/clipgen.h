// Synthetic reference and distorted clips, the same byte for byte on every machine: all arithmetic is on
// integers. README.md defines every clip; the golden figures are measured on them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace vmafhip::clipgen {

struct Format {
  int width = 576, height = 324, frames = 8, depth = 8;
  int sub_x = 2, sub_y = 2;  // chroma subsampling factors, 1 or 2

  // "420", "422" or "444"; throws std::invalid_argument otherwise.
  void set_chroma(const std::string &chroma);

  int plane_width(int plane) const { return plane ? (width + sub_x - 1) / sub_x : width; }
  int plane_height(int plane) const { return plane ? (height + sub_y - 1) / sub_y : height; }
  size_t sample_bytes() const { return depth > 8 ? 2 : 1; }
  size_t plane_bytes(int plane) const {
    return static_cast<size_t>(plane_width(plane)) * plane_height(plane) * sample_bytes();
  }
  size_t frame_bytes() const { return plane_bytes(0) + plane_bytes(1) + plane_bytes(2); }
};

enum class Role { reference, distorted };

struct Clip {
  std::string name, purpose;
};
std::vector<Clip> clips();

class Generator {
 public:
  // Throws std::invalid_argument for a clip that does not exist and for a format out of range. Some clips
  // depend on the number of frames (a cut lies in the middle).
  explicit Generator(const std::string &clip, const Format &format = {}, uint32_t seed = 1);

  const Format &format() const { return format_; }

  // Samples of plane 0 (Y), 1 (U) or 2 (V), row by row without padding. Any frame, in any order, any thread.
  std::vector<uint16_t> plane(Role role, int frame, int plane) const;
  // All three planes as they stand in a raw file: bytes at depth 8, else little-endian words.
  std::vector<uint8_t> frame(Role role, int frame) const;

 private:
  std::string clip_;
  Format format_;
  uint32_t seed_;
};

}  // namespace vmafhip::clipgen
