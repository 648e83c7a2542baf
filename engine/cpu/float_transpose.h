// Moves between vectors of floats: transposition of square tiles, and lanes of two vectors sorted by parity.
// Everything is local to the including file: it is compiled once per instruction set.
#pragma once
#include <cstddef>

#include "engine/cpu/floats.h"
#include "engine/cpu/unroll.h"

namespace vmafhip {
namespace {

// Lanes 0, 2, 4 ... and 1, 3, 5 ... of a, then of b. And what transposes blocks of 4 x 4: lanes of a and b in turns,
// within each 16 bytes, from the low or high half of these, as single floats or as pairs.
#if VMAFHIP_VECTOR_BYTES == 64
VMAFHIP_FLOATS_FN F32 even_lanes(F32 a, F32 b) {
  return __builtin_shuffle(a, b, I32{0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30});
}
VMAFHIP_FLOATS_FN F32 odd_lanes(F32 a, F32 b) {
  return __builtin_shuffle(a, b, I32{1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31});
}
VMAFHIP_FLOATS_FN F32 low_floats(F32 a, F32 b) { return _mm512_unpacklo_ps(a, b); }
VMAFHIP_FLOATS_FN F32 high_floats(F32 a, F32 b) { return _mm512_unpackhi_ps(a, b); }
VMAFHIP_FLOATS_FN F32 low_pairs(F32 a, F32 b) { return F32(_mm512_unpacklo_pd(__m512d(a), __m512d(b))); }
VMAFHIP_FLOATS_FN F32 high_pairs(F32 a, F32 b) { return F32(_mm512_unpackhi_pd(__m512d(a), __m512d(b))); }
#elif VMAFHIP_VECTOR_BYTES == 32
VMAFHIP_FLOATS_FN F32 even_lanes(F32 a, F32 b) {
  return __builtin_shuffle(a, b, I32{0, 2, 4, 6, 8, 10, 12, 14});
}
VMAFHIP_FLOATS_FN F32 odd_lanes(F32 a, F32 b) {
  return __builtin_shuffle(a, b, I32{1, 3, 5, 7, 9, 11, 13, 15});
}
VMAFHIP_FLOATS_FN F32 low_floats(F32 a, F32 b) { return _mm256_unpacklo_ps(a, b); }
VMAFHIP_FLOATS_FN F32 high_floats(F32 a, F32 b) { return _mm256_unpackhi_ps(a, b); }
VMAFHIP_FLOATS_FN F32 low_pairs(F32 a, F32 b) { return F32(_mm256_unpacklo_pd(__m256d(a), __m256d(b))); }
VMAFHIP_FLOATS_FN F32 high_pairs(F32 a, F32 b) { return F32(_mm256_unpackhi_pd(__m256d(a), __m256d(b))); }
#else
VMAFHIP_FLOATS_FN F32 even_lanes(F32 a, F32 b) { return __builtin_shuffle(a, b, I32{0, 2, 4, 6}); }
VMAFHIP_FLOATS_FN F32 odd_lanes(F32 a, F32 b) { return __builtin_shuffle(a, b, I32{1, 3, 5, 7}); }
VMAFHIP_FLOATS_FN F32 low_floats(F32 a, F32 b) { return __builtin_shuffle(a, b, I32{0, 4, 1, 5}); }
VMAFHIP_FLOATS_FN F32 high_floats(F32 a, F32 b) { return __builtin_shuffle(a, b, I32{2, 6, 3, 7}); }
VMAFHIP_FLOATS_FN F32 low_pairs(F32 a, F32 b) { return __builtin_shuffle(a, b, I32{0, 1, 4, 5}); }
VMAFHIP_FLOATS_FN F32 high_pairs(F32 a, F32 b) { return __builtin_shuffle(a, b, I32{2, 3, 6, 7}); }
#endif

// Of the blocks of four floats in v[0], v[4] ...: block b of them all becomes v[4 * b].
VMAFHIP_FLOATS_FN void transpose_blocks(F32 *v) {
#if VMAFHIP_VECTOR_BYTES == 64
  const F32 low_even = _mm512_shuffle_f32x4(v[0], v[4], 0x88),
            low_odd = _mm512_shuffle_f32x4(v[0], v[4], 0xdd);
  const F32 high_even = _mm512_shuffle_f32x4(v[8], v[12], 0x88),
            high_odd = _mm512_shuffle_f32x4(v[8], v[12], 0xdd);
  v[0] = _mm512_shuffle_f32x4(low_even, high_even, 0x88);
  v[4] = _mm512_shuffle_f32x4(low_odd, high_odd, 0x88);
  v[8] = _mm512_shuffle_f32x4(low_even, high_even, 0xdd);
  v[12] = _mm512_shuffle_f32x4(low_odd, high_odd, 0xdd);
#elif VMAFHIP_VECTOR_BYTES == 32
  const F32 low = _mm256_permute2f128_ps(v[0], v[4], 0x20);
  v[4] = _mm256_permute2f128_ps(v[0], v[4], 0x31);
  v[0] = low;
#else
  (void)v;
#endif
}

// v[r] lane c and v[c] lane r change places.
VMAFHIP_FLOATS_FN void transpose(F32 (&v)[kFloats]) {
  unroll<kFloats / 4>([&](auto group) __attribute__((always_inline)) {
    F32 *const row = v + 4 * group;
    const F32 a = low_floats(row[0], row[1]), b = low_floats(row[2], row[3]);
    const F32 c = high_floats(row[0], row[1]), d = high_floats(row[2], row[3]);
    row[0] = low_pairs(a, b);
    row[1] = high_pairs(a, b);
    row[2] = low_pairs(c, d);
    row[3] = high_pairs(c, d);
  });
  unroll<4>([&](auto column) __attribute__((always_inline)) { transpose_blocks(v + column); });
}

}  // namespace
}  // namespace vmafhip
