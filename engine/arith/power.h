// v^exponent in operations that every CPU and GPU rounds alike; see real.h.
#pragma once
#include "engine/arith/real.h"

namespace vmafhip {

// v^exponent for v >= 0 and an exponent from 1 to 20: base-2 logarithm and exponential in f64, rounded to f32 at the
// end, so that but for one result in some hundred million it is the nearest f32. 0 if v is below the smallest normal
// f32, infinite where f32 ends.
//
// With v = 2^e m and m from sqrt(1/2) to sqrt(2), log2(m) = 2 / ln(2) * atanh(s), s = (m - 1) / (m + 1). The polynomials
// are Chebyshev interpolations; they leave 2e-12 of the logarithm and 6e-11 of 2^f.
template <class Real>
VMAFHIP_HD Real real_power(Real v, float exponent) {
  const auto bits = bits_of(v);
  const auto e = (bits - 0x3f3504f3) >> 23;  // of sqrt(1/2)
  const auto m = widen(real_of(bits - (e << 23)));
  const auto s = (m - 1.0) / (m + 1.0), z = s * s;
  auto p = z * 0.34072723810272143 + 0.4116728877270304;
  p = p * z + 0.5770835818640803;
  p = p * z + 0.9617966733601185;
  p = p * z + 2.885390081790068;
  using Wide = WideOf<Real>;
  auto y = (widen(to_real(e)) + s * p) * static_cast<double>(exponent);
  // Beyond f32 in either direction, and its exponents still in range.
  y = minimum(maximum(y, splat<Wide>(-160.0)), splat<Wide>(160.0));

  const Real near = narrow(y);
  const auto n = truncate(near + select(near > 0.0f, splat<Real>(0.5), splat<Real>(-0.5)));
  const auto f = y - widen(to_real(n));
  auto q = f * 1.5310104498161596e-05 + 0.00015469758503868067;
  q = q * f + 0.0013333450472183487;
  q = q * f + 0.00961802552003437;
  q = q * f + 0.05550410941308664;
  q = q * f + 0.2402265121421738;
  q = q * f + 0.6931471805459068;
  q = q * f + 0.9999999999594834;
  const auto half = n >> 1;
  const Real power = narrow(q) * real_of((half + 127) << 23) * real_of((n - half + 127) << 23);
  return select(v < 1.1754944e-38f, splat<Real>(0.0), power);
}

}  // namespace vmafhip
