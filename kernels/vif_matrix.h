// VIF in kernels, scale 0, with both filters on matrix units. A warp of 32 walks along a strip of 16 rows, 32 columns a
// step. Samples have one or two bytes, squares and products two, three (up to 12 bits a sample) or four.
//
// Both filters are products with one band matrix of taps, 16 x 32: outputs n to n + 15 from inputs n - 8 to n + 23. Matrix
// units multiply bytes, so taps and values are cut into bytes, and the products of bytes of equal weight are summed up.
//   Columns: rows x columns = taps (16 x 32) * picture (32 rows x 8 columns).
//   Rows:    columns x rows = taps (16 x 32) * column sums (32 columns x 8 rows).
// Of which column of the picture is column n of a product, there is a choice: it is 4 (n / 2) + 16 (n % 2) + j for the j-th
// of the four products of a step. A lane g = lane / 4, q = lane % 4 then gives four neighbouring columns of the picture,
// a word of each row, and gets the sums of rows g and g + 8 at columns 4q to 4q + 3 and 16 + 4q to 16 + 4q + 3: cut
// into bytes and put together by fours, exactly its part of the row products' operands. No lane needs what another has.
//
// The row products of a step end 8 columns before its last and begin 8 columns before its first: they take the right-hand
// half of the step before as well.
#pragma once
#include "kernels/tile.h"
#include "kernels/vif_statistics.h"

