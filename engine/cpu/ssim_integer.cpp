// Integer structural similarity on the CPU: rows are summed into the scratch memory, columns there, block by block.
// 32-bit integers hold the moments at depth 8, doubles at every depth.

#include <cstring>

#include "engine/cpu/arena.h"
#include "engine/cpu/floats.h"
#include "engine/cpu/kernels.h"
#include "engine/cpu/ssim_sums.h"

namespace vmafhip::VMAFHIP_ISA {
namespace {

constexpr int kReach = kSsimIntegerReach;
constexpr int kRows = kSsimIntegerStripRows + 2 * kReach;
constexpr int kLine =
    kSsimBlock + 2 * kReach + kFloats;  // samples under a block's windows, and up to a whole vector
enum Map { kA, kB, kAA, kBB, kAB, kMaps };

using U32 = uint32_t __attribute__((vector_size(VMAFHIP_VECTOR_BYTES)));

// Element: uint32_t or double.
template <class Element>
struct Scratch {
  Element *map[kMaps];  // sums of rows, kSsimBlock each
  Element *line
      [2][kMaps];  // rows before that; two in turn, since reading at once across what was written would stall
  double *weight;  // of a block's columns
  double *lanes;   // [row of the strip][lane]

  explicit Scratch(Arena *arena) {
    for (Element *&m : map) m = arena->take<Element>(size_t{kRows} * kSsimBlock);
    for (auto &set : line)
      for (Element *&l : set) l = arena->take<Element>(kLine);
    weight = arena->take<double>(kSsimBlock);
    lanes = arena->take<double>(size_t{kSsimIntegerStripRows} * kSsimLanes);
  }
};

template <class Element>
struct VectorOf;
template <>
struct VectorOf<uint32_t> {
  using Vector = U32;
  using Terms = Wide;
};
template <>
struct VectorOf<double> {
  using Vector = F64;
  using Terms = F64;
};

// Unsigned: the moments at depth 8 fill 32 bits, 65536 * 255^2 < 2^32.
VMAFHIP_FLOATS_FN F64 unsigned_doubles(const uint32_t *from) {
#if defined(__AVX512BW__)
  return _mm512_cvtepu32_pd(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(from)));
#elif defined(__AVX2__)
  const __m128i moved = _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from)),
                                      _mm_set1_epi32(static_cast<int32_t>(0x80000000)));
  return _mm256_cvtepi32_pd(moved) + 2147483648.0;
#else
  return F64{static_cast<double>(from[0]), static_cast<double>(from[1])};
#endif
}
VMAFHIP_FLOATS_FN Wide to_terms(U32 moments) {
  uint32_t all[kFloats];
  store_vector(all, moments);
  return Wide::make(unsigned_doubles(all), unsigned_doubles(all + kDoubles));
}
VMAFHIP_FLOATS_FN F64 to_terms(F64 moments) { return moments; }

VMAFHIP_FLOATS_FN Wide load_terms(const double *from, Wide) {
  return Wide::make(load_doubles(from), load_doubles(from + kDoubles));
}
VMAFHIP_FLOATS_FN F64 load_terms(const double *from, F64) { return load_doubles(from); }

// at(k): the k-th of 9 values under the window.
template <class Vector, class At>
VMAFHIP_FLOATS_FN Vector window(At at) {
  Vector sum = at(kReach) * kSsimIntegerWindow[kReach];
#pragma GCC unroll 4
  for (int k = 0; k < kReach; k++) sum += (at(k) + at(2 * kReach - k)) * kSsimIntegerWindow[k];
  return sum;
}

// Samples from column x - 4 on, zeros beyond the row.
template <class Sample, class Element>
inline void read_line(const Sample *row, int x, int width, Element *to) {
  const int first = larger(0, kReach - x), last = smaller(kLine, width - x + kReach);
  for (int i = 0; i < first; i++) to[i] = 0;
#pragma GCC ivdep
  for (int i = first; i < last; i++) to[i] = static_cast<Element>(static_cast<int32_t>(row[x - kReach + i]));
  for (int i = last; i < kLine; i++) to[i] = 0;
}

