// Kernels of structural similarity (engine/arith/ssim.h and ssim_decimate.h have the definition).
#include "kernels/float_samples.h"
#include "kernels/serial_sums.h"
#include "kernels/ssim_args.h"
#include "kernels/ssim_sums.h"

using namespace vmafhip;

namespace {

// ---- Windows

// At a step a block takes some rows of samples. A thread filters one column of one map: each sample of a column comes from
// a window of its row, and goes to the ten windows of the column that are under way, whose sums stay in registers.
constexpr int kStep = kSsimBandStep;
constexpr int kLine = kSsimBlock + kSsimMargin;  // samples under a block's windows
enum SsimMap { kMapA, kMapB, kMapAA, kMapBB, kMapAB, kMaps };
static_assert(kSsimThreads == kMaps * kSsimBlock);

// Rows of samples begin a quarter of a row of threads apart. For sums a thread takes every 16th column of a row: two rows
// beside each other meet in no bank.
constexpr int kPitch = kSsimThreads / 4, kSixteen = 2 * kSsimLanes;
constexpr int kSumThreads = kStep * kSixteen;
static_assert(kStep % (kSsimThreads / kPitch) == 0);
static_assert(kPitch >= kLine && kPitch % 32 == kSixteen && kSumThreads <= kSsimThreads);

struct SsimBand {
  float sample[2][kStep][kPitch];
  float map[kMaps][kStep][kPitch];
};

// Windows of a column from top to bottom, the sums of up to ten taps.
class WindowColumn {
 public:
  // Takes the next sample; gives the window that it completes.
  GPU_FN float add(float sample) {
    double tap[kSsimTaps];
#pragma unroll
    for (int k = 0; k < kSsimTaps; k++)  // a window is symmetric
      tap[k] = k <= kSsimTaps / 2 ? ssim_tap<float>(sample, k) : tap[kSsimTaps - 1 - k];
    const double sum = sum_[kSsimMargin - 1] + tap[kSsimMargin];
#pragma unroll
    for (int k = kSsimMargin - 1; k > 0; k--) sum_[k] = sum_[k - 1] + tap[k];
    sum_[0] = tap[0];
    return narrow(sum);
  }

