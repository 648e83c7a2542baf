// The few words in which definitions of float metrics are written, here for single numbers. engine/cpu/floats.h has the
// same words for vectors, so that a template of engine/arith is compiled for one pixel (the definition, a GPU's thread)
// and for as many as a vector holds, with the same bits: only + - * /, square roots, comparisons, conversions and
// integer operations occur, each rounded once by IEEE's rules.
#pragma once
#include <cstdint>

#include "engine/arith/hd.h"

namespace vmafhip {

// Types that go with a value type: integers of the same number of lanes, and doubles.
template <class Real>
struct RealTraits;
template <>
struct RealTraits<float> {
  using Int = int32_t;
  using Wide = double;
  VMAFHIP_HD float splat(double v) { return static_cast<float>(v); }
};
template <>
struct RealTraits<double> {
  using Int = int64_t;
  using Wide = double;
  VMAFHIP_HD double splat(double v) { return v; }
};
template <class Real>
using IntOf = typename RealTraits<Real>::Int;
template <class Real>
using WideOf = typename RealTraits<Real>::Wide;

// All lanes the same.
template <class Real>
VMAFHIP_HD Real splat(double v) {
  return RealTraits<Real>::splat(v);
}

VMAFHIP_HD float select(bool m, float a, float b) { return m ? a : b; }
VMAFHIP_HD double select(bool m, double a, double b) { return m ? a : b; }
VMAFHIP_HD int32_t select(bool m, int32_t a, int32_t b) { return m ? a : b; }
VMAFHIP_HD int64_t select(bool m, int64_t a, int64_t b) { return m ? a : b; }

// b where the two do not compare, as vector units have it.
VMAFHIP_HD float minimum(float a, float b) { return a < b ? a : b; }
VMAFHIP_HD double minimum(double a, double b) { return a < b ? a : b; }
VMAFHIP_HD float maximum(float a, float b) { return a > b ? a : b; }
VMAFHIP_HD double maximum(double a, double b) { return a > b ? a : b; }

VMAFHIP_HD float absolute(float a) { return __builtin_fabsf(a); }
VMAFHIP_HD double absolute(double a) { return __builtin_fabs(a); }

// Rounded correctly, on GPUs too.
VMAFHIP_HD float square_root(float a) {
#if defined(__CUDA_ARCH__)
  return __fsqrt_rn(a);
#else
  return __builtin_sqrtf(a);
#endif
}
VMAFHIP_HD double square_root(double a) {
#if defined(__CUDA_ARCH__)
  return __dsqrt_rn(a);
#else
  return __builtin_sqrt(a);
#endif
}

VMAFHIP_HD double widen(float a) { return static_cast<double>(a); }
VMAFHIP_HD float narrow(double a) { return static_cast<float>(a); }

// Towards zero; the value must fit.
VMAFHIP_HD int32_t truncate(float a) { return static_cast<int32_t>(a); }
VMAFHIP_HD float to_real(int32_t a) { return static_cast<float>(a); }

VMAFHIP_HD int32_t bits_of(float a) {
  int32_t v;
  __builtin_memcpy(&v, &a, sizeof v);
  return v;
}
VMAFHIP_HD int64_t bits_of(double a) {
  int64_t v;
  __builtin_memcpy(&v, &a, sizeof v);
  return v;
}
VMAFHIP_HD float real_of(int32_t bits) {
  float v;
  __builtin_memcpy(&v, &bits, sizeof v);
  return v;
}
VMAFHIP_HD double real_of(int64_t bits) {
  double v;
  __builtin_memcpy(&v, &bits, sizeof v);
  return v;
}

}  // namespace vmafhip
