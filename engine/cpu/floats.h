// Vectors of floats for the instruction set that the including file is compiled for, in GCC's own notation: + - * / <
// and so on work on them lane by lane. The words of engine/arith/real.h exist for them too.
//
//   F32   kFloats floats (4, 8 or 16)      I32   as many 32-bit integers, and what comparisons of F32 give
//   F64   kFloats / 2 doubles              I64   as many 64-bit integers, and what comparisons of F64 give
//   Wide  kFloats doubles, in the order of the floats they come from
//   Half  kFloats / 2 floats, as many as an F64 has doubles
//
// Sums over lanes depend on kFloats: what has to be the same on every instruction set must not be summed that way.
// Nothing here has external linkage: one copy for each instruction set.
#pragma once
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "engine/arith/real.h"

namespace vmafhip {
namespace {

#if defined(__AVX512BW__)
#define VMAFHIP_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define VMAFHIP_VECTOR_BYTES 32
#else
#define VMAFHIP_VECTOR_BYTES 16
#endif

#define VMAFHIP_FLOATS_FN [[gnu::always_inline]] static inline

constexpr int kFloats = VMAFHIP_VECTOR_BYTES / 4;

using F32 = float __attribute__((vector_size(VMAFHIP_VECTOR_BYTES)));
using F64 = double __attribute__((vector_size(VMAFHIP_VECTOR_BYTES)));
using I32 = int32_t __attribute__((vector_size(VMAFHIP_VECTOR_BYTES)));
using I64 = int64_t __attribute__((vector_size(VMAFHIP_VECTOR_BYTES)));

// ---- Memory: whole vectors at any address.

template <class V>
VMAFHIP_FLOATS_FN V load_vector(const void *from) {
  V v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
VMAFHIP_FLOATS_FN F32 load_floats(const float *from) { return load_vector<F32>(from); }
VMAFHIP_FLOATS_FN F64 load_doubles(const double *from) { return load_vector<F64>(from); }
template <class V>
VMAFHIP_FLOATS_FN void store_vector(void *to, V v) {
  std::memcpy(to, &v, sizeof v);
}

// from[at] of each lane.
VMAFHIP_FLOATS_FN F32 gather_floats(const float *from, I32 at) {
#if defined(__AVX512BW__)
  return _mm512_i32gather_ps(__m512i(at), from, 4);
#elif defined(__AVX2__)
  return _mm256_i32gather_ps(from, __m256i(at), 4);
#else
  return F32{from[at[0]], from[at[1]], from[at[2]], from[at[3]]};
#endif
}

// kFloats unsigned bytes or words as integers.
VMAFHIP_FLOATS_FN I32 load_integers(const uint8_t *from) {
#if defined(__AVX512BW__)
  return I32(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from))));
#elif defined(__AVX2__)
  return I32(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(from))));
#elif defined(__SSE2__)
  int32_t bytes;
  std::memcpy(&bytes, from, sizeof bytes);
  const __m128i words = _mm_unpacklo_epi8(_mm_cvtsi32_si128(bytes), _mm_setzero_si128());
  return I32(_mm_unpacklo_epi16(words, _mm_setzero_si128()));
#else
  return I32{from[0], from[1], from[2], from[3]};
#endif
}
VMAFHIP_FLOATS_FN I32 load_integers(const uint16_t *from) {
#if defined(__AVX512BW__)
  return I32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(from))));
#elif defined(__AVX2__)
  return I32(_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from))));
#elif defined(__SSE2__)
  return I32(
      _mm_unpacklo_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(from)), _mm_setzero_si128()));
#else
  return I32{from[0], from[1], from[2], from[3]};
#endif
}

// ---- Wide