 private:
  double sum_[kSsimMargin] = {};
};

// product(row, column): a sample of the map.
template <class Product>
GPU_FN void filter_step(WindowColumn &column, float (&to)[kStep][kPitch], int x, const Product &product) {
#pragma unroll 2
  for (int r = 0; r < kStep; r++)
    to[r][x] = column.add(ssim_window<float>([&](int k) { return product(r, x + k); }));
}

// Positions beyond the plane are those of windows that do not exist.
template <class Sample>
GPU_FN void read_step(const SsimArgs &args, const SsimArgs::Pair &pair, int left, int top, SsimBand &band) {
  const int thread = static_cast<int>(threadIdx.x), x = thread % kPitch;
  if (x >= kLine) return;
#pragma unroll
  for (int i = 0; i < kStep; i += kSsimThreads / kPitch)
#pragma unroll
    for (int p = 0; p < 2; p++) {
      const int r = thread / kPitch + i;
      band.sample[p][r][x] =
          SampleColumn<Sample>(p == 0 ? pair.ref : pair.dist, smaller(left + x, args.width - 1),
                               smaller(top + r, args.height - 1), args.step, 0.0f)
              .at(0);
    }
}

// Row `y` of windows, which lies in row `r` of the maps. All threads of a warp call it.
template <bool kAll>
GPU_FN void sum_row(const SsimArgs &args, const SsimArgs::Pair &pair, const SsimBand &band, int r, int y,
                    bool exists) {
  constexpr int kSums = kAll ? 4 : 2;
  const int left = static_cast<int>(blockIdx.x) * kSsimBlock,
            columns = exists ? smaller(kSsimBlock, args.width - kSsimMargin - left) : 0,
            sixteenth = static_cast<int>(threadIdx.x) % kSixteen;
  double sum[kSums] = {};
#pragma unroll 1
  for (int x = sixteenth; x < columns; x += kSixteen) {
    const auto &map = band.map;
    const SsimTerms<double> t = ssim_terms<float>(
        {map[kMapA][r][x], map[kMapB][r][x], map[kMapAA][r][x], map[kMapBB][r][x], map[kMapAB][r][x]});
    sum[0] += t.c;
    sum[1] += t.s;
    if constexpr (kAll) {
      sum[2] += t.l;
      sum[3] += (t.l * t.c) * t.s;
    }
  }
  // Of a lane the second half.
#pragma unroll
  for (double &part : sum) part += gpu_shuffle_xor(part, kSsimLanes);
  if (sixteenth >= kSsimLanes || !exists) return;
  int64_t row = y;
  const auto store = [&](double part) {
    *(pair.parts + ((row * gridDim.x + blockIdx.x) * kSsimLanes + sixteenth)).get() = part;
    row += args.height - kSsimMargin;
  };
  if constexpr (kAll)
    if (args.asked.l) store(sum[2]);
  if (!kAll || args.asked.cs) {
    store(sum[0]);
    store(sum[1]);
  }
  if constexpr (kAll)
    if (args.asked.lcs) store(sum[3]);
}

template <class Sample, bool kAll>
GPU_FN void ssim_band(const SsimArgs &args) {
  GPU_SHARED SsimBand band;
  const SsimArgs::Pair &pair = args.pairs[blockIdx.z];
  const int left = static_cast<int>(blockIdx.x) * kSsimBlock, top = static_cast<int>(blockIdx.y) * kSsimRows,
            bottom = smaller(top + kSsimRows + kSsimMargin, args.height);
  const int thread = static_cast<int>(threadIdx.x), map = thread / kSsimBlock, x = thread % kSsimBlock;
  WindowColumn column;

  read_step<Sample>(args, pair, left, top, band);
  for (int y = top; y < bottom; y += kStep) {
    gpu_sync();
    const auto &a = band.sample[0], &b = band.sample[1], &one = map == kMapA || map == kMapAA ? a : b;
    if (map == kMapAB)
      filter_step(column, band.map[map], x, [&](int r, int i) { return a[r][i] * b[r][i]; });
    else if (map == kMapAA || map == kMapBB)
      filter_step(column, band.map[map], x, [&](int r, int i) { return one[r][i] * one[r][i]; });
    else
      filter_step(column, band.map[map], x, [&](int r, int i) { return one[r][i]; });
    gpu_sync();
    if (y + kStep < bottom) read_step<Sample>(args, pair, left, y + kStep, band);
    // A window lies in the row of its last samples: none does in the band's first rows.
    if (thread < kSumThreads) {
      const int r = thread / kSixteen, row = y + r - kSsimMargin;
      sum_row<kAll>(args, pair, band, r, row, row >= top && row < bottom - kSsimMargin);
    }
  }
}

// ---- Decimation

// Outputs of a column from top to bottom: four are under way at a time, as pairs of rows come in.
template <class Sample>
GPU_FN void ssim_half(const SsimPlaneArgs &args) {
  const int x = static_cast<int>(blockIdx.x * kSsimPlaneThreads + threadIdx.x);
  if (x >= args.to_width) return;
  const SsimPlaneArgs::Plane &plane = args.planes[blockIdx.z];
  const int first = static_cast<int>(blockIdx.y) * kSsimHalfRows,
            last = smaller(first + kSsimHalfRows, args.to_height);
  double sums[4] = {};
  for (int pair = first - 2; pair < last + 2; pair++) {
    float even[kSsimHalfTaps], odd[kSsimHalfTaps];
    // The last pair's second row is not needed and may be beyond what a mirror reaches.
    const int y0 = repeat_border(smaller(2 * pair, 2 * args.height - 1), args.height),
              y1 = repeat_border(smaller(2 * pair + 1, 2 * args.height - 1), args.height);
#pragma unroll
    for (int u = 0; u < kSsimHalfTaps; u++) {
      const SampleColumn<Sample> column(plane.from, repeat_border(2 * x + u - kSsimHalfReach, args.width), y0,
                                        args.step, 0.0f);
      even[u] = column.at(0);
      odd[u] = column.at(y1 - y0);
    }
    const auto row = [](const float(&samples)[kSsimHalfTaps], int row_class) {
      return ssim_half_row<float>(row_class, [&](int u) { return samples[u]; });
    };
    const double r0 = row(even, 0), r2 = row(even, 2), r4 = row(even, 4), r1 = row(odd, 1), r3 = row(odd, 3);
    if (pair - 2 >= first)
      *(plane.to + (int64_t{pair - 2} * args.to_stride + x)).get() = narrow(sums[3] + r0);
    sums[3] = sums[2] + r2 + r1;
    sums[2] = sums[1] + r4 + r3;
    sums[1] = sums[0] + r2 + r3;
    sums[0] = r0 + r1;
  }
}

// Sums of columns, and of these. Sum: float where sums without the weight are exact, else double.
template <class Sum, class Sample>
GPU_FN float box(const SsimPlaneArgs &args, const DevicePlane &from, int x, int y) {
  const int f = args.factor, before = f / 2;
  const float weight = ssim_box_weight(f);
  constexpr bool kExact = sizeof(Sum) == sizeof(float);
  Sum total = 0;
  for (int u = 0; u < f; u++) {
    const int column = repeat_border(x * f + u - before, args.width);
    Sum sum = 0;
    for (int v = 0; v < f; v++) {
      const int row = repeat_border(y * f + v - before, args.height);
      const float sample = SampleColumn<Sample>(from, column, row, args.step, 0.0f).at(0);
      sum += kExact ? sample : sample * weight;
    }
    total += sum;
  }
  return static_cast<float>(total) * (kExact ? weight : 1.0f);
}

template <class Sample>
GPU_FN void ssim_box(const SsimPlaneArgs &args) {
  const int x = static_cast<int>(blockIdx.x * kSsimPlaneThreads + threadIdx.x),
            y = static_cast<int>(blockIdx.y);
  if (x >= args.to_width) return;
  const SsimPlaneArgs::Plane &plane = args.planes[blockIdx.z];
  *(plane.to + (int64_t{y} * args.to_stride + x)).get() = ssim_box_is_exact(args.factor)
                                                              ? box<float, Sample>(args, plane.from, x, y)
                                                              : box<double, Sample>(args, plane.from, x, y);
}

}  // namespace

