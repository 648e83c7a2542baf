// SpEED (engine/arith/speed.h has the definition): a plane's coarse scale, the covariances of its blocks, their eigenvalues
// and factors, each block's variance and entropy, and the difference of two planes.
//
// The definition's long sums go one term after the other, so that one plane keeps few threads busy: what fills a GPU is that
// all planes of a batch are analysed at once.
#include "kernels/float_scale.h"
#include "kernels/speed_args.h"
#include "kernels/tile.h"

using namespace vmafhip;

namespace {

GPU_FN int speed_thread() { return static_cast<int>(threadIdx.x); }
GPU_FN const float *speed_part(DeviceAddress<float> memory, int part, int count) {
  return (memory + part).get(static_cast<uint64_t>(count));
}

// ---- The coarse scale -----------------------------------------------------------------------------------------------

// Samples of a source plane, as integers.
template <class Sample>
class SpeedSource {
 public:
  GPU_FN SpeedSource(const SpeedReduceArgs::Plane &plane, int width, int depth)
      : plane_(plane), width_(width), middle_(speed_middle(depth)) {}
  GPU_FN float at(int x, int y) const {
    const int v = tile_row<Sample>(plane_.plane, y, width_)[x];
    const int minus = plane_.minus.data ? tile_row<Sample>(plane_.minus, y, width_)[x] : middle_;
    return static_cast<float>(v - minus);
  }