template <class Sample, class Element>
void measure_samples(const PlaneView &a, const PlaneView &b, int first, int last, double *rows,
                     std::byte *scratch) {
  using Vector = typename VectorOf<Element>::Vector;
  using Terms = typename VectorOf<Element>::Terms;
  constexpr int kStep = sizeof(Vector) / sizeof(Element);
  Arena arena(scratch);
  const Scratch<Element> m(&arena);
  const int width = a.width, height = a.height;
  const SsimIntegerConstants constants = ssim_integer_constants(a.depth);
  const auto inside = [&](int y) { return y >= 0 && y < height; };
  const auto row_of_map = [&](int map, int y) {
    return m.map[map] + static_cast<ptrdiff_t>(y - first + kReach) * kSsimBlock;
  };
  const auto read = [&](int y, int x0) {
    Element *const *line = m.line[y % 2];
    read_line(row_of<Sample>(a, y), x0, width, line[kA]);
    read_line(row_of<Sample>(b, y), x0, width, line[kB]);
    for (int x = 0; x + kStep <= kLine; x += kStep) {
      const Vector va = load_vector<Vector>(line[kA] + x), vb = load_vector<Vector>(line[kB] + x);
      store_vector(line[kAA] + x, va * va);
      store_vector(line[kBB] + x, vb * vb);
      store_vector(line[kAB] + x, va * vb);
    }
  };
  const auto sum_row = [&](int y, int columns) {
    for (int i = 0; i < kMaps; i++) {
      Element *row = row_of_map(i, y);
      if (!inside(y)) {
        std::memset(row, 0, kSsimBlock * sizeof(Element));
        continue;
      }
      const Element *line = m.line[y % 2][i];
      for (int x = 0; x < columns; x += kStep)
        store_vector(row + x, window<Vector>([&](int k) { return load_vector<Vector>(line + x + k); }));
    }
  };
  std::memset(m.lanes, 0, size_t{kSsimIntegerStripRows} * kSsimLanes * sizeof(double));

  for (int x0 = 0; x0 < width; x0 += kSsimBlock) {
    const int columns = smaller(kSsimBlock, (width - x0 + kSsimGroup - 1) / kSsimGroup * kSsimGroup);
    for (int x = 0; x < columns; x++) m.weight[x] = x0 + x < width ? ssim_integer_weight(x0 + x, width) : 0;
    // Rows are read one ahead of the sums. Those beyond the border count nothing.
    for (int y = first - kReach; y <= last + kReach; y++) {
      if (y < last + kReach && inside(y)) read(y, x0);
      if (y > first - kReach) sum_row(y - 1, columns);
    }
    for (int y = first; y < last; y++) {
      const double row_weight = ssim_integer_weight(y, height);
      SsimBlockSum sum;
      for (int x = 0; x < columns; x += kStep) {
        const auto moment = [&](int map) {
          const Element *column = row_of_map(map, y - kReach) + x;
          return to_terms(
              window<Vector>([&](int k) { return load_vector<Vector>(column + k * kSsimBlock); }));
        };
        const Terms column_weight = load_terms(m.weight + x, Terms{});
        const Terms weight = column_weight * row_weight, zero = splat<Terms>(0);
        const Terms term = ssim_integer_term<Terms>(
            {moment(kA), moment(kB), moment(kAA), moment(kBB), moment(kAB)}, weight, constants);
        SsimBlockSum::add(&sum, x % kSsimGroup / kStep, select(weight > zero, term, zero));
      }
      SsimBlockSum::to_lanes(sum, m.lanes + static_cast<ptrdiff_t>(y - first) * kSsimLanes);
    }
  }
  for (int y = first; y < last; y++)
    rows[y] = ssim_fold(m.lanes + static_cast<ptrdiff_t>(y - first) * kSsimLanes);
}

size_t scratch_bytes() {
  Arena arena(nullptr);
  Scratch<double> memory(&arena);
  return arena.used();
}

void measure(const PlaneView &a, const PlaneView &b, int first, int last, double *rows, std::byte *scratch) {
  if (a.depth == 8)
    measure_samples<uint8_t, uint32_t>(a, b, first, last, rows, scratch);
  else
    measure_samples<uint16_t, double>(a, b, first, last, rows, scratch);
}

}  // namespace

extern const SsimIntegerKernels ssim_integer_kernels = {scratch_bytes, measure};

}  // namespace vmafhip::VMAFHIP_ISA
