// Vectors of 16-bit words in GCC's own notation, beside the floats of floats.h. kWords of them are two vectors of floats.
#pragma once
#include "engine/cpu/floats.h"

namespace vmafhip {
namespace {

constexpr int kWords = VMAFHIP_VECTOR_BYTES / 2;

using U16 = uint16_t __attribute__((vector_size(VMAFHIP_VECTOR_BYTES)));
using I16 = int16_t __attribute__((vector_size(VMAFHIP_VECTOR_BYTES)));
using Bytes = uint8_t __attribute__((vector_size(VMAFHIP_VECTOR_BYTES / 2)));

VMAFHIP_FLOATS_FN U16 load_words(const uint16_t *from) { return load_vector<U16>(from); }

// A bit a lane, for masks.
VMAFHIP_FLOATS_FN uint32_t lanes_of(I16 mask) {
#if defined(__AVX512BW__)
  return _mm512_movepi16_mask(__m512i(mask));
#elif defined(__AVX2__)
  return static_cast<uint32_t>(_mm_movemask_epi8(
      _mm_packs_epi16(_mm256_castsi256_si128(__m256i(mask)), _mm256_extracti128_si256(__m256i(mask), 1))));
#elif defined(__SSE2__)
  return static_cast<uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(__m128i(mask), _mm_setzero_si128())));
#else
  uint32_t bits = 0;
  for (int i = 0; i < kWords; i++) bits |= (mask[i] ? 1u : 0u) << i;
  return bits;
#endif
}

// The first and the second half of the lanes, as 32-bit integers.
VMAFHIP_FLOATS_FN I32 first_half(U16 a) {
#if defined(__AVX512BW__)
  return I32(_mm512_cvtepu16_epi32(_mm512_castsi512_si256(__m512i(a))));
#elif defined(__AVX2__)
  return I32(_mm256_cvtepu16_epi32(_mm256_castsi256_si128(__m256i(a))));
#elif defined(__SSE2__)
  return I32(_mm_unpacklo_epi16(__m128i(a), _mm_setzero_si128()));
#else
  return I32{a[0], a[1], a[2], a[3]};
#endif
}
VMAFHIP_FLOATS_FN I32 second_half(U16 a) {
#if defined(__AVX512BW__)
  return I32(_mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(__m512i(a), 1)));
#elif defined(__AVX2__)
  return I32(_mm256_cvtepu16_epi32(_mm256_extracti128_si256(__m256i(a), 1)));
#elif defined(__SSE2__)
  return I32(_mm_unpackhi_epi16(__m128i(a), _mm_setzero_si128()));
#else
  return I32{a[4], a[5], a[6], a[7]};
#endif
}
// Masks, which are all ones or all zeros.
VMAFHIP_FLOATS_FN I32 first_half(I16 a) {
#if defined(__AVX512BW__)
  return I32(_mm512_cvtepi16_epi32(_mm512_castsi512_si256(__m512i(a))));
#elif defined(__AVX2__)
  return I32(_mm256_cvtepi16_epi32(_mm256_castsi256_si128(__m256i(a))));
#elif defined(__SSE2__)
  return I32(_mm_unpacklo_epi16(__m128i(a), __m128i(a)));
#else
  return I32{a[0], a[1], a[2], a[3]};
#endif
}
VMAFHIP_FLOATS_FN I32 second_half(I16 a) {
#if defined(__AVX512BW__)
  return I32(_mm512_cvtepi16_epi32(_mm512_extracti64x4_epi64(__m512i(a), 1)));
#elif defined(__AVX2__)
  return I32(_mm256_cvtepi16_epi32(_mm256_extracti128_si256(__m256i(a), 1)));
#elif defined(__SSE2__)
  return I32(_mm_unpackhi_epi16(__m128i(a), __m128i(a)));
#else
  return I32{a[4], a[5], a[6], a[7]};
#endif
}

// A bit a lane, for masks of floats.
VMAFHIP_FLOATS_FN uint32_t lanes_of(I32 mask) {
#if defined(__AVX512BW__)
  return _mm512_movepi32_mask(__m512i(mask));
#elif defined(__AVX2__)
  return static_cast<uint32_t>(_mm256_movemask_ps(__m256(mask)));
#elif defined(__SSE2__)
  return static_cast<uint32_t>(_mm_movemask_ps(__m128(mask)));
#else
  uint32_t bits = 0;
  for (int i = 0; i < kFloats; i++) bits |= (mask[i] ? 1u : 0u) << i;
  return bits;
#endif
}

// 1/a to about 11 bits; not the same on every processor.
VMAFHIP_FLOATS_FN F32 rough_reciprocal(F32 a) {
#if defined(__AVX512BW__)
  return _mm512_rcp14_ps(a);
#elif defined(__AVX2__)
  return _mm256_rcp_ps(a);
#elif defined(__SSE2__)
  return _mm_rcp_ps(a);
#else
  return 1.0f / a;
#endif
}

}  // namespace
}  // namespace vmafhip
