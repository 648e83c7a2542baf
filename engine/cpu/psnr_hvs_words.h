// Vectors of 16-bit integers for psnr_hvs: a block in each lane. A transform's steps for them.
// Everything is local to the including file: it is compiled once per instruction set.
#pragma once
#include <cstdint>

#include "engine/arith/psnr_hvs.h"
#include "engine/cpu/floats.h"

namespace vmafhip {
namespace {

constexpr int kWords = 2 * kFloats;

using W16 = int16_t __attribute__((vector_size(VMAFHIP_VECTOR_BYTES)));

// What interleaves lanes of a and b within each 16 bytes: from the low or the high half, in units of Unit.
#if defined(__AVX512BW__)
VMAFHIP_FLOATS_FN W16 low16(W16 a, W16 b) { return W16(_mm512_unpacklo_epi16(__m512i(a), __m512i(b))); }
VMAFHIP_FLOATS_FN W16 high16(W16 a, W16 b) { return W16(_mm512_unpackhi_epi16(__m512i(a), __m512i(b))); }
VMAFHIP_FLOATS_FN W16 low32(W16 a, W16 b) { return W16(_mm512_unpacklo_epi32(__m512i(a), __m512i(b))); }
VMAFHIP_FLOATS_FN W16 high32(W16 a, W16 b) { return W16(_mm512_unpackhi_epi32(__m512i(a), __m512i(b))); }
VMAFHIP_FLOATS_FN W16 low64(W16 a, W16 b) { return W16(_mm512_unpacklo_epi64(__m512i(a), __m512i(b))); }
VMAFHIP_FLOATS_FN W16 high64(W16 a, W16 b) { return W16(_mm512_unpackhi_epi64(__m512i(a), __m512i(b))); }
// kFloats signed words as floats.
VMAFHIP_FLOATS_FN F32 load_signed(const int16_t *from) {
  return to_real(I32(_mm512_cvtepi16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(from)))));
}
#elif defined(__AVX2__)
VMAFHIP_FLOATS_FN W16 low16(W16 a, W16 b) { return W16(_mm256_unpacklo_epi16(__m256i(a), __m256i(b))); }
VMAFHIP_FLOATS_FN W16 high16(W16 a, W16 b) { return W16(_mm256_unpackhi_epi16(__m256i(a), __m256i(b))); }
VMAFHIP_FLOATS_FN W16 low32(W16 a, W16 b) { return W16(_mm256_unpacklo_epi32(__m256i(a), __m256i(b))); }
VMAFHIP_FLOATS_FN W16 high32(W16 a, W16 b) { return W16(_mm256_unpackhi_epi32(__m256i(a), __m256i(b))); }
VMAFHIP_FLOATS_FN W16 low64(W16 a, W16 b) { return W16(_mm256_unpacklo_epi64(__m256i(a), __m256i(b))); }
VMAFHIP_FLOATS_FN W16 high64(W16 a, W16 b) { return W16(_mm256_unpackhi_epi64(__m256i(a), __m256i(b))); }
VMAFHIP_FLOATS_FN F32 load_signed(const int16_t *from) {
  return to_real(I32(_mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from)))));
}
#else
VMAFHIP_FLOATS_FN W16 low16(W16 a, W16 b) { return __builtin_shuffle(a, b, W16{0, 8, 1, 9, 2, 10, 3, 11}); }
VMAFHIP_FLOATS_FN W16 high16(W16 a, W16 b) {
  return __builtin_shuffle(a, b, W16{4, 12, 5, 13, 6, 14, 7, 15});
}
VMAFHIP_FLOATS_FN W16 low32(W16 a, W16 b) { return __builtin_shuffle(a, b, W16{0, 1, 8, 9, 2, 3, 10, 11}); }
VMAFHIP_FLOATS_FN W16 high32(W16 a, W16 b) {
  return __builtin_shuffle(a, b, W16{4, 5, 12, 13, 6, 7, 14, 15});
}
VMAFHIP_FLOATS_FN W16 low64(W16 a, W16 b) { return __builtin_shuffle(a, b, W16{0, 1, 2, 3, 8, 9, 10, 11}); }
VMAFHIP_FLOATS_FN W16 high64(W16 a, W16 b) {
  return __builtin_shuffle(a, b, W16{4, 5, 6, 7, 12, 13, 14, 15});
}
#if defined(__SSE2__)
VMAFHIP_FLOATS_FN F32 load_signed(const int16_t *from) {
  const __m128i v = _mm_loadl_epi64(reinterpret_cast<const __m128i *>(from));
  return to_real(I32(_mm_srai_epi32(_mm_unpacklo_epi16(v, v), 16)));
}
#else
VMAFHIP_FLOATS_FN F32 load_signed(const int16_t *from) {
  return to_real(I32{from[0], from[1], from[2], from[3]});
}
#endif
#endif

