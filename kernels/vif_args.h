// Launch arguments of VIF: one launch does one scale of up to kMostPairs pairs of planes of one size.
#pragma once
#include "engine/arith/vif.h"
#include "kernels/args.h"

namespace vmafhip {

// Blocks add to several copies of the sums, so that they seldom meet; the host adds these up.
constexpr int kVifSlots = 16;

// Gain limits that one launch measures, by kernels *_limits; others take the first alone.
constexpr int kVifMostLimits = 2;

struct VifPair {
  PlanePair planes;
  // Planes of the next scale, to be written. `half_ref` is null in all but one of the pairs that have a reference in common:
  // what depends on the reference alone (its half, the sums of the denominator) is left to that one.
  DeviceAddress<uint16_t> half_ref, half_dist;
  // kVifSlots of this scale for each gain limit, zeroed. The second gets num_log alone; the rest is the same.
  DeviceAddress<VifScaleSums> sums[kVifMostLimits];
  bool with_reference;  // adds den_log and den_low
};

struct VifArgs {
  VifPair pairs[kMostPairs];
  int32_t width, height, depth;
  int32_t pictures;                         // vif_scale*_several: how many pairs have a reference in common
  int32_t half_stride;                      // samples from row to row of the next scale's planes; even
  int32_t steps;                            // vif_scale0_matrix_*: how many 32 columns a warp takes
  DeviceAddress<const uint16_t> log_table;  // vif_fold_log_table()
  double gain_limits[kVifMostLimits];
};
static_assert(sizeof(VifArgs) <= 4096);

// Columns and rows of which a block of the filter kernels gives results. Columns beside them are its halo.
constexpr int kVifThreads = 256;
constexpr int kVifTileRows = 8;
VMAFHIP_HD constexpr int vif_halo(int scale) { return scale == 0 ? 8 : 4; }
VMAFHIP_HD constexpr int vif_tile_columns(int scale) { return kVifThreads - 2 * vif_halo(scale); }

// vif_scale0_matrix_*: a warp takes 16 rows and 32 columns a step. It is 8 columns late, since a step's right-hand columns
// are the next one's left-hand border.
constexpr int kVifMatrixWarps = 4, kVifMatrixThreads = 32 * kVifMatrixWarps;
constexpr int kVifMatrixRows = 16;
VMAFHIP_HD constexpr int vif_matrix_steps(int width) { return (width + 8 + 31) / 32; }
// Offsets in a plane are 32 bits there, and strides 24.
constexpr bool vif_matrix_takes(const DevicePlane &plane, int height) {
  return plane.stride >= 0 && plane.stride < 1 << 24 && plane.stride <= 0xffffffff / height;
}
// Sums of a lane hold 16 pixels a step, of at most 2^16 each to the logarithms' sums: those of a warp fit 32 bits.
constexpr int kVifMostMatrixSteps = 32;

// The table of vif_fill_log_table() in 8 KB, for it to fit shared memory. Its steps are 2048 * log2(1 + 2^-15) = 0.09 and
// less, so that 8 neighbours differ by one at most, and where it happens stands in the low three bits:
//   table[8 * g + k] - 2048 * 15 = (folded[g] + k) >> 3.
constexpr int kVifFoldedEntries = kVifLogEntries / 8;
inline void vif_fold_log_table(const uint16_t *table, uint16_t *folded) {
  for (int g = 0; g < kVifFoldedEntries; g++) {
    const uint16_t *entry = table + 8 * g;
    int step = 8;
    while (step > 1 && entry[step - 1] != entry[0]) step--;
    folded[g] = static_cast<uint16_t>(8 * (entry[0] - 2048 * 15) + 8 - step);
  }
}

}  // namespace vmafhip