#if defined(GPU_HAS_MMA_U8)
namespace vmafhip {

// A lane's part of the band matrices: bytes of the 17 taps; of the next scale's 9 taps the low bytes of 8 even outputs in
// rows 0 to 7, the high bytes in rows 8 to 15.
struct alignas(16) VifBands {
  uint32_t low[4], high[4], half[4];
};
struct VifLaneBands {
  VifBands lane[32];
};
constexpr VifLaneBands vif_lane_bands() {
  VifLaneBands bands = {};
  for (int lane = 0; lane < 32; lane++)
    for (int word = 0; word < 4; word++)
      for (int byte = 0; byte < 4; byte++) {
        const int g = lane / 4, q = lane % 4, output = g + 8 * (word % 2),
                  input = 4 * q + byte + 16 * (word / 2);
        const int tap = input - output, half_tap = input - 2 * g - 4;
        const uint32_t weight = tap < 0 || tap > 16 ? 0 : kVifTaps[0][tap];
        const uint32_t half_weight = half_tap < 0 || half_tap > 8 ? 0 : kVifTaps[1][half_tap];
        bands.lane[lane].low[word] |= (weight & 255) << 8 * byte;
        bands.lane[lane].high[word] |= weight >> 8 << 8 * byte;
        bands.lane[lane].half[word] |= (word % 2 ? half_weight >> 8 : half_weight & 255) << 8 * byte;
      }
  return bands;
}
VMAFHIP_TABLE VifLaneBands kVifLaneBands = vif_lane_bands();

// A picture as a lane reads it: 8 rows, 4q to 4q + 3 and 16 + 4q to 16 + 4q + 3 from 8 above the strip on.
struct VifMatrixRows {
  const uint8_t *plane;
  uint32_t offset[8];  // bytes; the host sees to it that these fit: vif_matrix_takes()
  bool words;          // rows lie at multiples of four samples
};

// Operands of the column products, by byte of the samples: of each half of the rows, for each of four columns a word of
// four rows.
template <class Sample>
using VifMatrixPicture = uint32_t[sizeof(Sample)][2][4];

template <class Sample>
GPU_FN VifMatrixRows vif_matrix_rows(const DevicePlane &plane, int width, int height, int y0) {
  constexpr uint32_t kBytes = sizeof(Sample);
  const uint32_t stride = static_cast<uint32_t>(plane.stride);
  const int q = gpu_lane() & 3;
  VifMatrixRows rows;
  rows.plane =
      plane.data.get(static_cast<uint64_t>(height - 1) * stride + kBytes * static_cast<uint32_t>(width));
#pragma unroll
  for (int i = 0; i < 8; i++)
    rows.offset[i] =
        static_cast<uint32_t>(tile_mirror(y0 - 8 + 4 * q + (i & 3) + 4 * (i & 4), height)) * stride;
  rows.words = plane.data.is_aligned(4 * kBytes) && plane.stride % (4 * kBytes) == 0;
  return rows;
}

// Four samples in a row as words of one or two.
struct VifMatrixSamples {
  uint32_t first, second;
};
template <class Sample>
GPU_FN VifMatrixSamples vif_matrix_samples(const uint8_t *at) {
  if constexpr (sizeof(Sample) == 1) return {*reinterpret_cast<const uint32_t *>(at), 0};
  const Words2 words = *reinterpret_cast<const Words2 *>(at);
  return {words.x, words.y};
}

// The operands of four columns from x on.
template <class Sample>
GPU_FN void vif_matrix_load(const VifMatrixRows &rows, int width, int x, bool inside,
                            VifMatrixPicture<Sample> out) {
  constexpr uint32_t kBytes = sizeof(Sample);
  VifMatrixSamples row[8];
  if (inside && rows.words) {
#pragma unroll
    for (int i = 0; i < 8; i++)
      row[i] = vif_matrix_samples<Sample>(rows.plane + (rows.offset[i] + kBytes * static_cast<uint32_t>(x)));
  } else {
    uint32_t at[4];
#pragma unroll
    for (int k = 0; k < 4; k++) at[k] = kBytes * static_cast<uint32_t>(tile_mirror(x + k, width));
#pragma unroll
    for (int i = 0; i < 8; i++) {
      row[i] = {0, 0};
#pragma unroll
      for (int k = 0; k < 4; k++) {
        const uint32_t sample = *reinterpret_cast<const Sample *>(rows.plane + (rows.offset[i] + at[k]));
        if (kBytes == 1 || k < 2)
          row[i].first |= sample << 8 * kBytes * k;
        else
          row[i].second |= sample << 16 * (k - 2);
      }
    }
  }
  uint32_t bytes[kBytes][8];  // of the four samples
#pragma unroll
  for (int i = 0; i < 8; i++) {
    bytes[0][i] = kBytes == 1 ? row[i].first : gpu_permute(row[i].first, row[i].second, 0x6420);
    if constexpr (kBytes == 2) bytes[1][i] = gpu_permute(row[i].first, row[i].second, 0x7531);
  }
#pragma unroll
  for (uint32_t b = 0; b < kBytes; b++) {
    gpu_transpose_bytes(bytes[b], out[b][0]);
    gpu_transpose_bytes(bytes[b] + 4, out[b][1]);
  }
}

// Four bytes of a word made ready for products of byte by byte, two at a time.
struct VifBytes {
  uint32_t b0, b1, b2, b3;  // each by itself
  uint32_t high2, high3;    // b2 and b3 in bits 16 to 23
};
GPU_FN VifBytes vif_bytes(uint32_t word) {
  return {word & 255, gpu_permute(word, 0, 0x4441), gpu_permute(word, 0, 0x4442),
          word >> 24, word & 0x00ff0000u,           gpu_permute(word, 0, 0x4344)};
}
// Products of the bytes of two words, low bytes of the four in one word and high bytes in another.
GPU_FN void vif_byte_products(const VifBytes &a, const VifBytes &b, uint32_t *low, uint32_t *high) {
  const uint32_t even = a.b2 * b.high2 + a.b0 * b.b0, odd = a.b3 * b.high3 + a.b1 * b.b1;
  *low = gpu_permute(even, odd, 0x6240);
  *high = gpu_permute(even, odd, 0x7351);
}

// Products of samples of two bytes, of which `a` and `b` have four: byte i of all four in out[i].
GPU_FN void vif_word_products(uint32_t a_low, uint32_t a_high, uint32_t b_low, uint32_t b_high,
                              uint32_t *out) {
  const uint32_t a01 = gpu_permute(a_low, a_high, 0x5140), a23 = gpu_permute(a_low, a_high, 0x7362);
  const uint32_t b01 = gpu_permute(b_low, b_high, 0x5140), b23 = gpu_permute(b_low, b_high, 0x7362);
  const uint32_t products[4] = {(a01 & 0xffff) * (b01 & 0xffff), (a01 >> 16) * (b01 >> 16),
                                (a23 & 0xffff) * (b23 & 0xffff), (a23 >> 16) * (b23 >> 16)};
  gpu_transpose_bytes(products, out);
}

// Row sums, [left and right 16 columns][upper and lower 8 rows]: of each a lane has columns g and g + 8 from 8 left of the
// step on, at rows 2q and 2q + 1.
using VifRowSums = uint32_t[2][2][4];

// Row sums of column sums of two bytes, which do not exceed 2^32. `now`: operands of this step, [rows][columns][byte];
// `before`: right-hand columns of the step before, [rows][byte].
GPU_FN void vif_matrix_mean(const VifBands &bands, const uint32_t (*now)[2][2], const uint32_t (*before)[2],
                            VifRowSums out) {
#pragma unroll
  for (int columns = 0; columns < 2; columns++)
#pragma unroll
    for (int rows = 0; rows < 2; rows++) {
      uint32_t sums[3][4] = {};  // by weight: 1, 2^8, 2^16
#pragma unroll
      for (int byte = 0; byte < 2; byte++) {
        const uint32_t left = columns ? now[rows][0][byte] : before[rows][byte];
        const uint32_t right = now[rows][columns][byte];
        gpu_mma_u8(sums[byte], bands.low, left, right);
        gpu_mma_u8(sums[byte + 1], bands.high, left, right);
      }
#pragma unroll
      for (int i = 0; i < 4; i++) out[columns][rows][i] = sums[0][i] + (sums[1][i] << 8) + (sums[2][i] << 16);
    }
}

// Row sums of the column sums of squares or products, (sum + 2^15) >> 16. `squares`: operands of the column products,
// [byte][rows][column]. `kept`: this thread's right-hand columns of the step before, replaced by this one's.
template <int kSquareBytes>
GPU_FN void vif_matrix_moment(const VifBands &bands, const uint32_t (*squares)[2][4], int depth, Words4 *kept,
                              VifRowSums out) {
  uint32_t before[2][4], columns_of[4][4], now[2][2][4];
#pragma unroll
  for (int rows = 0; rows < 2; rows++) {
    const Words4 words = kept[rows * kVifMatrixThreads];
    before[rows][0] = words.x;
    before[rows][1] = words.y;
    before[rows][2] = words.z;
    before[rows][3] = words.w;
  }
#pragma unroll
  for (int j = 0; j < 4; j++) {
    uint32_t sums[kSquareBytes + 1][4] = {};  // by weight: 1, 2^8, ...
#pragma unroll
    for (int byte = 0; byte < kSquareBytes; byte++) {
      gpu_mma_u8(sums[byte], bands.low, squares[byte][0][j], squares[byte][1][j]);
      gpu_mma_u8(sums[byte + 1], bands.high, squares[byte][0][j], squares[byte][1][j]);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
      if constexpr (kSquareBytes == 2) {
        columns_of[i][j] = sums[0][i] + (sums[1][i] << 8) + (sums[2][i] << 16);
      } else {
        // A sum of byte products is below 17 * 255 * 255 * 2 < 2^22: a pair of neighbours and the rounding fit 32 bits.
        const int shift = 2 * (depth - 8);
        const uint32_t low = sums[0][i] + (sums[1][i] << 8) + (1u << (shift - 1));
        uint64_t sum = (static_cast<uint64_t>(sums[2][i] + (sums[3][i] << 8)) << 16) + low;
        if constexpr (kSquareBytes == 4) sum += static_cast<uint64_t>(sums[4][i]) << 32;
        columns_of[i][j] = static_cast<uint32_t>(sum >> shift);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 4; i++) gpu_transpose_bytes(columns_of[i], now[i >> 1][i & 1]);
#pragma unroll
  for (int columns = 0; columns < 2; columns++)
#pragma unroll
    for (int rows = 0; rows < 2; rows++) {
      uint32_t sums[5][4] = {{32768, 32768, 32768, 32768}};  // by weight: 1 to 2^32
#pragma unroll
      for (int byte = 0; byte < 4; byte++) {
        const uint32_t left = columns ? now[rows][0][byte] : before[rows][byte];
        const uint32_t right = now[rows][columns][byte];
        gpu_mma_u8(sums[byte], bands.low, left, right);
        gpu_mma_u8(sums[byte + 1], bands.high, left, right);
      }
      // A sum of byte products is below 32 * 255 * 255 < 2^21: the first two fit 2^30.
#pragma unroll
      for (int i = 0; i < 4; i++)
        out[columns][rows][i] =
            sums[2][i] + ((sums[0][i] + (sums[1][i] << 8)) >> 16) + (sums[3][i] << 8) + (sums[4][i] << 16);
    }
#pragma unroll
  for (int rows = 0; rows < 2; rows++)
    kept[rows * kVifMatrixThreads] =
        Words4{now[rows][1][0], now[rows][1][1], now[rows][1][2], now[rows][1][3]};
}

// Right-hand columns of the step before, for means under both windows.
struct VifKeptMeans {
  uint32_t mean[2][2] = {}, half[2] = {};
};

// Means of one picture from the operands of its column products, and its samples of the next scale, where `half` is not
// null and `live`; their first column is `half_x`, their first row `half_y`.
template <class Sample>
GPU_FN void vif_matrix_means(const VifArgs &args, const VifBands &bands,
                             const VifMatrixPicture<Sample> picture, DeviceAddress<uint16_t> half, bool live,
                             int half_x, int half_y, VifKeptMeans *kept, VifRowSums out) {
  uint32_t column_means[4][4], half_means[2][4], now[2][2][2], half_now[2][2];
  constexpr int kBytes = sizeof(Sample);
  const int depth = kBytes == 1 ? 8 : args.depth;
  const uint32_t rounding = 1u << (depth - 1);
#pragma unroll
  for (int j = 0; j < 4; j++) {
    // By weight. Weights are 65536 in all, so that sums of samples of 16 bits leave room for rounding.
    uint32_t sums[kBytes + 1][4] = {{rounding, rounding, rounding, rounding}},
                           even[kBytes][4] = {{rounding, rounding}};
#pragma unroll
    for (int byte = 0; byte < kBytes; byte++) {
      gpu_mma_u8(sums[byte], bands.low, picture[byte][0][j], picture[byte][1][j]);
      gpu_mma_u8(sums[byte + 1], bands.high, picture[byte][0][j], picture[byte][1][j]);
      gpu_mma_u8(even[byte], bands.half, picture[byte][0][j], picture[byte][1][j]);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
      uint32_t sum = sums[0][i] + (sums[1][i] << 8);
      if constexpr (kBytes == 2) sum += sums[2][i] << 16;
      column_means[i][j] = sum >> depth;
    }
#pragma unroll
    for (int i = 0; i < 2; i++) {
      uint32_t sum = even[0][i] + (even[0][2 + i] << 8);
      if constexpr (kBytes == 2) sum += (even[1][i] << 8) + (even[1][2 + i] << 16);
      half_means[i][j] = sum >> depth;
    }
  }
#pragma unroll
  for (int i = 0; i < 4; i++) gpu_transpose_low_bytes(column_means[i], now[i >> 1][i & 1]);
  gpu_transpose_low_bytes(half_means[0], half_now[0]);
  gpu_transpose_low_bytes(half_means[1], half_now[1]);

  vif_matrix_mean(bands, now, kept->mean, out);
#pragma unroll
  for (int byte = 0; byte < 2; byte++) {
    kept->mean[0][byte] = now[0][1][byte];
    kept->mean[1][byte] = now[1][1][byte];
  }
#pragma unroll
  for (int columns = 0; columns < 2; columns++) {
    uint32_t sums[2][4] = {};
#pragma unroll
    for (int byte = 0; byte < 2; byte++)
      gpu_mma_u8(sums[byte], bands.half, columns ? half_now[0][byte] : kept->half[byte],
                 half_now[columns][byte]);
#pragma unroll
    for (int i = 0; i < 2; i++) {
      const int x = half_x + 8 * columns, y = half_y + i;
      if (live && half && static_cast<uint32_t>(x) < static_cast<uint32_t>(args.width / 2) &&
          y < args.height / 2)
        *(half + static_cast<uint32_t>(y * args.half_stride + x)).get() = static_cast<uint16_t>(
            (sums[0][i] + ((sums[0][2 + i] + sums[1][i]) << 8) + (sums[1][2 + i] << 16) + 32768) >> 16);
    }
  }
  kept->half[0] = half_now[1][0];
  kept->half[1] = half_now[1][1];
}

// The kernel. Block (x, y, z): strip y, the x-th four times `steps` steps of it, pair z.
template <class Sample, int kSquareBytes, int kLimits>
GPU_FN void vif_matrix(const VifArgs &args) {
  GPU_SHARED Words4 log_table_words[kVifFoldedEntries / 8];
  GPU_SHARED VifWarpSums<kVifMatrixThreads, kLimits> warp_sums;
  // What a thread keeps for itself. In registers, the loops over moments and pixels would have to be unrolled, and the code
  // would exceed the instruction cache.
  GPU_SHARED Words4 kept_moments[3][2][kVifMatrixThreads], statistics[3][4][kVifMatrixThreads];
  const int thread = static_cast<int>(threadIdx.x), lane = thread & 31, g = lane >> 2, q = lane & 3;
  const VifPair &pair = args.pairs[blockIdx.z];
  const int y0 = static_cast<int>(blockIdx.y) * kVifMatrixRows;
  const int first = (static_cast<int>(blockIdx.x) * (kVifMatrixThreads / 32) + (thread >> 5)) * args.steps;
  const int end = smaller(first + args.steps, vif_matrix_steps(args.width));
  vif_load_log_table<kVifMatrixThreads>(args.log_table, log_table_words);
  gpu_sync();
  const uint16_t *log_table = reinterpret_cast<const uint16_t *>(log_table_words);
  const VifLimits<kLimits> limits(args.gain_limits);

  for (int i = 0; i < 6; i++) kept_moments[i >> 1][i & 1][thread] = Words4{0, 0, 0, 0};
  const VifBands bands = kVifLaneBands.lane[lane];
  const VifMatrixRows ref_rows = vif_matrix_rows<Sample>(pair.planes.ref, args.width, args.height, y0);
  const VifMatrixRows dist_rows = vif_matrix_rows<Sample>(pair.planes.dist, args.width, args.height, y0);
  VifKeptMeans kept[2];
  VifThreadSums<kLimits> sums;

  // The step before the first gives nothing but what the first needs of it.
  for (int step = first - 1; step < end; step++) {
    const int x0 = 32 * step, x = x0 + 4 * (g >> 1) + 16 * (g & 1);
    const bool inside = x0 >= 0 && x0 + 32 <= args.width, live = step >= first;
    VifMatrixPicture<Sample> pictures[2];
    VifRowSums means[2];
    vif_matrix_load<Sample>(ref_rows, args.width, x, inside, pictures[0]);
    vif_matrix_load<Sample>(dist_rows, args.width, x, inside, pictures[1]);
#pragma unroll
    for (int i = 0; i < 2; i++) {
      vif_matrix_means<Sample>(args, bands, pictures[i], i == 0 ? pair.half_ref : pair.half_dist, live,
                               (x0 - 8) / 2 + g, y0 / 2 + 2 * q, &kept[i], means[i]);
    }
#pragma unroll 1
    for (int p = 0; p < 3; p++) {  // squares of the reference, of the distorted picture, products
      uint32_t squares[kSquareBytes][2][4];
      VifRowSums moments;
#pragma unroll
      for (int rows = 0; rows < 2; rows++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
          // Selected, not indexed: registers have no index.
          const auto a = [&](int byte) {
            return p == 1 ? pictures[1][byte][rows][j] : pictures[0][byte][rows][j];
          };
          const auto b = [&](int byte) {
            return p == 0 ? pictures[0][byte][rows][j] : pictures[1][byte][rows][j];
          };
          if constexpr (sizeof(Sample) == 1) {
            vif_byte_products(vif_bytes(a(0)), vif_bytes(b(0)), &squares[0][rows][j], &squares[1][rows][j]);
          } else {
            uint32_t bytes[4];
            vif_word_products(a(0), a(1), b(0), b(1), bytes);
#pragma unroll
            for (int byte = 0; byte < kSquareBytes; byte++) squares[byte][rows][j] = bytes[byte];
          }
        }
      vif_matrix_moment<kSquareBytes>(bands, squares, args.depth, &kept_moments[p][0][thread], moments);
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const uint32_t *ref = means[0][i >> 1][i & 1], *dist = means[1][i >> 1][i & 1];
        uint32_t s[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
          s[k] = moments[i >> 1][i & 1][k] -
                 gpu_rounded_high(p == 1 ? dist[k] : ref[k], p == 0 ? ref[k] : dist[k]);
        statistics[p][i][thread] = Words4{s[0], s[1], s[2], s[3]};
      }
    }
    if (!live) continue;

#pragma unroll 1
    for (int i = 0; i < 4; i++) {
      const Words4 r = statistics[0][i][thread], d = statistics[1][i][thread], c = statistics[2][i][thread];
      const uint32_t ref[4] = {r.x, r.y, r.z, r.w}, dist[4] = {d.x, d.y, d.z, d.w},
                     cross[4] = {c.x, c.y, c.z, c.w};
      const int left = x0 - 8 + 16 * (i >> 1) + g, top = y0 + 8 * (i & 1) + 2 * q;
      VifPixel pixels[4];
      bool in_plane[4];
#pragma unroll
      for (int k = 0; k < 4; k++) {
        const int px = left + 8 * (k >> 1), py = top + (k & 1);
        in_plane[k] = (px >= 0) & (px < args.width) & (py < args.height);
        pixels[k] = {static_cast<int32_t>(ref[k]), static_cast<int32_t>(dist[k]),
                     static_cast<int32_t>(cross[k])};
      }
      const uint32_t unsure = vif_add_some<true>(log_table, pixels, in_plane, limits, &sums);
      if (unsure == 0) continue;
#pragma unroll 1
      for (int k = 0; k < 4; k++) {
        const auto of = [&](int p) {
          return reinterpret_cast<const int32_t *>(&statistics[p][i][thread])[k];
        };
        if (unsure >> k & 1) vif_add_exact(log_table, {of(0), of(1), of(2)}, args.gain_limits, &sums);
      }
    }
  }
  vif_add_to_sums(sums, warp_sums, pair);
}

}  // namespace vmafhip
#endif
