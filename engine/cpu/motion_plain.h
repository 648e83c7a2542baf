// Motion's rows in plain C++: what motion_lanes.h has to equal.
#pragma once
#include "engine/cpu/arena.h"
#include "engine/cpu/motion_rows.h"

namespace vmafhip {
namespace {

// Stands where motion_lanes.h takes its policy.
struct Plain {};

// Nor has it the way of motion_lanes.h for small differences.
struct MotionDifferences {
  void take(Arena *, int, size_t) {}
  void clear_behind(int, size_t) const {}
};
template <class V, class Sample>
struct MotionShortRows {
  MotionShortRows(const PlaneView &, const PlaneView &, const MotionDifferences &) {}
  bool add(int, int, uint64_t *) { return false; }
};

// Column sums of rows y and y + 1, of the latter only if there is an `out[1].half`.
template <class V, class Sample>
void motion_columns(const MotionSource<Sample> &from, int width, int depth, int rows,
                    const MotionColumns *out) {
  for (int next = 0; next < rows; next++) motion_columns_plain(from, next, width, depth, out[next]);
}

template <class V>
uint64_t motion_row_sum(const MotionColumns &columns, int width) {
  const int16_t *half = columns.half, *bit = columns.bit;
  uint32_t sum = 0;
  for (int x = 0; x < width; x++) {
    int32_t h = 0, b = 0;
#pragma GCC unroll 5
    for (int k = -kMotionRadius; k <= kMotionRadius; k++) {
      const int16_t tap = kMotionTaps[kMotionRadius - (k < 0 ? -k : k)];
      h += tap * half[x + k];
      b += tap * bit[x + k];
    }
    const int32_t filtered = motion_join_columns(h, b);
    sum += static_cast<uint32_t>(filtered < 0 ? -filtered : filtered);
  }
  return sum;
}

}  // namespace
}  // namespace vmafhip
