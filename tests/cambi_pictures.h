// Pictures in which CAMBI has something to do.
#pragma once
#include <cstdint>

#include "tests/metric_run.h"

namespace vmafhip::test {

// Squares of few codes and of many, gradients and noise: runs of every length, banding and none.
inline Luma patchwork(int width, int height, int depth, uint32_t seed) {
  const Luma few = noise(width / 9 + 1, height / 5 + 1, 3, seed),
             many = noise(width / 4 + 1, height / 4 + 1, depth, seed + 1),
             grain = noise(width, height, 2, seed + 2);
  const int base = 20 << (depth - 8);
  return paint(width, height, depth, [&](int x, int y) {
    switch ((x / 64 + y / 48) % 4) {
      case 0:
        return base + few.at(x / 9, y / 5);
      case 1:
        return many.at(x / 4, y / 4);
      case 2:
        return base + (x + 2 * y) / 23;
      default:
        return base + grain.at(x, y);
    }
  });
}

}  // namespace vmafhip::test
