// The dialect in which kernels are written: one source for HIP (clang), CUDA (nvcc) and, as host C++ in threads that take
// turns, for the simulated runtime of the tests.
//
//   GPU_KERNEL void GPU_BOUNDS(256, 3) vif_scale1(VifArgs args) { … }     an entry point; its one parameter is a struct
//   GPU_SHARED uint32_t row[256];                                         memory of the block
//   GPU_FN                                                                a function of the device, always inlined
//   gpu_warp_size(), gpu_lane(), gpu_shuffle_*, gpu_any, gpu_ballot, gpu_warp_sum   a warp is 32 or 64 threads
//   gpu_sync()                                                            barrier of the block
//
// Arithmetic for which GPUs differ in what is quick: kernels/numbers.h.
#pragma once

#if defined(GPU_SIMULATED)
#include <simt.h>  // tests/hipsim: threadIdx and its like, GPU_KERNEL, GPU_SHARED, barriers, shuffles, atomics
#define GPU_FN [[gnu::always_inline]] inline
#define GPU_NOINLINE [[gnu::noinline]]
#define GPU_BOUNDS(threads, blocks)
#else
#if defined(__HIP__)
#include <hip/hip_runtime.h>
// The second argument of __launch_bounds__ means waves a SIMD there.
#define GPU_BOUNDS(threads, blocks) __launch_bounds__(threads)
#elif defined(__CUDACC__)
#define GPU_BOUNDS(threads, blocks) __launch_bounds__(threads, blocks)
#else
#error "kernels are compiled by clang for HIP, by nvcc, or for the simulated runtime"
#endif
#define GPU_KERNEL extern "C" __global__
#define GPU_SHARED __shared__
#define GPU_FN __device__ __forceinline__
#define GPU_NOINLINE __device__ __attribute__((noinline))
#endif

#include <cstddef>
#include <cstdint>

#include "kernels/args.h"

namespace vmafhip {

#if defined(GPU_SIMULATED)
template <class T>
GPU_FN T *DeviceAddress<T>::get(uint64_t count) const {
  return static_cast<T *>(hipsim::device_memory(value, count * sizeof(T), alignof(T)));
}
#else
template <class T>
GPU_FN T *DeviceAddress<T>::get(uint64_t) const {
#if defined(__HIP__)
  // On the way through the address space of global memory: instructions for addresses of any kind are slower and keep the
  // order with accesses to the block's memory.
  return (T *)reinterpret_cast<__attribute__((address_space(1))) T *>(value);
#else
  return value;
#endif
}

GPU_FN void gpu_sync() { __syncthreads(); }
#if defined(__HIP__)
GPU_FN constexpr int gpu_warp_size() { return __AMDGCN_WAVEFRONT_SIZE; }
template <class T>
GPU_FN T gpu_shuffle_down(T v, int d) {
  return __shfl_down(v, d);
}
template <class T>
GPU_FN T gpu_shuffle_up(T v, int d) {
  return __shfl_up(v, d);
}
template <class T>
GPU_FN T gpu_shuffle_xor(T v, int mask) {
  return __shfl_xor(v, mask);
}
GPU_FN bool gpu_any(bool p) { return __any(p); }
// A bit for each lane of the warp, and the lowest bit's number.
using GpuLanes = uint64_t;
GPU_FN GpuLanes gpu_ballot(bool p) { return __ballot(p); }
GPU_FN int gpu_first_lane(GpuLanes lanes) { return __builtin_ctzll(lanes); }
#else
GPU_FN constexpr int gpu_warp_size() { return 32; }
template <class T>
GPU_FN T gpu_shuffle_down(T v, int d) {
  return __shfl_down_sync(0xffffffffu, v, d);
}
template <class T>
GPU_FN T gpu_shuffle_up(T v, int d) {
  return __shfl_up_sync(0xffffffffu, v, d);
}
template <class T>
GPU_FN T gpu_shuffle_xor(T v, int mask) {
  return __shfl_xor_sync(0xffffffffu, v, mask);
}
GPU_FN bool gpu_any(bool p) { return __any_sync(0xffffffffu, p); }
using GpuLanes = uint32_t;
GPU_FN GpuLanes gpu_ballot(bool p) { return __ballot_sync(0xffffffffu, p); }
GPU_FN int gpu_first_lane(GpuLanes lanes) { return __ffs(static_cast<int>(lanes)) - 1; }
#endif
template <class T>
GPU_FN void gpu_atomic_add(T *to, T v) {
  atomicAdd(to, v);
}
// The compilers' own name for 64 bits is another.
GPU_FN void gpu_atomic_add(uint64_t *to, uint64_t v) {
  static_assert(sizeof(unsigned long long) == sizeof(uint64_t));
  atomicAdd(reinterpret_cast<unsigned long long *>(to), static_cast<unsigned long long>(v));
}
#endif

// Number of the thread within its warp; blocks are one-dimensional.
GPU_FN int gpu_lane() { return static_cast<int>(threadIdx.x) % gpu_warp_size(); }

// 8 and 16 bytes that are loaded and stored at once.
struct alignas(8) Words2 {
  uint32_t x, y;
};
struct alignas(16) Words4 {
  uint32_t x, y, z, w;
};

#if !defined(GPU_SIMULATED)
// Sum over the warp; lane 0 has it.
GPU_FN uint32_t gpu_warp_sum(uint32_t v) {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 800
  return __reduce_add_sync(0xffffffffu, v);
#else
  for (int d = gpu_warp_size() / 2; d > 0; d /= 2) v += gpu_shuffle_down(v, d);
  return v;
#endif
}

// Sum over the warp; every lane has it.
GPU_FN uint32_t gpu_warp_sum_all(uint32_t v) {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 800
  return __reduce_add_sync(0xffffffffu, v);
#else
  for (int d = 1; d < gpu_warp_size(); d *= 2) v += gpu_shuffle_xor(v, d);
  return v;
#endif
}
#endif

}  // namespace vmafhip
