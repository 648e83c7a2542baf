// The vector unit that a file of this folder is compiled for: `Simd`, from the header that Meson names for each
// instruction set. simd_scalar.h says what each function means; the others only say how.
//
// A vector has type I whatever its lanes are: kWords lanes of 16 bits, kDwords = kWords / 2 of 32 bits or half as
// many again of 64 bits. Arithmetic wraps. Nothing here has external linkage: one copy for each instruction set.
#pragma once
#include <cstdint>

#define VMAFHIP_SIMD_FN [[gnu::always_inline]] static inline

#include VMAFHIP_SIMD

namespace vmafhip {
namespace {

// Two 16-bit numbers as a 32-bit lane, `low` in the low half; each taken modulo 2^16.
constexpr int32_t word_pair(int low, int high) {
  return static_cast<int32_t>((static_cast<uint32_t>(low) & 0xffff) | static_cast<uint32_t>(high) << 16);
}

}  // namespace
}  // namespace vmafhip
