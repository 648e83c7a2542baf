// What an extractor is made of.
//
//   Metric   does the arithmetic on pictures, on one back end. It yields *sums*: exact integers wherever
//            the definition allows, so that every back end and every order of evaluation gives the same.
//   Scorer   turns the sums of frame after frame into scores. It runs on the host, in frame order, is
//            the same for all back ends and holds the only temporal state there is.
//
// Sums travel as a plain struct of engine/arith (VifSums, AdmSums, MotionSums).
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "engine/picture.h"

namespace vmafhip {

// Samples that can be read directly: bytes at depth 8, else 16-bit words, low bits used, one after
// the other. `stride` is in bytes and, for words, a multiple of 2.
struct PlaneView {
  const void *data = nullptr;
  ptrdiff_t stride = 0;
  int width = 0, height = 0, depth = 8;

  template <class T>
  const T *row(int y) const {
    return reinterpret_cast<const T *>(static_cast<const std::byte *>(data) + y * stride);
  }
};

// The pictures of one compared frame.
struct FrameView {
  uint64_t index = 0;  // 0 after start or reset
  std::array<PlaneView, 3> ref, dist;
  // Luma of the reference 1 and 2 frames earlier; data is null before the first frame.
  std::array<PlaneView, 2> earlier;
};

class Metric {
 public:
  virtual ~Metric() = default;
  // Bytes of working memory one call of measure() needs, 64-byte aligned; allocated once a worker.
  virtual size_t scratch_bytes() const = 0;
  // Writes the frame's sums. Called by several threads at once, each with its own scratch.
  virtual void measure(const FrameView &frame, std::byte *scratch, std::byte *sums) const = 0;
};

// Where a Scorer puts its values: output (index into the extractor's outputs), frame, value.
using Emit = std::function<void(int output, uint64_t frame, double value)>;

class Scorer {
 public:
  virtual ~Scorer() = default;
  // Sums of the next frame, in order without gaps. Values of this or earlier frames may be emitted.
  virtual void add(uint64_t frame, const std::byte *sums, const Emit &emit) = 0;
  // No further frame follows: emits what is still owed.
  virtual void flush(const Emit &emit) = 0;
  // Forgets all frames; the next one is frame 0.
  virtual void reset() = 0;
};

}  // namespace vmafhip