struct WideMask {
  I64 low, high;
};
struct Wide {
  F64 low, high;  // of the first and of the last kFloats / 2 floats
  Wide() = default;
  VMAFHIP_FLOATS_FN Wide make(F64 low, F64 high) {
    Wide w;
    w.low = low;
    w.high = high;
    return w;
  }
};
VMAFHIP_FLOATS_FN Wide operator+(Wide a, Wide b) { return Wide::make(a.low + b.low, a.high + b.high); }
VMAFHIP_FLOATS_FN Wide operator-(Wide a, Wide b) { return Wide::make(a.low - b.low, a.high - b.high); }
VMAFHIP_FLOATS_FN Wide operator*(Wide a, Wide b) { return Wide::make(a.low * b.low, a.high * b.high); }
VMAFHIP_FLOATS_FN Wide operator/(Wide a, Wide b) { return Wide::make(a.low / b.low, a.high / b.high); }
VMAFHIP_FLOATS_FN Wide operator+(Wide a, double b) { return Wide::make(a.low + b, a.high + b); }
VMAFHIP_FLOATS_FN Wide operator-(Wide a, double b) { return Wide::make(a.low - b, a.high - b); }
VMAFHIP_FLOATS_FN Wide operator*(Wide a, double b) { return Wide::make(a.low * b, a.high * b); }
VMAFHIP_FLOATS_FN Wide operator/(Wide a, double b) { return Wide::make(a.low / b, a.high / b); }
VMAFHIP_FLOATS_FN Wide operator+(double a, Wide b) { return Wide::make(a + b.low, a + b.high); }
VMAFHIP_FLOATS_FN Wide operator-(double a, Wide b) { return Wide::make(a - b.low, a - b.high); }
VMAFHIP_FLOATS_FN Wide operator*(double a, Wide b) { return Wide::make(a * b.low, a * b.high); }
VMAFHIP_FLOATS_FN Wide operator/(double a, Wide b) { return Wide::make(a / b.low, a / b.high); }
VMAFHIP_FLOATS_FN Wide operator-(Wide a) { return Wide::make(-a.low, -a.high); }
VMAFHIP_FLOATS_FN WideMask operator<(Wide a, Wide b) { return {a.low < b.low, a.high < b.high}; }
VMAFHIP_FLOATS_FN WideMask operator>(Wide a, Wide b) { return {a.low > b.low, a.high > b.high}; }
VMAFHIP_FLOATS_FN WideMask operator<=(Wide a, Wide b) { return {a.low <= b.low, a.high <= b.high}; }
VMAFHIP_FLOATS_FN WideMask operator>=(Wide a, Wide b) { return {a.low >= b.low, a.high >= b.high}; }
// ---- Half

constexpr int kDoubles = kFloats / 2;
using Half = float __attribute__((vector_size(VMAFHIP_VECTOR_BYTES / 2)));

VMAFHIP_FLOATS_FN Half load_half(const float *from) { return load_vector<Half>(from); }

}  // namespace

// ---- The words of engine/arith/real.h

template <>
struct RealTraits<I32> {
  VMAFHIP_FLOATS_FN I32 select(I32 m, I32 a, I32 b) { return m ? a : b; }
  VMAFHIP_FLOATS_FN F32 to_real(I32 a) { return __builtin_convertvector(a, F32); }
  VMAFHIP_FLOATS_FN F32 real_of(I32 a) { return F32(a); }
};
template <>
struct RealTraits<I64> {
  VMAFHIP_FLOATS_FN I64 select(I64 m, I64 a, I64 b) { return m ? a : b; }
  VMAFHIP_FLOATS_FN F64 real_of(I64 a) { return F64(a); }
};

