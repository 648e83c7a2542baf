// Separable filters over a band of rows, and sums along its rows: see float_tile_args.h, and for the order of every sum
// engine/arith/float_filter.h.
#pragma once
#include "kernels/float_samples.h"
#include "kernels/float_tile_args.h"
#include "kernels/tile.h"

namespace vmafhip {

// ---- Filters --------------------------------------------------------------------------------------------------------

// Column sums of a band, of one quantity. Chunks of a row are placed by tile_chunk().
struct alignas(16) FloatTile {
  uint32_t row[kFloatTileRows][kFloatTileThreads];
};

// A filter of kLength taps, known to the compiler, or 0: any. The taps of the former are operands in constant memory with
// NVIDIA. AMD would want them in scalar registers, in pairs for packed instructions, more than there are: there, as in a
// filter of any length, they lie in the block's memory.
template <int kLength>
class FloatTileFilter {
 public:
#if defined(__CUDACC__)
  struct Memory {};
  GPU_FN FloatTileFilter(const FloatFilter &filter, Memory &) : tap_(filter.tap) {}
#else
  struct Memory {
    float tap[kLength];
  };
  // Ends with a barrier.
  GPU_FN FloatTileFilter(const FloatFilter &filter, Memory &memory) : tap_(memory.tap) {
    if (threadIdx.x < kLength) memory.tap[threadIdx.x] = filter.tap[threadIdx.x];
    gpu_sync();
  }
#endif

  GPU_FN constexpr int length() const { return kLength; }
  // Filters are symmetric to the last bit, so that neighbouring sums share products.
  GPU_FN float tap(int k) const { return tap_[k <= kLength / 2 ? k : kLength - 1 - k]; }

  // Sums of kFloatTileRows rows, kStep rows apart; read(j, values) gives row j under the first one's filter.
  template <int kStep, int kValues, class Read>
  GPU_FN void columns(const Read &read, float (&sum)[kFloatTileRows][kValues]) const {
#pragma unroll
    for (int j = 0; j < kStep * (kFloatTileRows - 1) + kLength; j++) {
      float value[kValues];
      read(j, value);
#pragma unroll
      for (int i = 0; i < kFloatTileRows; i++) {
        const int k = j - kStep * i;
        if (k < 0 || k >= kLength) continue;
#pragma unroll
        for (int v = 0; v < kValues; v++)
          sum[i][v] = k == 0 ? tap(0) * value[v] : filter_add(sum[i][v], tap(k), value[v]);
      }
    }
  }

  // Sums of a run of columns from `column` on, kStep columns apart.
  template <int kStep>
  GPU_FN void rows(const uint32_t *row, int column, float (&sum)[kFloatTileRun / kStep]) const {
    uint32_t words[(kFloatTileRun + kLength - 1 + 3) / 4 * 4];
    tile_read<sizeof words / sizeof words[0]>(row, column, words);
#pragma unroll
    for (int j = 0; j < kFloatTileRun - kStep + kLength; j++) {
      const float value = real_of(static_cast<int32_t>(words[j]));
#pragma unroll
      for (int c = 0; c < kFloatTileRun / kStep; c++) {
        const int k = j - kStep * c;
        if (k < 0 || k >= kLength) continue;
        sum[c] = k == 0 ? tap(0) * value : filter_add(sum[c], tap(k), value);
      }
    }
  }

 private:
  const float *tap_;
};

template <>
class FloatTileFilter<0> {
 public:
  // What sums of rows two apart read before the first tap and behind the last, and a run of columns of whole chunks.
  static constexpr int kBefore = 2 * (kFloatTileRows - 1), kTaps = kBefore + kFilterMostTaps + kBefore;
  struct Memory {
    float tap[kTaps];
  };
  // Ends with a barrier.
  GPU_FN FloatTileFilter(const FloatFilter &filter, Memory &memory)
      : length_(filter.length), tap_(memory.tap) {
    for (int i = static_cast<int>(threadIdx.x); i < kTaps; i += kFloatTileThreads) {
      const int k = i - kBefore;
      memory.tap[i] = k >= 0 && k < filter.length ? filter.tap[k] : 0.0f;
    }
    gpu_sync();
  }

  GPU_FN int length() const { return length_; }

  template <int kStep, int kValues, class Read>
  GPU_FN void columns(const Read &read, float (&sum)[kFloatTileRows][kValues]) const {
    static_assert(kStep <= 2);
#pragma unroll
    for (int i = 0; i < kFloatTileRows; i++)
#pragma unroll
      for (int v = 0; v < kValues; v++) sum[i][v] = 0.0f;
    for (int j = 0; j < kStep * (kFloatTileRows - 1) + length_; j++) {
      float value[kValues];
      read(j, value);
      const float *const at = taps_from(j);
#pragma unroll
      for (int i = 0; i < kFloatTileRows; i++)
#pragma unroll
        for (int v = 0; v < kValues; v++) sum[i][v] = filter_add(sum[i][v], at[-kStep * i], value[v]);
    }
  }

