// Percentiles of a stream in constant memory: exact while it is short, from a histogram later.
#pragma once
#include <array>
#include <cstdint>

namespace vmafhip {

// A value of 32 KiB that never allocates. add() takes constant time.
//
// The first kExact values are kept. Then they are counted in kExact bins whose width is a power of two and whose
// borders are multiples of it: the narrowest that covers all values so far. Borders of a wider bin are borders of the
// narrower ones too, so that widening loses no count, and the result depends on the values alone, not on their order.
// A percentile is then off by half a bin's width at most, that is by (max - min) / (kExact - 1): 0.025 for scores
// from 0 to 100. (Bins are no narrower than the precision of the largest number, 2^-50 of it.) Values that equal the
// smallest or the largest are counted by themselves and stay exact, as in a metric that is 0 most of the time.
class Percentiles {
 public:
  static constexpr int kExact = 4096;

  // Infinities are the smallest and the largest values, and their own bins. Not NaN.
  void add(double value);
  void reset();

  uint64_t count() const { return count_; }
  // Of `p` percent, 0 to 100: with the values sorted, at position t = p * (count - 1) / 100, linear between neighbours;
  // neighbours that are infinite in both directions make it NaN. NaN if nothing was added.
  double percentile(double p) const;
  // By how much percentile() may be off; 0 while it is exact.
  double error() const;

 private:
  int64_t bin(double value, int exponent) const;
  void count_in(double value);
  void begin_counting();
  void widen(int exponent);
  double ranked(uint64_t rank) const;

  std::array<uint64_t, kExact> store_{};  // bits of the values, or counts: bin i is in store_[i mod kExact]
  uint64_t count_ = 0;
  bool counting_ = false;
  // Once counting:
  uint64_t lowest_ = 0, highest_ = 0;  // infinities
  uint64_t finite_ = 0;                // all others, of which
  uint64_t at_min_ = 0, at_max_ = 0;   // equal
  double min_ = 0, max_ = 0;           // these
  int exponent_ = 0;                   // a bin is 2^exponent_ wide
};

}  // namespace vmafhip
