// Kernels of float VIF (engine/arith/vif_float.h has the definition).
#include "kernels/float_scale.h"
#include "kernels/float_tile.h"
#include "kernels/serial_sums.h"
#include "kernels/vif_float_args.h"

using namespace vmafhip;

namespace {

// Filtered means, squares and products of a band, and the sums of their terms along its rows. What the reference has to
// itself is worked out once for all distorted pictures.
template <class Sample, int kLength>
GPU_FN void vif_float_band(const VifFloatArgs &args) {
  GPU_SHARED FloatTile tiles[3];
  GPU_SHARED FloatTerms den_terms, num_terms;
  GPU_SHARED FloatTileReach<1> reach;
  GPU_SHARED typename FloatTileFilter<kLength>::Memory memory;
  // Scalar registers of AMD's have no room left for them beside a length that is not known.
  GPU_SHARED VifFloatTerms shared_terms;
  const VifFloatTerms &terms = kLength == 0 ? shared_terms : args.terms;
  // So far along each row, of all distorted pictures.
  GPU_SHARED float num[kVifFloatDistorted][kFloatTileRows];

  const int thread = static_cast<int>(threadIdx.x), top = static_cast<int>(blockIdx.x) * kFloatTileRows;
  const FloatTileFilter<kLength> filter(args.filter, memory);
  const int radius = filter_radius(filter.length()), columns = float_tile_columns<kLength>(radius);
  const int rows = smaller(kFloatTileRows, args.height - top);
  reach.fill(top, args.height, filter.length());
  if (kLength == 0 && thread == 0) shared_terms = args.terms;
  for (int i = thread; i < args.distorted * kFloatTileRows; i += kFloatTileThreads)
    num[i / kFloatTileRows][i % kFloatTileRows] = 0;
  gpu_sync();

  const DevicePlane *planes = args.planes + static_cast<int>(blockIdx.z) * (1 + args.distorted);
  float den = 0;
  for (int left = 0; left < args.width; left += columns) {
    const int thread = gpu_renewed(static_cast<int>(threadIdx.x));
    const int row = thread / kFloatTileRuns, column = thread % kFloatTileRuns * kFloatTileRun;
    const int x = tile_mirror(left - radius + thread, args.width),
              count = smaller(columns, args.width - left);
    const bool live = row < rows && column < count;
    const SampleColumn<Sample> ref(planes[0], x, top, args.step, -kFloatSampleMiddle);
    {
      float sums[kFloatTileRows][2] = {};
      filter.template columns<1>(
          [&](int j, float(&value)[2]) {
            value[0] = ref.at(reach.at(j));
            value[1] = value[0] * value[0];
          },
          sums);
      float_tile_store(sums, tiles);
    }
    gpu_sync();
    VifFloatReference<float> reference[kFloatTileRun];
    if (live) {
      float mean[kFloatTileRun] = {}, square[kFloatTileRun] = {}, term[kFloatTileRun];
      filter.template rows<1>(tiles[0].row[row], column, mean);
      filter.template rows<1>(tiles[1].row[row], column, square);
#pragma unroll
      for (int c = 0; c < kFloatTileRun; c++) {
        reference[c] = vif_float_reference(mean[c], square[c], terms);
        term[c] = reference[c].information;
      }
      float_terms_store(term, den_terms.row[row], column);
    }
    gpu_sync();

    for (int d = 0; d < args.distorted; d++) {
      const SampleColumn<Sample> dist(planes[1 + d], x, top, args.step, -kFloatSampleMiddle);
      {
        float sums[kFloatTileRows][3] = {};
        filter.template columns<1>(
            [&](int j, float(&value)[3]) {
              const int y = reach.at(j);
              value[0] = dist.at(y);
              value[1] = value[0] * value[0];
              value[2] = ref.at(y) * value[0];
            },
            sums);
        float_tile_store(sums, tiles);
      }
      gpu_sync();
      if (live) {
        float mean[kFloatTileRun] = {}, square[kFloatTileRun] = {}, product[kFloatTileRun] = {},
              term[kFloatTileRun];
        filter.template rows<1>(tiles[0].row[row], column, mean);
        filter.template rows<1>(tiles[1].row[row], column, square);
        filter.template rows<1>(tiles[2].row[row], column, product);
#pragma unroll
        for (int c = 0; c < kFloatTileRun; c++)
          term[c] = vif_float_surviving(reference[c], mean[c], square[c], product[c], terms);
        float_terms_store(term, num_terms.row[row], column);
      }
      gpu_sync();
      // The others go on, and come no further than the next barrier.
      if (thread < rows)
        num[d][thread] = float_terms_add(num[d][thread], num_terms.row[thread], count);
      else if (d == 0 && thread >= kFloatTileRows && thread < kFloatTileRows + rows)
        den = float_terms_add(den, den_terms.row[thread - kFloatTileRows], count);
    }
  }

  const int64_t frame = args.frame_floats * static_cast<int>(blockIdx.z) + top;
  if (thread < rows)
    for (int d = 0; d < args.distorted; d++)
      *(args.num + (frame + int64_t{d} * args.height + thread)).get() = num[d][thread];
  else if (thread >= kFloatTileRows && thread < kFloatTileRows + rows)
    *(args.den + (frame + thread - kFloatTileRows)).get() = den;
}

// Every second column of every second row of a filtered plane.
template <class Sample, int kLength>
GPU_FN void vif_float_half(const VifFloatPlaneArgs &args) {
  GPU_SHARED FloatTile tiles[1];
  GPU_SHARED FloatTileReach<2> reach;
  GPU_SHARED typename FloatTileFilter<kLength>::Memory memory;

  const int thread = static_cast<int>(threadIdx.x), top = static_cast<int>(blockIdx.x) * kFloatTileRows;
  const FloatTileFilter<kLength> filter(args.filter, memory);
  const int radius = filter_radius(filter.length()), columns = float_tile_columns<kLength>(radius);
  const int left = static_cast<int>(blockIdx.y) * columns;
  reach.fill(2 * top, args.height, filter.length());
  gpu_sync();

  const VifFloatPlaneArgs::Plane &plane = args.planes[blockIdx.z];
  const SampleColumn<Sample> from(plane.from, tile_mirror(left - radius + thread, args.width), 2 * top,
                                  args.step, -kFloatSampleMiddle);
  float sums[kFloatTileRows][1] = {};
  filter.template columns<2>([&](int j, float(&value)[1]) { value[0] = from.at(reach.at(j)); }, sums);
  float_tile_store(sums, tiles);
  gpu_sync();

  const int row = thread / kFloatTileRuns, column = thread % kFloatTileRuns * kFloatTileRun,
            x = (left + column) / 2;
  if (top + row >= args.to_height || column >= columns || x >= args.to_width) return;
  float half[kFloatTileRun / 2] = {};
  filter.template rows<2>(tiles[0].row[row], column, half);
  float_tile_write(half, plane.to + int64_t{top + row} * float_plane_stride(args.to_width), x, args.to_width);
}

template <class Sample>
GPU_FN void vif_float_scale(const VifFloatPlaneArgs &args) {
  const int x = static_cast<int>(blockIdx.x * kFloatTileThreads + threadIdx.x),
            y = static_cast<int>(blockIdx.y);
  if (x >= args.to_width) return;
  const VifFloatPlaneArgs::Plane &plane = args.planes[blockIdx.z];
  const float value = float_scale_at(args.scale, x, y, [&](int column, int row) {
    return SampleColumn<Sample>(plane.from, column, row, args.step, -kFloatSampleMiddle).at(0);
  });
  *(plane.to + (int64_t{y} * float_plane_stride(args.to_width) + x)).get() = value;
}

}  // namespace

