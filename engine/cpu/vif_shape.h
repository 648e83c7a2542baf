// VIF on the CPU: how the filters lie over pairs of rows and pairs of columns.
//
// One instruction multiplies two neighbouring 16-bit samples by two taps and adds both products to a 32-bit sum.
// Samples are therefore kept in pairs: rows 2i and 2i+1 interleaved for column sums, columns 2i and 2i+1 as they
// are in memory for row sums. A filter of 17 taps meets 9 pairs, in one of two positions: an output at an even row
// (or column) has the taps (0,1) (2,3) ... (16,-), one at an odd row the taps (-,0) (1,2) ... (15,16).
//
// Samples are signed: 16-bit ones are x - 2^15, 8-bit ones x - 2^7, so that squares of the latter fit 16 bits too.
// Sums wrap modulo 2^32; each place where that happens says why the result fits.
#pragma once
#include <cstdint>

#include "engine/arith/vif.h"
#include "engine/cpu/simd.h"

namespace vmafhip {
namespace {

// Rows that are summed at the same time: so many that the accumulators still fit the registers.
constexpr int kRows = Simd::kRegisters >= 32 ? 4 : 2;
constexpr int kMaxPairs = kVifMaxRadius + 2;

template <int kScale>
struct VifShape {
  static constexpr int radius = kVifTapCount[kScale] / 2;
  // Samples before an even output that its first pair starts with.
  static constexpr int lead = (radius + 1) / 2 * 2;
  // Pairs of rows under the windows of kRows rows, the first of them even.
  static constexpr int row_pairs = (lead + radius + kRows + 1) / 2;
  // Pairs of columns under the windows of an even column and the one behind it.
  static constexpr int column_pairs = (lead + radius + 3) / 2;
  static_assert(row_pairs <= kMaxPairs);
};

// Tap of a filter; 0 beside it.
constexpr int vif_tap(int scale, int at) {
  return at >= 0 && at < kVifTapCount[scale] ? kVifTaps[scale][at] : 0;
}

// Tap of filter `scale` that meets the first sample of pair `pair`, for the output `offset` samples behind the
// first, where pairs start `lead` samples before the first output.
constexpr int vif_first_tap(int scale, int lead, int pair, int offset) {
  return 2 * pair - lead - offset + kVifTapCount[scale] / 2;
}

// sum + both samples of `pairs` times the taps at `at` and `at + 1`. The one tap above 2^15, 43728, is taken
// modulo 2^16 as a signed number; 2^16 times the sample makes up for it.
VMAFHIP_SIMD_FN Simd::I add_pairs(Simd::I sum, Simd::I pairs, int scale, int at) {
  const int first = vif_tap(scale, at), second = vif_tap(scale, at + 1);
  if (first == 0 && second == 0) return sum;
  sum = Simd::dot(sum, pairs, word_pair(first, second));
  if (first > 32767) sum = Simd::add(sum, Simd::shl<16>(pairs));
  if (second > 32767) sum = Simd::add(sum, Simd::bit_and(pairs, Simd::set(-65536)));
  return sum;
}

// The low halves of squares and products are unsigned; they are kept as h - 2^15.
VMAFHIP_SIMD_FN Simd::I flip_words(Simd::I v) { return Simd::bit_xor(v, Simd::set(word_pair(32768, 32768))); }

}  // namespace
}  // namespace vmafhip
