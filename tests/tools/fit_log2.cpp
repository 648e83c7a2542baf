// Fits the polynomials of engine/cpu/log2.h to the logarithm table of VIF and prints their coefficients, as they
// stand there. Each segment is a Chebyshev interpolation whose constant term is moved in small steps until all
// entries are met. Exit status 1 if one is not.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "engine/arith/vif.h"

namespace vmafhip {
namespace {

constexpr double kPi = 3.14159265358979323846;

// Power-series coefficients, lowest first, of the interpolation of degree 3 or 5 of f on [-reach, reach].
template <class Function>
std::vector<double> interpolate(int degree, double reach, Function f) {
  constexpr int kNodes = 64;
  double c[6] = {};
  for (int k = 0; k <= degree; k++) {
    for (int n = 0; n < kNodes; n++) {
      const double angle = kPi * (n + 0.5) / kNodes;
      c[k] += f(reach * std::cos(angle)) * std::cos(k * angle);
    }
    c[k] *= (k ? 2.0 : 1.0) / kNodes;
  }
  std::vector<double> p = {
      c[0] - c[2] + c[4], c[1] - 3 * c[3] + 5 * c[5], 2 * c[2] - 8 * c[4], 4 * c[3] - 20 * c[5], 8 * c[4],
      16 * c[5]};
  double scale = 1;
  for (double &coefficient : p) {
    coefficient *= scale;
    scale /= reach;
  }
  return p;
}

// 2048 log2(v) + 1/2 + 1/1024: see log2.h.
double target(double v) { return 2048 * std::log2(v) + 0.5 + 1.0 / 1024; }

// 0, 1, -1, 2, -2, ...
int step(int attempt) { return (attempt % 2 ? 1 : -1) * ((attempt + 1) / 2); }

template <class T>
void print(const char *name, const std::vector<T> &values, const char *format) {
  std::printf("%s\n {", name);
  for (T v : values) std::printf(format, v);
  std::printf("}\n");
}

bool fit_by_32(const uint16_t *table) {
  std::vector<float> c[4];
  std::vector<int> bases;
  bool good = true;
  for (int s = 0; s < 32; s++) {
    const double middle = 32768 + 1024 * s + 512;
    const int base = static_cast<int>(std::floor(target(middle - 512)));
    const auto p = interpolate(3, 512, [&](double t) { return target(middle + t) - base; });
    float f[4];
    int wrong = 1;
    for (int attempt = 0; wrong && attempt <= 400; attempt++) {
      for (int k = 0; k < 4; k++)
        f[k] = static_cast<float>(p[static_cast<size_t>(k)] + (k ? 0 : 1e-6 * step(attempt)));
      wrong = 0;
      for (int i = 0; i < 1024; i++) {
        const float t = static_cast<float>(i - 512);
        const float value = std::fma(t, std::fma(t, std::fma(t, f[3], f[2]), f[1]), f[0]);
        wrong += base + static_cast<int>(value) != table[1024 * s + i];
      }
    }
    good &= !wrong;
    for (int k = 0; k < 4; k++) c[k].push_back(f[k]);
    bases.push_back(base);
  }
  std::printf("Log2By32\n");
  for (const auto &values : c) print("c", values, "%af, ");
  print("base", bases, "%d, ");
  return good;
}

bool fit_by_8(const uint16_t *table) {
  constexpr int kFraction = 20;
  std::vector<float> rest[5];
  std::vector<int32_t> middles, slopes;
  bool good = true;
  for (int s = 0; s < 8; s++) {
    const double middle = 32768 + 4096 * s + 2048;
    const auto p =
        interpolate(5, 2048, [&](double t) { return std::ldexp(target(middle + t) - 30720, kFraction); });
    const int32_t slope = static_cast<int32_t>(std::lround(p[1]));
    const float f[5] = {static_cast<float>(p[1] - slope), static_cast<float>(p[2]), static_cast<float>(p[3]),
                        static_cast<float>(p[4]), static_cast<float>(p[5])};
    uint32_t constant = 0;
    int wrong = 1;
    for (int attempt = 0; wrong && attempt <= 200; attempt++) {
      constant = static_cast<uint32_t>(std::llround(p[0]) + step(attempt));
      wrong = 0;
      for (int t = -2048; t < 2048; t++) {
        float sum = f[4];
        for (int k = 3; k >= 0; k--) sum = sum * static_cast<float>(t) + f[k];
        sum *= static_cast<float>(t);
        const uint32_t value =
            constant + static_cast<uint32_t>(t * slope) + static_cast<uint32_t>(std::lrint(sum));
        wrong += 30720 + static_cast<int>(value >> kFraction) != table[4096 * s + 2048 + t];
      }
    }
    good &= !wrong;
    for (int k = 0; k < 5; k++) rest[k].push_back(f[k]);
    middles.push_back(static_cast<int32_t>(constant));
    slopes.push_back(slope);
  }
  std::printf("Log2By8\n");
  for (const auto &values : rest) print("rest", values, "%af, ");
  print("middle", middles, "%d, ");
  print("slope", slopes, "%d, ");
  return good;
}

}  // namespace
}  // namespace vmafhip

int main() {
  std::vector<uint16_t> table(vmafhip::kVifLogEntries);
  vmafhip::vif_fill_log_table(table.data());
  const bool wide = vmafhip::fit_by_32(table.data()), narrow = vmafhip::fit_by_8(table.data());
  return wide && narrow ? 0 : 1;
}