// Statistics: taps (`any`: those of other kernel scales), bits of a sample. Registers for three blocks on a
// multiprocessor.
#define STATISTICS(length, bits, Sample, taps)                                                      \
  GPU_KERNEL void GPU_BOUNDS(kFloatTileThreads, 3) vif_float_##length##_##bits(VifFloatArgs args) { \
    vif_float_band<Sample, taps>(args);                                                             \
  }
STATISTICS(17, 8, uint8_t, 17)
STATISTICS(17, 16, uint16_t, 17)
STATISTICS(17, 32, float, 17)
STATISTICS(9, 32, float, 9)
STATISTICS(5, 32, float, 5)
STATISTICS(3, 32, float, 3)
STATISTICS(any, 8, uint8_t, 0)
STATISTICS(any, 16, uint16_t, 0)
STATISTICS(any, 32, float, 0)

// The next scale: taps of its filter, bits of a sample.
#define HALVE(length, bits, Sample, taps)                        \
  GPU_KERNEL void GPU_BOUNDS(kFloatTileThreads, 4)               \
      vif_float_half_##length##_##bits(VifFloatPlaneArgs args) { \
    vif_float_half<Sample, taps>(args);                          \
  }
HALVE(9, 8, uint8_t, 9)
HALVE(9, 16, uint16_t, 9)
HALVE(9, 32, float, 9)
HALVE(5, 32, float, 5)
HALVE(3, 32, float, 3)
HALVE(any, 8, uint8_t, 0)
HALVE(any, 16, uint16_t, 0)
HALVE(any, 32, float, 0)

GPU_KERNEL void GPU_BOUNDS(kFloatTileThreads, 4) vif_float_scale_8(VifFloatPlaneArgs args) {
  vif_float_scale<uint8_t>(args);
}
GPU_KERNEL void GPU_BOUNDS(kFloatTileThreads, 4) vif_float_scale_16(VifFloatPlaneArgs args) {
  vif_float_scale<uint16_t>(args);
}

GPU_KERNEL void GPU_BOUNDS(kSerialSumThreads, 1) vif_float_total(SerialSumArgs<float> args) {
  serial_sum(args);
}
