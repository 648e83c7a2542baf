// Binary logarithm of doubles in basic operations alone, for numbers and vectors: the same bits everywhere, within
// 2^-51 of the exact value, relative or absolute, whichever is larger.
//
// x = 2^e * m with m in [sqrt(1/2), sqrt(2)), and ln m = 2 atanh s = 2 (s + s^3/3 + s^5/5 + ...) with s = (m-1)/(m+1),
// |s| < 0.1716. The first term left out, s^23/23, is below 2^-62 of the sum.
#pragma once
#include <cstdint>

#include "engine/arith/real.h"

namespace vmafhip {

// Of normal positive numbers and infinity; -inf of zero, NaN of negative numbers and NaN. Subnormal numbers are no
// case of any metric and count as zero.
template <class Real>
VMAFHIP_HD Real log2_of(Real x) {
  using Int = IntOf<Real>;
  constexpr int64_t kOne = 0x3ff0000000000000, kSmallest = 0x0010000000000000;
  constexpr int64_t kRootHalf = 0x3fe6a09e667f3bcd;   // the bits of sqrt(1/2)
  constexpr int64_t kTwo52 = 0x4330000000000000;      // the bits of 2^52, whose last bit is worth 1
  constexpr double kTwiceLog2e = 2.8853900817779268;  // 2 / ln 2

  const Int shifted = bits_of(x) + (kOne - kRootHalf);
  const Int mantissa = (shifted & (kSmallest - 1)) + kRootHalf;
  // The biased exponent as a number, by way of the last bits of 2^52 + e.
  const Real exponent = real_of(((shifted >> 52) & 0xfff) | kTwo52) - (4503599627370496.0 + 1023.0);
  const Real f = real_of(mantissa) - 1.0;
  const Real s = f / (f + 2.0), z = s * s;
  Real series = z * (1.0 / 21) + 1.0 / 19;
  series = series * z + 1.0 / 17;
  series = series * z + 1.0 / 15;
  series = series * z + 1.0 / 13;
  series = series * z + 1.0 / 11;
  series = series * z + 1.0 / 9;
  series = series * z + 1.0 / 7;
  series = series * z + 1.0 / 5;
  series = series * z + 1.0 / 3;
  const Real log = exponent + kTwiceLog2e * (s + s * z * series);

  const Real infinity = splat<Real>(__builtin_inf()), nan = splat<Real>(__builtin_nan(""));
  const Real finite = select(x < infinity, log, x);
  return select(x >= 0x1p-1022, finite, select(x >= 0.0, -infinity, nan));
}

}  // namespace vmafhip
