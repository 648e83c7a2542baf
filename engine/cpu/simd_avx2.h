// AVX2 with BMI2 and LZCNT: Intel since Haswell, AMD since Zen.
#pragma once
#include <immintrin.h>

#include <cstdint>

#include "engine/cpu/log2.h"

namespace vmafhip {
namespace {

struct Simd {
  static constexpr int kWords = 16, kDwords = 8;
  static constexpr int kRegisters = 16;
  static constexpr bool kDoubles = true;

  using I = __m256i;
  using F = __m256d;  // four doubles
  using Mask = I;     // all bits of a 32-bit lane

  VMAFHIP_SIMD_FN I zero() { return _mm256_setzero_si256(); }
  VMAFHIP_SIMD_FN I set(int32_t v) { return _mm256_set1_epi32(v); }
  VMAFHIP_SIMD_FN I load(const void *from) { return _mm256_loadu_si256(static_cast<const I *>(from)); }
  VMAFHIP_SIMD_FN void store(void *to, I v) { _mm256_storeu_si256(static_cast<I *>(to), v); }
  VMAFHIP_SIMD_FN I load_bytes(const int8_t *from) {
    return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from)));
  }
  template <int kShift>
  VMAFHIP_SIMD_FN void store_words(int16_t *to, I a, I b) {
    store_low(to, shr<kShift>(a));
    store_low(to + kDwords, shr<kShift>(b));
  }
  VMAFHIP_SIMD_FN void store_low(int16_t *to, I v) {
    const I order = _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15, 0, 1, 4, 5, 8, 9,
                                     12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
    const I words = _mm256_permute4x64_epi64(_mm256_shuffle_epi8(v, order), 0xd8);
    _mm_storeu_si128(reinterpret_cast<__m128i *>(to), _mm256_castsi256_si128(words));
  }

  VMAFHIP_SIMD_FN I add(I a, I b) { return _mm256_add_epi32(a, b); }
  VMAFHIP_SIMD_FN I sub(I a, I b) { return _mm256_sub_epi32(a, b); }
  VMAFHIP_SIMD_FN I bit_and(I a, I b) { return _mm256_and_si256(a, b); }
  VMAFHIP_SIMD_FN I bit_xor(I a, I b) { return _mm256_xor_si256(a, b); }
  template <int n>
  VMAFHIP_SIMD_FN I shl(I a) {
    return _mm256_slli_epi32(a, n);
  }
  template <int n>
  VMAFHIP_SIMD_FN I shr(I a) {
    return _mm256_srli_epi32(a, n);
  }
  template <int n>
  VMAFHIP_SIMD_FN I sra(I a) {
    return _mm256_srai_epi32(a, n);
  }
  VMAFHIP_SIMD_FN I max(I a, I b) { return _mm256_max_epi32(a, b); }
  VMAFHIP_SIMD_FN Mask greater(I a, I b) { return _mm256_cmpgt_epi32(a, b); }
  VMAFHIP_SIMD_FN Mask both_greater(Mask m, I a, I b) { return _mm256_and_si256(m, greater(a, b)); }
  VMAFHIP_SIMD_FN bool any(Mask m) { return _mm256_movemask_epi8(m) != 0; }
  VMAFHIP_SIMD_FN bool all(Mask m) { return _mm256_movemask_epi8(m) == -1; }
  VMAFHIP_SIMD_FN I add_where(I sum, Mask m, I v) { return add(sum, _mm256_and_si256(m, v)); }
  VMAFHIP_SIMD_FN I clear_where(Mask m, I v) { return _mm256_andnot_si256(m, v); }

  VMAFHIP_SIMD_FN I shl_words(I a, int n) { return _mm256_sll_epi16(a, _mm_cvtsi32_si128(n)); }
  VMAFHIP_SIMD_FN void store_interleaved(int16_t *to, I a, I b) {
    const I low = _mm256_unpacklo_epi16(a, b), high = _mm256_unpackhi_epi16(a, b);
    store(to, _mm256_permute2x128_si256(low, high, 0x20));
    store(to + kWords, _mm256_permute2x128_si256(low, high, 0x31));
  }
  VMAFHIP_SIMD_FN I mul_low16(I a, I b) { return _mm256_mullo_epi16(a, b); }
  VMAFHIP_SIMD_FN I mul_high16(I a, I b) { return _mm256_mulhi_epi16(a, b); }
  VMAFHIP_SIMD_FN I dot(I sum, I v, int32_t pair) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(v, _mm256_set1_epi32(pair)));
  }
  VMAFHIP_SIMD_FN I mul_high32_rounded(I a, I b) {
    const I half = _mm256_set1_epi64x(int64_t{1} << 31);
    const I even = _mm256_add_epi64(_mm256_mul_epu32(a, b), half);
    const I odd =
        _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(a, 32), _mm256_srli_epi64(b, 32)), half);
    return _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
  }
  VMAFHIP_SIMD_FN I add_wide(I sum, I v) {
    const I low = _mm256_set1_epi64x(0xffffffff);
    return _mm256_add_epi64(sum, _mm256_add_epi64(_mm256_and_si256(v, low), _mm256_srli_epi64(v, 32)));
  }
  VMAFHIP_SIMD_FN int64_t sum64(I v) {
    const __m128i s = _mm_add_epi64(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    return _mm_cvtsi128_si64(s) + _mm_extract_epi64(s, 1);
  }
  VMAFHIP_SIMD_FN int64_t sum32(I v) {
    return sum64(_mm256_add_epi64(_mm256_cvtepi32_epi64(_mm256_castsi256_si128(v)),
                                  _mm256_cvtepi32_epi64(_mm256_extracti128_si256(v, 1))));
  }

  // 32-bit lanes as doubles: the first and the second half of them.
  struct Doubles {
    F low, high;
  };
  VMAFHIP_SIMD_FN Doubles load_doubles(const int32_t *from) {
    return {_mm256_cvtepi32_pd(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from))),
            _mm256_cvtepi32_pd(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from + 4)))};
  }
  // 0 where the mask is not set.
  VMAFHIP_SIMD_FN Doubles doubles_where(Mask m, I v) {
    const I kept = _mm256_and_si256(m, v);
    return {_mm256_cvtepi32_pd(_mm256_castsi256_si128(kept)),
            _mm256_cvtepi32_pd(_mm256_extracti128_si256(kept, 1))};
  }
  VMAFHIP_SIMD_FN F set_double(double v) { return _mm256_set1_pd(v); }
  VMAFHIP_SIMD_FN F add(F a, F b) { return _mm256_add_pd(a, b); }
  VMAFHIP_SIMD_FN F sub(F a, F b) { return _mm256_sub_pd(a, b); }
  VMAFHIP_SIMD_FN F mul(F a, F b) { return _mm256_mul_pd(a, b); }
  VMAFHIP_SIMD_FN F div(F a, F b) { return _mm256_div_pd(a, b); }
  VMAFHIP_SIMD_FN F min(F a, F b) { return _mm256_min_pd(a, b); }
  VMAFHIP_SIMD_FN F max(F a, F b) { return _mm256_max_pd(a, b); }
  VMAFHIP_SIMD_FN F trunc(F a) { return _mm256_round_pd(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); }
  VMAFHIP_SIMD_FN F add_truncated(F a, F b) { return add(trunc(a), b); }
  // What the logarithm needs of integers from 2^17 to 2^52 held as doubles: their upper halves, in any order.
  VMAFHIP_SIMD_FN I leading(F a, F b) {
    return _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castpd_ps(a), _mm256_castpd_ps(b), 0xdd));
  }
  // sum + vif_log2() - 2048 * 17.
  VMAFHIP_SIMD_FN I add_log2_of_leading(I sum, I bits) {
    const I at = _mm256_and_si256(_mm256_srli_epi32(bits, 5), set(4095));
    const I exponent = _mm256_and_si256(_mm256_srli_epi32(bits, 9), set(2047 << 11));
    return add_log2(sum, at, _mm256_srli_epi32(bits, 17), sub(exponent, set(2048 * (1023 + 17))));
  }
  // The same of integers from 2^17 to 2^31 - 1. The 24th bit is cleared if there are more, so that they do not round
  // a float up.
  VMAFHIP_SIMD_FN I add_log2(I sum, I v) {
    const I bits = _mm256_castps_si256(_mm256_cvtepi32_ps(_mm256_andnot_si256(_mm256_srli_epi32(v, 23), v)));
    const I at = _mm256_and_si256(_mm256_srli_epi32(bits, 8), set(4095));
    const I exponent = _mm256_and_si256(_mm256_srli_epi32(bits, 12), set(255 << 11));
    return add_log2(sum, at, _mm256_srli_epi32(bits, 20), sub(exponent, set(2048 * (127 + 17))));
  }

 private:
  // The polynomial for entry `at` of a segment, of which only the low three bits count.
  VMAFHIP_SIMD_FN I add_log2(I sum, I at, I segment, I exponent) {
    const I centred = sub(at, set(2048));
    const __m256 t = _mm256_cvtepi32_ps(centred);
    const auto pick = [&](const float *c) __attribute__((always_inline)) {
      return _mm256_permutevar8x32_ps(_mm256_load_ps(c), segment);
    };
    const auto pick_integer = [&](const int32_t *c) __attribute__((always_inline)) {
      return _mm256_permutevar8x32_epi32(load(c), segment);
    };
    __m256 rest = pick(kLog2By8.rest[4]);
    for (int k = 3; k >= 0; k--) rest = _mm256_add_ps(_mm256_mul_ps(rest, t), pick(kLog2By8.rest[k]));
    rest = _mm256_mul_ps(rest, t);
    I value = add(_mm256_mullo_epi32(centred, pick_integer(kLog2By8.slope)), pick_integer(kLog2By8.middle));
    value = _mm256_srli_epi32(add(value, _mm256_cvtps_epi32(rest)), kLog2By8Fraction);
    return add(sum, add(value, exponent));
  }
};

}  // namespace
}  // namespace vmafhip
