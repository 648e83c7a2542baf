// VIF on the CPU: rows of a picture, interleaved in pairs of signed samples as the column sums read them.
#pragma once
#include <cstddef>
#include <cstdint>

#include "engine/arith/hd.h"
#include "engine/cpu/arena.h"
#include "engine/cpu/vif_memory.h"

namespace vmafhip {
namespace {

// Bytes x and y become the word (x - 128) + 2^8 (y - 128), to be widened by Simd::load_bytes().
inline void interleave(const uint8_t *even, const uint8_t *odd, int width, int8_t *out) {
  uint16_t *to = reinterpret_cast<uint16_t *>(out);
#pragma GCC ivdep
  for (int x = 0; x < width; x++)
    to[x] = static_cast<uint16_t>(static_cast<uint16_t>(even[x] | odd[x] << 8) ^ 0x8080);
}

// `up`: bits that are missing to 16; `flip`: 0x8000 for samples from 0 on, 0 for signed ones.
inline void interleave(const uint16_t *even, const uint16_t *odd, int width, int up, uint16_t flip,
                       int16_t *out) {
  const Simd::I flips = Simd::set(word_pair(flip, flip));
  int x = 0;
  for (; x + Simd::kWords <= width; x += Simd::kWords)
    Simd::store_interleaved(out + 2 * x, Simd::bit_xor(Simd::shl_words(Simd::load(even + x), up), flips),
                            Simd::bit_xor(Simd::shl_words(Simd::load(odd + x), up), flips));
  for (; x < width; x++) {
    out[2 * x] = static_cast<int16_t>((even[x] << up) ^ flip);
    out[2 * x + 1] = static_cast<int16_t>((odd[x] << up) ^ flip);
  }
}

// Fills one pair of the ring with rows y and y + 1, mirrored at the borders; columns behind the picture are zeros.
template <class Sample>
void fill_pair(const PlaneView &plane, int scale, int y, int padded, int16_t *out) {
  const int a = reflect(y, plane.height), b = reflect(y + 1, plane.height);
  if constexpr (sizeof(Sample) == 1) {
    interleave(row_of<uint8_t>(plane, a), row_of<uint8_t>(plane, b), plane.width,
               reinterpret_cast<int8_t *>(out));
  } else {
    const uint16_t flip = scale == 0 ? 0x8000 : 0;  // coarser scales are signed already
    interleave(row_of<uint16_t>(plane, a), row_of<uint16_t>(plane, b), plane.width, 16 - plane.depth, flip,
               out);
  }
  Sample *rest = reinterpret_cast<Sample *>(out);
  for (int x = 2 * plane.width; x < 2 * padded; x++) rest[x] = 0;
}

}  // namespace
}  // namespace vmafhip
