// VIF in kernels, scale 0, with both filters on AMD's matrix units, as kernels/vif_matrix.h has it on NVIDIA's. A warp walks
// along a strip of 16 rows, 16 columns a step, and is 8 columns late.
//
// A filter is a product with the band matrix of taps, 16 x 32: outputs n to n + 15 from inputs n - 8 to n + 23.
//   Columns: columns x rows = picture (16 columns x 32 rows) * taps (32 rows x 16).
//   Rows:    columns x rows = taps (16 x 32) * column sums (32 columns x 16 rows), 16 of which are of the step before.
// Of a result a lane has some columns of one row, and of the right-hand operand of the next product just those: cut into
// bytes and put together by fours, its sums are its part of that operand. No lane needs what another has.
//
// These units multiply signed bytes. Taps are two digits of base 256, from -128 to 127; of a byte v there is v - 128,
// which lacks 128 times the sum of the taps: that is 2^23, since they sum up to 2^16, for the lowest byte, and a constant
// from which sums start.
#pragma once
#include "kernels/vif_filter.h"

#if defined(GPU_HAS_MMA_I8)
namespace vmafhip {

// Four bytes of a lane's part of the band matrices, of inputs `input` to input + 3. Of the next scale's taps, output n is
// at input 2n + 8; for columns the reference's 8 outputs come first, then the distorted picture's. For rows a lane has half
// of its numbers for the low digits of some outputs, and then as many for their high ones.
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
template <int kWarp>
struct alignas(16) VifSignedBands {
  static constexpr int kWords = 2 * gpu_mma_words(kWarp);
  uint32_t low[kWords], high[kWords];
};
template <int kWarp>
struct alignas(16) VifHalfSignedBands {
  static constexpr int kWords = 2 * gpu_mma_words(kWarp);
  uint32_t low[2][kWords], high[2][kWords], row[kWords];  // of columns by picture
};
template <int kWarp>
struct VifLaneSignedBands {
  VifSignedBands<kWarp> lane[kWarp];
  VifHalfSignedBands<kWarp> half[kWarp];
};
template <int kWarp>
constexpr VifLaneSignedBands<kWarp> vif_lane_signed_bands() {
  constexpr int kWords = gpu_mma_words(kWarp), kHeld = 4 * kWords;
  VifLaneSignedBands<kWarp> bands = {};
  for (int lane = 0; lane < kWarp; lane++)
    for (int word = 0; word < 2 * kWords; word++) {
      const int n = lane % 16, input = word / kWords * 16 + lane / 16 * kHeld + word % kWords * 4;
      const VifDigits digits = vif_digits(0, input - n), half = vif_digits(1, input - 2 * (n % 8) - 4),
                      half_row = vif_digits(1, input - 2 * (n / kHeld * (kHeld / 2) + n % (kHeld / 2)) - 4);
      bands.lane[lane].low[word] = digits.low;
      bands.lane[lane].high[word] = digits.high;
      bands.half[lane].low[n / 8][word] = half.low;
      bands.half[lane].high[n / 8][word] = half.high;
      bands.half[lane].row[word] = n % kHeld < kHeld / 2 ? half_row.low : half_row.high;
    }
  return bands;
}
template <int kWarp>
VMAFHIP_TABLE VifLaneSignedBands<kWarp> kVifLaneSignedBands = vif_lane_signed_bands<kWarp>();

// A picture as a lane reads it: column n, some rows of each half of the 32 from 8 above the strip on.
template <int kWarp>
struct VifLaneRows {
  static constexpr int kRows = 8 * gpu_mma_words(kWarp);
  const uint8_t *plane;
  uint32_t offset[kRows];  // bytes; the host sees to it that these fit: vif_matrix_takes()
};
template <class Sample, int kWarp>
GPU_FN VifLaneRows<kWarp> vif_lane_rows(const DevicePlane &plane, int width, int height, int y0) {
  constexpr int kHeld = VifLaneRows<kWarp>::kRows / 2;
  const uint32_t stride = static_cast<uint32_t>(plane.stride);
  const int first = y0 - 8 + gpu_lane() / 16 * kHeld;
  VifLaneRows<kWarp> rows;
  rows.plane = plane.data.get(static_cast<uint64_t>(height - 1) * stride +
                              sizeof(Sample) * static_cast<uint32_t>(width));
#pragma unroll
  for (int i = 0; i < 2 * kHeld; i++)
    rows.offset[i] = static_cast<uint32_t>(tile_mirror(first + i % kHeld + i / kHeld * 16, height)) * stride;
  return rows;
}

// Samples of a column by fours, each four in one or two words.
template <class Sample, int kWarp>
struct VifLaneSamples {
  static constexpr int kFours = 2 * gpu_mma_words(kWarp);
  uint32_t words[kFours][sizeof(Sample)];

