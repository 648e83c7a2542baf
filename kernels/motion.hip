// Motion: the sum of magnitudes of the filtered difference of two frames (engine/arith/motion.h has the definition).
// Filtering is linear but for its two roundings, so the difference is filtered, not the frames. A thread has four columns of
// some rows: it filters down these columns, and then along the rows, with what the threads beside have filtered down.
#include "kernels/motion_args.h"
#include "kernels/numbers.h"
#include "kernels/tile.h"

using namespace vmafhip;

namespace {

constexpr int kSourceRows = kMotionRows + 2 * kMotionRadius;

// (sum of taps * values + 2^(shift - 1)) >> shift of five values of up to 17 bits with the sign; shift is 8 to 16. The first
// and the last tap are one, the second and the last but one, too.
GPU_FN int32_t motion_filter(int32_t a, int32_t b, int32_t c, int32_t d, int32_t e, int shift) {
  const int32_t outer = a + e, inner = b + d;
#if defined(GPU_AMD)
  // 4 * (892 * outer + 4001 * inner + 6596 * c) + 3 * outer + 2 * c: factors of 24 bits, sums of 31, and both floors nest.
  static_assert(kMotionTaps[0] == 4 * 892 + 3 && kMotionTaps[1] == 4 * 4001 &&
                kMotionTaps[2] == 4 * 6596 + 2);
  const int32_t rest = 3 * gpu_int24(outer) + (2 * c + (1 << (shift - 1)));
  return (892 * gpu_int24(outer) + 4001 * gpu_int24(inner) + 6596 * gpu_int24(c) + (rest >> 2)) >>
         (shift - 2);
#else
  const int64_t sum = static_cast<int64_t>(outer) * kMotionTaps[0] +
                      static_cast<int64_t>(inner) * kMotionTaps[1] +
                      static_cast<int64_t>(c) * kMotionTaps[2] + (int64_t{1} << (shift - 1));
  return static_cast<int32_t>(sum >> shift);
#endif
}

// Four samples in a row as they lie in memory, as words: else they are loaded one by one.
template <class Sample>
struct alignas(kMotionColumns * sizeof(Sample)) MotionFour {
  static constexpr int kInWord = sizeof(uint32_t) / sizeof(Sample), kBits = 8 * sizeof(Sample);
  uint32_t words[kMotionColumns / kInWord];

  GPU_FN int32_t sample(int k) const {
    return static_cast<Sample>(words[k / kInWord] >> k % kInWord * kBits);
  }
};

// Differences of both frames in the columns of a thread, and their column sums.
template <class Sample>
class MotionDifferences {
 public:
  GPU_FN void set(int row, const MotionFour<Sample> &earlier, const MotionFour<Sample> &current) {
#pragma unroll
    for (int k = 0; k < kMotionColumns; k++) rows_[row][k] = earlier.sample(k) - current.sample(k);
  }
  GPU_FN int32_t column_sum(int row, int k, int depth) const {
    if constexpr (sizeof(Sample) == 1) {  // below 255 * 65536 in all
      const auto tap = [&](int i, int32_t v) { return kMotionTaps[i] * v; };
      return (tap(0, rows_[row][k] + rows_[row + 4][k]) + tap(1, rows_[row + 1][k] + rows_[row + 3][k]) +
              tap(2, rows_[row + 2][k]) + 128) >>
             8;
    }
    return motion_filter(rows_[row][k], rows_[row + 1][k], rows_[row + 2][k], rows_[row + 3][k],
                         rows_[row + 4][k], depth);
  }

