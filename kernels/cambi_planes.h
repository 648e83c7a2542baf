// Of banding: from samples to planes of filtered codes with kCambiKept, scale after scale.
#pragma once
#include "kernels/cambi_args.h"
#include "kernels/device.h"

namespace vmafhip {

constexpr uint32_t kCambiCode = 0x7fff;  // a word without kCambiKept

// The mode filter, first across, then down. Borders stay as they are: columns in the first, rows in both. `code` gives the
// code of a pixel so many columns and rows from here.
template <class Code>
GPU_FN uint32_t cambi_filtered(Code code, int x, int y, int width, int height) {
  if (y == 0 || y == height - 1) return code(0, 0);
  uint32_t across[3];
#pragma unroll
  for (int i = 0; i < 3; i++)
    across[i] = x == 0 || x == width - 1 ? code(0, i - 1)
                                         : cambi_mode(code(-1, i - 1), code(0, i - 1), code(1, i - 1));
  return cambi_mode(across[0], across[1], across[2]);
}

template <class Sample>
GPU_FN uint32_t cambi_sample(const CambiPrepareArgs &args, const DevicePlane &from, int x, int y) {
  const int row = args.rows ? (args.rows + y).get()[0] : y;
  const int column = args.columns ? (args.columns + x).get()[0] : x;
  const auto at = address_cast<const Sample>(from.data + row * from.stride) + column;
  return static_cast<uint32_t>(cambi_code(static_cast<int>(at.get()[0]), args.depth));
}

// The code of a pixel of the target: the mean of 2x2 samples where dither is to go. Repeated last columns and rows.
template <class Sample>
GPU_FN uint32_t cambi_code_at(const CambiPrepareArgs &args, const DevicePlane &from, int x, int y) {
  x = smaller(larger(x, 0), args.width - 1);
  y = smaller(larger(y, 0), args.height - 1);
  const uint32_t code = cambi_sample<Sample>(args, from, x, y);
  if (!args.anti_dither) return code;
  const int right = smaller(x + 1, args.width - 1), below = smaller(y + 1, args.height - 1);
  return (code + cambi_sample<Sample>(args, from, right, y) + cambi_sample<Sample>(args, from, x, below) +
          cambi_sample<Sample>(args, from, right, below)) >>
         2;
}

// Block (x, y, z): tile (x, y) of the target, picture z.
template <class Sample>
GPU_FN void cambi_prepare(const CambiPrepareArgs &args) {
  constexpr int kHalo =
      kCambiMaskReach + 1;  // the neighbours of the mask's pixels, and those of the mode filter
  constexpr int kColumns = kCambiTileColumns + 2 * kHalo, kRows = kCambiTileRows + 2 * kHalo;
  constexpr int kMaskColumns = kCambiTileColumns + 2 * kCambiMaskReach,
                kMaskRows = kCambiTileRows + 2 * kCambiMaskReach;
  GPU_SHARED uint16_t codes[kRows][kColumns];
  GPU_SHARED uint8_t equal[kMaskRows][kMaskColumns];  // 1 where a code equals its right and lower neighbour
  GPU_SHARED uint8_t across[kMaskRows][kCambiTileColumns];  // sums of 7 of these
  const CambiPrepareArgs::Picture &picture = args.pictures[blockIdx.z];
  const int thread = static_cast<int>(threadIdx.x);
  const int x0 = static_cast<int>(blockIdx.x) * kCambiTileColumns,
            y0 = static_cast<int>(blockIdx.y) * kCambiTileRows;

  for (int i = thread; i < kRows * kColumns; i += kCambiThreads) {
    const int row = i / kColumns, column = i % kColumns;
    codes[row][column] = static_cast<uint16_t>(
        cambi_code_at<Sample>(args, picture.from, x0 - kHalo + column, y0 - kHalo + row));
  }
  gpu_sync();
  constexpr int kInside = kHalo - kCambiMaskReach;
  for (int i = thread; i < kMaskRows * kMaskColumns; i += kCambiThreads) {
    const int row = i / kMaskColumns, column = i % kMaskColumns;
    const int x = x0 - kCambiMaskReach + column, y = y0 - kCambiMaskReach + row;
    const uint16_t *here = &codes[kInside + row][kInside + column];
    equal[row][column] = x >= 0 && y >= 0 && x < args.width && y < args.height && here[0] == here[1] &&
                         here[0] == here[kColumns];
  }
  gpu_sync();
  for (int i = thread; i < kMaskRows * kCambiTileColumns; i += kCambiThreads) {
    const int row = i / kCambiTileColumns, column = i % kCambiTileColumns;
    int sum = 0;
#pragma unroll
    for (int k = 0; k <= 2 * kCambiMaskReach; k++) sum += equal[row][column + k];
    across[row][column] = static_cast<uint8_t>(sum);
  }
  gpu_sync();
  for (int i = thread; i < kCambiTileRows * kCambiTileColumns; i += kCambiThreads) {
    const int row = i / kCambiTileColumns, column = i % kCambiTileColumns;
    const int x = (x0 + column) / args.step, y = (y0 + row) / args.step;
    if (x * args.step != x0 + column || y * args.step != y0 + row) continue;
    if (x >= args.plane_width || y >= args.plane_height) continue;
    int sum = 0;
#pragma unroll
    for (int k = 0; k <= 2 * kCambiMaskReach; k++) sum += across[row + k][column];
    const auto code = [&](int dx, int dy) -> uint32_t {
      return codes[kHalo + row + dy * args.step][kHalo + column + dx * args.step];
    };
    const uint32_t word = cambi_filtered(code, x, y, args.plane_width, args.plane_height) |
                          (sum > args.mask_limit ? kCambiKept : 0u);
    (picture.to + (int64_t{y} * args.plane_stride + x)).get()[0] = static_cast<uint16_t>(word);
  }
}

// Block (x, y, z): a tile of the next scale, picture z.
GPU_FN void cambi_halve(const CambiHalveArgs &args) {
  const CambiHalveArgs::Picture &picture = args.pictures[blockIdx.z];
  const int thread = static_cast<int>(threadIdx.x);
  const int x = static_cast<int>(blockIdx.x) * kCambiHalveColumns + thread % kCambiHalveColumns,
            y = static_cast<int>(blockIdx.y) * kCambiHalveRows + thread / kCambiHalveColumns;
  if (x >= args.width || y >= args.height) return;
  const auto word = [&](int dx, int dy) -> uint32_t {
    return (picture.from + (int64_t{2} * (y + dy) * args.from_stride + 2 * (x + dx))).get()[0];
  };
  const auto code = [&](int dx, int dy) { return word(dx, dy) & kCambiCode; };
  const uint32_t filtered = cambi_filtered(code, x, y, args.width, args.height);
  (picture.to + (int64_t{y} * args.stride + x)).get()[0] =
      static_cast<uint16_t>(filtered | (word(0, 0) & kCambiKept));
}

}  // namespace vmafhip
