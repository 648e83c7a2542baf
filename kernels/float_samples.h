// Planes of samples, or of floats, as the float metrics take them: f32 in steps of 8-bit video, moved by an offset
// (engine/arith/float_samples.h).
#pragma once
#include "engine/arith/float_samples.h"
#include "kernels/device.h"

namespace vmafhip {

// f32 of an integer below 2^23, which becomes the mantissa of 2^23 + v: exact, and spares the slow conversion.
// `offset` is an integer, too, and likewise at most 2^23.
GPU_FN float gpu_to_float(uint32_t v, float offset = 0.0f) {
  return real_of(static_cast<int32_t>(v | 0x4b000000u)) + (offset - 8388608.0f);
}

// The same number, of which the compiler knows nothing: what is computed of it is not kept for the next turn of a loop, or
// for the next time that it is asked for. AMD's registers run out otherwise: scalar ones, of which a comparison takes two,
// and vector ones, of which an f64 takes two.
template <class Number>
GPU_FN Number gpu_renewed(Number v) {
#if defined(__HIP__)
  asm volatile("" : "+v"(v));
#endif
  return v;
}

// The sample at `address`; floats as they are.
template <class Sample>
GPU_FN float float_sample_at(DeviceAddress<const uint8_t> address, float step, float offset) {
  const Sample v = *address_cast<const Sample>(address).get();
  if constexpr (sizeof(Sample) == sizeof(float))
    return v;
  else if constexpr (sizeof(Sample) == 1)
    return gpu_to_float(v, offset);  // the step is 1
  else
    return float_sample(gpu_to_float(v), step, offset);
}

// Rows of a plane by their number relative to row y, at one column. Rows that a block reads are near each other: less
// than 2^30 bytes apart.
template <class Sample>
class SampleColumn {
 public:
  GPU_FN SampleColumn(const DevicePlane &plane, int x, int y, float step, float offset)
      : row_(plane.data + (y * plane.stride - kMiddle)),
        column_(static_cast<uint32_t>(kMiddle + x * static_cast<int>(sizeof(Sample)))),
        stride_(static_cast<int32_t>(plane.stride)),
        step_(step),
        offset_(offset) {}
  GPU_FN float at(int32_t row) const {
#if defined(__HIP__)
    // An address that is the same for all threads, and 32 bits on top: there is no carry, each of which takes two scalar
    // registers.
    const int64_t further = column_ + static_cast<uint32_t>(row) * static_cast<uint32_t>(stride_);
#else
    // The product of 32 bits and the sum are one instruction.
    const int64_t further = static_cast<int64_t>(row) * stride_ + column_;
#endif
    return float_sample_at<Sample>(row_ + further, step_, offset_);
  }

 private:
  static constexpr int64_t kMiddle = 1 << 30;

  DeviceAddress<const uint8_t> row_;
  uint32_t column_;
  int32_t stride_;
  float step_, offset_;
};

}  // namespace vmafhip