 private:
  int32_t rows_[kSourceRows][kMotionColumns];
};

#if defined(__CUDACC__)
// Bytes: those of both frames beside each other, for an instruction that multiplies a pair of 16-bit numbers, a tap and
// its negative, by a pair of bytes and adds both products.
template <>
class MotionDifferences<uint8_t> {
 public:
  GPU_FN void set(int row, const MotionFour<uint8_t> &earlier, const MotionFour<uint8_t> &current) {
    pairs_[row][0] = __byte_perm(earlier.words[0], current.words[0], 0x5140);
    pairs_[row][1] = __byte_perm(earlier.words[0], current.words[0], 0x7362);
  }
  GPU_FN int32_t column_sum(int row, int k, int) const {
    int32_t sum = 128;
#pragma unroll
    for (int i = 0; i < 2 * kMotionRadius + 1; i++) {
      const int32_t tap = kMotionTaps[i > kMotionRadius ? 2 * kMotionRadius - i : i];
      const uint32_t taps = static_cast<uint32_t>(tap) | static_cast<uint32_t>(-tap) << 16;
      if (k % 2 == 0)
        asm("dp2a.lo.s32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(taps), "r"(pairs_[row + i][k / 2]));
      else
        asm("dp2a.hi.s32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(taps), "r"(pairs_[row + i][k / 2]));
    }
    return sum >> 8;
  }

 private:
  uint32_t pairs_[kSourceRows][2];
};
#endif

// Four samples from column x on, at once or one by one.
template <class Sample>
GPU_FN MotionFour<Sample> motion_load(const DevicePlane &plane, int y, int x) {
  const uint32_t offset = static_cast<uint32_t>(x) * static_cast<uint32_t>(sizeof(Sample));
  return *address_cast<const MotionFour<Sample>>(tile_row_address(plane, y) + offset).get();
}
template <class Sample>
GPU_FN MotionFour<Sample> motion_gather(const DevicePlane &plane, int y, int x, int width) {
  using Four = MotionFour<Sample>;
  Four four = {};
#pragma unroll
  for (int k = 0; k < kMotionColumns; k++)
    four.words[k / Four::kInWord] |=
        static_cast<uint32_t>(tile_sample<Sample>(plane, y, tile_mirror(x + k, width)))
        << k % Four::kInWord * Four::kBits;
  return four;
}

// Block (x, y, z): tile x of the columns, y of the rows, pair z.
template <class Sample>
GPU_FN void motion_tile(const MotionArgs &args) {
  GPU_SHARED Words4 columns[kMotionTileRows][kMotionThreadsOfRow];
  const int thread = static_cast<int>(threadIdx.x), of_row = thread % kMotionThreadsOfRow,
            group = thread / kMotionThreadsOfRow * kMotionRows;
  const int x = static_cast<int>(blockIdx.x) * kMotionTileColumns - kMotionHalo + of_row * kMotionColumns,
            y = static_cast<int>(blockIdx.y) * kMotionTileRows + group;
  const MotionPair &pair = args.pairs[blockIdx.z];

  constexpr int kBytes = kMotionColumns * sizeof(Sample);
  const bool words = pair.earlier.data.is_aligned(kBytes) && pair.earlier.stride % kBytes == 0 &&
                     pair.current.data.is_aligned(kBytes) && pair.current.stride % kBytes == 0;
  MotionDifferences<Sample> differences;
  if (words && x >= 0 && x + kMotionColumns <= args.width) {
#pragma unroll
    for (int i = 0; i < kSourceRows; i++) {
      const int row = tile_mirror(y - kMotionRadius + i, args.height);
      differences.set(i, motion_load<Sample>(pair.earlier, row, x),
                      motion_load<Sample>(pair.current, row, x));
    }
  } else {
#pragma unroll
    for (int i = 0; i < kSourceRows; i++) {
      const int row = tile_mirror(y - kMotionRadius + i, args.height);
      differences.set(i, motion_gather<Sample>(pair.earlier, row, x, args.width),
                      motion_gather<Sample>(pair.current, row, x, args.width));
    }
  }
  int32_t filtered[kMotionRows][kMotionColumns];
#pragma unroll
  for (int row = 0; row < kMotionRows; row++) {
#pragma unroll
    for (int k = 0; k < kMotionColumns; k++) filtered[row][k] = differences.column_sum(row, k, args.depth);
    columns[group + row][of_row] =
        Words4{static_cast<uint32_t>(filtered[row][0]), static_cast<uint32_t>(filtered[row][1]),
               static_cast<uint32_t>(filtered[row][2]), static_cast<uint32_t>(filtered[row][3])};
  }
  gpu_sync();

  // 16 pixels of 2^16 each; 2^26 a warp of 64.
  uint32_t sad = 0;
  if (of_row > 0 && of_row < kMotionThreadsOfRow - 1)
#pragma unroll
    for (int row = 0; row < kMotionRows; row++) {
      const Words2 *before = reinterpret_cast<const Words2 *>(&columns[group + row][of_row - 1]) + 1,
                   *behind = reinterpret_cast<const Words2 *>(&columns[group + row][of_row + 1]);
      int32_t v[kMotionColumns + 2 * kMotionRadius];
      v[0] = static_cast<int32_t>(before->x);
      v[1] = static_cast<int32_t>(before->y);
#pragma unroll
      for (int k = 0; k < kMotionColumns; k++) v[kMotionRadius + k] = filtered[row][k];
      v[6] = static_cast<int32_t>(behind->x);
      v[7] = static_cast<int32_t>(behind->y);
      if (y + row >= args.height) continue;
#pragma unroll
      for (int k = 0; k < kMotionColumns; k++) {
        const uint32_t difference =
            magnitude(motion_filter(v[k], v[k + 1], v[k + 2], v[k + 3], v[k + 4], 16));
        if (x + k < args.width) sad += difference;
      }
    }
  // Where the first columns were: a power of two of shared memory lets one block more fit.
  gpu_sync();
  uint32_t *warp_sums = reinterpret_cast<uint32_t *>(columns);
  const uint32_t warp_sum = gpu_warp_sum(sad);
  if (gpu_lane() == 0) warp_sums[thread / gpu_warp_size()] = warp_sum;
  gpu_sync();
  if (thread > 0) return;
  uint64_t sum = 0;
  for (int warp = 0; warp < kMotionThreads / gpu_warp_size(); warp++) sum += warp_sums[warp];
  const unsigned slot = (blockIdx.x + blockIdx.y) % kMotionSlots;
  if (sum) gpu_atomic_add((pair.sad + slot).get(), sum);
}

}  // namespace

GPU_KERNEL void GPU_BOUNDS(kMotionThreads, 3) motion_8(MotionArgs args) { motion_tile<uint8_t>(args); }
GPU_KERNEL void GPU_BOUNDS(kMotionThreads, 3) motion_16(MotionArgs args) { motion_tile<uint16_t>(args); }
