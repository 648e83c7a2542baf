// The positions and weights of a rescaled plane, made once. For files that are compiled for the baseline.
#pragma once
#include <vector>

#include "engine/cpu/float_scale.h"

namespace vmafhip {

class FloatScaleTable {
 public:
  FloatScaleTable(FloatScaling method, int size, int from) {
    const int taps = float_scale_taps(method);
    axis_.size = size;
    axis_.from = from;
    axis_.stride = size + kFloatScaleBeyond;
    index_.resize(static_cast<size_t>(taps * axis_.stride));
    weight_.resize(index_.size());
    for (int at = 0; at < size; ++at) {
      const FloatScalePosition p = float_scale_position(method, at, size, from);
      for (int t = 0; t < taps; ++t) {
        index_[static_cast<size_t>(t * axis_.stride + at)] = p.index[t];
        weight_[static_cast<size_t>(t * axis_.stride + at)] = p.weight[t];
      }
    }
    axis_.index = index_.data();
    axis_.weight = weight_.data();
  }
  FloatScaleTable(const FloatScaleTable &) = delete;

  const FloatScaleAxis &axis() const { return axis_; }

 private:
  FloatScaleAxis axis_;
  std::vector<int32_t> index_;
  std::vector<float> weight_;
};

}  // namespace vmafhip
