// Covariances of the 25 offsets in a block over all positions of a window. Each of the 325 sums has its own f64 sum in
// raster order; vectors hold neighbouring sums, and as many as registers can hold go through a run of positions at once.
#pragma once
#include "engine/arith/speed_eigen.h"
#include "engine/cpu/floats.h"

namespace vmafhip {
namespace {

constexpr int kSpeedRun = 64;         // positions
constexpr int kSpeedOffsetsRow = 32;  // kSpeedOffsets, up to whole vectors

struct SpeedCovarianceMemory {
  double centred[kSpeedRun][kSpeedOffsetsRow];      // sample - mean, by position
  double sums[kSpeedOffsetsRow][kSpeedOffsetsRow];  // by row and column; columns up to the row count
};

using Float8 = float __attribute__((vector_size(32)));
using Double8 = double __attribute__((vector_size(64)));

// Sums of rows [first, first + count) for the vector of columns that begins at `column`.
template <int column, int first, int count>
void speed_add_products(int positions, SpeedCovarianceMemory &memory) {
  F64 sums[count];
#pragma GCC unroll 32
  for (int i = 0; i < count; i++) sums[i] = load_doubles(memory.sums[first + i] + column);
  for (int p = 0; p < positions; p++) {
    const double *centred = memory.centred[p];
    const F64 columns = load_doubles(centred + column);
#pragma GCC unroll 32
    for (int i = 0; i < count; i++) sums[i] += columns * centred[first + i];
  }
#pragma GCC unroll 32
  for (int i = 0; i < count; i++) store_vector(memory.sums[first + i] + column, sums[i]);
}

template <int column = 0, int first = 0>
void speed_add_all_products(int positions, SpeedCovarianceMemory &memory) {
  constexpr int most = VMAFHIP_VECTOR_BYTES == 64 ? 25 : 12;
  constexpr int left = kSpeedOffsets - first, count = left < most ? left : most;
  speed_add_products<column, first, count>(positions, memory);
  constexpr int next = column + kFloats / 2;
  if constexpr (count < left)
    speed_add_all_products<column, first + count>(positions, memory);
  else if constexpr (next < kSpeedOffsets)
    speed_add_all_products<next, next>(positions, memory);
}

// `plane` has window_columns() + 4 samples a row and room for 4 more behind each.
[[maybe_unused]] void speed_covariance(const SpeedShape &shape, const float *plane, ptrdiff_t stride,
                                       SpeedCovarianceMemory &memory, SpeedMatrix &k) {
  const int columns = shape.window_columns(), rows = shape.window_rows();
  const int count = columns * rows;

  Float8 mean[kSpeedBlock] = {};
  for (int y = 0; y < rows; y++)
    for (int x = 0; x < columns; x++)
      for (int r = 0; r < kSpeedBlock; r++) {
        Float8 samples;
        std::memcpy(&samples, plane + (y + r) * stride + x, sizeof samples);
        mean[r] += samples;
      }
  Double8 centre[kSpeedBlock];
  for (int r = 0; r < kSpeedBlock; r++)
    centre[r] = __builtin_convertvector(mean[r] / static_cast<float>(count), Double8);

  memory = {};
  for (int y = 0; y < rows; y++)
    for (int first = 0; first < columns; first += kSpeedRun) {
      const int run = smaller(kSpeedRun, columns - first);
      for (int p = 0; p < run; p++)
        for (int r = 0; r < kSpeedBlock; r++) {
          // Three too many, which the next row's overwrite.
          Float8 samples;
          std::memcpy(&samples, plane + (y + r) * stride + first + p, sizeof samples);
          const Double8 centred = __builtin_convertvector(samples, Double8) - centre[r];
          std::memcpy(memory.centred[p] + kSpeedBlock * r, &centred, sizeof centred);
        }
      speed_add_all_products(run, memory);
    }

  for (int a = 0; a < kSpeedOffsets; a++)
    for (int b = 0; b <= a; b++) k[a][b] = k[b][a] = static_cast<float>(memory.sums[a][b] / count);
}

}  // namespace
}  // namespace vmafhip
