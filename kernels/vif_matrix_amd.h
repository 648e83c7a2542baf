// VIF in kernels, scale 0, with both filters on AMD's matrix units, as kernels/vif_matrix.h has it on NVIDIA's. A warp of 64
// walks along a strip of 16 rows, 16 columns a step, and is 8 columns late.
//
// A filter is a product with the band matrix of taps, 16 x 32: outputs n to n + 15 from inputs n - 8 to n + 23.
//   Columns: columns x rows = picture (16 columns x 32 rows) * taps (32 rows x 16).
//   Rows:    columns x rows = taps (16 x 32) * column sums (32 columns x 16 rows), 16 of which are of the step before.
// Of a result a lane has four neighbouring columns of one row, and of the right-hand operand of the next product just
// those: its sums are cut into bytes, and these put together by fours. No lane needs what another has.
//
// These units multiply signed bytes. Taps are two digits of base 256, from -128 to 127. Of a byte v there is v - 128: what
// is lacking, 128 times the sum of the taps, is 2^23, since they sum up to 2^16, and is added to the sum.
//
// Cycles a pixel on a SIMD, 8 bits a sample, by the instructions of the loop that clang 19 makes of it. A vector
// instruction takes a wave of 64 4 cycles, and a matrix instruction 32 on gfx90a and 16 on gfx942, in all but 4 of which
// vector instructions go on beside it (AMD's Matrix Instruction Calculator, --detail-instruction):
//             vector        matrix       together        kernels/vif_streams.h
//   gfx90a    193: 12.1     27: 13.5     13.8 to 25.6    365: 22.8
//   gfx942    194: 12.1     13.5: 3.4    12.9 to 15.5    363: 22.7
// In warps of 32 it does not pay: on gfx11 v_wmma_i32_16x16x16_iu8 takes 32 cycles with nothing beside it, so that products
// would take 13.5 cycles a pixel and vector instructions 6.0 besides, where vif_streams.h takes 14.6.
#pragma once
#include "kernels/vif_filter.h"

#if defined(GPU_HAS_MMA_I8)
namespace vmafhip {

// The low and the high digits of four taps in a row, in bytes; beyond the first and the last there are zeros.
struct VifDigits {
  uint32_t low = 0, high = 0;
};
constexpr VifDigits vif_digits(int scale, int first) {
  VifDigits digits;
  for (int byte = 0; byte < 4; byte++) {
    const int tap = first + byte;
    const int weight = tap < 0 || tap >= kVifTapCount[scale] ? 0 : kVifTaps[scale][tap];
    digits.low |= static_cast<uint32_t>(weight & 255) << 8 * byte;
    digits.high |= static_cast<uint32_t>((weight + 128) >> 8) << 8 * byte;
  }
  return digits;
}

// A lane's part of the band matrices, two words of an operand: of this scale's taps; and of the next scale's, of which an
// output is at every second input. A column's 8 outputs are the reference's first, then the distorted picture's: for
// either's samples the other's are zeros. A row's four of a lane are the low digits of two outputs and their high ones.
struct alignas(16) VifSignedBands {
  uint32_t low[2], high[2];
};
struct alignas(16) VifHalfSignedBands {
  uint32_t low[2][2], high[2][2], row[2];  // of columns [picture][word]
};
struct VifLaneSignedBands {
  VifSignedBands full[64];
  VifHalfSignedBands half[64];
};
constexpr VifLaneSignedBands vif_lane_signed_bands() {
  VifLaneSignedBands bands = {};
  for (int lane = 0; lane < 64; lane++)
    for (int word = 0; word < 2; word++) {
      const int n = lane % 16, input = 16 * word + lane / 16 * 4;
      const VifDigits full = vif_digits(0, input - n), half = vif_digits(1, input - 2 * (n % 8) - 4),
                      row = vif_digits(1, input - 2 * (n / 4 * 2 + n % 2) - 4);
      bands.full[lane].low[word] = full.low;
      bands.full[lane].high[word] = full.high;
      bands.half[lane].low[n / 8][word] = half.low;
      bands.half[lane].high[n / 8][word] = half.high;
      bands.half[lane].row[word] = n % 4 < 2 ? row.low : row.high;
    }
  return bands;
}
VMAFHIP_TABLE VifLaneSignedBands kVifLaneSignedBands = vif_lane_signed_bands();

// A picture; the host sees to it that its stride fits 24 bits, and offsets 32: vif_matrix_takes().
struct VifMatrixPlane {
  const uint8_t *data;
  uint32_t stride;