  GPU_FN void load(const VifLaneRows<kWarp> &rows, int x) {
    const uint32_t at = static_cast<uint32_t>(x) * static_cast<uint32_t>(sizeof(Sample));
#pragma unroll
    for (int i = 0; i < 4 * kFours; i++) {
      const uint32_t sample = *reinterpret_cast<const Sample *>(rows.plane + (rows.offset[i] + at));
      uint32_t &word = words[i / 4][sizeof(Sample) == 1 ? 0 : i / 2 % 2];
      const int place = sizeof(Sample) == 1 ? 8 * (i % 4) : 16 * (i % 2);
      word = place == 0 ? sample : word | sample << place;
    }
  }
  // Byte `byte` of four.
  GPU_FN uint32_t bytes(int four, int byte) const {
    if constexpr (sizeof(Sample) == 1) return words[four][0];
    return gpu_permute(words[four][0], words[four][sizeof(Sample) - 1], byte == 0 ? 0x6420 : 0x7531);
  }
  GPU_FN uint32_t sample(int four, int i) const {
    if constexpr (sizeof(Sample) == 1) return words[four][0] >> 8 * i & 255;
    return words[four][sizeof(Sample) == 1 ? 0 : i / 2] >> 16 * (i % 2) & 0xffff;
  }
};

// Bytes as matrix units take them.
GPU_FN uint32_t vif_signed(uint32_t bytes) { return bytes ^ 0x80808080u; }

// Of each byte of numbers, four of these a word, an operand's half.
template <int kWarp, int kBytes>
struct VifOperandHalf {
  uint32_t bytes[kBytes][gpu_mma_words(kWarp)];
};

// Cuts numbers into bytes.
template <int kWarp, int kBytes>
GPU_FN VifOperandHalf<kWarp, kBytes> vif_cut(const uint32_t *numbers) {
  static_assert(kBytes == 2 || kBytes == 4);
  VifOperandHalf<kWarp, kBytes> out;
#pragma unroll
  for (int word = 0; word < gpu_mma_words(kWarp); word++) {
    uint32_t bytes[kBytes];
    if constexpr (kBytes == 2)
      gpu_transpose_low_bytes(numbers + 4 * word, bytes);
    else
      gpu_transpose_bytes(numbers + 4 * word, bytes);
#pragma unroll
    for (int byte = 0; byte < kBytes; byte++) out.bytes[byte][word] = vif_signed(bytes[byte]);
  }
  return out;
}

// Products of the bytes of numbers and the digits of taps, summed up by weight: 1, 2^8, ...
template <int kWarp, int kBytes>
class VifDigitSums {
 public:
  GPU_FN explicit VifDigitSums(uint32_t rounding) {
#pragma unroll
    for (int i = 0; i < kHeld; i++) sums_[0][i] = rounding + (kBytes == 1 ? kLacking << 16 : 0);
  }
  // Numbers down columns.
  GPU_FN void add_columns(const VifOperandHalf<kWarp, kBytes> &first, const VifOperandHalf<kWarp, kBytes> &second, const uint32_t *low, const uint32_t *high) {
#pragma unroll
    for (int byte = 0; byte < kBytes; byte++) {
      gpu_mma_i8<kWarp>(sums_[byte], first.bytes[byte], second.bytes[byte], low, low + kWords);
      gpu_mma_i8<kWarp>(sums_[byte + 1], first.bytes[byte], second.bytes[byte], high, high + kWords);
    }
  }
  // Numbers along rows.
  GPU_FN void add_rows(const VifOperandHalf<kWarp, kBytes> &first, const VifOperandHalf<kWarp, kBytes> &second, const uint32_t *low, const uint32_t *high) {
#pragma unroll
    for (int byte = 0; byte < kBytes; byte++) {
      gpu_mma_i8<kWarp>(sums_[byte], low, low + kWords, first.bytes[byte], second.bytes[byte]);
      gpu_mma_i8<kWarp>(sums_[byte + 1], high, high + kWords, first.bytes[byte], second.bytes[byte]);
    }
  }
  // (sum + rounding) >> shift, modulo 2^32; shift is at most 16. A sum of byte products is below 17 * 128 * 128 * 2 < 2^20.
  GPU_FN uint32_t shifted(int i, int shift) const {
    const int32_t low = static_cast<int32_t>(sums_[0][i] + (sums_[1][i] << 8));
    uint32_t sum = static_cast<uint32_t>(low >> shift);
    if constexpr (kBytes > 1) {
      uint32_t high = sums_[2][i];
      if constexpr (kBytes > 3) high += ((sums_[4][i] << 8) + sums_[3][i]) << 8;
      if constexpr (kBytes == 3) high += sums_[3][i] << 8;
      sum += (high << (16 - shift)) + (kLacking << (16 - shift));
    }
    return sum;
  }

