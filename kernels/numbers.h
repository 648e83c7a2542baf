// Arithmetic of kernels in the form that each GPU is quick at. Everything is exact, or its error is stated and the caller
// has to make up for it.
//
// NVIDIA multiplies 32 x 32 + 64 bits at full rate, so sums are 64 bits wide there. AMD multiplies 24 bits at full rate
// and 32 bits at a quarter of it, so sums are kept in two words of 16-bit halves there.
#pragma once
#include "kernels/device.h"

namespace vmafhip {

// ---- Leading bits and reciprocals -----------------------------------------------------------------------------------

// Normalisation: (number of the highest set bit) << 15 | the 15 bits below it, plus kGpuLeadingBias; v > 0. Exact: bits
// further below are cut off.
#if defined(__CUDACC__)
// A conversion to float that cuts off leaves exponent and mantissa just so, and costs a quarter of counting zeros.
constexpr uint32_t kGpuLeadingBias = 127u << 15;
GPU_FN uint32_t gpu_leading16(uint32_t v) { return __float_as_uint(__uint2float_rz(v)) >> 8; }
#else
constexpr uint32_t kGpuLeadingBias = 0;
GPU_FN uint32_t gpu_leading16(uint32_t v) {
  const int zeros = __builtin_clz(v);
  return (static_cast<uint32_t>(30 - zeros) << 15) + ((v << zeros) >> 16);
}
#endif

// 1 / v for normal v, within 1 ulp (2^-23 relative) of it. Differs between GPUs.
GPU_FN float gpu_reciprocal(float v) {
#if defined(__CUDACC__)
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  return r;
#elif defined(__HIP__)
  return __builtin_amdgcn_rcpf(v);
#else
  return 1.0f / v;
#endif
}

// Integer part of v >= 0. What exceeds 32 bits gives some number.
GPU_FN uint32_t gpu_truncate(float v) {
#if defined(__CUDACC__)
  return __float2uint_rz(v);
#else
  return v < 4294967040.0f ? static_cast<uint32_t>(v) : 0xffffffffu;
#endif
}

// Nearest integer of |v| < 2^22, ties to even: adding 1.5 * 2^23 leaves it in the mantissa. Spares the slow conversion.
// Exact for such v, else some number.
GPU_FN int32_t gpu_nearest(float v) {
  const float shifted = v + 12582912.0f;
#if defined(__CUDACC__) || defined(__HIP__)
  return __float_as_int(shifted) - 0x4b400000;
#else
  return static_cast<int32_t>(__builtin_bit_cast(uint32_t, shifted) - 0x4b400000u);
#endif
}

// v, which fits 24 bits with its sign, said to AMD's compiler: products of such numbers run at four times the rate there.
GPU_FN int32_t gpu_int24(int32_t v) { return static_cast<int32_t>(static_cast<uint32_t>(v) << 8) >> 8; }

// ---- Sums of weighted samples ---------------------------------------------------------------------------------------

// Sum of weight * value: weights up to 16 bits and 65536 in all, values of 32 bits, signed or not. Exact.
#if defined(GPU_AMD)
class GpuWideSum {
 public:
  GPU_FN void add(uint32_t value, uint32_t weight) {
    low_ += (value & 0xffff) * weight;
    high_ += (value >> 16) * weight;
  }
  GPU_FN void add(int32_t value, uint32_t weight) {
    low_ += (static_cast<uint32_t>(value) & 0xffff) * weight;
    high_ += static_cast<uint32_t>(value >> 16) * weight;
  }
  // (sum + 2^15) >> 16, its low 32 bits. The low halves sum up to 65535 * 65536 at most: there is room for 2^15.
  GPU_FN uint32_t rounded16() const { return high_ + ((low_ + 32768u) >> 16); }
  // Of values that are not signed.
  GPU_FN uint64_t sum() const { return (static_cast<uint64_t>(high_) << 16) + low_; }

 private:
  uint32_t low_ = 0, high_ = 0;
};
#else
class GpuWideSum {
 public:
  GPU_FN void add(uint32_t value, uint32_t weight) { sum_ += static_cast<uint64_t>(value) * weight; }
  GPU_FN void add(int32_t value, uint32_t weight) {
    sum_ += static_cast<uint64_t>(static_cast<int64_t>(value) * static_cast<int32_t>(weight));
  }
  GPU_FN uint32_t rounded16() const { return static_cast<uint32_t>((sum_ + 32768) >> 16); }
  GPU_FN uint64_t sum() const { return sum_; }

