// Ground for all arithmetic headers: the host/device macro and integer helpers.
//
// A function marked VMAFHIP_HD is compiled for the host once per instruction set and for GPUs. It is
// always inlined and has internal linkage, so that no copy built for a wider instruction set can be
// picked by the linker for code that must run on a narrower one.
//
// Floating point follows IEEE, each operation rounded, never contracted. The pass of GCC 12 that merges
// neighbouring statements (-ftree-slp-vectorize) drops the rounding in double -> float -> double; it is off.
#pragma once
#include <cstdint>

#if defined(__CUDACC__) || defined(__HIP__) || defined(__HIPCC__)
#define VMAFHIP_HD __host__ __device__ __attribute__((always_inline)) static inline
#else
#define VMAFHIP_HD [[gnu::always_inline]] static inline
#endif

// A table that such functions read at an index known at run time: nvcc wants those in the GPU's memory. (One that stands
// in a function needs no word.)
#if defined(__CUDACC__)
#define VMAFHIP_TABLE static __device__ constexpr
#else
#define VMAFHIP_TABLE constexpr
#endif

namespace vmafhip {

template <class T>
VMAFHIP_HD constexpr T smaller(T a, T b) {
  return b < a ? b : a;
}

template <class T>
VMAFHIP_HD constexpr T larger(T a, T b) {
  return a < b ? b : a;
}

// |v| without the undefined case of the most negative value.
VMAFHIP_HD constexpr uint32_t magnitude(int32_t v) {
  return v < 0 ? 0u - static_cast<uint32_t>(v) : static_cast<uint32_t>(v);
}

// Half of 2^shift, the rounding term of a right shift; 0 if nothing is shifted out.
VMAFHIP_HD constexpr int64_t half_of(int shift) { return shift > 0 ? int64_t{1} << (shift - 1) : 0; }

// s * u modulo 2^64: one unsigned 32 x 32 multiplication and a correction, which every vector unit has.
VMAFHIP_HD constexpr uint64_t multiply_wrapping(int32_t s, uint32_t u) {
  const uint64_t product = static_cast<uint64_t>(static_cast<uint32_t>(s)) * u;
  return product - (static_cast<uint64_t>(s < 0 ? u : 0) << 32);
}

// Index of the highest set bit; v > 0.
VMAFHIP_HD constexpr int highest_bit(uint64_t v) {
#if defined(__CUDA_ARCH__)
  return 63 - __clzll(static_cast<long long>(v));
#else
  return 63 - __builtin_clzll(v);
#endif
}

// Mirror about the border sample without repeating it: -1 -> 1, n -> n - 2. One fold only: |i| < n needed.
VMAFHIP_HD constexpr int mirror(int i, int n) { return i < 0 ? -i : i >= n ? 2 * n - 2 - i : i; }

// The same mirror continued periodically, for planes smaller than the filter; n >= 2.
VMAFHIP_HD constexpr int reflect(int i, int n) {
  const int period = 2 * (n - 1);
  const int r = ((i % period) + period) % period;
  return r < n ? r : period - r;
}

}  // namespace vmafhip
