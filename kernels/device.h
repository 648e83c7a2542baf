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
#define GPU_WAVES(waves)
#else
#if defined(__HIP__)
#include <hip/hip_runtime.h>
// The second argument of __launch_bounds__ means waves a SIMD there: GPU_WAVES(4) asks for registers for four, or for two
// where a SIMD has half of them, 256 for each lane.
#define GPU_BOUNDS(threads, blocks) __launch_bounds__(threads)
#if defined(__GFX9__) && !defined(__gfx90a__) && !defined(__gfx942__)
#define GPU_WAVES(waves) __attribute__((amdgpu_waves_per_eu((waves) / 2)))
#else
#define GPU_WAVES(waves) __attribute__((amdgpu_waves_per_eu(waves)))
#endif
#elif defined(__CUDACC__)
#define GPU_BOUNDS(threads, blocks) __launch_bounds__(threads, blocks)
#define GPU_WAVES(waves)
#else
#error "kernels are compiled by clang for HIP, by nvcc, or for the simulated runtime"
#endif
#define GPU_KERNEL extern "C" __global__
#define GPU_SHARED __shared__
#define GPU_FN __device__ __forceinline__
#define GPU_NOINLINE __device__ __attribute__((noinline))
#endif

// Arithmetic, and ways through a kernel, as AMD's GPUs are quick at them. The simulated runtime is built with and without.
#if defined(__HIP__) || defined(GPU_SIMULATED_AMD)
#define GPU_AMD 1
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

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

// Values of other lanes as an operand of vector instructions, without the way through the block's memory that shuffles
// take: `control` says of which lanes. Lanes for which there is none get `without`.
template <int control>
GPU_FN uint32_t gpu_from_lane(uint32_t v, uint32_t without) {
  return static_cast<uint32_t>(
      __builtin_amdgcn_update_dpp(static_cast<int>(without), static_cast<int>(v), control, 0xf, 0xf, false));
}
GPU_FN uint32_t gpu_read_lane(uint32_t v, int lane) {
  return static_cast<uint32_t>(__builtin_amdgcn_readlane(static_cast<int>(v), lane));
}
// The value of the next lane, or of the one before; the last, or the first, keeps its own. Rows of 16 lanes are what all
// GPUs can move along; where a warp has two of them, the lane at their border is seen to by itself.
#if defined(__GFX9__)
GPU_FN uint32_t gpu_next_lane(uint32_t v) { return gpu_from_lane<0x130>(v, v); }      // wave_shl:1
GPU_FN uint32_t gpu_previous_lane(uint32_t v) { return gpu_from_lane<0x138>(v, v); }  // wave_shr:1
#else
GPU_FN uint32_t gpu_next_lane(uint32_t v) {
  static_assert(gpu_warp_size() == 32);
  const uint32_t behind = gpu_read_lane(v, 16), moved = gpu_from_lane<0x101>(v, v);  // row_shl:1
  return (threadIdx.x & 31) == 15 ? behind : moved;
}
GPU_FN uint32_t gpu_previous_lane(uint32_t v) {
  const uint32_t before = gpu_read_lane(v, 15), moved = gpu_from_lane<0x111>(v, v);  // row_shr:1
  return (threadIdx.x & 31) == 16 ? before : moved;
}
#endif

template <class T>
GPU_FN T gpu_shuffle_down(T v, int d) {
  if constexpr (sizeof(T) == sizeof(uint32_t))
    if (__builtin_constant_p(d) && d == 1)
      return __builtin_bit_cast(T, gpu_next_lane(__builtin_bit_cast(uint32_t, v)));
  return __shfl_down(v, d);
}
template <class T>
GPU_FN T gpu_shuffle_up(T v, int d) {
  if constexpr (sizeof(T) == sizeof(uint32_t))
    if (__builtin_constant_p(d) && d == 1)
      return __builtin_bit_cast(T, gpu_previous_lane(__builtin_bit_cast(uint32_t, v)));
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

// v, of which the compiler knows nothing new: else AMD's keeps what follows from it in scalar registers all along, a pair
// for each comparison, and runs out of them.
GPU_FN int gpu_anew(int v) {
#if defined(__HIP__)
  asm volatile("" : "+v"(v));
#endif
  return v;
}

// The same of a number that all threads of a block have: what is loaded with it is loaded where it is needed.
GPU_FN int gpu_anew_for_all(int v) {
#if defined(__HIP__)
  asm volatile("" : "+s"(v));
#endif
  return v;
}

// v, which all lanes of the warp have: AMD's compiler keeps it in a scalar register.
GPU_FN int gpu_of_warp(int v) {
#if defined(__HIP__)
  return __builtin_amdgcn_readfirstlane(v);
#else
  return v;
#endif
}

// AMD's compiler moves nothing across it, for fewer registers.
GPU_FN void gpu_keep_order() {
#if defined(__HIP__)
  __builtin_amdgcn_sched_barrier(0);
#endif
}

// Calls step(number) for the numbers from 0 to kCount - 1, each a constant: decltype(number)::value. Unlike a loop that is
// unrolled, it is so from the start, however long it is.
template <int... numbers, class Step>
GPU_FN void gpu_each(std::integer_sequence<int, numbers...>, Step step) {
  (step(std::integral_constant<int, numbers>()), ...);
}
template <int kCount, class Step>
GPU_FN void gpu_each(Step step) {
  gpu_each(std::make_integer_sequence<int, kCount>(), step);
}

// Number of the thread within its warp; blocks are one-dimensional.
GPU_FN int gpu_lane() { return static_cast<int>(threadIdx.x) % gpu_warp_size(); }

// 8 and 16 bytes that are loaded and stored at once.
struct alignas(8) Words2 {
  uint32_t x, y;
};
struct alignas(16) Words4 {
  uint32_t x, y, z, w;
};

#if defined(__HIP__)
// Sum over the warp, of which no lane has left; every lane has it. Four steps leave the sum of a row of 16 with its last.
GPU_FN uint32_t gpu_warp_sum_all(uint32_t v) {
  v += gpu_from_lane<0x111>(v, 0);  // row_shr:1, 2, 4, 8
  v += gpu_from_lane<0x112>(v, 0);
  v += gpu_from_lane<0x114>(v, 0);
  v += gpu_from_lane<0x118>(v, 0);
  uint32_t sum = 0;
#pragma unroll
  for (int last = 15; last < gpu_warp_size(); last += 16) sum += gpu_read_lane(v, last);
  return sum;
}
GPU_FN uint32_t gpu_warp_sum(uint32_t v) { return gpu_warp_sum_all(v); }
#elif !defined(GPU_SIMULATED)
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
