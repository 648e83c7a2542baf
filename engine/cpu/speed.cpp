// SpEED on the CPU: the coarse scale of a plane, and what its blocks carry.
#include "engine/cpu/speed.h"
#include "engine/arith/speed_blocks.h"
#include "engine/cpu/floats.h"
#include "engine/cpu/speed_covariance.h"
#include "engine/cpu/speed_reduce.h"

namespace vmafhip::VMAFHIP_ISA {
namespace {

// Neighbours on vectors, one vector after the other (engine/arith/speed_eigen.h).
struct Team {
  using Real = F32;
  static constexpr int kLanes = kFloats;

  VMAFHIP_FLOATS_FN Real load(const float *from) { return load_floats(from); }
  VMAFHIP_FLOATS_FN void store(float *to, Real v) { store_vector(to, v); }
  VMAFHIP_FLOATS_FN Wide wide(Real v) { return widen(v); }
  VMAFHIP_FLOATS_FN Real rounded(Wide v) { return narrow(v); }
  VMAFHIP_FLOATS_FN Wide log2(Wide v) { return Wide::make(log2_of(v.low), log2_of(v.high)); }
  template <class Function>
  VMAFHIP_FLOATS_FN void each(int first, int last, Function f) {
    for (int at = first; at < last; at += kLanes) f(at);
  }
  template <class Function>
  VMAFHIP_FLOATS_FN void once(Function f) {
    f();
  }
  VMAFHIP_FLOATS_FN void multiply(const SpeedMatrix &left, SpeedMatrix &right, int first, int column) {
    each(column, kSpeedOffsets, [&](int at) { speed_multiply<Team>(left, right, first, at); });
  }
};

constexpr int kTile = 16;  // blocks that are solved together: lanes of the widest vector
static_assert(kTile % kFloats == 0);

struct AnalyseMemory {
  SpeedMatrix k, eigen, h;
  SpeedFactors factors;
  SpeedCovarianceMemory covariance;
  float v[kSpeedRow], x[kSpeedRow];
  float eigenvalues[kSpeedOffsets], beside[kSpeedOffsets];
  float samples[kSpeedOffsets][kTile];
};

struct AnalyseScratch {
  AnalyseMemory *memory;
  float *plane, *filtered;
  ptrdiff_t stride;

  AnalyseScratch(Arena *arena, const SpeedShape &shape) {
    stride = (shape.columns + 4 + 15) / 16 * 16;
    const size_t samples = static_cast<size_t>(stride) * static_cast<size_t>(shape.rows);
    memory = arena->take<AnalyseMemory>(1);
    plane = arena->take<float>(samples, 0, 16);
    filtered = arena->take<float>(samples, 0, 16);
  }
};

// plane = coarse minus its low-pass.
void subtract_local_mean(const SpeedSetup &setup, const float *coarse, const AnalyseScratch &scratch) {
  const FloatFilter &filter = setup.local_mean;
  const int columns = setup.shape.columns, rows = setup.shape.rows, radius = filter_radius(filter.length);
  for (int y = 0; y < rows; y++) {
    float *sums = scratch.filtered + y * scratch.stride;
    for (int x = 0; x < columns; x++) sums[x] = 0;
    for (int k = 0; k < filter.length; k++) {
      const float *from = coarse + static_cast<ptrdiff_t>(mirror(y - radius + k, rows)) * columns;
      const float tap = filter.tap[k];
#pragma GCC ivdep
      for (int x = 0; x < columns; x++) sums[x] += tap * from[x];
    }
    float *to = scratch.plane + y * scratch.stride;
    const float *from = coarse + static_cast<ptrdiff_t>(y) * columns;
    for (int x = 0; x < columns; x++) {
      float sum = 0;
      for (int k = 0; k < filter.length; k++) sum += filter.tap[k] * sums[mirror(x - radius + k, columns)];
      to[x] = from[x] - sum;
    }
    for (ptrdiff_t x = columns; x < scratch.stride; x++) to[x] = 0;
  }
}

// Samples of up to kTile blocks from number `first` on, by offset.
void gather_blocks(const SpeedShape &shape, const AnalyseScratch &scratch, int first, int count) {
  for (int j = 0; j < count; j++) {
    const int block = first + j;
    const float *from =
        scratch.plane + kSpeedBlock * (block / shape.across * scratch.stride + block % shape.across);
    for (int r = 0; r < kSpeedBlock; r++)
      for (int c = 0; c < kSpeedBlock; c++)
        scratch.memory->samples[kSpeedBlock * r + c][j] = from[r * scratch.stride + c];
  }
}

size_t reduce_scratch_bytes(const SpeedSetup &setup) {
  Arena arena(nullptr);
  SpeedReduceMemory memory(&arena, setup);
  return arena.used();
}

void reduce(const SpeedSetup &setup, const SpeedStrip &strip, std::byte *scratch) {
  Arena arena(scratch);
  const SpeedReduceMemory memory(&arena, setup);
  if (strip.plane.depth == 8)
    speed_reduce<uint8_t>(setup, strip, memory);
  else
    speed_reduce<uint16_t>(setup, strip, memory);
}

size_t analyse_scratch_bytes(const SpeedSetup &setup) {
  Arena arena(nullptr);
  AnalyseScratch memory(&arena, setup.shape);
  return arena.used();
}

bool analyse(const SpeedSetup &setup, const float *coarse, float *variance, float *entropy,
             std::byte *memory) {
  Arena arena(memory);
  const AnalyseScratch scratch(&arena, setup.shape);
  AnalyseMemory &m = *scratch.memory;
  m = {};
  subtract_local_mean(setup, coarse, scratch);
  speed_covariance(setup.shape, scratch.plane, scratch.stride, m.covariance, m.k);

  for (int i = 0; i < kSpeedOffsets; i++)
    for (int j = 0; j < kSpeedRow; j++) m.eigen[i][j] = m.k[i][j];
  speed_tridiagonal<Team>(m.eigen, m.v, m.x, m.eigenvalues, m.beside);
  speed_diagonalise(m.eigenvalues, m.beside);
  bool singular = false;
  for (const float eigenvalue : m.eigenvalues) singular = singular || !(widen(eigenvalue) >= 1e-6);
  // Eigenvalues are known: their matrix is free.
  singular = singular || !speed_factorise<Team>(m.k, m.factors, m.eigen, m.h, m.v);

  const float sigma = static_cast<float>(setup.params.sigma);
  const int blocks = setup.shape.blocks();
  for (int first = 0; first < blocks; first += kTile) {
    const int count = smaller(kTile, blocks - first);
    gather_blocks(setup.shape, scratch, first, count);
    for (int lane = 0; lane < count; lane += kFloats) {
      F32 s{};
      if (!singular) {
        F32 y[kSpeedOffsets], x[kSpeedOffsets];
        for (int i = 0; i < kSpeedOffsets; i++) y[i] = load_floats(m.samples[i] + lane);
        s = speed_variance<Team>(m.factors, y, x);
      }
      store_vector(variance + first + lane, s);
      store_vector(entropy + first + lane, speed_entropy<Team>(m.eigenvalues, sigma, s));
    }
  }
  return singular;
}

}  // namespace

extern const SpeedKernels speed_kernels = {reduce_scratch_bytes, reduce, analyse_scratch_bytes, analyse};

}  // namespace vmafhip::VMAFHIP_ISA