 private:
  uint64_t sum_ = 0;
};
#endif

// Sums of weight * first and weight * second, of bytes, with weights of 65536 in all: each below 2^24, so that both have
// room in 64 bits and one multiplication does for them. Exact.
#if defined(GPU_AMD)
class GpuTwinSum {
 public:
  GPU_FN static uint32_t pack(uint32_t first, uint32_t second) { return first | second << 16; }
  GPU_FN void add(uint32_t packed, uint32_t weight) {
    first_ += (packed & 0xffff) * weight;
    second_ += (packed >> 16) * weight;
  }
  GPU_FN uint32_t first() const { return first_; }
  GPU_FN uint32_t second() const { return second_; }

 private:
  uint32_t first_ = 0, second_ = 0;
};
#else
class GpuTwinSum {
 public:
  GPU_FN static uint32_t pack(uint32_t first, uint32_t second) { return first | second << 24; }
  GPU_FN void add(uint32_t packed, uint32_t weight) { sum_ += static_cast<uint64_t>(packed) * weight; }
  GPU_FN uint32_t first() const { return static_cast<uint32_t>(sum_) & 0xffffff; }
  GPU_FN uint32_t second() const { return static_cast<uint32_t>(sum_ >> 24); }

 private:
  uint64_t sum_ = 0;
};
#endif

// GPU_HAS_DOT2: an instruction that multiplies both halves of two words and adds the products to a sum, modulo 2^32.
#if defined(GPU_SIMULATED_AMD) || defined(__gfx906__) || defined(__gfx908__) || defined(__gfx90a__) || \
    defined(__gfx942__) || defined(__gfx1030__) || defined(__gfx1031__) || defined(__gfx1032__) ||     \
    defined(__gfx1033__) || defined(__gfx1034__) || defined(__gfx1035__) || defined(__gfx1036__)
constexpr bool kGpuHasDot2 = true;
#else
constexpr bool kGpuHasDot2 = false;
#endif
GPU_FN uint32_t gpu_dot2(uint32_t a, uint32_t b, uint32_t sum) {
#if defined(__HIP__)
  if constexpr (kGpuHasDot2) {
    using Halves = uint16_t __attribute__((ext_vector_type(2)));
    return __builtin_amdgcn_udot2(__builtin_bit_cast(Halves, a), __builtin_bit_cast(Halves, b), sum, false);
  }
#endif
  return sum + (a & 0xffff) * (b & 0xffff) + (a >> 16) * (b >> 16);
}

// a * b + sum, a and b of 24 bits, modulo 2^32. AMD's compiler would take products out that several sums have in common,
// as filters are symmetric, and keep them: sums of products in one instruction are cheaper, and need no registers.
GPU_FN uint32_t gpu_multiply_add24(uint32_t a, uint32_t b, uint32_t sum) {
#if defined(__HIP__)
  uint32_t result;
  asm("v_mad_u32_u24 %0, %1, %2, %3" : "=v"(result) : "v"(a), "s"(b), "v"(sum));
  return result;
#else
  return sum + a * b;
#endif
}

// Lower and upper halves of two words, the first word's below.
GPU_FN uint32_t gpu_lower_halves(uint32_t first, uint32_t second);
GPU_FN uint32_t gpu_upper_halves(uint32_t first, uint32_t second);

// Weights of taps t and t + 1 of a filter as a word; there is nothing behind the last.
template <int kTaps, class Taps>
GPU_FN constexpr uint32_t gpu_two_taps(const Taps &taps, int t) {
  return taps[t] | (t + 1 < kTaps ? static_cast<uint32_t>(taps[t + 1]) : 0u) << 16;
}

// Sums along a row, kCount of them, of the lower and of the upper halves of words[i] to words[i + kTaps - 1], weighted; modulo
// 2^32. kDot2: two taps at a time.
template <int kTaps, int kCount, bool kDot2 = kGpuHasDot2, class Taps>
GPU_FN void gpu_sum_halves(const uint32_t *words, const Taps &taps, uint32_t (&lower)[kCount],
                           uint32_t (&upper)[kCount]) {
  constexpr int kWords = kCount + kTaps - 1;
#pragma unroll
  for (int i = 0; i < kCount; i++) lower[i] = upper[i] = 0;
  gpu_each<kWords>([&](auto number) {
    constexpr int c = decltype(number)::value, behind = kDot2 && c + 1 < kWords ? c + 1 : c;
    const uint32_t low = kDot2 ? gpu_lower_halves(words[c], words[behind]) : words[c] & 0xffff,
                   high = kDot2 ? gpu_upper_halves(words[c], words[behind]) : words[c] >> 16;
#pragma unroll
    for (int i = 0; i < kCount; i++) {
      const int t = c - i;
      if (t < 0 || t >= kTaps || (kDot2 && t % 2 != 0)) continue;
      if constexpr (kDot2) {
        lower[i] = gpu_dot2(low, gpu_two_taps<kTaps>(taps, t), lower[i]);
        upper[i] = gpu_dot2(high, gpu_two_taps<kTaps>(taps, t), upper[i]);
      } else {
        lower[i] = gpu_multiply_add24(low, taps[t], lower[i]);
        upper[i] = gpu_multiply_add24(high, taps[t], upper[i]);
      }
    }
  });
}

// Sums down a column as its samples come, of numbers of 16 bits: every kEvery-th of kRows rows, of which row r takes the
// samples r + kBegin to r + kBegin + kTaps - 1; modulo 2^32. With kDot2 a sample is taken with the one before it, and
// one more, whatever it is, has to come behind the last.
template <int kTaps, int kRows, int kEvery = 1, int kBegin = 0, bool kDot2 = kGpuHasDot2>
class GpuColumnSums {
 public:
  // Sample i, behind `before`.
  template <int i, class Taps>
  GPU_FN void add(uint32_t before, uint32_t sample, const Taps &taps) {
    if constexpr (kDot2 && i == 0) return;
    const uint32_t two = kDot2 ? before | sample << 16 : 0;
#pragma unroll
    for (int r = 0; r < kRows; r += kEvery) {
      const int t = i - (kDot2 ? 1 : 0) - r - kBegin;
      if (t < 0 || t >= kTaps || (kDot2 && t % 2 != 0)) continue;
      uint32_t &sum = sums_[r / kEvery];
      sum =
          kDot2 ? gpu_dot2(two, gpu_two_taps<kTaps>(taps, t), sum) : gpu_multiply_add24(sample, taps[t], sum);
    }
  }
  GPU_FN uint32_t operator[](int r) const { return sums_[r]; }

