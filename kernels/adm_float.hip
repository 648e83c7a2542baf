// Kernels of float ADM (engine/arith/adm_float.h has the definition).
#include "engine/arith/power.h"
#include "kernels/adm_float_args.h"
#include "kernels/float_tile.h"
#include "kernels/serial_sums.h"

using namespace vmafhip;

namespace {

// ---- Wavelet

// Where the four taps around a band's column or row read.
struct Taps {
  int at[4];
  GPU_FN Taps(int band_position, int size) {
#pragma unroll
    for (int k = 0; k < 4; k++) at[k] = adm_index(2 * band_position - 1 + k, size);
  }
};

// The vertical filter over one column.
template <class Sample>
struct Column {
  float low, high;
  GPU_FN Column(const DevicePlane &plane, int x, const Taps &y, float step) {
    const SampleColumn<Sample> from(plane, x, 0, step, -kFloatSampleMiddle);
    const float a = from.at(y.at[0]), b = from.at(y.at[1]), c = from.at(y.at[2]), d = from.at(y.at[3]);
    low = adm_float_low(a, b, c, d);
    high = adm_float_high(a, b, c, d);
  }
};

// Bands h, v, d at one position.
template <class Sample>
GPU_FN void read_detail(const DevicePlane &plane, const Taps &x, const Taps &y, float step,
                        float (&out)[kAdmBands]) {
  const Column<Sample> a(plane, x.at[0], y, step), b(plane, x.at[1], y, step), c(plane, x.at[2], y, step),
      d(plane, x.at[3], y, step);
  out[0] = adm_float_low(a.high, b.high, c.high, d.high);
  out[1] = adm_float_high(a.low, b.low, c.low, d.low);
  out[2] = adm_float_high(a.high, b.high, c.high, d.high);
}

template <class Sample>
GPU_FN void adm_float_low_band(const AdmFloatLowArgs &args) {
  const int j = static_cast<int>(blockIdx.x * kAdmFloatThreads + threadIdx.x),
            i = static_cast<int>(blockIdx.y);
  if (j >= args.to_width) return;
  const AdmFloatLowArgs::Plane &plane = args.planes[blockIdx.z];
  const Taps x(j, args.width), y(i, args.height);
  float low[4];
#pragma unroll
  for (int k = 0; k < 4; k++) low[k] = Column<Sample>(plane.from, x.at[k], y, args.step).low;
  *(plane.to + (int64_t{i} * args.to_stride + j)).get() = adm_float_low(low[0], low[1], low[2], low[3]);
}

// ---- A band of rows

constexpr int kSignals = 2;  // the restored one, the additive one
enum Signal { kRestored, kAdditive };
constexpr int kAroundRows = kAdmFloatRows + 2, kAroundColumns = kAdmFloatColumns + 2;
// Positions of a thread, of those around and of those that are pooled.
constexpr int kAround = (kAroundRows * kAroundColumns + kAdmFloatThreads - 1) / kAdmFloatThreads;
constexpr int kPooled = kAdmFloatRows * kAdmFloatColumns / kAdmFloatThreads;
constexpr int kPooledRows = kAdmFloatThreads / kAdmFloatColumns;  // that the threads take at once

// Eight threads that add up rows, four terms at a time, meet in no bank.
constexpr int kTermPitch = kAdmFloatColumns + 4;
struct alignas(16) Terms {
  uint32_t row[kAdmFloatRows][kTermPitch];
};
GPU_FN float number(uint32_t word) { return real_of(static_cast<int32_t>(word)); }
GPU_FN uint32_t word(float v) { return static_cast<uint32_t>(bits_of(v)); }

using Weights = float[kAroundRows][kAroundColumns];

template <bool kCubes>
GPU_FN float pooled(float v, float exponent) {
  if constexpr (kCubes)
    return adm_float_cube(v);
  else
    return real_power(v, exponent);
}

// The threshold that a signal sets at a position, given by the upper left of its neighbours. `sizes` are its own.
GPU_FN float threshold(const Weights *weights, const Terms *sizes, int row, int column) {
  float of_band[kAdmBands];
#pragma unroll
  for (int band = 0; band < kAdmBands; band++) {
    const float *a = &weights[band][row][column], *h = a + kAroundColumns, *b = h + kAroundColumns;
    of_band[band] = adm_float_threshold(a[0], a[1], a[2], h[0], number(sizes[band].row[row][column]), h[2],
                                        b[0], b[1], b[2]);
  }
  return (of_band[0] + of_band[1]) + of_band[2];
}

template <class Sample, bool kCubes>
GPU_FN void adm_float_band(const AdmFloatArgs &args) {
  GPU_SHARED Weights weights[kSignals][kAdmBands];
  // Sizes of samples, and in their place the terms that come of them: of both signals, and of the reference.
  GPU_SHARED Terms terms[(kSignals + 1) * kAdmBands];
  // Scalar registers of AMD's have no room left for it.
  GPU_SHARED float sensitivity[kAdmBands];
  // So far along each row.
  GPU_SHARED float sums[kAdmFloatDistorted][kAdmFloatPictureSums][kAdmFloatRows];

  const AdmFloatScaleParams &p = args.scale;
  const int thread = static_cast<int>(threadIdx.x),
            top = p.top + static_cast<int>(blockIdx.x) * kAdmFloatRows;
  const int rows = smaller(kAdmFloatRows, p.bottom - top), region_rows = p.bottom - p.top;
  const DevicePlane *planes = args.planes + static_cast<int>(blockIdx.z) * (1 + args.distorted);
  for (int i = thread; i < args.distorted * kAdmFloatPictureSums * kAdmFloatRows; i += kAdmFloatThreads)
    (&sums[0][0][0])[i] = 0;
  if (thread < kAdmBands) sensitivity[thread] = p.sensitivity[thread];
  gpu_sync();
  float den = 0;

  for (int left = p.left; left < p.right; left += kAdmFloatColumns) {
    const int columns = smaller(kAdmFloatColumns, p.right - left);
    const int thread = gpu_renewed(static_cast<int>(threadIdx.x));
    // Threads that add: a row of one of the pictures' sums, or of the reference's.
    const int sum_row = thread % kAdmFloatRows, sum = thread / kAdmFloatRows;
    float ref[kAround][kAdmBands];
    for (int d = 0; d < args.distorted; d++) {
      float size[kAround][kSignals][kAdmBands];
#pragma unroll
      for (int n = 0; n < kAround; n++) {
        const int at = thread + n * kAdmFloatThreads, row = at / kAroundColumns, column = at % kAroundColumns;
        if (row >= rows + 2 || column >= columns + 2) continue;
        // Neighbours beyond the band are mirrored as samples are.
        const Taps x(adm_index(left - 1 + column, p.width), args.width),
            y(adm_index(top - 1 + row, p.height), args.height);
        if (d == 0) read_detail<Sample>(planes[0], x, y, args.step, ref[n]);
        float dist[kAdmBands];
        read_detail<Sample>(planes[1 + d], x, y, args.step, dist);
        const bool same = adm_float_same_angle(ref[n][0], ref[n][1], dist[0], dist[1]);
#pragma unroll
        for (int band = 0; band < kAdmBands; band++) {
          // With a limit that fits f32 f64 gives the same.
          const float kept = adm_float_restore<false>(ref[n][band], dist[band], same, 0.0f, args.gain_limit);
          size[n][kRestored][band] = absolute(kept * sensitivity[band]);
          size[n][kAdditive][band] = absolute((dist[band] - kept) * sensitivity[band]);
        }
      }
      gpu_sync();  // the last step's terms have been added
#pragma unroll
      for (int n = 0; n < kAround; n++) {
        const int at = thread + n * kAdmFloatThreads, row = at / kAroundColumns, column = at % kAroundColumns;
        if (row >= rows + 2 || column >= columns + 2) continue;
        const bool inside = row > 0 && row <= rows && column > 0 && column <= columns;
#pragma unroll
        for (int band = 0; band < kAdmBands; band++) {
#pragma unroll
          for (int s = 0; s < kSignals; s++) {
            weights[s][band][row][column] = adm_float_neighbour(size[n][s][band]);
            if (inside) terms[s * kAdmBands + band].row[row - 1][column - 1] = word(size[n][s][band]);
          }
          if (inside && d == 0)
            terms[kSignals * kAdmBands + band].row[row - 1][column - 1] =
                word(absolute(ref[n][band] * sensitivity[band]));
        }
      }
      gpu_sync();

#pragma unroll
      for (int n = 0; n < kPooled; n++) {
        const int row = thread / kAdmFloatColumns + n * kPooledRows, column = thread % kAdmFloatColumns;
        if (row >= rows || column >= columns) continue;
        float limit[kSignals] = {};
        if (!args.bypass_masking) {
          limit[kRestored] = threshold(weights[kAdditive], terms + kAdditive * kAdmBands, row, column);
          limit[kAdditive] = threshold(weights[kRestored], terms + kRestored * kAdmBands, row, column);
        }
        // Nothing masks the reference, whose terms are the same for all distorted pictures.
#pragma unroll 1
        for (int i = 0; i < (kSignals + (d == 0)) * kAdmBands; i++) {
          uint32_t &term = terms[i].row[row][column];
          const float masked = i < kAdmBands       ? number(term) - limit[kRestored]
                               : i < 2 * kAdmBands ? number(term) - limit[kAdditive]
                                                   : number(term);
          term = word(pooled<kCubes>(maximum(masked, 0.0f), args.exponent));
        }
      }
      gpu_sync();
      if (sum_row < rows) {
        if (sum < kAdmFloatPictureSums)
          sums[d][sum][sum_row] = float_terms_add(sums[d][sum][sum_row], terms[sum].row[sum_row], columns);
        else if (d == 0 && sum < kAdmFloatPictureSums + kAdmBands)
          den = float_terms_add(den, terms[sum].row[sum_row], columns);
      }
    }
  }

  const int sum_row = thread % kAdmFloatRows, sum = thread / kAdmFloatRows;
  if (sum_row >= rows) return;
  const int64_t frame = args.frame_floats * static_cast<int>(blockIdx.z) + (top - p.top) + sum_row;
  if (sum < kAdmFloatPictureSums)
    for (int d = 0; d < args.distorted; d++)
      *(args.pictures + (frame + (int64_t{d} * kAdmFloatPictureSums + sum) * region_rows)).get() =
          sums[d][sum][sum_row];
  else if (sum < kAdmFloatPictureSums + kAdmBands)
    *(args.den + (frame + int64_t{sum - kAdmFloatPictureSums} * region_rows)).get() = den;
}

}  // namespace

