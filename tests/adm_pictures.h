// Pictures that take ADM to the ends of its ranges.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/arith/adm.h"
#include "tests/metric_run.h"

namespace vmafhip::test {

// Black and white blocks at random: the largest band samples that there are, of either sign.
inline Luma black_and_white(int width, int height, int depth, int block, uint32_t seed) {
  const Luma source = noise(width, height, 8, seed);
  return paint(width, height, depth, [&](int x, int y) {
    return source.at(x / block * block, y / block * block) < 128 ? 0 : (1 << depth) - 1;
  });
}

// How much each sample of a row counts in sample `at` of the coarsest scale: low passes, then `last`.
inline std::vector<double> coarsest_weights(int length, int at, const int32_t (&last)[4]) {
  std::vector<double> weights(static_cast<size_t>(length));
  weights[static_cast<size_t>(at)] = 1;
  for (int scale = kAdmScales - 1; scale >= 0; --scale) {
    std::vector<double> finer(weights.size());
    for (int i = 0; i < length; ++i)
      for (int k = 0; k < 4 && weights[static_cast<size_t>(i)] != 0; ++k)
        finer[static_cast<size_t>(2 * i - 1 + k)] +=
            weights[static_cast<size_t>(i)] * (scale == kAdmScales - 1 ? last[k] : kAdmLow[k]);
    weights = finer;
  }
  return weights;
}

}  // namespace vmafhip::test
