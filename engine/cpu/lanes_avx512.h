// AVX-512: what ADM, motion and scaling need beyond Simd. Wide holds the 64-bit results of the even and the odd 32-bit lanes, Doubles
// one number per 32-bit lane: the first and the second half of the lanes, or the even and the odd ones.
#pragma once
#include "engine/cpu/simd.h"

namespace vmafhip {
namespace {

struct Lanes : Simd {
  using Simd::add;
  using Simd::max;
  using Simd::min;
  using Simd::mul;
  using Simd::shr;
  using Simd::sra;
  using Simd::sub;
  using Mask = __mmask16;   // of 32-bit lanes,
  using Words = __mmask32;  //   of 16-bit lanes
  using Floats = __m512;    // an f32 per 32-bit lane
  struct Wide {
    __m512i even, odd;
  };
  struct Doubles {
    __m512d first, second;
  };

  VMAFHIP_SIMD_FN I load_unsigned_bytes(const uint8_t *p) {
    return _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(p)));
  }
  VMAFHIP_SIMD_FN I set16(int v) { return _mm512_set1_epi16(static_cast<short>(v)); }
  VMAFHIP_SIMD_FN I add16(I a, I b) { return _mm512_add_epi16(a, b); }
  VMAFHIP_SIMD_FN I sub16(I a, I b) { return _mm512_sub_epi16(a, b); }
  VMAFHIP_SIMD_FN I min16(I a, I b) { return _mm512_min_epi16(a, b); }
  VMAFHIP_SIMD_FN I max16(I a, I b) { return _mm512_max_epi16(a, b); }
  VMAFHIP_SIMD_FN I abs16(I a) { return _mm512_abs_epi16(a); }
  // (a * b + 2^14) >> 15 of signed words, modulo 2^16.
  VMAFHIP_SIMD_FN I mul_round16(I a, I b) { return _mm512_mulhrs_epi16(a, b); }
  VMAFHIP_SIMD_FN I mul_high_unsigned16(I a, I b) { return _mm512_mulhi_epu16(a, b); }
  // (a + b + 1) >> 1 of unsigned words.
  VMAFHIP_SIMD_FN I average16(I a, I b) { return _mm512_avg_epu16(a, b); }
  template <int n>
  VMAFHIP_SIMD_FN I shr16(I a) {
    return _mm512_srli_epi16(a, n);
  }
  VMAFHIP_SIMD_FN I shl16(I a, int n) { return _mm512_sll_epi16(a, _mm_cvtsi32_si128(n)); }
  VMAFHIP_SIMD_FN I bit_or(I a, I b) { return _mm512_or_si512(a, b); }
  // Whether a and b have a bit in common.
  VMAFHIP_SIMD_FN bool any_common(I a, I b) { return _mm512_test_epi32_mask(a, b) != 0; }
  // The high words of all 32-bit lanes of a, then of b; the low ones.
  VMAFHIP_SIMD_FN I high_words(I a, I b) { return _mm512_permutex2var_epi16(a, odd_words(), b); }
  VMAFHIP_SIMD_FN I low_words(I a, I b) {
    return _mm512_permutex2var_epi16(a, _mm512_sub_epi16(odd_words(), _mm512_set1_epi16(1)), b);
  }
  // The high, the low words in the order of pack16().
  VMAFHIP_SIMD_FN I pack_high(I a, I b) { return _mm512_permutex2var_epi8(a, bytes_of_pack(2), b); }
  VMAFHIP_SIMD_FN I pack_low(I a, I b) { return _mm512_permutex2var_epi8(a, bytes_of_pack(0), b); }
  // Bits 8 to 23 of all 32-bit lanes, in the order of pack16().
  VMAFHIP_SIMD_FN I pack_middle(I a, I b) { return _mm512_permutex2var_epi8(a, bytes_of_pack(1), b); }
  // The low bytes of all words, in order; all 32-bit lanes as words, in order, clamped to their range.
  VMAFHIP_SIMD_FN void store_low_bytes(uint8_t *to, I v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), _mm512_cvtepi16_epi8(v));
  }
  VMAFHIP_SIMD_FN void store_saturated(int16_t *to, I v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), _mm512_cvtsepi32_epi16(v));
  }
  // Lanes of from[k], from[k + 1], from an index made of the k of each lane: 0 to 62. So far apart are the inputs of
  // kDwords neighbouring outputs if there are at most kPairRatio inputs an output.
  static constexpr int kPairRatio = 4;
  VMAFHIP_SIMD_FN I pair_index(I k) {
    return _mm512_add_epi32(_mm512_or_si512(k, _mm512_slli_epi32(k, 16)), _mm512_set1_epi32(1 << 16));
  }
  VMAFHIP_SIMD_FN I pick_pairs(const int16_t *from, I index) {
    return _mm512_permutex2var_epi16(load(from), index, load(from + 32));
  }
  VMAFHIP_SIMD_FN I unpack_low16(I a, I b) { return _mm512_unpacklo_epi16(a, b); }
  VMAFHIP_SIMD_FN I unpack_high16(I a, I b) { return _mm512_unpackhi_epi16(a, b); }
  VMAFHIP_SIMD_FN I pack16(I a, I b) { return _mm512_packs_epi32(a, b); }
  VMAFHIP_SIMD_FN I multiply_pairs(I a, I b) { return _mm512_madd_epi16(a, b); }
  VMAFHIP_SIMD_FN I mul(I a, I b) { return _mm512_mullo_epi32(a, b); }
  VMAFHIP_SIMD_FN I min(I a, I b) { return _mm512_min_epi32(a, b); }
  VMAFHIP_SIMD_FN I min_unsigned(I a, I b) { return _mm512_min_epu32(a, b); }
  // a with the sign of b divided out; where b is 0, anything.
  VMAFHIP_SIMD_FN I with_sign(I a, I b) {
    return _mm512_mask_sub_epi32(a, _mm512_movepi32_mask(b), _mm512_setzero_si512(), a);
  }
  VMAFHIP_SIMD_FN I abs(I a) { return _mm512_abs_epi32(a); }
  VMAFHIP_SIMD_FN I sra(I a, int n) { return _mm512_sra_epi32(a, _mm_cvtsi32_si128(n)); }
  // Of 1 to 2^31 - 1: the exponent of a float, rounded toward zero. Of 0 something negative.
  VMAFHIP_SIMD_FN I highest_bit(I a) {
    const __m512 f = _mm512_cvt_roundepi32_ps(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    return _mm512_sub_epi32(_mm512_srli_epi32(_mm512_castps_si512(f), 23), _mm512_set1_epi32(127));
  }
  // floor(2^30 / a) for a from 2^13 to 2^15; for a from 1 on no more, and less by 2^-20 of itself at most. One step of Newton's
  // makes the estimate exact to 2^-23, and a small part taken off keeps it below. The quotient then is up to 2^17 and at most
  // 1 too small: its remainder, exact in one fused step, tells.
  VMAFHIP_SIMD_FN I reciprocal(I a) {
    const __m512 v = _mm512_cvtepi32_ps(a), one = _mm512_set1_ps(1);
    const __m512 r = _mm512_rcp14_ps(v);
    const __m512 better = _mm512_fmadd_ps(_mm512_fnmadd_ps(v, r, one), r, r);
    const __m512 below = _mm512_mul_ps(better, _mm512_set1_ps(0x1p30f * (1 - 0x1p-22f)));
    const __m512 q = _mm512_roundscale_ps(below, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    const __m512 rest = _mm512_fnmadd_ps(q, v, _mm512_set1_ps(0x1p30f));
    return _mm512_cvttps_epi32(_mm512_mask_add_ps(q, _mm512_cmp_ps_mask(rest, v, _CMP_GE_OQ), q, one));
  }
  VMAFHIP_SIMD_FN I shl_each(I a, I n) { return _mm512_sllv_epi32(a, n); }
  VMAFHIP_SIMD_FN I shr_each(I a, I n) { return _mm512_srlv_epi32(a, n); }

  VMAFHIP_SIMD_FN Mask all_lanes() { return 0xffff; }
  VMAFHIP_SIMD_FN Mask first_lanes(int n) { return static_cast<Mask>((1u << n) - 1); }
  VMAFHIP_SIMD_FN I keep(Mask m, I a) { return _mm512_maskz_mov_epi32(m, a); }
  VMAFHIP_SIMD_FN I select(Mask m, I a, I b) { return _mm512_mask_blend_epi32(m, b, a); }

  VMAFHIP_SIMD_FN uint32_t bits(Mask m) { return m; }
  VMAFHIP_SIMD_FN Mask lanes(uint32_t bits) { return static_cast<Mask>(bits); }
  // Masks in rows of numbers that have lanes of the same size.
  VMAFHIP_SIMD_FN void store_lanes(int32_t *to, Mask m) { *to = m; }
  VMAFHIP_SIMD_FN Mask load_lanes(const int32_t *from) { return static_cast<Mask>(*from); }
  VMAFHIP_SIMD_FN void store_words(int16_t *to, Words m) {
    to[0] = static_cast<int16_t>(m);
    to[1] = static_cast<int16_t>(m >> 16);
  }
  VMAFHIP_SIMD_FN Words load_words(const int16_t *from) {
    return static_cast<uint16_t>(from[0]) | static_cast<Words>(static_cast<uint16_t>(from[1])) << 16;
  }
  VMAFHIP_SIMD_FN Words greater16(I a, I b) { return _mm512_cmpgt_epi16_mask(a, b); }
  VMAFHIP_SIMD_FN Words equal16(I a, I b) { return _mm512_cmpeq_epi16_mask(a, b); }
  VMAFHIP_SIMD_FN Words both(Words a, Words b) { return a & b; }
  VMAFHIP_SIMD_FN uint32_t bits_of_words(Words m) { return m; }
  VMAFHIP_SIMD_FN I select16(Words m, I a, I b) { return _mm512_mask_blend_epi16(m, b, a); }
  // Of 32-bit lanes made by unpack_low16() and unpack_high16(), for the words that they came from.
  VMAFHIP_SIMD_FN Words join_unpacked(Mask lower, Mask upper) {
    return _pdep_u32(lower, 0x0f0f0f0fu) | _pdep_u32(upper, 0xf0f0f0f0u);
  }

  VMAFHIP_SIMD_FN Floats set_floats(float v) { return _mm512_set1_ps(v); }
  VMAFHIP_SIMD_FN Floats to_floats(I a) { return _mm512_cvtepi32_ps(a); }
  VMAFHIP_SIMD_FN Floats add(Floats a, Floats b) { return _mm512_add_ps(a, b); }
  VMAFHIP_SIMD_FN Floats sub(Floats a, Floats b) { return _mm512_sub_ps(a, b); }
  VMAFHIP_SIMD_FN Floats mul(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
  VMAFHIP_SIMD_FN Floats abs(Floats a) { return _mm512_abs_ps(a); }
  VMAFHIP_SIMD_FN Mask at_most(Floats a, Floats b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }

  VMAFHIP_SIMD_FN Wide set_wide(int64_t v) { return {_mm512_set1_epi64(v), _mm512_set1_epi64(v)}; }
  VMAFHIP_SIMD_FN Wide add(Wide a, Wide b) {
    return {_mm512_add_epi64(a.even, b.even), _mm512_add_epi64(a.odd, b.odd)};
  }
  VMAFHIP_SIMD_FN I odd(I a) { return _mm512_srli_epi64(a, 32); }
  VMAFHIP_SIMD_FN Wide mul_signed(I a, I b) {
    return {_mm512_mul_epi32(a, b), _mm512_mul_epi32(odd(a), odd(b))};
  }
  VMAFHIP_SIMD_FN Wide mul_unsigned(I a, I b) {
    return {_mm512_mul_epu32(a, b), _mm512_mul_epu32(odd(a), odd(b))};
  }
  VMAFHIP_SIMD_FN Wide mul_signed_wide(Wide a, I b) {
    return {_mm512_mul_epi32(a.even, b), _mm512_mul_epi32(a.odd, odd(b))};
  }
  VMAFHIP_SIMD_FN Wide mul_unsigned_wide(Wide a, I b) {
    return {_mm512_mul_epu32(a.even, b), _mm512_mul_epu32(a.odd, odd(b))};
  }
  template <int n>
  VMAFHIP_SIMD_FN Wide shr(Wide a) {
    return {_mm512_srli_epi64(a.even, n), _mm512_srli_epi64(a.odd, n)};
  }
  VMAFHIP_SIMD_FN Wide shr(Wide a, int n) {
    const __m128i by = _mm_cvtsi32_si128(n);
    return {_mm512_srl_epi64(a.even, by), _mm512_srl_epi64(a.odd, by)};
  }
  VMAFHIP_SIMD_FN I narrow(Wide a) {
    return _mm512_mask_blend_epi32(0xaaaa, a.even, _mm512_slli_epi64(a.odd, 32));
  }
  VMAFHIP_SIMD_FN I narrow_high(Wide a) { return _mm512_mask_blend_epi32(0xaaaa, odd(a.even), a.odd); }
  // Modulo 2^64, which _mm512_reduce_add_epi64() is not.
  VMAFHIP_SIMD_FN uint64_t sum(Wide a) {
    alignas(64) uint64_t v[8];
    _mm512_store_si512(v, _mm512_add_epi64(a.even, a.odd));
    uint64_t total = 0;
    for (const uint64_t lane : v) total += lane;
    return total;
  }

  VMAFHIP_SIMD_FN Doubles set_doubles(double v) { return {_mm512_set1_pd(v), _mm512_set1_pd(v)}; }
  VMAFHIP_SIMD_FN Doubles mul(Doubles a, Doubles b) {
    return {_mm512_mul_pd(a.first, b.first), _mm512_mul_pd(a.second, b.second)};
  }
  VMAFHIP_SIMD_FN Doubles min(Doubles a, Doubles b) {
    return {_mm512_min_pd(a.first, b.first), _mm512_min_pd(a.second, b.second)};
  }
  VMAFHIP_SIMD_FN Doubles max(Doubles a, Doubles b) {
    return {_mm512_max_pd(a.first, b.first), _mm512_max_pd(a.second, b.second)};
  }
  VMAFHIP_SIMD_FN Doubles doubles(I a) {
    return {_mm512_cvtepi32_pd(_mm512_castsi512_si256(a)),
            _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(a, 1))};
  }
  VMAFHIP_SIMD_FN I truncate(Doubles a) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvttpd_epi32(a.first)),
                              _mm512_cvttpd_epi32(a.second), 1);
  }

 private:
  VMAFHIP_SIMD_FN I odd_words() {
    return _mm512_add_epi16(_mm512_set1_epi16(1),
                            _mm512_set_epi16(62, 60, 58, 56, 54, 52, 50, 48, 46, 44, 42, 40, 38, 36, 34, 32,
                                             30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0));
  }
  // Two bytes of each 32-bit lane from `first` on: per 128 bits four of a vector, then four of another.
  VMAFHIP_SIMD_FN I bytes_of_pack(int first) {
    const I lane =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 64, 65, 68, 69, 72, 73, 76, 77));
    const I lanes = _mm512_set_epi64(0x3030303030303030, 0x3030303030303030, 0x2020202020202020,
                                     0x2020202020202020, 0x1010101010101010, 0x1010101010101010, 0, 0);
    return _mm512_add_epi8(_mm512_add_epi8(lane, lanes), _mm512_set1_epi8(static_cast<char>(first)));
  }
};

}  // namespace
}  // namespace vmafhip
