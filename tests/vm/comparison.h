// A clip against itself, distorted: made, sent through the element, scored.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/formats.h"

namespace vmafhip::test {

inline constexpr FormatCase kI420{"I420", 8, 2, 2}, kNv12{"NV12", 8, 2, 2}, kP010{"P010_10LE", 10, 2, 2};

using Bits = std::vector<std::vector<uint64_t>>;  // of all values of each frame
// What becomes of a picture, given its frame's number, before it is sent. Takes a reference and gives one.
using Change = std::function<GstBuffer *(GstBuffer *, int)>;
inline GstBuffer *unchanged(GstBuffer *buffer, int) { return buffer; }

struct Comparison {
  FormatCase format = kI420;
  int width = 70, height = 50, frames = 2;
  int pictures = 8;  // that differ; then they come again
  Layout layout;
  Change change_ref = unchanged, change_dist = unchanged;
  bool dmabuf_caps = false;  // memory:DMABuf on both pads
  std::string properties = "backend=cpu";

  // The element is "v", the sources are "ref" and "dist".
  std::unique_ptr<Pipeline> pipeline() const;
  // Runs all of it.
  Bits scores() const;

 private:
  std::function<GstBuffer *()> source(clipgen::Role role, const Change &change) const;
};

}  // namespace vmafhip::test
