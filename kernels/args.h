// What host and kernels agree on: device addresses, planes, and how many pairs of pictures a launch takes.
//
// A kernel has one argument, a plain struct of kernels/<metric>_args.h passed by value. Addresses of device memory have
// a type of their own, which no host pointer turns into and which only kernels can read through.
#pragma once
#include <cstddef>
#include <cstdint>

namespace vmafhip {

// An address in device memory, as a number. Null: there is nothing.
template <class T>
struct DeviceAddress {
  uint64_t value = 0;

  constexpr explicit operator bool() const { return value != 0; }
  // `count` elements further.
  constexpr DeviceAddress operator+(int64_t count) const {
    return {value + static_cast<uint64_t>(count * static_cast<int64_t>(sizeof(T)))};
  }
#if defined(GPU_DEVICE_CODE)
  // The only way to what is there; `count` elements from there on are read or written (checked by the simulator).
  GPU_FN T *get(uint64_t count = 1) const;
#endif
};

// The same address for other elements.
template <class To, class From>
constexpr DeviceAddress<To> address_cast(DeviceAddress<From> from) {
  return {from.value};
}

// Samples as metrics read them: bytes at depth 8, else 16-bit words; `stride` in bytes, may be negative.
struct DevicePlane {
  DeviceAddress<const uint8_t> data;
  int64_t stride = 0;
};

// Pairs of pictures that one launch works on: blockIdx.z is the pair.
constexpr int kMostPairs = 32;

struct PlanePair {
  DevicePlane ref, dist;
};

}  // namespace vmafhip