 private:
  const SpeedReduceArgs::Plane &plane_;
  const int width_, middle_;
};

// Block (x, y, z): samples of row y of the coarse scale, columns first and then that row.
template <class Sample, bool kPrescaled>
GPU_FN void speed_reduce(const SpeedReduceArgs &args) {
  constexpr int kMost = kSpeedStep * (kSpeedReduceColumns - 1) + kFilterMostTaps;
  GPU_SHARED float sums[kMost];
  const SpeedShape &shape = args.shape;
  const FloatFilter &filter = args.antialias;
  const SpeedReduceArgs::Plane &plane = args.planes[blockIdx.z];
  const SpeedSource<Sample> source(plane, shape.from_width, args.depth);
  const float unit = speed_unit(args.depth);
  const int radius = filter_radius(filter.length), row = static_cast<int>(blockIdx.y),
            first = static_cast<int>(blockIdx.x) * kSpeedReduceColumns,
            count = smaller(kSpeedReduceColumns, shape.columns - first),
            first_x = kSpeedStep * first - radius;

  for (int i = speed_thread(); i < kSpeedStep * (count - 1) + filter.length; i += kSpeedReduceThreads) {
    const int x = mirror(first_x + i, shape.width);
    float sum = 0;
    for (int k = 0; k < filter.length; k++) {
      const int y = mirror(row * kSpeedStep - radius + k, shape.height);
      if constexpr (kPrescaled)
        sum += filter.tap[k] *
               float_scale_at(args.scale, x, y, [&](int at, int of) { return source.at(at, of) * unit; });
      else
        sum += filter.tap[k] * unit * source.at(x, y);
    }
    sums[i] = sum;
  }
  gpu_sync();
  const int column = speed_thread();
  if (column >= count) return;
  float sum = 0;
  for (int k = 0; k < filter.length; k++) sum += filter.tap[k] * sums[kSpeedStep * column + k];
  *(plane.memory + (args.layout.coarse + row * shape.columns + first + column)).get() = sum;
}

// A thread a sample.
GPU_FN void speed_centre(const SpeedArgs &args) {
  const int columns = args.shape.columns, rows = args.shape.rows,
            at = static_cast<int>(blockIdx.x) * kSpeedThreads + speed_thread();
  if (at >= columns * rows) return;
  const DeviceAddress<float> memory = args.memory[blockIdx.z];
  const float *coarse = speed_part(memory, args.layout.coarse, columns * rows);
  const FloatFilter &filter = args.local_mean;
  const int x = at % columns, y = at / columns, radius = filter_radius(filter.length);
  float mean = 0;
  for (int k = 0; k < filter.length; k++) {
    const float *column = coarse + mirror(x - radius + k, columns);
    float sum = 0;
    for (int i = 0; i < filter.length; i++)
      sum += filter.tap[i] * column[mirror(y - radius + i, rows) * columns];
    mean += filter.tap[k] * sum;
  }
  *(memory + (args.layout.centred + at)).get() = coarse[at] - mean;
}

// ---- Covariances ----------------------------------------------------------------------------------------------------

// Sums over the positions of the window, of samples at each offset.
GPU_FN void speed_means_of_plane(const SpeedArgs &args) {
  constexpr int kRun = 128;  // positions at a time
  GPU_SHARED float samples[kSpeedBlock][kRun + kSpeedBlock - 1];
  const SpeedShape &shape = args.shape;
  const DeviceAddress<float> memory = args.memory[blockIdx.z];
  const float *plane = speed_part(memory, args.layout.centred, shape.columns * shape.rows);
  const int thread = speed_thread(), columns = shape.window_columns(), rows = shape.window_rows();
  float sum = 0;
  for (int y = 0; y < rows; y++)
    for (int first = 0; first < columns; first += kRun) {
      const int run = smaller(kRun, columns - first);
      gpu_sync();
      for (int i = thread; i < run + kSpeedBlock - 1; i += kSpeedSumThreads)
#pragma unroll
        for (int r = 0; r < kSpeedBlock; r++) samples[r][i] = plane[(y + r) * shape.columns + first + i];
      gpu_sync();
      if (thread < kSpeedOffsets) {
        const float *from = samples[thread / kSpeedBlock] + thread % kSpeedBlock;
#pragma unroll 8
        for (int p = 0; p < run; p++) sum += from[p];
      }
    }
  if (thread < kSpeedOffsets)
    *(memory + (args.layout.means + thread)).get() = sum / static_cast<float>(columns * rows);
}

// A sum of products of two offsets' samples a thread.
GPU_FN void speed_products(const SpeedArgs &args) {
  constexpr int kRun = 64;
  GPU_SHARED double centred[kRun][kSpeedOffsets];
  const SpeedShape &shape = args.shape;
  const DeviceAddress<float> memory = args.memory[blockIdx.z];
  const float *plane = speed_part(memory, args.layout.centred, shape.columns * shape.rows);
  const float *means = speed_part(memory, args.layout.means, kSpeedOffsets);
  const int thread = speed_thread(), columns = shape.window_columns(), rows = shape.window_rows();
  const int number = static_cast<int>(blockIdx.x) * kSpeedSumThreads + thread;
  // Of the triangle below the diagonal, row by row.
  int a = 0, b = number < kSpeedProducts ? number : 0;
  while (b > a) b -= ++a;
  double sum = 0;
  for (int y = 0; y < rows; y++)
    for (int first = 0; first < columns; first += kRun) {
      const int run = smaller(kRun, columns - first);
      gpu_sync();
      for (int i = thread; i < kRun * kSpeedOffsets; i += kSpeedSumThreads) {
        const int p = i % kRun, offset = i / kRun;
        if (p < run)
          centred[p][offset] =
              widen(plane[(y + offset / kSpeedBlock) * shape.columns + first + p + offset % kSpeedBlock]) -
              widen(means[offset]);
      }
      gpu_sync();
#pragma unroll 4
      for (int p = 0; p < run; p++) sum += centred[p][a] * centred[p][b];
    }
  if (number >= kSpeedProducts) return;
  const float covariance = static_cast<float>(sum / (columns * rows));
  const DeviceAddress<float> k = memory + args.layout.covariance;
  *(k + (a * kSpeedRow + b)).get() = covariance;
  *(k + (b * kSpeedRow + a)).get() = covariance;
}

// ---- Eigenvalues and factors ----------------------------------------------------------------------------------------

// Threads of a block (engine/arith/speed_eigen.h).
struct SpeedTeam {
  using Real = float;