template <>
struct RealTraits<F32> {
  using Int = I32;
  using Wide = vmafhip::Wide;
  VMAFHIP_FLOATS_FN F32 splat(double v) { return F32{} + static_cast<float>(v); }
  VMAFHIP_FLOATS_FN F32 select(I32 m, F32 a, F32 b) { return m ? a : b; }
  VMAFHIP_FLOATS_FN F32 absolute(F32 a) { return F32(I32(a) & 0x7fffffff); }
  VMAFHIP_FLOATS_FN I32 truncate(F32 a) { return __builtin_convertvector(a, I32); }
  VMAFHIP_FLOATS_FN I32 bits_of(F32 a) { return I32(a); }
#if defined(__AVX512BW__)
  VMAFHIP_FLOATS_FN F32 minimum(F32 a, F32 b) { return _mm512_min_ps(a, b); }
  VMAFHIP_FLOATS_FN F32 maximum(F32 a, F32 b) { return _mm512_max_ps(a, b); }
  VMAFHIP_FLOATS_FN F32 square_root(F32 a) { return _mm512_sqrt_ps(a); }
  VMAFHIP_FLOATS_FN Wide widen(F32 a) {
    return Wide::make(_mm512_cvtps_pd(_mm512_castps512_ps256(a)),
                      _mm512_cvtps_pd(_mm512_extractf32x8_ps(a, 1)));
  }
#elif defined(__AVX2__)
  VMAFHIP_FLOATS_FN F32 minimum(F32 a, F32 b) { return _mm256_min_ps(a, b); }
  VMAFHIP_FLOATS_FN F32 maximum(F32 a, F32 b) { return _mm256_max_ps(a, b); }
  VMAFHIP_FLOATS_FN F32 square_root(F32 a) { return _mm256_sqrt_ps(a); }
  VMAFHIP_FLOATS_FN Wide widen(F32 a) {
    return Wide::make(_mm256_cvtps_pd(_mm256_castps256_ps128(a)),
                      _mm256_cvtps_pd(_mm256_extractf128_ps(a, 1)));
  }
#else
#if defined(__SSE2__)
  VMAFHIP_FLOATS_FN F32 minimum(F32 a, F32 b) { return _mm_min_ps(a, b); }
  VMAFHIP_FLOATS_FN F32 maximum(F32 a, F32 b) { return _mm_max_ps(a, b); }
  VMAFHIP_FLOATS_FN F32 square_root(F32 a) { return _mm_sqrt_ps(a); }
#else
  VMAFHIP_FLOATS_FN F32 minimum(F32 a, F32 b) { return a < b ? a : b; }
  VMAFHIP_FLOATS_FN F32 maximum(F32 a, F32 b) { return a > b ? a : b; }
  VMAFHIP_FLOATS_FN F32 square_root(F32 a) {
    for (int i = 0; i < kFloats; i++) a[i] = __builtin_sqrtf(a[i]);
    return a;
  }
#endif
  VMAFHIP_FLOATS_FN Wide widen(F32 a) { return Wide::make(F64{a[0], a[1]}, F64{a[2], a[3]}); }
#endif
};

