// Cutting rows into strips of nearly equal height. The cut follows from sizes alone, never from the number of threads.
// For files that are compiled for the baseline.
#pragma once
#include <cstdint>

#include "engine/arith/hd.h"

namespace vmafhip {

struct Strips {
  int rows = 0, count = 1;

  // First row of a strip, and the one behind the strip before.
  int begin(int strip) const { return static_cast<int>(static_cast<int64_t>(rows) * strip / count); }
};

// Strips of about `samples` samples, and of `least` rows at least.
inline Strips cut_by_samples(int width, int rows, int64_t samples, int least) {
  const int64_t wanted = (static_cast<int64_t>(width) * rows + samples / 2) / samples;
  return {rows, static_cast<int>(larger<int64_t>(1, smaller<int64_t>(wanted, rows / least)))};
}

// Strips of `most` rows at most.
inline Strips cut_by_rows(int rows, int most) { return {rows, (rows + most - 1) / most}; }

}  // namespace vmafhip
