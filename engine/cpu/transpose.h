// Transposition of a square of kFloats x kFloats floats in vectors.
// Everything is local to the including file: it is compiled once per instruction set.
#pragma once
#include "engine/cpu/floats.h"

namespace vmafhip {
namespace {

VMAFHIP_FLOATS_FN void transpose(F32 (&v)[kFloats]) {
#if defined(__AVX512BW__)
  __m512 t[16], u[16];
#pragma GCC unroll 8
  for (int i = 0; i < 8; i++) {
    t[2 * i] = _mm512_unpacklo_ps(v[2 * i], v[2 * i + 1]);
    t[2 * i + 1] = _mm512_unpackhi_ps(v[2 * i], v[2 * i + 1]);
  }
  // u[4 i + k]: columns k, k + 4, k + 8, k + 12 of rows 4 i to 4 i + 3.
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++)
#pragma GCC unroll 2
    for (int k = 0; k < 2; k++) {
      const __m512d low = _mm512_castps_pd(t[4 * i + k]), high = _mm512_castps_pd(t[4 * i + 2 + k]);
      u[4 * i + 2 * k] = _mm512_castpd_ps(_mm512_unpacklo_pd(low, high));
      u[4 * i + 2 * k + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(low, high));
    }
#pragma GCC unroll 4
  for (int k = 0; k < 4; k++) {
    const __m512 a = _mm512_shuffle_f32x4(u[k], u[4 + k], 0x44),
                 b = _mm512_shuffle_f32x4(u[k], u[4 + k], 0xee);
    const __m512 c = _mm512_shuffle_f32x4(u[8 + k], u[12 + k], 0x44);
    const __m512 d = _mm512_shuffle_f32x4(u[8 + k], u[12 + k], 0xee);
    v[k] = _mm512_shuffle_f32x4(a, c, 0x88);
    v[4 + k] = _mm512_shuffle_f32x4(a, c, 0xdd);
    v[8 + k] = _mm512_shuffle_f32x4(b, d, 0x88);
    v[12 + k] = _mm512_shuffle_f32x4(b, d, 0xdd);
  }
#elif defined(__AVX2__)
  __m256 t[8], u[8];
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++) {
    t[2 * i] = _mm256_unpacklo_ps(v[2 * i], v[2 * i + 1]);
    t[2 * i + 1] = _mm256_unpackhi_ps(v[2 * i], v[2 * i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 2; i++)
#pragma GCC unroll 2
    for (int k = 0; k < 2; k++) {
      u[4 * i + 2 * k] = _mm256_shuffle_ps(t[4 * i + k], t[4 * i + 2 + k], 0x44);
      u[4 * i + 2 * k + 1] = _mm256_shuffle_ps(t[4 * i + k], t[4 * i + 2 + k], 0xee);
    }
#pragma GCC unroll 4
  for (int k = 0; k < 4; k++) {
    v[k] = _mm256_permute2f128_ps(u[k], u[4 + k], 0x20);
    v[4 + k] = _mm256_permute2f128_ps(u[k], u[4 + k], 0x31);
  }
#else
  const I32 low = {0, 4, 1, 5}, high = {2, 6, 3, 7};
  const F32 a = __builtin_shuffle(v[0], v[2], low), b = __builtin_shuffle(v[0], v[2], high);
  const F32 c = __builtin_shuffle(v[1], v[3], low), d = __builtin_shuffle(v[1], v[3], high);
  v[0] = __builtin_shuffle(a, c, low);
  v[1] = __builtin_shuffle(a, c, high);
  v[2] = __builtin_shuffle(b, d, low);
  v[3] = __builtin_shuffle(b, d, high);
#endif
}

// The lanes with even numbers of a and then of b, or those with odd numbers.
VMAFHIP_FLOATS_FN F32 even_lanes(F32 a, F32 b) {
#if defined(__AVX512BW__)
  return __builtin_shuffle(a, b, I32{0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30});
#elif defined(__AVX2__)
  return __builtin_shuffle(a, b, I32{0, 2, 4, 6, 8, 10, 12, 14});
#else
  return __builtin_shuffle(a, b, I32{0, 2, 4, 6});
#endif
}
VMAFHIP_FLOATS_FN F32 odd_lanes(F32 a, F32 b) {
#if defined(__AVX512BW__)
  return __builtin_shuffle(a, b, I32{1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31});
#elif defined(__AVX2__)
  return __builtin_shuffle(a, b, I32{1, 3, 5, 7, 9, 11, 13, 15});
#else
  return __builtin_shuffle(a, b, I32{1, 3, 5, 7});
#endif
}

}  // namespace
}  // namespace vmafhip
