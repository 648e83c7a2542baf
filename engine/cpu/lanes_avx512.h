// AVX-512: what ADM, motion and scaling need beyond Simd. Wide holds the 64-bit results of the even and the odd 32-bit lanes, Doubles
// one number per 32-bit lane: the first and the second half of the lanes, or the even and the odd ones.
#pragma once
#include "engine/cpu/simd.h"

namespace vmafhip {
namespace {

struct Lanes : Simd {
  using Simd::add;
  using Simd::div;
  using Simd::min;
  using Simd::mul;
  using Simd::shr;
  using Simd::sra;
  using Mask = __mmask16;
  struct Wide {
    __m512i even, odd;
  };
  struct Doubles {
    __m512d first, second;
  };
  struct Masks {
    __mmask8 first, second;
  };

  VMAFHIP_SIMD_FN I load_unsigned_bytes(const uint8_t *p) {
    return _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(p)));
  }
  VMAFHIP_SIMD_FN I set16(int v) { return _mm512_set1_epi16(static_cast<short>(v)); }
  VMAFHIP_SIMD_FN I add16(I a, I b) { return _mm512_add_epi16(a, b); }
  VMAFHIP_SIMD_FN I sub16(I a, I b) { return _mm512_sub_epi16(a, b); }
  VMAFHIP_SIMD_FN I min16(I a, I b) { return _mm512_min_epi16(a, b); }
  VMAFHIP_SIMD_FN I max16(I a, I b) { return _mm512_max_epi16(a, b); }
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
  VMAFHIP_SIMD_FN I join_pairs(I a, I b) {
    return _mm512_mask_blend_epi16(0xaaaaaaaau, a, _mm512_slli_epi32(b, 16));
  }
  VMAFHIP_SIMD_FN I mul(I a, I b) { return _mm512_mullo_epi32(a, b); }
  VMAFHIP_SIMD_FN I min(I a, I b) { return _mm512_min_epi32(a, b); }
  VMAFHIP_SIMD_FN I min_unsigned(I a, I b) { return _mm512_min_epu32(a, b); }
  VMAFHIP_SIMD_FN I abs(I a) { return _mm512_abs_epi32(a); }
  VMAFHIP_SIMD_FN I sra(I a, int n) { return _mm512_sra_epi32(a, _mm_cvtsi32_si128(n)); }
  // Of 1 to 2^31 - 1: the exponent of a float; without the bit below the highest one it cannot round up to the next
  // power of 2.
  VMAFHIP_SIMD_FN I highest_bit(I a) {
    const __m512 f = _mm512_cvtepi32_ps(_mm512_andnot_si512(_mm512_srli_epi32(a, 1), a));
    return _mm512_sub_epi32(_mm512_srli_epi32(_mm512_castps_si512(f), 23), _mm512_set1_epi32(127));
  }
  VMAFHIP_SIMD_FN I shl_each(I a, I n) { return _mm512_sllv_epi32(a, n); }
  VMAFHIP_SIMD_FN I shr_each(I a, I n) { return _mm512_srlv_epi32(a, n); }

  VMAFHIP_SIMD_FN Mask all_lanes() { return 0xffff; }
  VMAFHIP_SIMD_FN Mask first_lanes(int n) { return static_cast<Mask>((1u << n) - 1); }
  VMAFHIP_SIMD_FN I keep(Mask m, I a) { return _mm512_maskz_mov_epi32(m, a); }
  VMAFHIP_SIMD_FN I select(Mask m, I a, I b) { return _mm512_mask_blend_epi32(m, b, a); }

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
  VMAFHIP_SIMD_FN Wide shr_each(Wide a, I n) {
    return {_mm512_srlv_epi64(a.even, _mm512_and_si512(n, _mm512_set1_epi64(0xffffffff))),
            _mm512_srlv_epi64(a.odd, odd(n))};
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

  VMAFHIP_SIMD_FN double first(Doubles a) { return _mm512_cvtsd_f64(a.first); }
  VMAFHIP_SIMD_FN Doubles set_doubles(double v) { return {_mm512_set1_pd(v), _mm512_set1_pd(v)}; }
  VMAFHIP_SIMD_FN Doubles mul(Doubles a, Doubles b) {
    return {_mm512_mul_pd(a.first, b.first), _mm512_mul_pd(a.second, b.second)};
  }
  VMAFHIP_SIMD_FN Doubles div(Doubles a, Doubles b) {
    return {_mm512_div_pd(a.first, b.first), _mm512_div_pd(a.second, b.second)};
  }
  VMAFHIP_SIMD_FN Doubles min(Doubles a, Doubles b) {
    return {_mm512_min_pd(a.first, b.first), _mm512_min_pd(a.second, b.second)};
  }
  VMAFHIP_SIMD_FN Doubles doubles(I a) {
    return {_mm512_cvtepi32_pd(_mm512_castsi512_si256(a)),
            _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(a, 1))};
  }
  VMAFHIP_SIMD_FN I truncate(Doubles a) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvttpd_epi32(a.first)),
                              _mm512_cvttpd_epi32(a.second), 1);
  }
  VMAFHIP_SIMD_FN Doubles floats(I a) {
    const __m512 f = _mm512_cvtepi32_ps(a);
    return {_mm512_cvtps_pd(_mm512_castps512_ps256(f)), _mm512_cvtps_pd(_mm512_extractf32x8_ps(f, 1))};
  }
  VMAFHIP_SIMD_FN Doubles floats(Wide a) {
    return {_mm512_cvtps_pd(_mm512_cvtepi64_ps(a.even)), _mm512_cvtps_pd(_mm512_cvtepi64_ps(a.odd))};
  }
  VMAFHIP_SIMD_FN __mmask8 both(__m512d dot, __m512d a, __m512d b) {
    return _mm512_mask_cmp_pd_mask(_mm512_cmp_pd_mask(dot, _mm512_setzero_pd(), _CMP_GE_OQ), a, b,
                                   _CMP_GE_OQ);
  }
  VMAFHIP_SIMD_FN Masks both_at_least(Doubles dot, Doubles a, Doubles b) {
    return {both(dot.first, a.first, b.first), both(dot.second, a.second, b.second)};
  }
  VMAFHIP_SIMD_FN Mask join_in_order(Masks m) { return static_cast<Mask>(m.first | m.second << 8); }
  VMAFHIP_SIMD_FN Mask join_interleaved(Masks m) {
    return static_cast<Mask>(_pdep_u32(m.first, 0x5555) | _pdep_u32(m.second, 0xaaaa));
  }
};

}  // namespace
}  // namespace vmafhip
