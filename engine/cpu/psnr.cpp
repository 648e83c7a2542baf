// Sums of samples, of squares and of squared differences. The loops are plain: GCC makes multiply-adds of 16-bit pairs
// of them, and all that remains is the time to read the planes.
#include "engine/cpu/psnr.h"

#include "engine/cpu/arena.h"
#include "engine/cpu/floats.h"

namespace vmafhip::VMAFHIP_ISA {
namespace {

// Neighbouring samples [x, x + n) of a row, few enough for sums in 32 bits.
template <class Function>
[[gnu::always_inline]] inline void in_parts(int width, Function function) {
  for (int x = 0; x < width; x += kHalfProductsMost) function(x, smaller(kHalfProductsMost, width - x));
}

uint64_t row_squares(const uint8_t *__restrict a, const uint8_t *__restrict b, int width) {
  uint64_t total = 0;
  in_parts(
      width, [&](int at, int n) __attribute__((always_inline)) {
        int32_t sum = 0;
        for (int x = at; x < at + n; x++) {
          const int16_t d = static_cast<int16_t>(a[x] - b[x]);
          sum += d * d;
        }
        total += static_cast<uint64_t>(sum);
      });
  return total;
}

uint64_t row_squares(const uint16_t *__restrict a, const uint16_t *__restrict b, int width) {
  uint64_t total = 0;
  in_parts(
      width, [&](int at, int n) __attribute__((always_inline)) {
        int32_t high_high = 0, high_low = 0, low_low = 0;
        for (int x = at; x < at + n; x++) {
          const int16_t high = difference_high(a[x], b[x]), low = difference_low(a[x], b[x]);
          high_high += high * high;
          high_low += high * low;
          low_low += low * low;
        }
        total += join_halves({high_high, high_low, low_low});
      });
  return total;
}

// Of rounded squares of load(x), kFloats numbers, and single(x), one. Doubles hold the sum of 2^21 of them exactly.
template <class Load, class Single>
[[gnu::always_inline]] inline uint64_t row_rounded_squares(int width, Load load, Single single) {
  Wide sum = splat<Wide>(0);
  int x = 0;
  for (; x + kFloats <= width; x += kFloats) sum = sum + widen(rounded_square(to_real(load(x))));
  double total = 0;
  for (int i = 0; i < kFloats / 2; i++) total += sum.low[i] + sum.high[i];
  for (; x < width; x++) total += widen(rounded_square(to_real(single(x))));
  return static_cast<uint64_t>(total);
}

uint64_t row_rounded_squares(const uint16_t *a, const uint16_t *b, int width) {
  return row_rounded_squares(
      width,
      [&](int x) __attribute__((always_inline)) { return load_integers(a + x) - load_integers(b + x); },
      [&](int x) __attribute__((always_inline)) { return static_cast<int32_t>(a[x]) - b[x]; });
}

uint64_t row_rounded_squares(const uint16_t *a, int width) {
  return row_rounded_squares(
      width, [&](int x) __attribute__((always_inline)) { return load_integers(a + x); },
      [&](int x) __attribute__((always_inline)) { return static_cast<int32_t>(a[x]); });
}

Moments row_moments(const uint8_t *a, int width) {
  Moments total = {};
  in_parts(
      width, [&](int at, int n) __attribute__((always_inline)) {
        int32_t first = 0, second = 0;
        for (int x = at; x < at + n; x++) {
          const int16_t v = a[x];
          first += v;
          second += v * v;
        }
        total.first += static_cast<uint64_t>(first);
        total.second += static_cast<uint64_t>(second);
      });
  return total;
}

Moments row_moments(const uint16_t *a, int width) {
  Moments total = {};
  in_parts(
      width, [&](int at, int n) __attribute__((always_inline)) {
        uint32_t first = 0;
        int32_t high_high = 0, high_low = 0, low_low = 0;
        for (int x = at; x < at + n; x++) {
          const int16_t high = difference_high(a[x], 0), low = difference_low(a[x], 0);
          first += a[x];
          high_high += high * high;
          high_low += high * low;
          low_low += low * low;
        }
        total.first += first;
        total.second += join_halves({high_high, high_low, low_low});
      });
  return total;
}

template <class Sample>
uint64_t all_squares(const PlaneView &a, const PlaneView &b, int first, int last) {
  uint64_t total = 0;
  for (int y = first; y < last; y++)
    total += row_squares(row_of<Sample>(a, y), row_of<Sample>(b, y), a.width);
  return total;
}

uint64_t squares(const PlaneView &a, const PlaneView &b, int first, int last) {
  return a.depth == 8 ? all_squares<uint8_t>(a, b, first, last) : all_squares<uint16_t>(a, b, first, last);
}

uint64_t rounded_squares(const PlaneView &a, const PlaneView &b, int first, int last) {
  if (squares_are_exact(a.depth)) return squares(a, b, first, last);
  uint64_t total = 0;
  for (int y = first; y < last; y++)
    total += row_rounded_squares(row_of<uint16_t>(a, y), row_of<uint16_t>(b, y), a.width);
  return total;
}

Moments moments(const PlaneView &plane, int first, int last) {
  Moments total = {};
  for (int y = first; y < last; y++) {
    Moments row = plane.depth == 8 ? row_moments(row_of<uint8_t>(plane, y), plane.width)
                                   : row_moments(row_of<uint16_t>(plane, y), plane.width);
    if (!squares_are_exact(plane.depth))
      row.second = row_rounded_squares(row_of<uint16_t>(plane, y), plane.width);
    total.first += row.first;
    total.second += row.second;
  }
  return total;
}

}  // namespace

extern const PsnrKernels psnr_kernels = {squares, rounded_squares, moments};

}  // namespace vmafhip::VMAFHIP_ISA