template <>
struct RealTraits<F64> {
  using Int = I64;
  using Wide = F64;
  VMAFHIP_FLOATS_FN F64 splat(double v) { return F64{} + v; }
  VMAFHIP_FLOATS_FN F64 select(I64 m, F64 a, F64 b) { return m ? a : b; }
  VMAFHIP_FLOATS_FN F64 absolute(F64 a) { return F64(I64(a) & 0x7fffffffffffffff); }
  VMAFHIP_FLOATS_FN I64 bits_of(F64 a) { return I64(a); }
#if defined(__AVX512BW__)
  VMAFHIP_FLOATS_FN F64 minimum(F64 a, F64 b) { return _mm512_min_pd(a, b); }
  VMAFHIP_FLOATS_FN F64 maximum(F64 a, F64 b) { return _mm512_max_pd(a, b); }
  VMAFHIP_FLOATS_FN F64 square_root(F64 a) { return _mm512_sqrt_pd(a); }
  VMAFHIP_FLOATS_FN Half narrow(F64 a) { return _mm512_cvtpd_ps(a); }
#elif defined(__AVX2__)
  VMAFHIP_FLOATS_FN F64 minimum(F64 a, F64 b) { return _mm256_min_pd(a, b); }
  VMAFHIP_FLOATS_FN F64 maximum(F64 a, F64 b) { return _mm256_max_pd(a, b); }
  VMAFHIP_FLOATS_FN F64 square_root(F64 a) { return _mm256_sqrt_pd(a); }
  VMAFHIP_FLOATS_FN Half narrow(F64 a) { return _mm256_cvtpd_ps(a); }
#else
#if defined(__SSE2__)
  VMAFHIP_FLOATS_FN F64 minimum(F64 a, F64 b) { return _mm_min_pd(a, b); }
  VMAFHIP_FLOATS_FN F64 maximum(F64 a, F64 b) { return _mm_max_pd(a, b); }
  VMAFHIP_FLOATS_FN F64 square_root(F64 a) { return _mm_sqrt_pd(a); }
#else
  VMAFHIP_FLOATS_FN F64 minimum(F64 a, F64 b) { return a < b ? a : b; }
  VMAFHIP_FLOATS_FN F64 maximum(F64 a, F64 b) { return a > b ? a : b; }
  VMAFHIP_FLOATS_FN F64 square_root(F64 a) {
    for (int i = 0; i < kDoubles; i++) a[i] = __builtin_sqrt(a[i]);
    return a;
  }
#endif
  VMAFHIP_FLOATS_FN Half narrow(F64 a) { return __builtin_convertvector(a, Half); }
#endif
};

template <>
struct RealTraits<Half> {
  using Wide = F64;
  VMAFHIP_FLOATS_FN Half splat(double v) { return Half{} + static_cast<float>(v); }
  // GCC 12 makes two conversions of __builtin_convertvector() where the processor has one.
#if defined(__AVX512BW__)
  VMAFHIP_FLOATS_FN F64 widen(Half a) { return _mm512_cvtps_pd(a); }
#elif defined(__AVX2__)
  VMAFHIP_FLOATS_FN F64 widen(Half a) { return _mm256_cvtps_pd(a); }
#else
  VMAFHIP_FLOATS_FN F64 widen(Half a) { return __builtin_convertvector(a, F64); }
#endif
};

template <>
struct RealTraits<Wide> {
  using Wide = vmafhip::Wide;
  using Part = RealTraits<F64>;
  VMAFHIP_FLOATS_FN Wide splat(double v) { return Wide::make(F64{} + v, F64{} + v); }
  VMAFHIP_FLOATS_FN Wide select(WideMask m, Wide a, Wide b) {
    return Wide::make(Part::select(m.low, a.low, b.low), Part::select(m.high, a.high, b.high));
  }
  VMAFHIP_FLOATS_FN Wide minimum(Wide a, Wide b) {
    return Wide::make(Part::minimum(a.low, b.low), Part::minimum(a.high, b.high));
  }
  VMAFHIP_FLOATS_FN Wide maximum(Wide a, Wide b) {
    return Wide::make(Part::maximum(a.low, b.low), Part::maximum(a.high, b.high));
  }
  VMAFHIP_FLOATS_FN Wide absolute(Wide a) {
    return Wide::make(Part::absolute(a.low), Part::absolute(a.high));
  }
  VMAFHIP_FLOATS_FN Wide square_root(Wide a) {
    return Wide::make(Part::square_root(a.low), Part::square_root(a.high));
  }
  VMAFHIP_FLOATS_FN F32 narrow(Wide a) {
#if defined(__AVX512BW__)
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(a.low)), _mm512_cvtpd_ps(a.high), 1);
#elif defined(__AVX2__)
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps(a.low)), _mm256_cvtpd_ps(a.high), 1);
#elif defined(__SSE2__)
    return _mm_movelh_ps(_mm_cvtpd_ps(a.low), _mm_cvtpd_ps(a.high));
#else
    return F32{float(a.low[0]), float(a.low[1]), float(a.high[0]), float(a.high[1])};
#endif
  }
};

}  // namespace vmafhip
