// Sums of floats whose order is part of a definition: from the first to the last, one after the other. Each addition
// waits for the one before; several rows at a time fill the time it waits.
// Everything is local to the including file: it is compiled once per instruction set.
#pragma once
#include <cstddef>

#include "engine/arith/hd.h"

namespace vmafhip {
namespace {

// sums[r] becomes the sum of `count` floats from rows[r] on.
template <int kRows>
inline void serial_sums(const float *(&rows)[kRows], int count, float (&sums)[kRows]) {
  float sum[kRows] = {};
  for (int x = 0; x < count; x++) {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; r++) sum[r] += rows[r][x];
  }
  for (int r = 0; r < kRows; r++) sums[r] = sum[r];
}

}  // namespace
}  // namespace vmafhip