// Bits of a sample; `power` where the exponent of pooling is not 3.
GPU_KERNEL void GPU_BOUNDS(kAdmFloatThreads, 2) adm_float_8(AdmFloatArgs args) {
  adm_float_band<uint8_t, true>(args);
}
GPU_KERNEL void GPU_BOUNDS(kAdmFloatThreads, 2) adm_float_16(AdmFloatArgs args) {
  adm_float_band<uint16_t, true>(args);
}
GPU_KERNEL void GPU_BOUNDS(kAdmFloatThreads, 2) adm_float_32(AdmFloatArgs args) {
  adm_float_band<float, true>(args);
}
GPU_KERNEL void GPU_BOUNDS(kAdmFloatThreads, 2) adm_float_power_8(AdmFloatArgs args) {
  adm_float_band<uint8_t, false>(args);
}
GPU_KERNEL void GPU_BOUNDS(kAdmFloatThreads, 2) adm_float_power_16(AdmFloatArgs args) {
  adm_float_band<uint16_t, false>(args);
}
GPU_KERNEL void GPU_BOUNDS(kAdmFloatThreads, 2) adm_float_power_32(AdmFloatArgs args) {
  adm_float_band<float, false>(args);
}

GPU_KERNEL void GPU_BOUNDS(kAdmFloatThreads, 4) adm_float_low_8(AdmFloatLowArgs args) {
  adm_float_low_band<uint8_t>(args);
}
GPU_KERNEL void GPU_BOUNDS(kAdmFloatThreads, 4) adm_float_low_16(AdmFloatLowArgs args) {
  adm_float_low_band<uint16_t>(args);
}
GPU_KERNEL void GPU_BOUNDS(kAdmFloatThreads, 4) adm_float_low_32(AdmFloatLowArgs args) {
  adm_float_low_band<float>(args);
}

GPU_KERNEL void GPU_BOUNDS(kSerialSumThreads, 1) adm_float_total(SerialSumArgs<float> args) {
  serial_sum(args);
}
