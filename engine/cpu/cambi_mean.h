// The mean of the largest c-values: found by the digits of their bit patterns, which are ordered like the values, and
// summed exactly.
#pragma once
#include "engine/cpu/arena.h"
#include "engine/cpu/cambi.h"
#include "engine/cpu/cambi_words.h"

namespace vmafhip {
namespace {

// How often each digit occurs, in several counts side by side, since neighbouring values are often the same.
constexpr int kCambiDigits = 2048, kCambiCounts = 4;

// What is to be done with values by their bit patterns: those above `last` are among the largest, those from `first` on
// may be.
struct CambiRange {
  int32_t first, last;
};

// The digit at `shift`: of the first 16 bits, counted from below those of the smallest c-value, or of 8 further bits.
[[maybe_unused]] void cambi_count_digits(const float *values, int64_t count, int shift, uint32_t *digits) {
  const int32_t below = shift == 16 ? kCambiFirstExponent - 1 : 0, mask = shift == 16 ? 0xffff : 255;
  int32_t digit[kFloats];
  for (int64_t i = 0; i < count; i += kFloats) {
    const I32 all = ((load_vector<I32>(values + i) >> shift) & mask) - below;
    store_vector(digit, all > 0 ? all : I32{});
    for (int k = 0; k < kFloats; k++) digits[digit[k] * kCambiCounts + k % kCambiCounts]++;
  }
}

// Moves the values in the range to the front, followed by zeros to the next whole vector, and adds up those above.
[[maybe_unused]] int64_t cambi_split(float *values, int64_t count, CambiRange range, CambiSum *above) {
  constexpr int64_t kExact = 4096;  // vectors of which the sums of lanes fit the 53 bits of a double
  int64_t kept = 0;
  for (int64_t block = 0; block < count; block += kExact * kFloats) {
    F64 sum = {};
    const int64_t end = smaller(count, block + kExact * kFloats);
    for (int64_t i = block; i < end; i += kFloats) {
      const I32 bits = load_vector<I32>(values + i);
      const Wide larger = widen(F32(bits > range.last ? bits : I32{}));
      sum += larger.low + larger.high;
      uint32_t in_range = lanes_of(I32((bits >= range.first) & (bits <= range.last)));
#if defined(__AVX512BW__)
      store_vector(values + kept,
                   F32(_mm512_maskz_compress_ps(static_cast<__mmask16>(in_range), __m512(bits))));
      kept += __builtin_popcount(in_range);
#else
      for (; in_range; in_range &= in_range - 1) values[kept++] = values[i + __builtin_ctz(in_range)];
#endif
    }
    for (int k = 0; k < kFloats / 2; k++)
      cambi_add(above, static_cast<uint64_t>(sum[k] * (1 << kCambiFraction)));
  }
  const int64_t whole = (kept + kFloats - 1) / kFloats * kFloats;
  for (int64_t i = kept; i < whole; i++) values[i] = 0;
  return whole;
}

[[maybe_unused]] double cambi_mean(const CambiTile *tiles, int count, int64_t top, uint32_t *digits) {
  CambiSum sum;
  int64_t positive = 0;
  for (int t = 0; t < count; t++) positive += tiles[t].found->positive;
  if (positive <= top) {
    for (int t = 0; t < count; t++) cambi_add(&sum, tiles[t].found->sum);
    return cambi_value(sum) / static_cast<double>(top);
  }
  // The smallest value that counts, digit by digit.
  int32_t bits = 0;
  int64_t equal = top;  // values to take of those that begin with the digits so far
  for (const int shift : {16, 8, 0}) {
    for (int i = 0; i < kCambiDigits * kCambiCounts; i++) digits[i] = 0;
    for (int t = 0; t < count; t++)
      cambi_count_digits(tiles[t].values, tiles[t].found->values, shift, digits);
    int digit = shift == 16 ? kCambiDigits : 256;
    while (digit > 0) {
      int64_t number = 0;
      digit--;
      for (int i = 0; i < kCambiCounts; i++) number += digits[digit * kCambiCounts + i];
      if (number >= equal) break;
      equal -= number;
    }
    bits |= (shift == 16 ? digit + kCambiFirstExponent - 1 : digit) << shift;
    const CambiRange range = {bits, bits | ((1 << shift) - 1)};
    for (int t = 0; t < count; t++)
      tiles[t].found->values = cambi_split(tiles[t].values, tiles[t].found->values, range, &sum);
  }
  const double smallest = static_cast<double>(real_of(bits));
  cambi_add(&sum, static_cast<uint64_t>(smallest * (1 << kCambiFraction)), static_cast<uint64_t>(equal));
  return cambi_value(sum) / static_cast<double>(top);
}

}  // namespace
}  // namespace vmafhip
