// Rows of rescaled float planes, for files that are compiled once per instruction set. The tables that they need are
// made by float_scale_tables.h.
#pragma once
#include <cstddef>

#include "engine/arith/float_scale.h"
#include "engine/cpu/floats.h"

namespace vmafhip {

// Positions along one direction, tap by tap. Those of tap t begin at t * stride; vectors may be read beyond `size`.
struct FloatScaleAxis {
  int size = 0, from = 0;
  ptrdiff_t stride = 0;
  const int32_t *index = nullptr;
  const float *weight = nullptr;
};

namespace {

// Vectors read and write up to so many floats beyond the end of a row.
constexpr int kFloatScaleBeyond = 16;

// A row of the scaled plane from the rows that its taps read, with their weights.
[[maybe_unused]] void float_scale_row(FloatScaling method, const FloatScaleAxis &columns,
                                      const float *const *rows, const float *weights, float *to) {
  const int taps = float_scale_taps(method);
  for (int x = 0; x < columns.size; x += kFloats) {
    FloatScaleSum<F32> sum;
    for (int j = 0; j < taps; j++)
      for (int i = 0; i < taps; i++)
        FloatScaleSum<F32>::add(
            sum, load_floats(columns.weight + i * columns.stride + x), weights[j],
            gather_floats(rows[j], load_vector<I32>(columns.index + i * columns.stride + x)));
    store_vector(to + x, FloatScaleSum<F32>::result(sum, method));
  }
}

}  // namespace
}  // namespace vmafhip
