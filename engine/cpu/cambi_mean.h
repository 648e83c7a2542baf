// The mean of the largest c-values: found by the digits of their bit patterns, which are ordered like the values, and
// summed exactly.
#pragma once
#include "engine/cpu/arena.h"
#include "engine/cpu/cambi.h"
#include "engine/cpu/cambi_words.h"

namespace vmafhip {
namespace {

// A sum in units of 2^-kCambiFraction beyond 64 bits.
class CambiSum {
 public:
  void add(uint64_t sum, uint64_t times = 1) {
    whole_ += (sum >> kCambiFraction) * times;
    part_ += (sum & kPart) * times;
    whole_ += part_ >> kCambiFraction;
    part_ &= kPart;
  }
  double value() const {
    return static_cast<double>(whole_) + static_cast<double>(part_) / (1 << kCambiFraction);
  }

 private:
  static constexpr uint64_t kPart = (1 << kCambiFraction) - 1;
  uint64_t whole_ = 0, part_ = 0;
};

// Digits of 11, 8 and 8 bits: together those of all c-values.
constexpr int kCambiDigits = 2048;
constexpr int kCambiLowest = kCambiFirstExponent << 16;

inline uint64_t cambi_units(float value) {
  return static_cast<uint64_t>(static_cast<double>(value) * (1 << kCambiFraction));
}

// Counts, by the digit at `shift`, the positive values whose digits above are those of `prefix`.
[[maybe_unused]] void cambi_count_digits(const CambiTile *tiles, int count, int shift, int bits,
                                         int32_t prefix, int64_t *digits) {
  for (int i = 0; i < 1 << bits; i++) digits[i] = 0;
  for (int t = 0; t < count; t++) {
    const float *values = tiles[t].values;
    for (int64_t i = 0; i < tiles[t].found->values; i++) {
      const int32_t key = vmafhip::bits_of(values[i]) - kCambiLowest;
      if (key >= 0 && key >> (shift + bits) == prefix) digits[(key >> shift) & ((1 << bits) - 1)]++;
    }
  }
}

[[maybe_unused]] double cambi_mean(const CambiTile *tiles, int count, int64_t top, int64_t *digits) {
  CambiSum sum;
  int64_t positive = 0;
  for (int t = 0; t < count; t++) positive += tiles[t].found->positive;
  if (positive <= top) {
    for (int t = 0; t < count; t++) sum.add(tiles[t].found->sum);
    return sum.value() / static_cast<double>(top);
  }
  // The smallest value that counts, from its first digit on.
  int32_t key = 0;
  int64_t equal = top;  // values to take of those that begin with the digits so far
  for (const int shift : {16, 8, 0}) {
    const int bits = shift == 16 ? 11 : 8;
    cambi_count_digits(tiles, count, shift, bits, key, digits);
    int digit = (1 << bits) - 1;
    for (; digits[digit] < equal; digit--) equal -= digits[digit];
    key = (key << bits) | digit;
  }
  const float smallest = vmafhip::real_of(key + kCambiLowest);
  for (int t = 0; t < count; t++)
    for (int64_t i = 0; i < tiles[t].found->values; i++)
      if (tiles[t].values[i] > smallest) sum.add(cambi_units(tiles[t].values[i]));
  sum.add(cambi_units(smallest), static_cast<uint64_t>(equal));
  return sum.value() / static_cast<double>(top);
}

}  // namespace
}  // namespace vmafhip
