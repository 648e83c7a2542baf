// Scaling distorted pictures to the reference's size: what the engine asks of a back end. engine/arith/scale.h defines
// what comes out.
#pragma once
#include <cstddef>
#include <cstdint>

#include "engine/picture.h"

namespace vmafhip {

enum class ScaleMethod : uint8_t {
  bicubic,   // Catmull-Rom
  bilinear,  // triangle
  lanczos,   // three lobes
  none,      // pictures of another size are an error
};

// A distorted picture may be this many times as wide or as high as the reference: so many rows of it does a worker keep
// for one of the result, three times each way at most. The other way there is no limit.
constexpr int kMostScaledDown = 64;

// One plane, before and after.
struct PlaneScaling {
  ScaleMethod method = ScaleMethod::bicubic;  // not none
  int from_width = 0, from_height = 0, from_depth = 8;
  int to_width = 0, to_height = 0, to_depth = 8;  // to_depth >= from_depth
};

// Does not change; its functions may be called from several threads at once, each with its own scratch.
class PlaneScaler {
 public:
  virtual ~PlaneScaler() = default;
  // Working memory of one scale() call, 64-byte aligned.
  virtual size_t scratch_bytes() const = 0;
  // Rows [first, last) of the result into `out`, which holds the whole plane: rows one after the other, bytes at
  // depth 8, else words. The picture's plane is of the size and depth that the scaler was made for.
  virtual void scale(const Picture &picture, int plane, std::byte *out, int first, int last,
                     std::byte *scratch) const = 0;
};

}  // namespace vmafhip
