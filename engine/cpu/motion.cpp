// Motion on the CPU: difference, column filter, row filter and sum, row by row.
#include "engine/arith/motion.h"

#include <cstddef>

#include "engine/cpu/arena.h"
#include "engine/cpu/kernels.h"

namespace vmafhip::VMAFHIP_ISA {
namespace {

constexpr int kTaps = 2 * kMotionRadius + 1;

struct Memory {
  int16_t *high, *low;  // halves of the column sums, with mirrored columns around

  Memory(Arena *arena, int width) {
    high = arena->take<int16_t>(static_cast<size_t>(width), kMotionRadius, kMotionRadius);
    low = arena->take<int16_t>(static_cast<size_t>(width), kMotionRadius, kMotionRadius);
  }
};

// Column sums of one row, at 8 bits: differences of two rows with the same tap fit 16 bits together.
void columns8(const uint8_t *const *earlier, const uint8_t *const *current, int width, const Memory &out) {
#pragma GCC ivdep
  for (int x = 0; x < width; x++) {
    const auto difference = [&](int k) { return static_cast<int16_t>(earlier[k][x] - current[k][x]); };
    const int32_t sum = kMotionTaps[0] * static_cast<int16_t>(difference(0) + difference(4)) +
                        kMotionTaps[1] * static_cast<int16_t>(difference(1) + difference(3)) +
                        kMotionTaps[2] * difference(2);
    const int32_t filtered = (sum + 128) >> 8;
    out.high[x] = motion_high(filtered);
    out.low[x] = motion_low(filtered);
  }
}

// The same for words, moved up to 16 bits: differences have 17 bits.
void columns16(const uint16_t *const *earlier, const uint16_t *const *current, int up, int width,
               const Memory &out) {
#pragma GCC ivdep
  for (int x = 0; x < width; x++) {
    int32_t high = 0, low = 0;
#pragma GCC unroll 5
    for (int k = 0; k < kTaps; k++) {
      const int32_t difference = (static_cast<int32_t>(earlier[k][x]) - static_cast<int32_t>(current[k][x]))
                                 << up;
      const int16_t tap = kMotionTaps[k < 3 ? k : 4 - k];
      high += tap * motion_high(difference);
      low += tap * motion_low(difference);
    }
    const int32_t filtered = motion_join(high, low);
    out.high[x] = motion_high(filtered);
    out.low[x] = motion_low(filtered);
  }
}

void mirror_columns(int16_t *row, int width) {
  for (int i = 1; i <= kMotionRadius; i++) {
    row[-i] = row[mirror(-i, width)];
    row[width - 1 + i] = row[mirror(width - 1 + i, width)];
  }
}

uint32_t row_sum(const Memory &columns, int width) {
  const int16_t *high = columns.high, *low = columns.low;
  uint32_t sum = 0;
  for (int x = 0; x < width; x++) {
    int32_t h = 0, l = 0;
#pragma GCC unroll 5
    for (int k = -kMotionRadius; k <= kMotionRadius; k++) {
      const int16_t tap = kMotionTaps[kMotionRadius - (k < 0 ? -k : k)];
      h += tap * high[x + k];
      l += tap * low[x + k];
    }
    const int32_t filtered = motion_join(h, l);
    sum += static_cast<uint32_t>(filtered < 0 ? -filtered : filtered);
  }
  return sum;
}

template <class Sample>
uint64_t sad(const PlaneView &earlier, const PlaneView &current, const Memory &memory) {
  const int width = current.width, height = current.height;
  uint64_t total = 0;
  for (int y = 0; y < height; y++) {
    const Sample *from[kTaps], *to[kTaps];
    for (int k = 0; k < kTaps; k++) {
      const int row = mirror(y - kMotionRadius + k, height);
      from[k] = row_of<Sample>(earlier, row);
      to[k] = row_of<Sample>(current, row);
    }
    if constexpr (sizeof(Sample) == 1)
      columns8(from, to, width, memory);
    else
      columns16(from, to, 16 - current.depth, width, memory);
    mirror_columns(memory.high, width);
    mirror_columns(memory.low, width);
    total += row_sum(memory, width);
  }
  return total;
}

}  // namespace

size_t motion_scratch_bytes(int width, int) {
  Arena arena(nullptr);
  Memory memory(&arena, width);
  return arena.used();
}

uint64_t motion_sad(const PlaneView &earlier, const PlaneView &current, std::byte *scratch) {
  Arena arena(scratch);
  const Memory memory(&arena, current.width);
  return current.depth == 8 ? sad<uint8_t>(earlier, current, memory)
                            : sad<uint16_t>(earlier, current, memory);
}

}  // namespace vmafhip::VMAFHIP_ISA
