// AVX-512 with F, BW, DQ, VL, VBMI and VNNI: Intel since Ice Lake, AMD since Zen 4.
#pragma once
#include <immintrin.h>

#include <cstdint>

#include "engine/cpu/log2.h"

namespace vmafhip {
namespace {

// Where the bytes of one word of each 32-bit lane of two vectors are; the word starts at bit `shift`.
struct WordBytes {
  alignas(64) uint8_t from[64];
};
constexpr WordBytes word_bytes(int shift) {
  WordBytes out = {};
  for (int i = 0; i < 64; i++) out.from[i] = static_cast<uint8_t>(i / 2 * 4 + shift / 8 + i % 2);
  return out;
}

// Where 16 words of one vector and of another are, in turn; those of the other count from 32 on.
struct WordPairs {
  alignas(64) uint16_t from[32];
};
constexpr WordPairs word_pairs(int first) {
  WordPairs out = {};
  for (int i = 0; i < 32; i++) out.from[i] = static_cast<uint16_t>(first + i / 2 + i % 2 * 32);
  return out;
}

// Of a logarithm, what depends on the segment alone, less what is too much in the exponent's place.
struct LogBases {
  alignas(64) int32_t of_doubles[32];
  alignas(64) int32_t of_floats[32];
};
constexpr LogBases log_bases() {
  LogBases out = {};
  for (int i = 0; i < 32; i++) {
    out.of_doubles[i] = kLog2By32.base[i] - 2048 * (1023 + 15 + 17) - 128 * (i / 2);
    out.of_floats[i] = kLog2By32.base[i] - 2048 * (127 + 15 + 17);
  }
  return out;
}
constexpr LogBases kLogBases = log_bases();

struct Simd {
  static constexpr int kWords = 32, kDwords = 16;
  static constexpr int kRegisters = 32;
  static constexpr bool kDoubles = true;

  using I = __m512i;
  using F = __m512d;       // eight doubles
  using Mask = __mmask16;  // a bit for each 32-bit lane

