// What host and kernels agree on: device addresses, planes, and how many pairs of pictures a launch takes.
//
// A kernel has one argument, a plain struct of kernels/<metric>_args.h passed by value. Addresses of device memory have
// a type of their own, which no host pointer turns into and which only kernels can read through.
#pragma once
#include <cstddef>
#include <cstdint>

// Functions that both sides call, and such that exist in kernels only.
#if defined(__CUDACC__) || defined(__HIP__)
#define GPU_BOTH __host__ __device__
#define GPU_ONLY __device__
#else
#define GPU_BOTH
#if defined(GPU_SIMULATED)
#define GPU_ONLY
#endif
#endif

namespace vmafhip {

// An address in device memory, as a number. Null: there is nothing.
template <class T>
struct DeviceAddress {
#if defined(__CUDACC__)
  // Of pointers in a kernel's arguments, and of these alone, nvcc knows that they are to global memory.
  T *value = nullptr;
#else
  uint64_t value = 0;
#endif

  GPU_BOTH constexpr explicit operator bool() const { return value != 0; }
  // `count` elements further.
  GPU_BOTH constexpr DeviceAddress operator+(int64_t count) const {
#if defined(__CUDACC__)
    return {value + count};
#else
    return {value + static_cast<uint64_t>(count * static_cast<int64_t>(sizeof(T)))};
#endif
  }
#if defined(GPU_ONLY)
  // The only way to what is there; `count` elements from there on are read or written (checked by the simulator).
  GPU_ONLY T *get(uint64_t count = 1) const;
#endif
  // Whether it is a multiple of `bytes`, a power of 2.
  GPU_BOTH bool is_aligned(unsigned bytes) const { return ((uint64_t)value & (bytes - 1)) == 0; }
};
static_assert(sizeof(DeviceAddress<int>) == sizeof(uint64_t));

// The same address for other elements.
template <class To, class From>
GPU_BOTH constexpr DeviceAddress<To> address_cast(DeviceAddress<From> from) {
#if defined(__CUDACC__)
  return {reinterpret_cast<To *>(from.value)};
#else
  return {from.value};
#endif
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