  template <class Sample>
  GPU_FN static VifMatrixPlane of(const DevicePlane &plane, int width, int height) {
    const uint32_t stride = static_cast<uint32_t>(plane.stride);
    return {plane.data.get(static_cast<uint64_t>(height - 1) * stride +
                           sizeof(Sample) * static_cast<uint32_t>(width)),
            stride};
  }
};

// Rows of which a lane reads a column: 4q to 4q + 3 and 16 + 4q to 16 + 4q + 3 from 8 above the strip on.
struct VifLaneRows {
  uint32_t row[8];

  GPU_FN VifLaneRows(int y0, int height) {
    const int first = y0 - 8 + gpu_lane() / 16 * 4;
#pragma unroll
    for (int i = 0; i < 8; i++)
      row[i] = static_cast<uint32_t>(tile_mirror(first + i % 4 + i / 4 * 16, height));
  }
};

// Bytes as matrix units take them.
GPU_FN uint32_t vif_signed(uint32_t bytes) { return bytes ^ 0x80808080u; }

// Numbers by fours, byte by byte: a lane's part of an operand is two of these, of rows or columns 0 to 15 and 16 to 31.
template <int kBytes>
struct VifFours {
  uint32_t bytes[kBytes];  // signed

  GPU_FN static VifFours cut(const uint32_t *numbers) {
    uint32_t words[4];
    if constexpr (kBytes == 2)
      gpu_transpose_low_bytes(numbers, words);
    else
      gpu_transpose_bytes(numbers, words);
    VifFours fours;
#pragma unroll
    for (int byte = 0; byte < kBytes; byte++) fours.bytes[byte] = vif_signed(words[byte]);
    return fours;
  }
};

// A lane's samples: of four rows in one or two words.
template <class Sample>
struct VifLaneSamples {
  uint32_t words[2][sizeof(Sample)];

  GPU_FN void load(const VifMatrixPlane &plane, const VifLaneRows &rows, int x) {
    constexpr int kPerWord = 4 / sizeof(Sample);
    const uint32_t at = static_cast<uint32_t>(x) * static_cast<uint32_t>(sizeof(Sample));
#pragma unroll
    for (int i = 0; i < 8; i++) {
      const uint32_t sample =
          *reinterpret_cast<const Sample *>(plane.data + gpu_multiply_add24(rows.row[i], plane.stride, at));
      uint32_t &word = words[i / 4][i % 4 / kPerWord];
      word = i % kPerWord == 0 ? sample : word | sample << 8 * sizeof(Sample) * (i % kPerWord);
      // Else AMD's compiler keeps the samples beside it.
      if (i % kPerWord == kPerWord - 1) word = static_cast<uint32_t>(gpu_anew(static_cast<int>(word)));
    }
  }
  GPU_FN uint32_t sample(int half, int i) const {
    if constexpr (sizeof(Sample) == 1) return words[half][0] >> 8 * i & 255;
    return words[half][i / 2 % sizeof(Sample)] >> 16 * (i % 2) & 0xffff;
  }
  GPU_FN VifFours<sizeof(Sample)> fours(int half) const {
    if constexpr (sizeof(Sample) == 1)
      return {{vif_signed(words[half][0])}};
    else
      return {{vif_signed(gpu_permute(words[half][0], words[half][1], 0x6420)),
               vif_signed(gpu_permute(words[half][0], words[half][1], 0x7531))}};
  }
};

// Products of the bytes of numbers and the digits of taps, summed up by weight: 1, 2^8, ...
template <int kBytes>
class VifDigitSums {
 public:
  GPU_FN explicit VifDigitSums(uint32_t rounding) {
#pragma unroll
    for (int i = 0; i < 4; i++) sums_[0][i] = rounding + (kBytes == 1 ? kLacking << 16 : 0);
  }
  GPU_FN void add_columns(const VifFours<kBytes> (&numbers)[2], const uint32_t *low, const uint32_t *high) {
#pragma unroll
    for (int byte = 0; byte < kBytes; byte++) {
      gpu_mma_i8(sums_[byte], numbers[0].bytes[byte], numbers[1].bytes[byte], low[0], low[1]);
      gpu_mma_i8(sums_[byte + 1], numbers[0].bytes[byte], numbers[1].bytes[byte], high[0], high[1]);
    }
  }
  GPU_FN void add_rows(const VifSignedBands &bands, const VifFours<kBytes> &before,
                       const VifFours<kBytes> &now) {
#pragma unroll
    for (int byte = 0; byte < kBytes; byte++) {
      gpu_mma_i8(sums_[byte], bands.low[0], bands.low[1], before.bytes[byte], now.bytes[byte]);
      gpu_mma_i8(sums_[byte + 1], bands.high[0], bands.high[1], before.bytes[byte], now.bytes[byte]);
    }
  }
  // (sum + rounding) >> shift, modulo 2^32; shift is at most 16. A sum of products of bytes is below 17 * 128 * 128 * 2 <
  // 2^20, so that the lower two fit.
  GPU_FN void shifted(int shift, uint32_t *out) const {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      out[i] = static_cast<uint32_t>(static_cast<int32_t>(sums_[0][i] + (sums_[1][i] << 8)) >> shift);
      if constexpr (kBytes > 1) {
        uint32_t high = sums_[2][i];
        if constexpr (kBytes > 2) high += sums_[3][i] << 8;
        if constexpr (kBytes > 3) high += sums_[4][i] << 16;
        out[i] += (high << (16 - shift)) + (kLacking << (16 - shift));
      }
    }
  }