 private:
  uint32_t sums_[(kRows + kEvery - 1) / kEvery] = {};
};

// (a * b + 2^31) >> 32.
GPU_FN uint32_t gpu_rounded_high(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>((static_cast<uint64_t>(a) * b + 0x80000000u) >> 32);
}

// ---- Bytes and matrices ---------------------------------------------------------------------------------------------

// Sum of the products of the bytes of a and b, plus `sum`; modulo 2^32.
GPU_FN uint32_t gpu_dot4(uint32_t a, uint32_t b, uint32_t sum) {
#if defined(__CUDACC__)
  return __dp4a(a, b, sum);
#elif defined(__HIP__) && !defined(__gfx900__) && !defined(__gfx902__) && !defined(__gfx904__) && \
    !defined(__gfx909__) && !defined(__gfx90c__) && !defined(__gfx1010__) && !defined(__gfx1013__)
  return __builtin_amdgcn_udot4(a, b, sum, false);
#else
  for (int i = 0; i < 4; ++i) sum += (a >> 8 * i & 255) * (b >> 8 * i & 255);
  return sum;
#endif
}

// Byte i of the result is byte (selector >> 4i & 7) of the eight bytes b:a, a's first.
GPU_FN uint32_t gpu_permute(uint32_t a, uint32_t b, uint32_t selector) {
#if defined(__CUDACC__)
  return __byte_perm(a, b, selector);
#elif defined(__HIP__)
  return __builtin_amdgcn_perm(
      b, a, (selector & 7) | (selector & 0x70) << 4 | (selector & 0x700) << 8 | (selector & 0x7000) << 12);
#else
  const uint64_t bytes = static_cast<uint64_t>(b) << 32 | a;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i)
    result |= static_cast<uint32_t>(bytes >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i;
  return result;
#endif
}

GPU_FN uint32_t gpu_lower_halves(uint32_t first, uint32_t second) {
  return gpu_permute(first, second, 0x5410);
}
GPU_FN uint32_t gpu_upper_halves(uint32_t first, uint32_t second) {
  return gpu_permute(first, second, 0x7632);
}

// Four words in, four words out: word b holds byte b of each.
GPU_FN void gpu_transpose_bytes(const uint32_t *in, uint32_t *out) {
  const uint32_t a = gpu_permute(in[0], in[1], 0x5140), b = gpu_permute(in[2], in[3], 0x5140);
  const uint32_t c = gpu_permute(in[0], in[1], 0x7362), d = gpu_permute(in[2], in[3], 0x7362);
  out[0] = gpu_permute(a, b, 0x5410);
  out[1] = gpu_permute(a, b, 0x7632);
  out[2] = gpu_permute(c, d, 0x5410);
  out[3] = gpu_permute(c, d, 0x7632);
}

// The same for four values of 16 bits: two words out.
GPU_FN void gpu_transpose_low_bytes(const uint32_t *in, uint32_t *out) {
  const uint32_t a = gpu_permute(in[0], in[1], 0x5140), b = gpu_permute(in[2], in[3], 0x5140);
  out[0] = gpu_permute(a, b, 0x5410);
  out[1] = gpu_permute(a, b, 0x7632);
}

// GPU_HAS_MMA_U8: matrix units that multiply bytes, in warps of 32. gpu_mma_u8(d, a, b0, b1) adds to D (16 x 8, 32 bits)
// the product of A (16 x 32) and B (32 x 8), both bytes. With g = lane / 4 and q = lane % 4 a lane holds, four bytes a word,
//   of A  rows g and g + 8 at columns 4q to 4q + 3 (a[0], a[1]) and 16 + 4q to 16 + 4q + 3 (a[2], a[3]),
//   of B  column g at rows 4q to 4q + 3 (b0) and 16 + 4q to 16 + 4q + 3 (b1),
//   of D  rows g (d[0], d[1]) and g + 8 (d[2], d[3]) at columns 2q and 2q + 1.
#if defined(GPU_SIMULATED) && !defined(GPU_AMD)
#define GPU_HAS_MMA_U8 1
#elif defined(__CUDACC__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)
#define GPU_HAS_MMA_U8 1
GPU_FN void gpu_mma_u8(uint32_t *d, const uint32_t *a, uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
#endif

// GPU_HAS_MMA_I8: AMD's matrix units that multiply signed bytes, in warps of 64. gpu_mma_i8(d, a0, a1, b0, b1) adds to D (16 x
// 16, 32 bits) the product of A (16 x 32) and B (32 x 16). With n = lane % 16 and q = lane / 16 a lane holds, four bytes a word,
//   of A  row n at columns 4q to 4q + 3 (a0) and 16 + 4q to 16 + 4q + 3 (a1),
//   of B  column n at rows 4q to 4q + 3 (b0) and 16 + 4q to 16 + 4q + 3 (b1),
//   of D  column n at rows 4q to 4q + 3.
// So AMD's Matrix Instruction Calculator has v_mfma_i32_16x16x16i8 (github.com/ROCm/amd_matrix_instruction_calculator). A
// lane's words of v_mfma_i32_16x16x32_i8 are columns 8q to 8q + 7; but it is all one in which order products are added.
// gfx908 has its results in registers of another kind, from which they would have to be fetched.
#if defined(GPU_SIMULATED)
#define GPU_HAS_MMA_I8 1
#elif defined(__gfx90a__) || defined(__gfx942__)
#define GPU_HAS_MMA_I8 1
GPU_FN void gpu_mma_i8(uint32_t *d, uint32_t a0, uint32_t a1, uint32_t b0, uint32_t b1) {
  using Sums = int __attribute__((ext_vector_type(4)));
  Sums sums = {static_cast<int>(d[0]), static_cast<int>(d[1]), static_cast<int>(d[2]),
               static_cast<int>(d[3])};
#if defined(__gfx942__)
  const uint64_t a = a0 | static_cast<uint64_t>(a1) << 32, b = b0 | static_cast<uint64_t>(b1) << 32;
  sums = __builtin_amdgcn_mfma_i32_16x16x32_i8(static_cast<long>(a), static_cast<long>(b), sums, 0, 0, 0);
#else
  sums = __builtin_amdgcn_mfma_i32_16x16x16i8(static_cast<int>(a0), static_cast<int>(b0), sums, 0, 0, 0);
  sums = __builtin_amdgcn_mfma_i32_16x16x16i8(static_cast<int>(a1), static_cast<int>(b1), sums, 0, 0, 0);
#endif
#pragma unroll
  for (int i = 0; i < 4; i++) d[i] = static_cast<uint32_t>(sums[i]);
}
#endif

}  // namespace vmafhip