 private:
  static constexpr int kWords = gpu_mma_words(kWarp), kHeld = 4 * kWords;
  // What 2^23 for each byte comes to, in units of 2^16.
  static constexpr uint32_t kLacking = 0x80808080u >> 8 * (4 - kBytes);
  uint32_t sums_[kBytes + 1][kHeld] = {};
};

// Column sums of the step before, for the rows' products.
template <int kWarp>
struct VifKeptColumns {
  VifOperandHalf<kWarp, 2> means[2] = {}, half = {};
  VifOperandHalf<kWarp, 4> moments[3] = {};
};

// Means of a picture from its samples' bytes, and then `out` along the rows.
template <int kWarp, int kBytes>
GPU_FN void vif_lane_means(const VifSignedBands<kWarp> &bands, int depth,
                           const VifOperandHalf<kWarp, kBytes> (&picture)[2],
                           VifOperandHalf<kWarp, 2> *kept, uint32_t *out) {
  constexpr int kHeld = 4 * gpu_mma_words(kWarp);
  uint32_t columns[kHeld];
  VifDigitSums<kWarp, kBytes> sums(1u << (depth - 1));
  sums.add_columns(picture[0], picture[1], bands.low, bands.high);
#pragma unroll
  for (int i = 0; i < kHeld; i++) columns[i] = sums.shifted(i, depth);
  const VifOperandHalf<kWarp, 2> now = vif_cut<kWarp, 2>(columns);
  VifDigitSums<kWarp, 2> rows(0);
  rows.add_rows(*kept, now, bands.low, bands.high);
#pragma unroll
  for (int i = 0; i < kHeld; i++) out[i] = rows.shifted(i, 0);
  *kept = now;
}

// Rounded row sums of the rounded column sums of squares or products.
template <class Sample, int kWarp, int kSquareBytes>
GPU_FN void vif_lane_moments(const VifSignedBands<kWarp> &bands, int depth,
                             const VifLaneSamples<Sample, kWarp> &a, const VifLaneSamples<Sample, kWarp> &b,
                             VifOperandHalf<kWarp, 4> *kept, uint32_t *out) {
  constexpr int kWords = gpu_mma_words(kWarp), kHeld = 4 * kWords;
  VifOperandHalf<kWarp, kSquareBytes> squares[2];
#pragma unroll
  for (int four = 0; four < 2 * kWords; four++) {
    uint32_t products[4], bytes[4];
#pragma unroll
    for (int i = 0; i < 4; i++) products[i] = a.sample(four, i) * b.sample(four, i);
    if constexpr (kSquareBytes == 2)
      gpu_transpose_low_bytes(products, bytes);
    else
      gpu_transpose_bytes(products, bytes);
#pragma unroll
    for (int byte = 0; byte < kSquareBytes; byte++)
      squares[four / kWords].bytes[byte][four % kWords] = vif_signed(bytes[byte]);
  }
  const int shift = sizeof(Sample) == 1 ? 0 : 2 * (depth - 8);
  uint32_t columns[kHeld];
  VifDigitSums<kWarp, kSquareBytes> sums(sizeof(Sample) == 1 ? 0 : 1u << (shift - 1));
  sums.add_columns(squares[0], squares[1], bands.low, bands.high);
#pragma unroll
  for (int i = 0; i < kHeld; i++) columns[i] = sums.shifted(i, shift);
  const VifOperandHalf<kWarp, 4> now = vif_cut<kWarp, 4>(columns);
  VifDigitSums<kWarp, 4> rows(32768);
  rows.add_rows(*kept, now, bands.low, bands.high);
#pragma unroll
  for (int i = 0; i < kHeld; i++) out[i] = rows.shifted(i, 16);
  *kept = now;
}

// Samples of the next scale, of both pictures: their first column is `x`. Lanes with n < 8 have a row of the reference, the
// others one of the distorted picture; `to` is its plane, or null.
template <int kWarp, int kBytes>
GPU_FN void vif_lane_halve(const VifArgs &args, const VifOperandHalf<kWarp, kBytes> (&ref)[2],
                           const VifOperandHalf<kWarp, kBytes> (&dist)[2], VifOperandHalf<kWarp, 2> *kept,
                           DeviceAddress<uint16_t> to, int x, int y) {
  constexpr int kWords = gpu_mma_words(kWarp), kHeld = 4 * kWords, kOutputs = kHeld / 2;
  // Loaded each time, for registers are few.
  const VifHalfSignedBands<kWarp> bands = kVifLaneSignedBands<kWarp>.half[gpu_anew(gpu_lane())];
  const int depth = kBytes == 1 ? 8 : args.depth;
  VifDigitSums<kWarp, kBytes> sums(1u << (depth - 1));
  sums.add_columns(ref[0], ref[1], bands.low[0], bands.high[0]);
  sums.add_columns(dist[0], dist[1], bands.low[1], bands.high[1]);
  uint32_t columns[kHeld];
#pragma unroll
  for (int i = 0; i < kHeld; i++) columns[i] = sums.shifted(i, depth);
  const VifOperandHalf<kWarp, 2> now = vif_cut<kWarp, 2>(columns);

  uint32_t rows[2][kHeld] = {};
#pragma unroll
  for (int i = 0; i < kOutputs; i++) rows[0][i] = 0x80800000u + 32768;
#pragma unroll
  for (int byte = 0; byte < 2; byte++)
    gpu_mma_i8<kWarp>(rows[byte], bands.row, bands.row + kWords, kept->bytes[byte], now.bytes[byte]);
  *kept = now;
  if (!to || y >= args.height / 2) return;
#pragma unroll
  for (int i = 0; i < kOutputs; i += 2) {
    uint32_t sample[2];
#pragma unroll
    for (int k = 0; k < 2; k++)
      sample[k] = rows[0][i + k] + ((rows[0][i + k + kOutputs] + rows[1][i + k]) << 8) +
                  (rows[1][i + k + kOutputs] << 16);
    // An even stride gives an odd row room for one sample more.
    if (x + i >= 0 && x + i < args.width / 2)
      *address_cast<uint32_t>(to + static_cast<uint32_t>(y * args.half_stride + x + i)).get() =
          gpu_upper_halves(sample[0], sample[1]);
  }
}

// The kernel. Block (x, y, z): strip y, the x-th four times `steps` steps of 32 columns of it, pair z.
template <class Sample, int kSquareBytes, int kLimits, int kWarp>
GPU_FN void vif_matrix_amd(const VifArgs &args) {
  constexpr int kThreads = kVifMatrixWarps * kWarp, kBytes = sizeof(Sample), kHeld = 4 * gpu_mma_words(kWarp);
  GPU_SHARED Words4 log_table_words[kVifFoldedEntries / 8];
  GPU_SHARED VifWarpSums<kThreads, kLimits> warp_sums;
  const int lane = gpu_lane(), n = lane % 16;
  const VifPair &pair = args.pairs[blockIdx.z];
  const int y0 = static_cast<int>(blockIdx.y) * kVifMatrixRows, depth = kBytes == 1 ? 8 : args.depth;
  const int warp = gpu_of_warp(static_cast<int>(threadIdx.x) / kWarp);
  const int first = (static_cast<int>(blockIdx.x) * kVifMatrixWarps + warp) * args.steps * 2;
  const int end = smaller(first + args.steps * 2, (args.width + 8 + 15) / 16);
  vif_load_log_table<kThreads>(args.log_table, log_table_words);
  gpu_sync();
  const uint16_t *log_table = reinterpret_cast<const uint16_t *>(log_table_words);

  const VifSignedBands<kWarp> bands = kVifLaneSignedBands<kWarp>.lane[lane];
  const VifLaneRows<kWarp> ref_rows = vif_lane_rows<Sample, kWarp>(pair.planes.ref, args.width, args.height, y0);
  const VifLaneRows<kWarp> dist_rows = vif_lane_rows<Sample, kWarp>(pair.planes.dist, args.width, args.height, y0);
  VifKeptColumns<kWarp> kept;
  VifThreadSums<kLimits> sums;

  // The step before the first gives nothing but what the first needs of it.
  for (int step = first - 1; step < end; step++) {
    const int x0 = 16 * step, left = x0 - 8 + lane / 16 * kHeld;
    const bool live = step >= first;
    VifLaneSamples<Sample, kWarp> samples[2];
    const int x = tile_mirror(x0 + n, args.width);
    samples[0].load(ref_rows, x);
    samples[1].load(dist_rows, x);

    uint32_t means[2][kHeld];
    VifOperandHalf<kWarp, kBytes> pictures[2][2];
#pragma unroll
    for (int picture = 0; picture < 2; picture++) {
#pragma unroll
      for (int four = 0; four < samples[0].kFours; four++)
#pragma unroll
        for (int byte = 0; byte < kBytes; byte++)
          pictures[picture][four / (kHeld / 4)].bytes[byte][four % (kHeld / 4)] =
              vif_signed(samples[picture].bytes(four, byte));
      vif_lane_means<kWarp, kBytes>(bands, depth, pictures[picture], &kept.means[picture], means[picture]);
    }
    vif_lane_halve<kWarp, kBytes>(args, pictures[0], pictures[1], &kept.half,
                                  !live ? DeviceAddress<uint16_t>{} : n < 8 ? pair.half_ref : pair.half_dist,
                                  left >> 1, y0 / 2 + n % 8);

    int32_t statistics[3][kHeld];
#pragma unroll
    for (int p = 0; p < 3; p++) {  // squares of the reference, of the distorted picture, products
      gpu_keep_order();
      const int a = p == 1, b = p > 0;
      uint32_t moments[kHeld];
      vif_lane_moments<Sample, kWarp, kSquareBytes>(bands, depth, samples[a], samples[b], &kept.moments[p], moments);
#pragma unroll
      for (int i = 0; i < kHeld; i++)
        statistics[p][i] = static_cast<int32_t>(moments[i] - gpu_rounded_high(means[a][i], means[b][i]));
    }
    gpu_keep_order();
    // Columns from the first on, or none, are of the plane: x0 is a multiple of 16.
    const bool inside = live && left >= 0 && y0 + n < args.height;
    vif_add_pixels<true>(log_table, statistics, inside ? args.width - left : 0, args.gain_limits, &sums);
  }
  vif_add_to_sums(sums, warp_sums, pair);
}

}  // namespace vmafhip
#endif
