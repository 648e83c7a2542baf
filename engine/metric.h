// What an extractor is made of.
//
//   Metric   does the arithmetic on pictures, on one back end. It yields *sums*: exact integers wherever
//            the definition allows, so that every back end and every order of evaluation gives the same.
//   Scorer   turns the sums of frame after frame into scores. It runs on the host, in frame order, is
//            the same for all back ends and holds the only temporal state there is.
//
// Sums travel as a plain struct of engine/arith (VifSums, AdmSums, MotionSums).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>

#include "engine/picture.h"
#include "engine/status.h"

namespace vmafhip {

// Samples that can be read directly: bytes at depth 8, else 16-bit words, low bits used, one after
// the other. `stride` is in bytes and, for words, a multiple of 2.
struct PlaneView {
  const void *data = nullptr;
  ptrdiff_t stride = 0;
  int width = 0, height = 0, depth = 8;
  MemoryKind memory = MemoryKind::host;  // only an accelerator sees others
  // Of device memory, where a plane may lie as Plane and Picture tell of it, at a lower depth than that of the comparison.
  int step = 1, shift = 0;

  template <class T>
  const T *row(int y) const {
    return reinterpret_cast<const T *>(static_cast<const std::byte *>(data) + y * stride);
  }
};

// A plane in the size to which libvmaf rounds it: chroma of an odd-sized picture loses its last column or row.
inline PlaneView rounded_down(PlaneView plane, const PictureFormat &format, int number) {
  plane.width = number == 0 ? format.width : format.width >> chroma_shift_x(format.chroma);
  plane.height = number == 0 ? format.height : format.height >> chroma_shift_y(format.chroma);
  return plane;
}

// The pictures of one compared frame: one reference, one or more distorted pictures, and those of frames before it.
// Data is null for planes that no extractor of the session reads, and for frames before the first.
using Views = std::array<PlaneView, 3>;  // Y, U, V
struct FrameView {
  uint64_t index = 0;  // 0 after start or reset
  Views ref;
  std::span<const Views> dist;
  std::array<Views, 2> earlier;         // references 1 and 2 frames earlier
  std::span<const Views> earlier_dist;  // distorted pictures 1 frame earlier
};

// Planes of a picture: bit n is plane n.
using PlaneSet = uint8_t;
constexpr PlaneSet kLuma = 1, kChroma = 6, kAllPlanes = 7;

// Which planes of a FrameView are read.
struct Reads {
  PlaneSet ref = 0, dist = 0;
  std::array<PlaneSet, 2> earlier = {};
  PlaneSet earlier_dist = 0;

  // Of the current frame's pictures.
  static Reads both(PlaneSet planes) { return {planes, planes}; }

  Reads &operator|=(const Reads &other) {
    ref |= other.ref;
    dist |= other.dist;
    earlier[0] |= other.earlier[0];
    earlier[1] |= other.earlier[1];
    earlier_dist |= other.earlier_dist;
    return *this;
  }
  bool chroma() const { return ((ref | dist | earlier[0] | earlier[1] | earlier_dist) & kChroma) != 0; }
  // Frames before the current one that pictures are read of.
  int lookback() const { return earlier[1] ? 2 : earlier[0] || earlier_dist ? 1 : 0; }
};

// Work on a frame is cut into stages, done one after the other, and each stage into strips, which several threads
// may do at the same time. The cut depends on the picture's size alone, never on the number of threads.
// All calls on one object may come from several threads at once, each with its own scratch; all memory
// handed in is 64-byte aligned.
class Metric {
 public:
  virtual ~Metric() = default;

  virtual int stages() const { return 1; }
  virtual int strips(int /*stage*/) const { return 1; }
  // Working memory of one strip() call; one per worker.
  virtual size_t scratch_bytes() const = 0;
  // What the stages of a frame hand on to each other (decimated planes, bands); one per frame in progress.
  virtual size_t frame_bytes() const { return 0; }
  // Does one strip. `partial` is the strip's own: its share of the sums for each distorted picture, one after the
  // other, and of a picture for each set of options, `sums_bytes` of the extractor each; the caller does not clear it.
  virtual void measure(const FrameView &frame, int stage, int strip, std::byte *frame_memory,
                       std::byte *scratch, std::byte *partial) const = 0;
  // What has gone wrong beside the sums: files that a metric writes. From the start on.
  virtual Status status() const { return Status(); }
};

// Adds numbers of one type, of which the sums consist.
template <class Number, class Sums>
void add_numbers(std::byte *total, const std::byte *partial) {
  static_assert(sizeof(Sums) % sizeof(Number) == 0);
  for (size_t at = 0; at < sizeof(Sums); at += sizeof(Number)) {
    Number a, b;
    std::memcpy(&a, total + at, sizeof a);
    std::memcpy(&b, partial + at, sizeof b);
    a += b;
    std::memcpy(total + at, &a, sizeof a);
  }
}

// Extractor::add_sums for sums that are 64-bit integers throughout.
template <class Sums>
void add_integer_sums(std::byte *total, const std::byte *partial) {
  add_numbers<uint64_t, Sums>(total, partial);
}

// The same for sums that are f32 or f64 throughout. Which order they have to be added in is up to the metric: it has
// one strip of a last stage add up what the others left in the frame's memory, and these hand in zeros.
template <class Sums>
void add_float_sums(std::byte *total, const std::byte *partial) {
  add_numbers<float, Sums>(total, partial);
}
template <class Sums>
void add_double_sums(std::byte *total, const std::byte *partial) {
  add_numbers<double, Sums>(total, partial);
}

// Where a Scorer puts its values: output (index into the extractor's outputs), frame, value.
using Emit = std::function<void(int output, uint64_t frame, double value)>;
// The same for values of the whole stream: index into the extractor's aggregates.
using EmitAggregate = std::function<void(int aggregate, double value)>;

class Scorer {
 public:
  virtual ~Scorer() = default;
  // Sums of the next frame, in order; without gaps if the extractor is temporal. Values of this or earlier frames may
  // be emitted.
  virtual void add(uint64_t frame, const std::byte *sums, const Emit &emit) = 0;
  // No further frame follows: emits what is still owed.
  virtual void flush(const Emit &emit) = 0;
  // Over all frames so far; cheap, since it is asked for after every frame.
  virtual void aggregate(const EmitAggregate & /*emit*/) const {}
  // Forgets all frames; the next one is frame 0.
  virtual void reset() = 0;
};

}  // namespace vmafhip
