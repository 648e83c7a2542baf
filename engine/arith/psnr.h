// Signal-to-noise ratios and moments of whole planes, as defined by libvmaf's `psnr`, `float_psnr` and `float_moment`.
//
// All sums are integers in units of samples, or of squared samples, of the picture's own depth: exact, whatever the
// order. libvmaf adds doubles in the float metrics; they are exact too as long as a sum is below 2^53 squared steps.
#pragma once
#include <cmath>
#include <cstdint>

#include "engine/arith/real.h"

namespace vmafhip {

struct PsnrSums {
  uint64_t squares[3];  // of ref - dist, per plane
};

struct FloatPsnrSums {
  uint64_t squares;  // of ref - dist, each rounded to f32
};

struct Moments {
  uint64_t first, second;  // of samples and of their squares, each rounded to f32
};
struct MomentSums {
  Moments ref, dist;
};

// A difference of 16-bit samples in two halves that fit i16, d = 256 * high + low: products of halves are at most 2^16,
// so that 32 bits hold the sums of 2^15 samples, and multiply-adds of 16-bit pairs make them.
struct HalfProducts {
  int32_t high_high, high_low, low_low;
};
constexpr int kHalfProductsMost = 32768;  // samples that may be added up
VMAFHIP_HD constexpr int16_t difference_high(uint16_t a, uint16_t b) {
  return static_cast<int16_t>((a >> 8) - (b >> 8));
}
VMAFHIP_HD constexpr int16_t difference_low(uint16_t a, uint16_t b) {
  return static_cast<int16_t>((a & 255) - (b & 255));
}
VMAFHIP_HD constexpr uint64_t join_halves(const HalfProducts &sums) {
  return static_cast<uint64_t>(sums.high_high * (int64_t{1} << 16) + sums.high_low * (int64_t{1} << 9) +
                               sums.low_low);
}

// The square of an integer of up to 16 bits and a sign, held as f32: rounded to 24 bits where it has more.
template <class Real>
VMAFHIP_HD Real rounded_square(Real v) {
  return v * v;
}

// Depths at which squares have no more than 24 bits.
VMAFHIP_HD constexpr bool squares_are_exact(int depth) { return depth <= 12; }

// ---- Scores; once a frame, on the host.

// The largest sample; 255 moved up to the depth if `reduced`.
constexpr int psnr_peak(int depth, bool reduced) { return reduced ? 255 << (depth - 8) : (1 << depth) - 1; }

constexpr double psnr_cap(int depth) { return 6.0 * depth + 12.0; }

// Such that a squared error of `least` in the whole plane would just reach it.
inline double psnr_cap(double peak_squared, double least, double samples) {
  return std::ceil(10.0 * std::log10(peak_squared / (least / samples)));
}

inline double psnr_score(double peak_squared, double mse, double least_mse, double cap) {
  return smaller(10.0 * std::log10(peak_squared / larger(mse, least_mse)), cap);
}

// Of a whole stream. Without errors the first term is infinite, and the cap counts; without samples it is not a
// number, and -infinity, libvmaf's value, is left.
inline double psnr_aggregate(double peak_squared, double squares, double samples) {
  const double psnr = 10.0 * (std::log10(peak_squared) + std::log10(samples) - std::log10(squares));
  const double cap = std::ceil(10.0 * std::log10(peak_squared * samples * 2.0));
  return psnr < cap ? psnr : cap;
}

}  // namespace vmafhip