  GPU_FN static float load(const float *from) { return *from; }
  GPU_FN static void store(float *to, float v) { *to = v; }
  GPU_FN static double wide(float v) { return widen(v); }
  GPU_FN static float rounded(double v) { return narrow(v); }
  GPU_FN static double log2(double v) { return log2_of(v); }
  template <class Function>
  GPU_FN static void each(int first, int last, Function f) {
    gpu_sync();
    if (first + speed_thread() < last) f(first + speed_thread());
    gpu_sync();
  }
  template <class Function>
  GPU_FN static void once(Function f) {
    gpu_sync();
    if (speed_thread() == 0) f();
    gpu_sync();
  }
  // An element a thread; all have read before the first one stores.
  GPU_FN static void multiply(const SpeedMatrix &left, SpeedMatrix &right, int first, int column) {
    const int row = speed_thread() / kSpeedOffsets, at = speed_thread() % kSpeedOffsets;
    const bool mine = row >= first && row < kSpeedOffsets && at >= column;
    float sum = 0;
    gpu_sync();
    if (mine) {
#pragma unroll 4
      for (int m = first; m < kSpeedOffsets; m++) sum = sum + right[m][at] * left[row][m];
    }
    gpu_sync();
    if (mine) right[row][at] = sum;
    gpu_sync();
  }
};

struct SpeedEigenMemory {
  SpeedMatrix matrix;
  float v[kSpeedRow], x[kSpeedRow], eigenvalues[kSpeedOffsets], beside[kSpeedOffsets];
};
struct SpeedFactorsMemory {
  SpeedMatrix k, z, h;
  SpeedFactors factors;
  float v[kSpeedRow];
};

GPU_FN void speed_read_matrix(DeviceAddress<float> from, SpeedMatrix &to, int threads) {
  const float *matrix = from.get(kSpeedMatrixFloats);
  for (int i = speed_thread(); i < kSpeedOffsets * kSpeedOffsets; i += threads)
    to[i / kSpeedOffsets][i % kSpeedOffsets] = matrix[i / kSpeedOffsets * kSpeedRow + i % kSpeedOffsets];
}

GPU_FN void speed_find_eigenvalues(const SpeedArgs &args) {
  constexpr int kThreads = 32;
  GPU_SHARED SpeedEigenMemory shared;
  if (speed_thread() >= kThreads) return;
  const DeviceAddress<float> memory = args.memory[blockIdx.z];
  speed_read_matrix(memory + args.layout.covariance, shared.matrix, kThreads);
  gpu_sync();
  speed_tridiagonal<SpeedTeam>(shared.matrix, shared.v, shared.x, shared.eigenvalues, shared.beside);
  gpu_sync();
  if (speed_thread() > 0) return;
  speed_diagonalise(shared.eigenvalues, shared.beside);
  float *to = (memory + args.layout.eigenvalues).get(kSpeedOffsets);
  bool singular = false;
  for (int i = 0; i < kSpeedOffsets; i++) {
    to[i] = shared.eigenvalues[i];
    singular = singular || !(widen(shared.eigenvalues[i]) >= 1e-6);
  }
  *address_cast<int32_t>(memory + args.layout.singular).get() = singular;
}

GPU_FN void speed_find_factors(const SpeedArgs &args) {
  GPU_SHARED SpeedFactorsMemory shared;
  const DeviceAddress<float> memory = args.memory[blockIdx.z];
  speed_read_matrix(memory + args.layout.covariance, shared.k, kSpeedSolveThreads);
  gpu_sync();
  const bool solved = speed_factorise<SpeedTeam>(shared.k, shared.factors, shared.z, shared.h, shared.v);
  if (speed_thread() == 0) *address_cast<int32_t>(memory + (args.layout.singular + 1)).get() = !solved;
  SpeedFactors &to = *address_cast<SpeedFactors>(memory + args.layout.factors).get();
  const int row = speed_thread() / kSpeedOffsets, column = speed_thread() % kSpeedOffsets;
  if (row >= kSpeedOffsets) return;
  to.q[row][column] = shared.factors.q[row][column];
  to.r[row][column] = shared.factors.r[row][column];
}

GPU_FN bool speed_is_singular(DeviceAddress<float> memory, const SpeedLayout &layout) {
  const int32_t *singular = address_cast<const int32_t>(memory + layout.singular).get(2);
  return singular[0] != 0 || singular[1] != 0;
}

// ---- Blocks ---------------------------------------------------------------------------------------------------------

// A thread's own numbers in memory of the block.
class SpeedColumn {
 public:
  GPU_FN explicit SpeedColumn(float *first) : first_(first) {}
  GPU_FN float &operator[](int i) const { return first_[i * kSpeedBlockThreads]; }

