// AVX2: what lanes_avx512.h says, in vectors of 256 bits.
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
  using Mask = __m256i;
  using Words = __m256i;
  using Floats = __m256;
  struct Wide {
    __m256i even, odd;
  };
  struct Doubles {
    __m256d first, second;
  };

  VMAFHIP_SIMD_FN I load_unsigned_bytes(const uint8_t *p) {
    return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i *>(p)));
  }
  VMAFHIP_SIMD_FN I set16(int v) { return _mm256_set1_epi16(static_cast<short>(v)); }
  VMAFHIP_SIMD_FN I add16(I a, I b) { return _mm256_add_epi16(a, b); }
  VMAFHIP_SIMD_FN I sub16(I a, I b) { return _mm256_sub_epi16(a, b); }
  VMAFHIP_SIMD_FN I min16(I a, I b) { return _mm256_min_epi16(a, b); }
  VMAFHIP_SIMD_FN I max16(I a, I b) { return _mm256_max_epi16(a, b); }
  VMAFHIP_SIMD_FN I abs16(I a) { return _mm256_abs_epi16(a); }
  VMAFHIP_SIMD_FN I mul_round16(I a, I b) { return _mm256_mulhrs_epi16(a, b); }
  VMAFHIP_SIMD_FN I mul_high_unsigned16(I a, I b) { return _mm256_mulhi_epu16(a, b); }
  VMAFHIP_SIMD_FN I average16(I a, I b) { return _mm256_avg_epu16(a, b); }
  template <int n>
  VMAFHIP_SIMD_FN I shr16(I a) {
    return _mm256_srli_epi16(a, n);
  }
  VMAFHIP_SIMD_FN I shl16(I a, int n) { return _mm256_sll_epi16(a, _mm_cvtsi32_si128(n)); }
  VMAFHIP_SIMD_FN I bit_or(I a, I b) { return _mm256_or_si256(a, b); }
  VMAFHIP_SIMD_FN bool any_common(I a, I b) { return !_mm256_testz_si256(a, b); }
  VMAFHIP_SIMD_FN I high_words(I a, I b) { return _mm256_permute4x64_epi64(pack_high(a, b), 0xd8); }
  VMAFHIP_SIMD_FN I low_words(I a, I b) { return _mm256_permute4x64_epi64(pack_low(a, b), 0xd8); }
  VMAFHIP_SIMD_FN I pack_high(I a, I b) {
    return _mm256_packs_epi32(_mm256_srai_epi32(a, 16), _mm256_srai_epi32(b, 16));
  }
  VMAFHIP_SIMD_FN I pack_low(I a, I b) {
    const I low = _mm256_set1_epi32(0xffff);
    return _mm256_packus_epi32(_mm256_and_si256(a, low), _mm256_and_si256(b, low));
  }
  VMAFHIP_SIMD_FN I pack_middle(I a, I b) {
    const I low = _mm256_set1_epi32(0xffff);
    return _mm256_packus_epi32(_mm256_and_si256(_mm256_srli_epi32(a, 8), low),
                               _mm256_and_si256(_mm256_srli_epi32(b, 8), low));
  }
  VMAFHIP_SIMD_FN void store_low_bytes(uint8_t *to, I v) {
    const __m256i low = _mm256_and_si256(v, _mm256_set1_epi16(255));
    _mm_storeu_si128(reinterpret_cast<__m128i *>(to),
                     _mm_packus_epi16(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1)));
  }
  VMAFHIP_SIMD_FN void store_saturated(int16_t *to, I v) {
    _mm_storeu_si128(reinterpret_cast<__m128i *>(to),
                     _mm_packs_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1)));
  }
  // k from 0 to 15: pairs at even k are lanes of one vector, those at odd k of one that is loaded a word further on.
  // The index has k / 2 in its low bits and whether k is odd in its sign.
  static constexpr int kPairRatio = 2;
  VMAFHIP_SIMD_FN I pair_index(I k) {
    return _mm256_or_si256(_mm256_srli_epi32(k, 1), _mm256_slli_epi32(k, 31));
  }
  VMAFHIP_SIMD_FN I pick_pairs(const int16_t *from, I index) {
    const __m256i even = _mm256_permutevar8x32_epi32(load(from), index);
    const __m256i odd = _mm256_permutevar8x32_epi32(load(from + 1), index);
    return _mm256_castps_si256(
        _mm256_blendv_ps(_mm256_castsi256_ps(even), _mm256_castsi256_ps(odd), _mm256_castsi256_ps(index)));
  }
  VMAFHIP_SIMD_FN I unpack_low16(I a, I b) { return _mm256_unpacklo_epi16(a, b); }
  VMAFHIP_SIMD_FN I unpack_high16(I a, I b) { return _mm256_unpackhi_epi16(a, b); }
  VMAFHIP_SIMD_FN I pack16(I a, I b) { return _mm256_packs_epi32(a, b); }
  VMAFHIP_SIMD_FN I multiply_pairs(I a, I b) { return _mm256_madd_epi16(a, b); }
  VMAFHIP_SIMD_FN I mul(I a, I b) { return _mm256_mullo_epi32(a, b); }
  VMAFHIP_SIMD_FN I min(I a, I b) { return _mm256_min_epi32(a, b); }
  VMAFHIP_SIMD_FN I min_unsigned(I a, I b) { return _mm256_min_epu32(a, b); }
  VMAFHIP_SIMD_FN I with_sign(I a, I b) { return _mm256_sign_epi32(a, b); }
  VMAFHIP_SIMD_FN I abs(I a) { return _mm256_abs_epi32(a); }
  VMAFHIP_SIMD_FN I sra(I a, int n) { return _mm256_sra_epi32(a, _mm_cvtsi32_si128(n)); }
  VMAFHIP_SIMD_FN I shl_each(I a, I n) { return _mm256_sllv_epi32(a, n); }
  VMAFHIP_SIMD_FN I shr_each(I a, I n) { return _mm256_srlv_epi32(a, n); }
  // The exponent of a float; without the bit below the highest one it cannot round up to the next power of 2.
  VMAFHIP_SIMD_FN I highest_bit(I a) {
    const __m256 f = _mm256_cvtepi32_ps(_mm256_andnot_si256(_mm256_srli_epi32(a, 1), a));
    return _mm256_sub_epi32(_mm256_srli_epi32(_mm256_castps_si256(f), 23), _mm256_set1_epi32(127));
  }
  // The quotient is up to 2^17 and, rounded, at most 1 too large: its remainder tells. For a below 2^13 it is within 2^-20.
  VMAFHIP_SIMD_FN I reciprocal(I a) {
    const I q = _mm256_cvttps_epi32(_mm256_div_ps(_mm256_set1_ps(0x1p30f), _mm256_cvtepi32_ps(a)));
    const I rest = _mm256_sub_epi32(_mm256_set1_epi32(1 << 30), _mm256_mullo_epi32(q, a));
    return _mm256_add_epi32(q, _mm256_srai_epi32(rest, 31));
  }

  VMAFHIP_SIMD_FN Mask all_lanes() { return _mm256_set1_epi32(-1); }
  VMAFHIP_SIMD_FN Mask first_lanes(int n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  VMAFHIP_SIMD_FN I keep(Mask m, I a) { return _mm256_and_si256(m, a); }
  VMAFHIP_SIMD_FN I select(Mask m, I a, I b) { return _mm256_blendv_epi8(b, a, m); }

  VMAFHIP_SIMD_FN uint32_t bits(Mask m) {
    return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(m)));
  }
  VMAFHIP_SIMD_FN Mask lanes(uint32_t bits) {
    const I each = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(static_cast<int>(bits)), each), each);
  }
  VMAFHIP_SIMD_FN void store_lanes(int32_t *to, Mask m) { store(to, m); }
  VMAFHIP_SIMD_FN Mask load_lanes(const int32_t *from) { return load(from); }
  VMAFHIP_SIMD_FN void store_words(int16_t *to, Words m) { store(to, m); }
  VMAFHIP_SIMD_FN Words load_words(const int16_t *from) { return load(from); }
  VMAFHIP_SIMD_FN Words greater16(I a, I b) { return _mm256_cmpgt_epi16(a, b); }
  VMAFHIP_SIMD_FN Words equal16(I a, I b) { return _mm256_cmpeq_epi16(a, b); }
  VMAFHIP_SIMD_FN Words both(Words a, Words b) { return _mm256_and_si256(a, b); }
  VMAFHIP_SIMD_FN uint32_t bits_of_words(Words m) {
    return _pext_u32(static_cast<uint32_t>(_mm256_movemask_epi8(m)), 0x55555555);
  }
  VMAFHIP_SIMD_FN I select16(Words m, I a, I b) { return _mm256_blendv_epi8(b, a, m); }
  VMAFHIP_SIMD_FN Words join_unpacked(Mask lower, Mask upper) { return _mm256_packs_epi32(lower, upper); }

  VMAFHIP_SIMD_FN Floats set_floats(float v) { return _mm256_set1_ps(v); }
  VMAFHIP_SIMD_FN Floats to_floats(I a) { return _mm256_cvtepi32_ps(a); }
  VMAFHIP_SIMD_FN Floats add(Floats a, Floats b) { return _mm256_add_ps(a, b); }
  VMAFHIP_SIMD_FN Floats sub(Floats a, Floats b) { return _mm256_sub_ps(a, b); }
  VMAFHIP_SIMD_FN Floats mul(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
  VMAFHIP_SIMD_FN Floats abs(Floats a) {
    return _mm256_and_ps(a, _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff)));
  }
  VMAFHIP_SIMD_FN Mask at_most(Floats a, Floats b) {
    return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_LE_OQ));
  }

  VMAFHIP_SIMD_FN Wide set_wide(int64_t v) { return {_mm256_set1_epi64x(v), _mm256_set1_epi64x(v)}; }
  VMAFHIP_SIMD_FN Wide add(Wide a, Wide b) {
    return {_mm256_add_epi64(a.even, b.even), _mm256_add_epi64(a.odd, b.odd)};
  }
  VMAFHIP_SIMD_FN I odd(I a) { return _mm256_srli_epi64(a, 32); }
  VMAFHIP_SIMD_FN Wide mul_signed(I a, I b) {
    return {_mm256_mul_epi32(a, b), _mm256_mul_epi32(odd(a), odd(b))};
  }
  VMAFHIP_SIMD_FN Wide mul_unsigned(I a, I b) {
    return {_mm256_mul_epu32(a, b), _mm256_mul_epu32(odd(a), odd(b))};
  }
  VMAFHIP_SIMD_FN Wide mul_signed_wide(Wide a, I b) {
    return {_mm256_mul_epi32(a.even, b), _mm256_mul_epi32(a.odd, odd(b))};
  }
  VMAFHIP_SIMD_FN Wide mul_unsigned_wide(Wide a, I b) {
    return {_mm256_mul_epu32(a.even, b), _mm256_mul_epu32(a.odd, odd(b))};
  }
  template <int n>
  VMAFHIP_SIMD_FN Wide shr(Wide a) {
    return {_mm256_srli_epi64(a.even, n), _mm256_srli_epi64(a.odd, n)};
  }
  VMAFHIP_SIMD_FN Wide shr(Wide a, int n) {
    const __m128i by = _mm_cvtsi32_si128(n);
    return {_mm256_srl_epi64(a.even, by), _mm256_srl_epi64(a.odd, by)};
  }
  VMAFHIP_SIMD_FN I narrow(Wide a) { return _mm256_blend_epi32(a.even, _mm256_slli_epi64(a.odd, 32), 0xaa); }
  VMAFHIP_SIMD_FN I narrow_high(Wide a) { return _mm256_blend_epi32(odd(a.even), a.odd, 0xaa); }
  VMAFHIP_SIMD_FN uint64_t sum(Wide a) {
    alignas(32) uint64_t v[4];
    _mm256_store_si256(reinterpret_cast<__m256i *>(v), _mm256_add_epi64(a.even, a.odd));
    return v[0] + v[1] + v[2] + v[3];
  }

  VMAFHIP_SIMD_FN Doubles set_doubles(double v) { return {_mm256_set1_pd(v), _mm256_set1_pd(v)}; }
  VMAFHIP_SIMD_FN Doubles mul(Doubles a, Doubles b) {
    return {_mm256_mul_pd(a.first, b.first), _mm256_mul_pd(a.second, b.second)};
  }
  VMAFHIP_SIMD_FN Doubles min(Doubles a, Doubles b) {
    return {_mm256_min_pd(a.first, b.first), _mm256_min_pd(a.second, b.second)};
  }
  VMAFHIP_SIMD_FN Doubles max(Doubles a, Doubles b) {
    return {_mm256_max_pd(a.first, b.first), _mm256_max_pd(a.second, b.second)};
  }
  VMAFHIP_SIMD_FN Doubles doubles(I a) {
    return {_mm256_cvtepi32_pd(_mm256_castsi256_si128(a)),
            _mm256_cvtepi32_pd(_mm256_extracti128_si256(a, 1))};
  }
  VMAFHIP_SIMD_FN I truncate(Doubles a) {
    return _mm256_set_m128i(_mm256_cvttpd_epi32(a.second), _mm256_cvttpd_epi32(a.first));
  }
};

}  // namespace
}  // namespace vmafhip