 private:
  static constexpr uint32_t kLacking = 0x80808080u >>
                                       8 * (4 - kBytes);  // 2^23 for each byte, in units of 2^16
  uint32_t sums_[kBytes + 1][4] = {};
};

// Column sums of the step before.
struct VifKeptColumns {
  VifFours<2> means[2] = {}, halves = {};
  VifFours<4> moments[3] = {};
};

// Means of a picture.
template <int kBytes>
GPU_FN void vif_lane_means(const VifSignedBands &bands, int depth, const VifFours<kBytes> (&picture)[2],
                           VifFours<2> *kept, uint32_t *out) {
  uint32_t columns[4];
  VifDigitSums<kBytes> sums(1u << (depth - 1));
  sums.add_columns(picture, bands.low, bands.high);
  sums.shifted(depth, columns);
  const VifFours<2> now = VifFours<2>::cut(columns);
  VifDigitSums<2> rows(0);
  rows.add_rows(bands, *kept, now);
  rows.shifted(0, out);
  *kept = now;
}

// Squares or products: (row sums of the rounded column sums + 2^15) >> 16.
template <class Sample, int kSquareBytes>
GPU_FN void vif_lane_moments(const VifSignedBands &bands, int depth, const VifLaneSamples<Sample> &a,
                             const VifLaneSamples<Sample> &b, VifFours<4> *kept, uint32_t *out) {
  VifFours<kSquareBytes> squares[2];
#pragma unroll
  for (int half = 0; half < 2; half++) {
    uint32_t products[4];
#pragma unroll
    for (int i = 0; i < 4; i++) products[i] = a.sample(half, i) * b.sample(half, i);
    squares[half] = VifFours<kSquareBytes>::cut(products);
  }
  const int shift = sizeof(Sample) == 1 ? 0 : 2 * (depth - 8);
  uint32_t columns[4];
  VifDigitSums<kSquareBytes> sums((1u << shift) >> 1);
  sums.add_columns(squares, bands.low, bands.high);
  sums.shifted(shift, columns);
  const VifFours<4> now = VifFours<4>::cut(columns);
  VifDigitSums<4> rows(32768);
  rows.add_rows(bands, *kept, now);
  rows.shifted(16, out);
  *kept = now;
}

// Two samples of a row of the next scale, the first of them (x, y), of the plane `to` if there is one. Lanes whose row is one
// of the upper 8 have the reference's, the others the distorted picture's.
template <int kBytes>
GPU_FN void vif_lane_halve(const VifArgs &args, const VifFours<kBytes> (&pictures)[2][2], VifFours<2> *kept,
                           DeviceAddress<uint16_t> to, int x, int y) {
  // Loaded each time, for registers are few.
  const VifHalfSignedBands bands = kVifLaneSignedBands.half[gpu_anew(gpu_lane())];
  const int depth = kBytes == 1 ? 8 : args.depth;
  VifDigitSums<kBytes> sums(1u << (depth - 1));
#pragma unroll
  for (int i = 0; i < 2; i++) sums.add_columns(pictures[i], bands.low[i], bands.high[i]);
  uint32_t columns[4];
  sums.shifted(depth, columns);
  const VifFours<2> now = VifFours<2>::cut(columns);

  // Low digits, low digits, high digits, high digits. Lacking are 2^23 * 257.
  uint32_t rows[2][4] = {{0x80800000u + 32768, 0x80800000u + 32768}};
#pragma unroll
  for (int byte = 0; byte < 2; byte++)
    gpu_mma_i8(rows[byte], bands.row[0], bands.row[1], kept->bytes[byte], now.bytes[byte]);
  *kept = now;
  uint32_t samples[2];
#pragma unroll
  for (int i = 0; i < 2; i++)
    samples[i] = rows[0][i] + ((rows[0][2 + i] + rows[1][i]) << 8) + (rows[1][2 + i] << 16);
  // An even stride gives an odd row room for one sample more.
  if (to && x >= 0 && x < args.width / 2 && y < args.height / 2)
    *address_cast<uint32_t>(to + static_cast<uint32_t>(y * args.half_stride + x)).get() =
        gpu_upper_halves(samples[0], samples[1]);
}