// Eight samples from each at[8 * i], offset bytes further on, one after the other.
VMAFHIP_FLOATS_FN W16 load_eights(const uint8_t *const *at, ptrdiff_t offset) {
#if defined(__AVX2__)
  const auto load = [&](int i) __attribute__((always_inline)) {
    const __m128i low = _mm_loadl_epi64(reinterpret_cast<const __m128i *>(at[8 * i] + offset));
    return _mm256_cvtepu8_epi16(_mm_castpd_si128(
        _mm_loadh_pd(_mm_castsi128_pd(low), reinterpret_cast<const double *>(at[8 * i + 8] + offset))));
  };
#if defined(__AVX512BW__)
  return W16(_mm512_inserti64x4(_mm512_castsi256_si512(load(0)), load(2), 1));
#else
  return W16(load(0));
#endif
#else
  using B8 = uint8_t __attribute__((vector_size(8)));
  return __builtin_convertvector(load_vector<B8>(at[0] + offset), W16);
#endif
}
VMAFHIP_FLOATS_FN W16 load_eights(const uint16_t *const *at, ptrdiff_t offset) {
  using P = const std::byte *;
  const auto place = [&](int i) __attribute__((always_inline)) {
    return reinterpret_cast<P>(at[8 * i]) + offset;
  };
#if defined(__AVX2__)
  const auto load = [&](int i) __attribute__((always_inline)) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load_vector<__m128i>(place(i))),
                                   load_vector<__m128i>(place(i + 1)), 1);
  };
#if defined(__AVX512BW__)
  return W16(_mm512_inserti64x4(_mm512_castsi256_si512(load(0)), load(2), 1));
#else
  return W16(load(0));
#endif
#else
  return load_vector<W16>(place(0));
#endif
}

// Row vectors of eight blocks in each 16 bytes to column vectors: lane l of out[j] is what block l had at place j.
VMAFHIP_FLOATS_FN void transpose_eights(const W16 (&v)[8], W16 (&out)[8]) {
  const W16 a0 = low16(v[0], v[1]), a1 = low16(v[2], v[3]), a2 = low16(v[4], v[5]), a3 = low16(v[6], v[7]);
  const W16 b0 = high16(v[0], v[1]), b1 = high16(v[2], v[3]), b2 = high16(v[4], v[5]),
            b3 = high16(v[6], v[7]);
  const W16 c0 = low32(a0, a1), c1 = low32(a2, a3), d0 = high32(a0, a1), d1 = high32(a2, a3);
  const W16 e0 = low32(b0, b1), e1 = low32(b2, b3), f0 = high32(b0, b1), f1 = high32(b2, b3);
  out[0] = low64(c0, c1);
  out[1] = high64(c0, c1);
  out[2] = low64(d0, d1);
  out[3] = high64(d0, d1);
  out[4] = low64(e0, e1);
  out[5] = high64(e0, e1);
  out[6] = low64(f0, f1);
  out[7] = high64(f0, f1);
}

}  // namespace

template <>
struct HvsSteps<W16> {
  VMAFHIP_FLOATS_FN W16 half(W16 a) { return (a - (a >> 15)) >> 1; }
  VMAFHIP_FLOATS_FN W16 scale(W16 a, int k) {
#if defined(__AVX512BW__)
    return W16(_mm512_mulhrs_epi16(__m512i(a), _mm512_set1_epi16(static_cast<short>(k))));
#elif defined(__AVX2__)
    return W16(_mm256_mulhrs_epi16(__m256i(a), _mm256_set1_epi16(static_cast<short>(k))));
#elif defined(__SSE2__)
    // Multiply-adds of the pairs (a, 1) and (k, 2^14).
    const __m128i one = _mm_set1_epi16(1), by = _mm_set1_epi32((1 << 30) | k);
    const __m128i low = _mm_madd_epi16(_mm_unpacklo_epi16(__m128i(a), one), by),
                  high = _mm_madd_epi16(_mm_unpackhi_epi16(__m128i(a), one), by);
    return W16(_mm_packs_epi32(_mm_srai_epi32(low, 15), _mm_srai_epi32(high, 15)));
#else
    for (int i = 0; i < kWords; i++) a[i] = static_cast<int16_t>((a[i] * k + (1 << 14)) >> 15);
    return a;
#endif
  }
};

}  // namespace vmafhip
