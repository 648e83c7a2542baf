// Positions and weights of rescaled float planes, in device memory.
#pragma once
#include <cstring>

#include "engine/hip/device.h"
#include "kernels/float_scale_args.h"

namespace vmafhip::hip {

// Of one direction.
class FloatScaleAxis {
 public:
  FloatScaleAxis(const Device &device, FloatScaling method, int size, int from)
      : size_(size), index_(device, numbers(method, size)), weight_(device, numbers(method, size)) {
    const size_t count = numbers(method, size), half = count * sizeof(int32_t);
    const PinnedBuffer table(device, 2 * half);
    auto *const index = reinterpret_cast<int32_t *>(table.data());
    auto *const weight = reinterpret_cast<float *>(table.data() + half);
    for (int at = 0; at < size; at++) {
      const FloatScalePosition position = float_scale_position(method, at, size, from);
      for (int t = 0; t < float_scale_taps(method); t++) {
        index[t * size + at] = position.index[t];
        weight[t * size + at] = position.weight[t];
      }
    }
    const Stream stream(device);
    stream.upload(address_cast<std::byte>(index_.address()), half, index, static_cast<ptrdiff_t>(half), half,
                  1);
    stream.upload(address_cast<std::byte>(weight_.address()), half, weight, static_cast<ptrdiff_t>(half),
                  half, 1);
    stream.synchronize();
  }

  FloatScaleAxisArgs args() const {
    return {address_cast<const int32_t>(index_.address()), address_cast<const float>(weight_.address()),
            size_};
  }

 private:
  static size_t numbers(FloatScaling method, int size) {
    return static_cast<size_t>(size) * static_cast<size_t>(float_scale_taps(method));
  }

  int size_;
  Buffer<int32_t> index_;
  Buffer<float> weight_;
};

}  // namespace vmafhip::hip