// The kernel. Block (x, y, z): strip y, the x-th four times `steps` steps of 32 columns of it, pair z.
template <class Sample, int kSquareBytes, int kLimits>
GPU_FN void vif_matrix_amd(const VifArgs &args) {
  constexpr int kThreads = 64 * kVifMatrixWarps, kBytes = sizeof(Sample);
  GPU_SHARED Words4 log_table_words[kVifFoldedEntries / 8];
  GPU_SHARED VifWarpSums<kThreads, kLimits> warp_sums;
  const int lane = gpu_lane(), n = lane % 16, depth = kBytes == 1 ? 8 : args.depth;
  const VifPair &pair = args.pairs[blockIdx.z];
  const int y0 = static_cast<int>(blockIdx.y) * kVifMatrixRows;
  const int warp = gpu_of_warp(static_cast<int>(threadIdx.x) / 64);
  const int first = (static_cast<int>(blockIdx.x) * kVifMatrixWarps + warp) * args.steps * 2;
  const int end = smaller(first + args.steps * 2, (args.width + 8 + 15) / 16);
  vif_load_log_table<kThreads>(args.log_table, log_table_words);
  gpu_sync();

  const VifSignedBands bands = kVifLaneSignedBands.full[lane];
  const VifMatrixPlane ref = VifMatrixPlane::of<Sample>(pair.planes.ref, args.width, args.height),
                       dist = VifMatrixPlane::of<Sample>(pair.planes.dist, args.width, args.height);
  const VifLaneRows rows(y0, args.height);
  VifKeptColumns kept;
  VifThreadSums<kLimits> sums;

  // The step before the first gives nothing but what the first needs of it.
  for (int step = first - 1; step < end; step++) {
    const int x0 = 16 * step, left = x0 - 8 + lane / 16 * 4;
    const bool live = step >= first;
    const int x = tile_mirror(x0 + n, args.width);
    VifLaneSamples<Sample> samples[2];
    samples[0].load(ref, rows, x);
    samples[1].load(dist, rows, x);

    uint32_t means[2][4];
    VifFours<kBytes> pictures[2][2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
#pragma unroll
      for (int half = 0; half < 2; half++) pictures[i][half] = samples[i].fours(half);
      vif_lane_means(bands, depth, pictures[i], &kept.means[i], means[i]);
    }
    vif_lane_halve(args, pictures, &kept.halves,
                   !live   ? DeviceAddress<uint16_t>{}
                   : n < 8 ? pair.half_ref
                           : pair.half_dist,
                   left >> 1, y0 / 2 + n % 8);

    int32_t statistics[3][4];
#pragma unroll
    for (int p = 0; p < 3; p++) {  // squares of the reference, of the distorted picture, products
      gpu_keep_order();
      const int a = p == 1, b = p > 0;
      uint32_t moments[4];
      vif_lane_moments<Sample, kSquareBytes>(bands, depth, samples[a], samples[b], &kept.moments[p], moments);
#pragma unroll
      for (int i = 0; i < 4; i++)
        statistics[p][i] = static_cast<int32_t>(moments[i] - gpu_rounded_high(means[a][i], means[b][i]));
    }
    gpu_keep_order();
    const bool inside = live && left >= 0 && y0 + n < args.height;
    vif_add_pixels<true>(reinterpret_cast<const uint16_t *>(log_table_words), statistics,
                         inside ? args.width - left : 0, args.gain_limits, &sums);
  }
  vif_add_to_sums(sums, warp_sums, pair);
}

}  // namespace vmafhip
#endif
