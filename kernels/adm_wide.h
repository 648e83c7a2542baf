// What compilers have to be told so that ADM's kernels come out as meant.
#pragma once
#include "kernels/device.h"

namespace vmafhip {

// Bits of a where `mask` is set, of b elsewhere.
GPU_FN int32_t adm_select(int32_t mask, int32_t a, int32_t b) { return (mask & a) | (~mask & b); }

// a * b + c as one instruction. Left to itself nvcc multiplies 64 by 64 bits where it has extended a sign earlier, for
// another product; given the sum as one instruction it takes sums apart again.
GPU_FN int64_t adm_multiply_add(int32_t a, int32_t b, int64_t c) {
#if defined(__CUDACC__)
  int64_t product;
  asm("mul.wide.s32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
  return product + c;
#else
  return static_cast<int64_t>(a) * b + c;
#endif
}

}  // namespace vmafhip
