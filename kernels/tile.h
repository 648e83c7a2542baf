// Tiles of filtered rows in shared memory, for kernels that filter columns first and rows then: a thread sums up one
// column, and afterwards takes some neighbouring columns of one row.
#pragma once
#include "kernels/device.h"

namespace vmafhip {

// Mirrors a position about the borders of a plane, which is wider than the filter's radius. Positions that lie further out
// are those of a tile that reaches beyond the plane, and nothing comes of them: they are kept inside.
GPU_FN int tile_mirror(int at, int size) {
  at = at < 0 ? -at : at;
  at = at >= size ? 2 * (size - 1) - at : at;
  return at < 0 ? 0 : at;
}

// Where a row of a plane begins. Of no plane that kernels read rows are 2 GiB apart (readable_on_device() in engine/view.h): a
// product of two numbers of 32 bits is one instruction.
GPU_FN DeviceAddress<const uint8_t> tile_row_address(const DevicePlane &plane, int y) {
  return plane.data + static_cast<int64_t>(y) * static_cast<int32_t>(plane.stride);
}

// A row of a plane for reading `width` samples.
template <class Sample>
GPU_FN const Sample *tile_row(const DevicePlane &plane, int y, int width) {
  return address_cast<const Sample>(tile_row_address(plane, y)).get(static_cast<uint64_t>(width));
}

// Sample x of a row: an offset of the thread's own to an address that all have.
template <class Sample>
GPU_FN Sample tile_sample(const DevicePlane &plane, int y, int x) {
  const uint32_t offset = static_cast<uint32_t>(x) * static_cast<uint32_t>(sizeof(Sample));
  return *address_cast<const Sample>(tile_row_address(plane, y) + offset).get();
}

// Words of a row lie in chunks of four, which are read at once. Shared memory has 32 banks of a word, and eight threads are
// served together. When each of them starts eight words after the one before, two chunks to a thread, threads 0 and 4
// would meet in the same banks: hence the two chunks of a pair change places in every second group of eight chunks.
GPU_FN int tile_chunk(int chunk) { return chunk ^ ((chunk >> 3) & 1); }
GPU_FN int tile_position(int column) { return tile_chunk(column >> 2) * 4 + (column & 3); }

// kCount words of a row from `column` on; both are multiples of 4.
template <int kCount>
GPU_FN void tile_read(const uint32_t *row, int column, uint32_t *out) {
  static_assert(kCount % 4 == 0);
#pragma unroll
  for (int c = 0; c < kCount / 4; c++) {
    const Words4 words = *reinterpret_cast<const Words4 *>(row + 4 * tile_chunk((column >> 2) + c));
    out[4 * c] = words.x;
    out[4 * c + 1] = words.y;
    out[4 * c + 2] = words.z;
    out[4 * c + 3] = words.w;
  }
}

template <int kCount>
GPU_FN void tile_write(uint32_t *row, int column, const uint32_t *in) {
  static_assert(kCount % 4 == 0);
#pragma unroll
  for (int c = 0; c < kCount / 4; c++)
    *reinterpret_cast<Words4 *>(row + 4 * tile_chunk((column >> 2) + c)) =
        Words4{in[4 * c], in[4 * c + 1], in[4 * c + 2], in[4 * c + 3]};
}

}  // namespace vmafhip
