// float_ansnr on the CPU: rows of samples as floats in a ring, both filters on vectors of columns, and the sums along
// rows, several rows at a time.
#include "engine/cpu/ansnr.h"

#include "engine/cpu/arena.h"
#include "engine/cpu/float_samples.h"
#include "engine/cpu/serial_sums.h"

namespace vmafhip::VMAFHIP_ISA {
namespace {

constexpr int kRows = 4;  // whose sums are taken at once
constexpr int kRing = 2 * kAnsnrRadius + 1;

// Rows y - 2 to y + 2 of a plane, mirrored beyond both ends.
struct Ring {
  float *row[kRing];

  Ring(Arena *arena, int width) {
    for (float *&r : row)
      r = arena->take<float>(static_cast<size_t>(width), kAnsnrRadius, kAnsnrRadius + kFloats);
  }
  void read(const PlaneView &plane, int y) const {
    float *const r = row[y % kRing];
    const int width = plane.width;
    read_float_row(plane, y, -kFloatSampleMiddle, r);
    for (int i = 1; i <= kAnsnrRadius; i++) {
      r[-i] = r[ansnr_mirror(-i, width)];
      r[width - 1 + i] = r[ansnr_mirror(width - 1 + i, width)];
    }
  }
  const float *at(int y, int height) const { return row[ansnr_mirror(y, height) % kRing]; }
};

struct Scratch {
  Ring ref, dist;
  float *signal[kRows], *noise[kRows];

  Scratch(Arena *arena, int width) : ref(arena, width), dist(arena, width) {
    for (float *&row : signal) row = arena->take<float>(static_cast<size_t>(width), 0, kFloats);
    for (float *&row : noise) row = arena->take<float>(static_cast<size_t>(width), 0, kFloats);
  }
};

// Squares of row y; written in whole vectors, from samples of which those beyond the mirrored ones do not matter.
void square_row(const Scratch &m, int y, int width, int height, float *signal, float *noise) {
  const float *ref[3], *dist[5];
  for (int i = 0; i < 3; i++) ref[i] = m.ref.at(y - 1 + i, height) - 1;
  for (int i = 0; i < 5; i++) dist[i] = m.dist.at(y - 2 + i, height) - 2;
  for (int x = 0; x < width; x += kFloats) {
    const F32 r = ansnr_filter<F32>(
        kAnsnrReference, [&](int i, int j)
                             __attribute__((always_inline)) { return load_floats(ref[i] + x + j); });
    const F32 d = ansnr_filter<F32>(
        kAnsnrDistorted, [&](int i, int j)
                             __attribute__((always_inline)) { return load_floats(dist[i] + x + j); });
    store_vector(signal + x, r * r);
    store_vector(noise + x, (r - d) * (r - d));
  }
}

size_t scratch_bytes(int width) {
  Arena arena(nullptr);
  Scratch memory(&arena, width);
  return arena.used();
}

void measure(const AnsnrStrip &strip) {
  const int width = strip.ref.width, height = strip.ref.height;
  Arena arena(strip.scratch);
  const Scratch m(&arena, width);
  int next = larger(0, strip.first - kAnsnrRadius);  // the first row that no ring has yet
  for (int first = strip.first; first < strip.last; first += kRows) {
    const int rows = smaller(kRows, strip.last - first);
    for (int i = 0; i < rows; i++) {
      const int y = first + i;
      // Near the end the mirrored rows are among those that the ring still has.
      for (const int end = smaller(height, y + kAnsnrRadius + 1); next < end; next++) {
        m.ref.read(strip.ref, next);
        m.dist.read(strip.dist, next);
      }
      square_row(m, y, width, height, m.signal[i], m.noise[i]);
    }
    const float *squares[2 * kRows];
    for (int i = 0; i < kRows; i++) {
      squares[i] = m.signal[smaller(i, rows - 1)];
      squares[kRows + i] = m.noise[smaller(i, rows - 1)];
    }
    float sums[2 * kRows];
    serial_sums(squares, width, sums);
    for (int i = 0; i < rows; i++) {
      strip.signal[first + i] = sums[i];
      strip.noise[first + i] = sums[kRows + i];
    }
  }
}

}  // namespace

extern const AnsnrKernels ansnr_kernels = {scratch_bytes, measure};

}  // namespace vmafhip::VMAFHIP_ISA
