// What every compiler target has: vectors of 128 bits in GCC's own notation, which become SSE2 on x86-64 and plain
// registers where there is no vector unit. The few functions that the notation has no word for name SSE2.
#pragma once
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace vmafhip {
namespace {

struct Simd {
  static constexpr int kWords = 8, kDwords = 4;
  static constexpr int kRegisters = 16;
  // Whether there are vectors of doubles, and logarithms in vectors.
  static constexpr bool kDoubles = false;

  using I = int32_t __attribute__((vector_size(16)));
  using U = uint32_t __attribute__((vector_size(16)));
  using Q = uint64_t __attribute__((vector_size(16)));
  using W = int16_t __attribute__((vector_size(16)));
  using V = uint16_t __attribute__((vector_size(16)));

  VMAFHIP_SIMD_FN I zero() { return I{}; }
  // All 32-bit lanes the same.
  VMAFHIP_SIMD_FN I set(int32_t v) { return I{v, v, v, v}; }
  // A whole vector, at any address.
  VMAFHIP_SIMD_FN I load(const void *from) {
    I v;
    std::memcpy(&v, from, sizeof v);
    return v;
  }
  VMAFHIP_SIMD_FN void store(void *to, I v) { std::memcpy(to, &v, sizeof v); }
  // kWords signed bytes as words.
  VMAFHIP_SIMD_FN I load_bytes(const int8_t *from) {
    using B = int8_t __attribute__((vector_size(8)));
    B v;
    std::memcpy(&v, from, sizeof v);
    return I(__builtin_convertvector(v, W));
  }
  // The words from bit kShift on of all 32-bit lanes, of two vectors or one, in order.
  template <int kShift>
  VMAFHIP_SIMD_FN void store_words(int16_t *to, I a, I b) {
    store_low(to, shr<kShift>(a));
    store_low(to + kDwords, shr<kShift>(b));
  }
  VMAFHIP_SIMD_FN void store_low(int16_t *to, I v) {
#if defined(__SSE2__)
    const __m128i words = __m128i((v << 16) >> 16);
    _mm_storel_epi64(reinterpret_cast<__m128i *>(to), _mm_packs_epi32(words, words));
#else
    for (int i = 0; i < kDwords; i++) to[i] = static_cast<int16_t>(v[i]);
#endif
  }

  VMAFHIP_SIMD_FN I add(I a, I b) { return I(U(a) + U(b)); }
  VMAFHIP_SIMD_FN I sub(I a, I b) { return I(U(a) - U(b)); }
  VMAFHIP_SIMD_FN I bit_and(I a, I b) { return a & b; }
  VMAFHIP_SIMD_FN I bit_xor(I a, I b) { return a ^ b; }
  // 32-bit lanes: left, right with zeros, right with the sign.
  template <int n>
  VMAFHIP_SIMD_FN I shl(I a) {
    return I(U(a) << n);
  }
  template <int n>
  VMAFHIP_SIMD_FN I shr(I a) {
    return I(U(a) >> n);
  }
  template <int n>
  VMAFHIP_SIMD_FN I sra(I a) {
    return a >> n;
  }
  // Signed 32-bit lanes.
  VMAFHIP_SIMD_FN I max(I a, I b) { return (a & (a > b)) | (b & (a <= b)); }

  // 16-bit lanes: shifted to the left; stored in turn, one of a, one of b; the halves of signed products.
  VMAFHIP_SIMD_FN I shl_words(I a, int n) { return I(V(a) << static_cast<uint16_t>(n)); }
  VMAFHIP_SIMD_FN void store_interleaved(int16_t *to, I a, I b) {
    store(to, I(__builtin_shuffle(W(a), W(b), W{0, 8, 1, 9, 2, 10, 3, 11})));
    store(to + kWords, I(__builtin_shuffle(W(a), W(b), W{4, 12, 5, 13, 6, 14, 7, 15})));
  }
  VMAFHIP_SIMD_FN I mul_low16(I a, I b) { return I(V(a) * V(b)); }
  VMAFHIP_SIMD_FN I mul_high16(I a, I b) {
#if defined(__SSE2__)
    return I(_mm_mulhi_epi16(__m128i(a), __m128i(b)));
#else
    const I low = I(U(low_word(a) * low_word(b)) >> 16), high = high_word(a) * high_word(b);
    return (high & set(-65536)) | low;
#endif
  }
  // sum + low(v) * low(pair) + high(v) * high(pair) of signed words, per 32-bit lane.
  VMAFHIP_SIMD_FN I dot(I sum, I v, int32_t pair) {
#if defined(__SSE2__)
    return add(sum, I(_mm_madd_epi16(__m128i(v), _mm_set1_epi32(pair))));
#else
    const U low = U(low_word(v)) * U(low_word(set(pair))), high = U(high_word(v)) * U(high_word(set(pair)));
    return I(U(sum) + low + high);
#endif
  }
  // (a * b + 2^31) >> 32 of unsigned 32-bit lanes.
  VMAFHIP_SIMD_FN I mul_high32_rounded(I a, I b) {
    const Q half = {uint64_t{1} << 31, uint64_t{1} << 31};
    const Q even = mul_even32(a, b) + half, odd = mul_even32(I(Q(a) >> 32), I(Q(b) >> 32)) + half;
    const Q top = {~uint64_t{0} << 32, ~uint64_t{0} << 32};
    return I((even >> 32) | (odd & top));
  }
  // 64-bit lanes of `sum` plus 32-bit lanes of v, taken as unsigned.
  VMAFHIP_SIMD_FN I add_wide(I sum, I v) { return I(Q(sum) + (Q(v) >> 32) + ((Q(v) << 32) >> 32)); }
  // All 64-bit lanes; all signed 32-bit lanes.
  VMAFHIP_SIMD_FN int64_t sum64(I v) { return static_cast<int64_t>(Q(v)[0] + Q(v)[1]); }
  VMAFHIP_SIMD_FN int64_t sum32(I v) {
    return static_cast<int64_t>(v[0]) + v[1] + static_cast<int64_t>(v[2]) + v[3];
  }

 private:
  VMAFHIP_SIMD_FN I low_word(I v) { return I(U(v) << 16) >> 16; }
  VMAFHIP_SIMD_FN I high_word(I v) { return v >> 16; }
  VMAFHIP_SIMD_FN Q mul_even32(I a, I b) {
#if defined(__SSE2__)
    return Q(_mm_mul_epu32(__m128i(a), __m128i(b)));
#else
    const Q low = {0xffffffff, 0xffffffff};
    return (Q(a) & low) * (Q(b) & low);
#endif
  }
};

}  // namespace
}  // namespace vmafhip
