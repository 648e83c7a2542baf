// Rescaled float planes, sample by sample.
#pragma once
#include "kernels/device.h"
#include "kernels/float_scale_args.h"

namespace vmafhip {

// Sample (x, y) of the scaled plane; read(column, row) gives those that it is made of.
template <class Read>
GPU_FN float float_scale_at(const FloatScaleArgs &scale, int x, int y, const Read &read) {
  const int taps = float_scale_taps(scale.method);
  FloatScaleSum<float> sum;
  for (int j = 0; j < taps; j++) {
    const int row_at = j * scale.rows.size + y;
    const int row = *(scale.rows.index + row_at).get();
    const float row_weight = *(scale.rows.weight + row_at).get();
    for (int i = 0; i < taps; i++) {
      const int column_at = i * scale.columns.size + x;
      const int column = *(scale.columns.index + column_at).get();
      FloatScaleSum<float>::add(sum, *(scale.columns.weight + column_at).get(), row_weight,
                                read(column, row));
    }
  }
  return FloatScaleSum<float>::result(sum, scale.method);
}

}  // namespace vmafhip
