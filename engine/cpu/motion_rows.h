// Rows of column sums of motion, and the plain way to make and pool them, by the definitions of engine/arith/motion.h.
#pragma once
#include <cstddef>
#include <cstdint>

#include "engine/arith/motion.h"

namespace vmafhip {
namespace {

constexpr int kMotionRows = 2 * kMotionRadius + 1;

// Column sums t of a row, -65,535 to 65,535 whatever the depth, in two parts that fit i16: t = 2 * half + bit.
// With mirrored columns on either side.
struct MotionColumns {
  int16_t *half, *bit;
};

// Mirrored at the borders. Rows further beyond than the filter reads are none's, and any will do.
VMAFHIP_HD int motion_row(int y, int height) {
  return mirror(smaller(y, height + kMotionRadius - 1), height);
}

// Rows of samples that the filter reads for rows y and y + 1.
template <class Sample>
struct MotionSource {
  const Sample *earlier[kMotionRows + 1], *current[kMotionRows + 1];
};

// Column sums of row y + next.
template <class Sample>
void motion_columns_plain(const MotionSource<Sample> &from, int next, int width, int depth,
                          const MotionColumns &out) {
  const Sample *const *a = from.earlier + next, *const *b = from.current + next;
  int16_t *half = out.half, *bit = out.bit;
  const auto put = [&](int x, int32_t sum) __attribute__((always_inline)) {
    half[x] = static_cast<int16_t>(sum >> 1);
    bit[x] = static_cast<int16_t>(sum & 1);
  };
  if constexpr (sizeof(Sample) == 1) {
    // Differences of two rows with the same tap fit 16 bits together.
#pragma GCC ivdep
    for (int x = 0; x < width; x++) {
      const auto difference = [&](int k) { return static_cast<int16_t>(a[k][x] - b[k][x]); };
      const int32_t sum = kMotionTaps[0] * static_cast<int16_t>(difference(0) + difference(4)) +
                          kMotionTaps[1] * static_cast<int16_t>(difference(1) + difference(3)) +
                          kMotionTaps[2] * difference(2);
      put(x, (sum + 128) >> 8);
    }
  } else {
    // Moved up to 16 bits, where differences have 17.
    const int up = 16 - depth;
#pragma GCC ivdep
    for (int x = 0; x < width; x++) {
      int32_t high = 0, low = 0;
#pragma GCC unroll 5
      for (int k = 0; k < kMotionRows; k++) {
        const int32_t difference = (static_cast<int32_t>(a[k][x]) - static_cast<int32_t>(b[k][x])) << up;
        const int16_t tap = kMotionTaps[k < 3 ? k : 4 - k];
        high += tap * motion_high(difference);
        low += tap * motion_low(difference);
      }
      put(x, motion_join(high, low));
    }
  }
}

// (sum of taps * t + 2^15) >> 16 from the sums over halves and bits: both floors nest exactly.
VMAFHIP_HD constexpr int32_t motion_join_columns(int32_t half, int32_t bit) {
  return (half + ((bit + 32768) >> 1)) >> 15;
}

inline void mirror_columns(int16_t *row, int width) {
  for (int i = 1; i <= kMotionRadius; i++) {
    row[-i] = row[mirror(-i, width)];
    row[width - 1 + i] = row[mirror(width - 1 + i, width)];
  }
}

}  // namespace
}  // namespace vmafhip
