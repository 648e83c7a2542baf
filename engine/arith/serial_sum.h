// The f32 sum of numbers in their order, each addition rounded, that many threads take together: for definitions in which
// these roundings decide the score. The numbers are finite and not negative.
//
// While a sum s is in one binade, 2^e <= s < 2^(e+1), it is a whole number of units, u = 2^(e-23), and s + t is rounded to
// units, at ties to an even number of them. By how many units t moves s thus depends on t and on whether s is odd, and on
// nothing else. So a run of numbers is known by two integers, what it adds to an even s and to an odd one: the run is
// added to 2^e and to 2^e + u in f32. Runs that follow each other make one run. What a run adds is true if the sum is
// still in the binade at its end, since it only grows; where it has left, the run must be added number by number.
//
// Units are steps of the bits of an f32, also below 2^-126, in what counts as a binade that begins at 0.
#pragma once
#include "engine/arith/real.h"

namespace vmafhip {

// Units that are added to an even sum, and to an odd one. kSerialMost stands for all that is more.
struct SerialRun {
  uint32_t even, odd;
};
constexpr uint32_t kSerialBinade = 1u << 23, kSerialMost = 1u << 24;

// The bits of 2^e for a sum's bits.
VMAFHIP_HD constexpr uint32_t serial_binade(uint32_t sum) { return sum & ~(kSerialBinade - 1); }

// Of number(0) to number(count - 1).
template <class At>
VMAFHIP_HD SerialRun serial_run(uint32_t binade, int count, const At &number) {
  float even = real_of(static_cast<int32_t>(binade)), odd = real_of(static_cast<int32_t>(binade + 1));
  for (int i = 0; i < count; i++) {
    const float t = number(i);
    even = even + t;
    odd = odd + t;
  }
  return {smaller(static_cast<uint32_t>(bits_of(even)) - binade, kSerialMost),
          smaller(static_cast<uint32_t>(bits_of(odd)) - binade - 1, kSerialMost)};
}

VMAFHIP_HD constexpr SerialRun serial_join(SerialRun first, SerialRun then) {
  return {smaller(first.even + (first.even % 2 == 0 ? then.even : then.odd), kSerialMost),
          smaller(first.odd + (first.odd % 2 == 0 ? then.odd : then.even), kSerialMost)};
}

// Adds a run to the sum with bits *sum. False: it would leave the binade, and is as it was.
VMAFHIP_HD constexpr bool serial_add(uint32_t binade, SerialRun run, uint32_t *sum) {
  const uint32_t units = *sum % 2 == 0 ? run.even : run.odd;
  if (*sum + units >= binade + kSerialBinade) return false;
  *sum += units;
  return true;
}

}  // namespace vmafhip
