// Cuts a worker's scratch memory into arrays, each 64-byte aligned. Run without memory it counts the bytes.
// Everything is local to the including file: it is compiled once per instruction set.
#pragma once
#include <cstddef>
#include <cstdint>

#include "engine/metric.h"

namespace vmafhip {
namespace {

class Arena {
 public:
  explicit Arena(std::byte *base) : base_(base) {}

  // `count` elements with room for `before` and `after` more around them.
  template <class T>
  T *take(size_t count, size_t before = 0, size_t after = 0) {
    const size_t lead = aligned(before * sizeof(T));
    T *at = base_ ? reinterpret_cast<T *>(base_ + used_ + lead) : nullptr;
    used_ += lead + aligned((count + after) * sizeof(T));
    return at;
  }

  size_t used() const { return used_; }

 private:
  static size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

  std::byte *base_;
  size_t used_ = 0;
};

// Row y of a plane; as PlaneView::row(), but without a symbol that other files share.
template <class T>
inline const T *row_of(const PlaneView &plane, int y) {
  return reinterpret_cast<const T *>(static_cast<const std::byte *>(plane.data) + y * plane.stride);
}

}  // namespace
}  // namespace vmafhip
