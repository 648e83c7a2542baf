// Motion on the CPU: difference, column filter, row filter and sum, two rows at a time.
#include "engine/arith/motion.h"

#include <cstddef>
#include <cstring>

#include "engine/cpu/arena.h"
#include "engine/cpu/kernels.h"
#include "engine/cpu/lanes.h"

#if VMAFHIP_LANES
#include "engine/cpu/motion_lanes.h"
#else
#include "engine/cpu/motion_plain.h"
#endif

namespace vmafhip::VMAFHIP_ISA {
namespace {

#if VMAFHIP_LANES
using V = Lanes;
#else
using V = Plain;
#endif

constexpr size_t kBeyond = 64;  // what vectors may read and write beyond the end of a row

struct Scratch {
  MotionColumns row[2];
  MotionDifferences differences;

  Scratch(Arena *arena, int width) {
    for (MotionColumns &columns : row)
      for (int16_t **part : {&columns.half, &columns.bit})
        *part = arena->take<int16_t>(static_cast<size_t>(width), kMotionRadius, kBeyond);
    differences.take(arena, width, kBeyond);
  }

  // Lanes behind the picture decide nothing, but what they ask must not depend on what a source left there.
  void clear_behind(int width) const {
    for (const MotionColumns &columns : row)
      for (int16_t *part : {columns.half, columns.bit}) std::memset(part + width, 0, kBeyond * sizeof *part);
    differences.clear_behind(width, kBeyond);
  }
};

template <class Sample>
uint64_t sad(const PlaneView &earlier, const PlaneView &current, int first, int last, const Scratch &m) {
  const int width = current.width, height = current.height;
  uint64_t total = 0;
  MotionShortRows<V, Sample> differences(earlier, current, m.differences);
  for (int y = first; y < last; y += 2) {
    const int rows = smaller(2, last - y);
    if (differences.add(y, rows, &total)) continue;
    MotionSource<Sample> from;
    for (int k = 0; k <= kMotionRows; k++) {
      // The sixth row is needed by row y + 1 only, which need not exist.
      const int row = motion_row(y - kMotionRadius + k, height);
      from.earlier[k] = row_of<Sample>(earlier, row);
      from.current[k] = row_of<Sample>(current, row);
    }
    motion_columns<V>(from, width, current.depth, rows, m.row);
    for (int next = 0; next < rows; next++) {
      mirror_columns(m.row[next].half, width);
      mirror_columns(m.row[next].bit, width);
      total += motion_row_sum<V>(m.row[next], width);
    }
  }
  return total;
}

size_t scratch_bytes(int width, int) {
  Arena arena(nullptr);
  Scratch memory(&arena, width);
  return arena.used();
}

uint64_t sad(const PlaneView &earlier, const PlaneView &current, int first, int last, std::byte *scratch) {
  Arena arena(scratch);
  const Scratch memory(&arena, current.width);
  memory.clear_behind(current.width);
  return current.depth == 8 ? sad<uint8_t>(earlier, current, first, last, memory)
                            : sad<uint16_t>(earlier, current, first, last, memory);
}

}  // namespace

extern const MotionKernels motion_kernels = {scratch_bytes, sad};

}  // namespace vmafhip::VMAFHIP_ISA