 private:
  float *first_;
};

GPU_FN void speed_solve_blocks(const SpeedArgs &args) {
  GPU_SHARED SpeedFactors factors;
  GPU_SHARED float eigenvalues[kSpeedOffsets];
  GPU_SHARED float samples[kSpeedOffsets * kSpeedBlockThreads], solution[kSpeedOffsets * kSpeedBlockThreads];
  const SpeedShape &shape = args.shape;
  const DeviceAddress<float> memory = args.memory[blockIdx.z];
  const int thread = speed_thread();
  speed_read_matrix(memory + args.layout.factors, factors.q, kSpeedBlockThreads);
  speed_read_matrix(memory + (args.layout.factors + kSpeedMatrixFloats), factors.r, kSpeedBlockThreads);
  if (thread < kSpeedOffsets)
    eigenvalues[thread] = speed_part(memory, args.layout.eigenvalues, kSpeedOffsets)[thread];
  gpu_sync();
  const int block = static_cast<int>(blockIdx.x) * kSpeedBlockThreads + thread;
  if (block >= shape.blocks()) return;

  float s = 0;
  if (!speed_is_singular(memory, args.layout)) {
    const float *plane = speed_part(memory, args.layout.centred, shape.columns * shape.rows) +
                         kSpeedBlock * (block / shape.across * shape.columns + block % shape.across);
    SpeedColumn y(samples + thread), x(solution + thread);
    for (int i = 0; i < kSpeedOffsets; i++) y[i] = plane[i / kSpeedBlock * shape.columns + i % kSpeedBlock];
    s = speed_variance<SpeedTeam>(factors, y, x);
  }
  *(memory + (args.layout.variance + block)).get() = s;
  *(memory + (args.layout.entropy + block)).get() = speed_entropy<SpeedTeam>(eigenvalues, args.sigma, s);
}

// A block a pair of planes.
GPU_FN void speed_compare(const SpeedScoreArgs &args) {
  GPU_SHARED float differences[kSpeedThreads];
  const SpeedScoreArgs::Pair &pair = args.pairs[blockIdx.z];
  const SpeedLayout &layout = args.layout;
  const int thread = speed_thread(), blocks = args.blocks;
  const auto info = [&](DeviceAddress<float> memory, int block) {
    return SpeedBlockInfo{speed_part(memory, layout.variance, blocks)[block],
                          speed_part(memory, layout.entropy, blocks)[block]};
  };
  float sum = 0;
  for (int first = 0; first < blocks; first += kSpeedThreads) {
    const int count = smaller(kSpeedThreads, blocks - first);
    gpu_sync();
    if (thread < count)
      differences[thread] = speed_difference(args.weight_mode, args.base, info(pair.ref, first + thread),
                                             info(pair.dist, first + thread));
    gpu_sync();
    if (thread == 0) {
#pragma unroll 8
      for (int i = 0; i < count; i++) sum += differences[i];
    }
  }
  if (thread > 0) return;
  const bool ref_singular = speed_is_singular(pair.ref, layout),
             dist_singular = speed_is_singular(pair.dist, layout);
  SpeedSums *sums = pair.sums.get();
  sums->score[pair.plane] = ref_singular != dist_singular ? 0.0f : sum / static_cast<float>(blocks);
  sums->singular[pair.plane] = ref_singular || dist_singular;
}

}  // namespace

GPU_KERNEL void GPU_BOUNDS(kSpeedReduceThreads, 4) speed_reduce_8(SpeedReduceArgs args) {
  speed_reduce<uint8_t, false>(args);
}
GPU_KERNEL void GPU_BOUNDS(kSpeedReduceThreads, 4) speed_reduce_16(SpeedReduceArgs args) {
  speed_reduce<uint16_t, false>(args);
}
GPU_KERNEL void GPU_BOUNDS(kSpeedReduceThreads, 4) speed_reduce_scaled_8(SpeedReduceArgs args) {
  speed_reduce<uint8_t, true>(args);
}
GPU_KERNEL void GPU_BOUNDS(kSpeedReduceThreads, 4) speed_reduce_scaled_16(SpeedReduceArgs args) {
  speed_reduce<uint16_t, true>(args);
}
GPU_KERNEL void GPU_BOUNDS(kSpeedThreads, 4) speed_local_mean(SpeedArgs args) { speed_centre(args); }
GPU_KERNEL void GPU_BOUNDS(kSpeedSumThreads, 4) speed_means(SpeedArgs args) { speed_means_of_plane(args); }
GPU_KERNEL void GPU_BOUNDS(kSpeedSumThreads, 4) speed_covariance(SpeedArgs args) { speed_products(args); }
GPU_KERNEL void GPU_BOUNDS(kSpeedSolveThreads, 1) speed_solve(SpeedArgs args) {
  if (blockIdx.x == 0)
    speed_find_eigenvalues(args);
  else
    speed_find_factors(args);
}
GPU_KERNEL void GPU_BOUNDS(kSpeedBlockThreads, 4) speed_blocks(SpeedArgs args) { speed_solve_blocks(args); }
GPU_KERNEL void GPU_BOUNDS(kSpeedThreads, 4) speed_differences(SpeedScoreArgs args) { speed_compare(args); }