  VMAFHIP_SIMD_FN I zero() { return _mm512_setzero_si512(); }
  VMAFHIP_SIMD_FN I set(int32_t v) { return _mm512_set1_epi32(v); }
  VMAFHIP_SIMD_FN I load(const void *from) { return _mm512_loadu_si512(from); }
  VMAFHIP_SIMD_FN void store(void *to, I v) { _mm512_storeu_si512(to, v); }
  VMAFHIP_SIMD_FN I load_bytes(const int8_t *from) {
    return _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(from)));
  }
  template <int kShift>
  VMAFHIP_SIMD_FN void store_words(int16_t *to, I a, I b) {
    static constexpr WordBytes kBytes = word_bytes(kShift);
    store(to, _mm512_permutex2var_epi8(a, load(kBytes.from), b));
  }
  VMAFHIP_SIMD_FN void store_low(int16_t *to, I v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), _mm512_cvtepi32_epi16(v));
  }

  VMAFHIP_SIMD_FN I add(I a, I b) { return _mm512_add_epi32(a, b); }
  VMAFHIP_SIMD_FN I sub(I a, I b) { return _mm512_sub_epi32(a, b); }
  VMAFHIP_SIMD_FN I bit_and(I a, I b) { return _mm512_and_si512(a, b); }
  VMAFHIP_SIMD_FN I bit_xor(I a, I b) { return _mm512_xor_si512(a, b); }
  template <int n>
  VMAFHIP_SIMD_FN I shl(I a) {
    return _mm512_slli_epi32(a, n);
  }
  template <int n>
  VMAFHIP_SIMD_FN I shr(I a) {
    return _mm512_srli_epi32(a, n);
  }
  template <int n>
  VMAFHIP_SIMD_FN I sra(I a) {
    return _mm512_srai_epi32(a, n);
  }
  VMAFHIP_SIMD_FN I max(I a, I b) { return _mm512_max_epi32(a, b); }
  VMAFHIP_SIMD_FN Mask greater(I a, I b) { return _mm512_cmpgt_epi32_mask(a, b); }
  VMAFHIP_SIMD_FN Mask both_greater(Mask m, I a, I b) { return _mm512_mask_cmpgt_epi32_mask(m, a, b); }
  VMAFHIP_SIMD_FN bool any(Mask m) { return m != 0; }
  VMAFHIP_SIMD_FN bool all(Mask m) { return m == 0xffff; }
  VMAFHIP_SIMD_FN I add_where(I sum, Mask m, I v) { return _mm512_mask_add_epi32(sum, m, sum, v); }
  VMAFHIP_SIMD_FN I clear_where(Mask m, I v) { return _mm512_mask_mov_epi32(v, m, _mm512_setzero_si512()); }

  VMAFHIP_SIMD_FN I shl_words(I a, int n) { return _mm512_sll_epi16(a, _mm_cvtsi32_si128(n)); }
  VMAFHIP_SIMD_FN void store_interleaved(int16_t *to, I a, I b) {
    static constexpr WordPairs kFirst = word_pairs(0), kLast = word_pairs(16);
    store(to, _mm512_permutex2var_epi16(a, load(kFirst.from), b));
    store(to + kWords, _mm512_permutex2var_epi16(a, load(kLast.from), b));
  }
  VMAFHIP_SIMD_FN I mul_low16(I a, I b) { return _mm512_mullo_epi16(a, b); }
  VMAFHIP_SIMD_FN I mul_high16(I a, I b) { return _mm512_mulhi_epi16(a, b); }
  VMAFHIP_SIMD_FN I dot(I sum, I v, int32_t pair) {
    return _mm512_dpwssd_epi32(sum, v, _mm512_set1_epi32(pair));
  }
  VMAFHIP_SIMD_FN I mul_high32_rounded(I a, I b) {
    const I half = _mm512_set1_epi64(int64_t{1} << 31);
    const I even = _mm512_add_epi64(_mm512_mul_epu32(a, b), half);
    const I odd =
        _mm512_add_epi64(_mm512_mul_epu32(_mm512_srli_epi64(a, 32), _mm512_srli_epi64(b, 32)), half);
    return _mm512_mask_shuffle_epi32(odd, 0x5555, even, _MM_PERM_DDBB);
  }
  VMAFHIP_SIMD_FN I add_wide(I sum, I v) {
    const I low = _mm512_set1_epi64(0xffffffff);
    return _mm512_add_epi64(sum, _mm512_add_epi64(_mm512_and_si512(v, low), _mm512_srli_epi64(v, 32)));
  }
  VMAFHIP_SIMD_FN int64_t sum64(I v) { return _mm512_reduce_add_epi64(v); }
  VMAFHIP_SIMD_FN int64_t sum32(I v) {
    return sum64(_mm512_add_epi64(_mm512_cvtepi32_epi64(_mm512_castsi512_si256(v)),
                                  _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(v, 1))));
  }

  // 32-bit lanes as doubles: the first and the second half of them.
  struct Doubles {
    F low, high;
  };
  VMAFHIP_SIMD_FN Doubles load_doubles(const int32_t *from) {
    return {_mm512_cvtepi32_pd(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(from))),
            _mm512_cvtepi32_pd(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(from + 8)))};
  }
  // 0 where the mask is not set.
  VMAFHIP_SIMD_FN Doubles doubles_where(Mask m, I v) {
    return {_mm512_maskz_cvtepi32_pd(static_cast<__mmask8>(m), _mm512_castsi512_si256(v)),
            _mm512_maskz_cvtepi32_pd(static_cast<__mmask8>(m >> 8), _mm512_extracti64x4_epi64(v, 1))};
  }
  VMAFHIP_SIMD_FN F set_double(double v) { return _mm512_set1_pd(v); }
  VMAFHIP_SIMD_FN F add(F a, F b) { return _mm512_add_pd(a, b); }
  VMAFHIP_SIMD_FN F sub(F a, F b) { return _mm512_sub_pd(a, b); }
  VMAFHIP_SIMD_FN F mul(F a, F b) { return _mm512_mul_pd(a, b); }
  VMAFHIP_SIMD_FN F div(F a, F b) { return _mm512_div_pd(a, b); }
  VMAFHIP_SIMD_FN F min(F a, F b) { return _mm512_min_pd(a, b); }
  VMAFHIP_SIMD_FN F max(F a, F b) { return _mm512_max_pd(a, b); }
  VMAFHIP_SIMD_FN F trunc(F a) { return _mm512_roundscale_pd(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); }
  // trunc(a) + b, integers, as far as leading() goes: what is cut off behind the point is not among those bits.
  VMAFHIP_SIMD_FN F add_truncated(F a, F b) {
    return _mm512_add_round_pd(a, b, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
  }
  // What the logarithm needs of integers from 2^17 to 2^52 held as doubles: their upper halves, in any order.
  VMAFHIP_SIMD_FN I leading(F a, F b) {
    const I odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    return _mm512_permutex2var_epi32(_mm512_castpd_si512(a), odd, _mm512_castpd_si512(b));
  }
  // sum + vif_log2() - 2048 * 17. The lower ten of the leading 16 bits, where they are, count 1 in a float of exponent 18.
  // 128 times the upper word is 2048 times the exponent and 128 times four bits that the table makes up for.
  VMAFHIP_SIMD_FN I add_log2_of_leading(I sum, I bits) {
    return add_log2<18, 5>(dot(sum, bits, 128 << 16), bits, _mm512_srli_epi32(bits, 15),
                           kLogBases.of_doubles);
  }
  // The same of integers from 2^17 to 2^31 - 1. As floats, cut off behind the 24th bit, they keep the leading 16.
  VMAFHIP_SIMD_FN I add_log2(I sum, I v) {
    const I bits = _mm512_castps_si512(_mm512_cvt_roundepi32_ps(v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
    const I exponents = _mm512_and_si512(bits, set(255 << 23));
    return add_log2<15, 8>(dot(sum, exponents, 16 << 16), bits, _mm512_srli_epi32(bits, 18),
                           kLogBases.of_floats);
  }

 private:
  // The polynomial for the ten bits from kFirstBit on, which count 1 in a float of exponent kExponent; only the low five
  // bits of `segment` count.
  template <int kExponent, int kFirstBit>
  VMAFHIP_SIMD_FN I add_log2(I sum, I bits, I segment, const int32_t *bases) {
    static_assert(kExponent + kFirstBit == 23);
    const I under =
        _mm512_ternarylogic_epi32(bits, set(1023 << kFirstBit), set((127 + kExponent) << 23), 0xea);
    const __m512 t = _mm512_sub_ps(_mm512_castsi512_ps(under), _mm512_set1_ps((1 << kExponent) + 512));
    const auto pick = [&](const float *c) __attribute__((always_inline)) {
      return _mm512_permutex2var_ps(_mm512_load_ps(c), segment, _mm512_load_ps(c + 16));
    };
    __m512 value = pick(kLog2By32.c[3]);
    for (int k = 2; k >= 0; k--) value = _mm512_fmadd_ps(value, t, pick(kLog2By32.c[k]));
    const I base = _mm512_permutex2var_epi32(load(bases), segment, load(bases + 16));
    return _mm512_add_epi32(sum, _mm512_add_epi32(_mm512_cvttps_epi32(value), base));
  }
};

}  // namespace
}  // namespace vmafhip
