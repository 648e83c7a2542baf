// AVX2: what lanes_avx512.h says, in vectors of 256 bits.
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
  using Mask = __m256i;
  struct Wide {
    __m256i even, odd;
  };
  struct Doubles {
    __m256d first, second;
  };
  struct Masks {
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
  VMAFHIP_SIMD_FN I join_pairs(I a, I b) { return _mm256_blend_epi16(a, _mm256_slli_epi32(b, 16), 0xaa); }
  VMAFHIP_SIMD_FN I mul(I a, I b) { return _mm256_mullo_epi32(a, b); }
  VMAFHIP_SIMD_FN I min(I a, I b) { return _mm256_min_epi32(a, b); }
  VMAFHIP_SIMD_FN I min_unsigned(I a, I b) { return _mm256_min_epu32(a, b); }
  VMAFHIP_SIMD_FN I abs(I a) { return _mm256_abs_epi32(a); }
  VMAFHIP_SIMD_FN I sra(I a, int n) { return _mm256_sra_epi32(a, _mm_cvtsi32_si128(n)); }
  VMAFHIP_SIMD_FN I shl_each(I a, I n) { return _mm256_sllv_epi32(a, n); }
  VMAFHIP_SIMD_FN I shr_each(I a, I n) { return _mm256_srlv_epi32(a, n); }
  // The exponent of a float; without the bit below the highest one it cannot round up to the next power of 2.
  VMAFHIP_SIMD_FN I highest_bit(I a) {
    const __m256 f = _mm256_cvtepi32_ps(_mm256_andnot_si256(_mm256_srli_epi32(a, 1), a));
    return _mm256_sub_epi32(_mm256_srli_epi32(_mm256_castps_si256(f), 23), _mm256_set1_epi32(127));
  }

  VMAFHIP_SIMD_FN Mask all_lanes() { return _mm256_set1_epi32(-1); }
  VMAFHIP_SIMD_FN Mask first_lanes(int n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  VMAFHIP_SIMD_FN I keep(Mask m, I a) { return _mm256_and_si256(m, a); }
  VMAFHIP_SIMD_FN I select(Mask m, I a, I b) { return _mm256_blendv_epi8(b, a, m); }

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
  VMAFHIP_SIMD_FN Wide shr_each(Wide a, I n) {
    return {_mm256_srlv_epi64(a.even, _mm256_and_si256(n, _mm256_set1_epi64x(0xffffffff))),
            _mm256_srlv_epi64(a.odd, odd(n))};
  }
  VMAFHIP_SIMD_FN I narrow(Wide a) { return _mm256_blend_epi32(a.even, _mm256_slli_epi64(a.odd, 32), 0xaa); }
  VMAFHIP_SIMD_FN I narrow_high(Wide a) { return _mm256_blend_epi32(odd(a.even), a.odd, 0xaa); }
  VMAFHIP_SIMD_FN uint64_t sum(Wide a) {
    alignas(32) uint64_t v[4];
    _mm256_store_si256(reinterpret_cast<__m256i *>(v), _mm256_add_epi64(a.even, a.odd));
    return v[0] + v[1] + v[2] + v[3];
  }

  VMAFHIP_SIMD_FN double first(Doubles a) { return _mm256_cvtsd_f64(a.first); }
  VMAFHIP_SIMD_FN Doubles set_doubles(double v) { return {_mm256_set1_pd(v), _mm256_set1_pd(v)}; }
  VMAFHIP_SIMD_FN Doubles mul(Doubles a, Doubles b) {
    return {_mm256_mul_pd(a.first, b.first), _mm256_mul_pd(a.second, b.second)};
  }
  VMAFHIP_SIMD_FN Doubles div(Doubles a, Doubles b) {
    return {_mm256_div_pd(a.first, b.first), _mm256_div_pd(a.second, b.second)};
  }
  VMAFHIP_SIMD_FN Doubles min(Doubles a, Doubles b) {
    return {_mm256_min_pd(a.first, b.first), _mm256_min_pd(a.second, b.second)};
  }
  VMAFHIP_SIMD_FN Doubles doubles(I a) {
    return {_mm256_cvtepi32_pd(_mm256_castsi256_si128(a)),
            _mm256_cvtepi32_pd(_mm256_extracti128_si256(a, 1))};
  }
  VMAFHIP_SIMD_FN I truncate(Doubles a) {
    return _mm256_set_m128i(_mm256_cvttpd_epi32(a.second), _mm256_cvttpd_epi32(a.first));
  }
  VMAFHIP_SIMD_FN Doubles floats(I a) {
    const __m256 f = _mm256_cvtepi32_ps(a);
    return {_mm256_cvtps_pd(_mm256_castps256_ps128(f)), _mm256_cvtps_pd(_mm256_extractf128_ps(f, 1))};
  }
  // i64 -> f32 -> f64 by way of f64, which has 53 bits: what is beyond them is first gathered in one sticky bit, far
  // below the last bit of an f32, so that the second rounding sees on which side of a half the number lies. Below
  // 2^52 nothing needs to be gathered.
  VMAFHIP_SIMD_FN __m256d float_of(__m256i v) {
    const __m256i top = _mm256_shuffle_epi32(_mm256_srai_epi32(v, 31), 0xf5);
    const __m256i sign_free = _mm256_xor_si256(v, top);
    const __m256i large = _mm256_cmpgt_epi64(sign_free, _mm256_set1_epi64x((int64_t{1} << 52) - 1));
    const __m256i low = _mm256_set1_epi64x(0xfff);
    // low bits to zero, bit 12 set if any of them was
    const __m256i sticky =
        _mm256_and_si256(_mm256_add_epi64(_mm256_and_si256(v, low), low), _mm256_set1_epi64x(0x1000));
    const __m256i gathered = _mm256_or_si256(_mm256_andnot_si256(low, v), sticky);
    const __m256i exact = _mm256_blendv_epi8(v, gathered, large);
    // Bit patterns of 2^52 + low word and of 2^84 + 2^32 * (high word + 2^31). All is exact: 51 bits are left.
    const __m256i low_word = _mm256_blend_epi32(exact, _mm256_set1_epi32(0x43300000), 0xaa);
    const __m256i high_word =
        _mm256_xor_si256(_mm256_srli_epi64(exact, 32), _mm256_set1_epi64x(0x4530000080000000));
    const __m256d high =
        _mm256_sub_pd(_mm256_castsi256_pd(high_word), _mm256_set1_pd(0x1p84 + 0x1p63 + 0x1p52));
    return _mm256_cvtps_pd(_mm256_cvtpd_ps(_mm256_add_pd(high, _mm256_castsi256_pd(low_word))));
  }
  VMAFHIP_SIMD_FN Doubles floats(Wide a) { return {float_of(a.even), float_of(a.odd)}; }
  VMAFHIP_SIMD_FN __m256d both(__m256d dot, __m256d a, __m256d b) {
    return _mm256_and_pd(_mm256_cmp_pd(dot, _mm256_setzero_pd(), _CMP_GE_OQ),
                         _mm256_cmp_pd(a, b, _CMP_GE_OQ));
  }
  VMAFHIP_SIMD_FN Masks both_at_least(Doubles dot, Doubles a, Doubles b) {
    return {both(dot.first, a.first, b.first), both(dot.second, a.second, b.second)};
  }
  VMAFHIP_SIMD_FN Mask join_in_order(Masks m) {
    const __m256 v = _mm256_shuffle_ps(_mm256_castpd_ps(m.first), _mm256_castpd_ps(m.second), 0x88);
    return _mm256_permute4x64_epi64(_mm256_castps_si256(v), 0xd8);
  }
  VMAFHIP_SIMD_FN Mask join_interleaved(Masks m) {
    return _mm256_blend_epi32(_mm256_castpd_si256(m.first), _mm256_castpd_si256(m.second), 0xaa);
  }
};

}  // namespace
}  // namespace vmafhip