  template <int kStep>
  GPU_FN void rows(const uint32_t *row, int column, float (&sum)[kFloatTileRun / kStep]) const {
    uint32_t words[kFloatTileRun + 4];
    tile_read<kFloatTileRun>(row, column, words);
#pragma unroll
    for (int c = 0; c < kFloatTileRun / kStep; c++) sum[c] = 0.0f;
    for (int k = 0; k < length_; k += 4) {
      tile_read<4>(row, column + kFloatTileRun + k, words + kFloatTileRun);
      const float *const at = taps_from(k);
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int c = 0; c < kFloatTileRun / kStep; c++)
          sum[c] = filter_add(sum[c], at[i], real_of(static_cast<int32_t>(words[kStep * c + i])));
#pragma unroll
      for (int i = 0; i < kFloatTileRun; i++) words[i] = words[i + 4];
    }
  }

 private:
  GPU_FN const float *taps_from(int k) const { return tap_ + gpu_renewed(kBefore + k); }

  const int length_;
  const float *tap_;
};

// Rows that a band's filters read, relative to the first row of the band; the same at every step.
template <int kStep>
struct FloatTileReach {
  static constexpr int kMost = kStep * (kFloatTileRows - 1) + kFilterMostTaps;
  int32_t row[kMost];

  GPU_FN int32_t at(int j) const {
    int32_t offset = row[j];
#if defined(__HIP__)
    // The same for all threads: the compiler would keep all rows' addresses in scalar registers, more than there are.
    asm("" : "+v"(offset));
#endif
    return offset;
  }
  // Wants a barrier behind it.
  GPU_FN void fill(int first, int height, int length) {
    for (int j = static_cast<int>(threadIdx.x); j < kStep * (kFloatTileRows - 1) + length;
         j += kFloatTileThreads)
      row[j] = tile_mirror(first - filter_radius(length) + j, height) - first;
  }
};

template <int kValues>
GPU_FN void float_tile_store(const float (&sum)[kFloatTileRows][kValues], FloatTile *tiles) {
  const int at = tile_position(static_cast<int>(threadIdx.x));
#pragma unroll
  for (int v = 0; v < kValues; v++)
#pragma unroll
    for (int i = 0; i < kFloatTileRows; i++) tiles[v].row[i][at] = static_cast<uint32_t>(bits_of(sum[i][v]));
}

// A run of results to a row of a plane of `width`; floats up to float_plane_stride() may be written.
template <int kCount>
GPU_FN void float_tile_write(const float (&value)[kCount], DeviceAddress<float> row, int x, int width) {
#pragma unroll
  for (int c = 0; c < kCount; c += 4) {
    if (x + c >= width) break;
    const Words4 words = {
        static_cast<uint32_t>(bits_of(value[c])), static_cast<uint32_t>(bits_of(value[c + 1])),
        static_cast<uint32_t>(bits_of(value[c + 2])), static_cast<uint32_t>(bits_of(value[c + 3]))};
    *address_cast<Words4>(row + (x + c)).get() = words;
  }
}

// ---- Sums along rows ------------------------------------------------------------------------------------------------

// Terms of a step, in the order of the columns. Eight threads that add up rows meet in no bank.
constexpr int kFloatTermPitch = kFloatTileThreads + 4;
struct alignas(16) FloatTerms {
  uint32_t row[kFloatTileRows][kFloatTermPitch];
};

// A run's terms, from `column` on.
GPU_FN void float_terms_store(const float (&term)[kFloatTileRun], uint32_t *row, int column) {
#pragma unroll
  for (int c = 0; c < kFloatTileRun; c += 4) {
    const Words4 words = {
        static_cast<uint32_t>(bits_of(term[c])), static_cast<uint32_t>(bits_of(term[c + 1])),
        static_cast<uint32_t>(bits_of(term[c + 2])), static_cast<uint32_t>(bits_of(term[c + 3]))};
    *reinterpret_cast<Words4 *>(row + column + c) = words;
  }
}

// Adds the first `count` terms of a row, one after the other.
GPU_FN float float_terms_add(float sum, const uint32_t *row, int count) {
  int x = 0;
#pragma unroll 4
  for (; x + 4 <= count; x += 4) {
    const Words4 words = *reinterpret_cast<const Words4 *>(row + x);
    sum += real_of(static_cast<int32_t>(words.x));
    sum += real_of(static_cast<int32_t>(words.y));
    sum += real_of(static_cast<int32_t>(words.z));
    sum += real_of(static_cast<int32_t>(words.w));
  }
  for (; x < count; x++) sum += real_of(static_cast<int32_t>(row[x]));
  return sum;
}

}  // namespace vmafhip
