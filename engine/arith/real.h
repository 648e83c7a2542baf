// The few words in which definitions of float metrics are written, so that a template of engine/arith is compiled for one
// pixel (the definition, a GPU's thread) and for as many as a vector of engine/cpu/floats.h holds, with the same bits:
// only + - * /, square roots, comparisons, conversions and integer operations occur, each rounded once by IEEE's rules.
//
// What a word does to a type stands in RealTraits: here for numbers, in floats.h for vectors. Overloads would not do:
// vectors belong to no namespace, so that a template finds only those overloads for them that stand before it.
#pragma once
#include <cstdint>

#include "engine/arith/hd.h"

namespace vmafhip {

// Int: integers of the same number of lanes. Wide: as many doubles.
template <class Value>
struct RealTraits;

// Built-in square roots of clang before 18 are the estimates of AMD's GPUs; their device library rounds correctly.
#if defined(__HIP_DEVICE_COMPILE__) && __clang_major__ < 18
#define VMAFHIP_SQRT32 __ocml_sqrt_f32
#define VMAFHIP_SQRT64 __ocml_sqrt_f64
#elif defined(__CUDA_ARCH__)
#define VMAFHIP_SQRT32 __fsqrt_rn
#define VMAFHIP_SQRT64 __dsqrt_rn
#else
#define VMAFHIP_SQRT32 __builtin_sqrtf
#define VMAFHIP_SQRT64 __builtin_sqrt
#endif

// What all numbers have in common.
template <class Value>
struct NumberTraits {
  VMAFHIP_HD Value splat(double v) { return static_cast<Value>(v); }
  VMAFHIP_HD Value select(bool m, Value a, Value b) { return m ? a : b; }
  VMAFHIP_HD Value minimum(Value a, Value b) { return a < b ? a : b; }
  VMAFHIP_HD Value maximum(Value a, Value b) { return a > b ? a : b; }
};
template <>
struct RealTraits<float> : NumberTraits<float> {
  using Int = int32_t;
  using Wide = double;
  VMAFHIP_HD float absolute(float a) { return __builtin_fabsf(a); }
  // Rounded correctly, on GPUs too.
  VMAFHIP_HD float square_root(float a) { return VMAFHIP_SQRT32(a); }
  VMAFHIP_HD double widen(float a) { return static_cast<double>(a); }
  VMAFHIP_HD int32_t truncate(float a) { return static_cast<int32_t>(a); }
  VMAFHIP_HD int32_t bits_of(float a) {
    int32_t v;
    __builtin_memcpy(&v, &a, sizeof v);
    return v;
  }
};
template <>
struct RealTraits<double> : NumberTraits<double> {
  using Int = int64_t;
  using Wide = double;
  VMAFHIP_HD double absolute(double a) { return __builtin_fabs(a); }
  VMAFHIP_HD double square_root(double a) { return VMAFHIP_SQRT64(a); }
  VMAFHIP_HD float narrow(double a) { return static_cast<float>(a); }
  VMAFHIP_HD int64_t bits_of(double a) {
    int64_t v;
    __builtin_memcpy(&v, &a, sizeof v);
    return v;
  }
};
template <>
struct RealTraits<int32_t> : NumberTraits<int32_t> {
  VMAFHIP_HD float to_real(int32_t a) { return static_cast<float>(a); }
  VMAFHIP_HD float real_of(int32_t bits) {
    float v;
    __builtin_memcpy(&v, &bits, sizeof v);
    return v;
  }
};
template <>
struct RealTraits<int64_t> : NumberTraits<int64_t> {
  VMAFHIP_HD double real_of(int64_t bits) {
    double v;
    __builtin_memcpy(&v, &bits, sizeof v);
    return v;
  }
};

template <class Real>
using IntOf = typename RealTraits<Real>::Int;
template <class Real>
using WideOf = typename RealTraits<Real>::Wide;

// ---- The words

// All lanes the same.
template <class Value>
VMAFHIP_HD Value splat(double v) {
  return RealTraits<Value>::splat(v);
}
// `mask`: what comparisons give.
template <class Mask, class Value>
VMAFHIP_HD Value select(Mask mask, Value a, Value b) {
  return RealTraits<Value>::select(mask, a, b);
}
// b where the two do not compare, as vector units have it.
template <class Value>
VMAFHIP_HD Value minimum(Value a, Value b) {
  return RealTraits<Value>::minimum(a, b);
}
template <class Value>
VMAFHIP_HD Value maximum(Value a, Value b) {
  return RealTraits<Value>::maximum(a, b);
}
template <class Real>
VMAFHIP_HD Real absolute(Real a) {
  return RealTraits<Real>::absolute(a);
}
template <class Real>
VMAFHIP_HD Real square_root(Real a) {
  return RealTraits<Real>::square_root(a);
}
// Floats to doubles and back.
template <class Real>
VMAFHIP_HD auto widen(Real a) {
  return RealTraits<Real>::widen(a);
}
template <class Real>
VMAFHIP_HD auto narrow(Real a) {
  return RealTraits<Real>::narrow(a);
}
// Floats to integers, towards zero; the value must fit. And back.
template <class Real>
VMAFHIP_HD auto truncate(Real a) {
  return RealTraits<Real>::truncate(a);
}
template <class Int>
VMAFHIP_HD auto to_real(Int a) {
  return RealTraits<Int>::to_real(a);
}
template <class Real>
VMAFHIP_HD auto bits_of(Real a) {
  return RealTraits<Real>::bits_of(a);
}
template <class Int>
VMAFHIP_HD auto real_of(Int bits) {
  return RealTraits<Int>::real_of(bits);
}

}  // namespace vmafhip