// Bits of a sample. `cs`: sums of c and s alone.
GPU_KERNEL void GPU_BOUNDS(kSsimThreads, 3) ssim_windows_8(SsimArgs args) { ssim_band<uint8_t, true>(args); }
GPU_KERNEL void GPU_BOUNDS(kSsimThreads, 3) ssim_windows_16(SsimArgs args) {
  ssim_band<uint16_t, true>(args);
}
GPU_KERNEL void GPU_BOUNDS(kSsimThreads, 3) ssim_windows_32(SsimArgs args) { ssim_band<float, true>(args); }
GPU_KERNEL void GPU_BOUNDS(kSsimThreads, 3) ssim_windows_cs_8(SsimArgs args) {
  ssim_band<uint8_t, false>(args);
}
GPU_KERNEL void GPU_BOUNDS(kSsimThreads, 3) ssim_windows_cs_16(SsimArgs args) {
  ssim_band<uint16_t, false>(args);
}
GPU_KERNEL void GPU_BOUNDS(kSsimThreads, 3) ssim_windows_cs_32(SsimArgs args) {
  ssim_band<float, false>(args);
}

GPU_KERNEL void GPU_BOUNDS(kSsimRowThreads, 8) ssim_rows(SsimArgs args) {
  const SsimArgs::Pair &pair = args.pairs[blockIdx.z];
  const int row = static_cast<int>(blockIdx.x * kSsimRowThreads + threadIdx.x) / kSsimLanes;
  gpu_ssim_row(pair.parts, pair.rows, row, args.sums, ssim_blocks(args.width - kSsimMargin));
}

GPU_KERNEL void GPU_BOUNDS(kSsimPlaneThreads, 3) ssim_half_8(SsimPlaneArgs args) { ssim_half<uint8_t>(args); }
GPU_KERNEL void GPU_BOUNDS(kSsimPlaneThreads, 3) ssim_half_16(SsimPlaneArgs args) {
  ssim_half<uint16_t>(args);
}
GPU_KERNEL void GPU_BOUNDS(kSsimPlaneThreads, 3) ssim_half_32(SsimPlaneArgs args) { ssim_half<float>(args); }

GPU_KERNEL void GPU_BOUNDS(kSsimPlaneThreads, 4) ssim_box_8(SsimPlaneArgs args) { ssim_box<uint8_t>(args); }
GPU_KERNEL void GPU_BOUNDS(kSsimPlaneThreads, 4) ssim_box_16(SsimPlaneArgs args) { ssim_box<uint16_t>(args); }

GPU_KERNEL void GPU_BOUNDS(kSerialSumThreads, 1) ssim_total(SerialSumArgs<double> args) { serial_sum(args); }
