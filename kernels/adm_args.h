// What the host hands to the kernels of ADM (kernels/adm.hip), and the geometry that both go by.
#pragma once
#include <cstdint>

#include "engine/arith/adm.h"
#include "kernels/args.h"

namespace vmafhip {

// A block is one warp, which walks down a strip of a band: each thread has two neighbouring columns, or one. Two columns on
// either side belong to the strips beside: masks look at the neighbour, and the filter that it comes from at its neighbour.
// A thread has one where two would take so many registers that a SIMD of AMD's GPUs with waves of 64 had room for two or
// three waves.
VMAFHIP_HD constexpr int adm_thread_columns(int warp_size, int scale, int limits) {
  return warp_size == 64 && (scale > 0 || limits > 1) ? 1 : 2;
}
constexpr int kAdmHalo = 2;  // columns
VMAFHIP_HD constexpr int adm_strip_columns(int warp_size, int scale, int limits) {
  return warp_size * adm_thread_columns(warp_size, scale, limits) - 2 * kAdmHalo;
}
constexpr int kAdmMostThreads = 64;  // of a block

// Blocks of kAdmMostThreads for which a multiprocessor is to have registers: 96, 128 or 168 a thread on NVIDIA, as many as it
// can use.
VMAFHIP_HD constexpr int adm_blocks(int scale, int depth, int limits) {
  return limits > 1 ? (scale == 0 && depth == 8 ? 8 : 6) : scale == 0 && depth == 8 ? 10 : scale < 2 ? 8 : 6;
}
// Warps of 32, and about as many of 64 with AMD, that it holds at once.
constexpr int adm_resident_warps(int scale, int depth, int limits) {
  return kAdmMostThreads / 32 * adm_blocks(scale, depth, limits);
}

// Sums of a row of a band, in the order of AdmScaleSums: num, aim, den, each of h, v, d.
constexpr int kAdmRowSums = 3 * kAdmBands;
static_assert(sizeof(AdmScaleSums) == kAdmRowSums * sizeof(uint64_t));

// Gain limits that one launch measures, by kernels *_limits; others take the first alone.
constexpr int kAdmMostLimits = 2;

struct AdmGainLimit {
  double value;
  int32_t whole;  // the same if it is a whole number, else 0
};

struct AdmPair {
  // Scale 0: pictures. Later ones: low bands of the scale before, in i16 of scale 0, then in i32.
  DevicePlane ref, dist;
  // Where low bands go for the scale after; null: nowhere, as nobody reads it or another pair writes the same.
  DeviceAddress<std::byte> low_ref, low_dist;
  // [height][kAdmRowSums] for each gain limit, zeroed before; added to, not yet rounded. Only the first gets den.
  DeviceAddress<uint64_t> row_sums[kAdmMostLimits];
};

// Halves of what shifts divide by. As arguments, since a multiply-add takes a 64-bit addend from there for nothing, while
// one that is part of the program has to be added by two instructions of its own or held in two registers.
struct AdmHalves {
  int64_t across;       // horizontal filter
  uint64_t square[2];   // signals: h and v, d
  int64_t cube[2];      //
  uint64_t den_square;  // a whole step, not a half
  uint64_t den_cube;
};

struct AdmScaleArgs {
  AdmPair pairs[kMostPairs];
  AdmScaleParams scale;  // nothing is pooled where right <= left or bottom <= top
  AdmHalves halves;
  AdmGainLimit limits[kAdmMostLimits];
  int32_t source_width, source_height;
  int32_t depth;       // of pictures
  int32_t aligned;     // the samples above a thread's columns can be loaded at once, in all planes
  int32_t low_stride;  // bytes
  // Rows of a band that a warp walks down. blockIdx: strip, pair, part; parts are started in turn from `first_part` on, and
  // those above it last, as few or none of their rows are pooled and so quick: they fill what the others leave.
  int32_t part_rows, parts, first_part;
};

VMAFHIP_HD constexpr int adm_part(const AdmScaleArgs &args, int turn) {
  const int part = turn + args.first_part;
  return part < args.parts ? part : part - args.parts;
}

constexpr int kAdmSumThreads = 32 * kAdmRowSums;  // of a block of adm_sum_rows

struct AdmSumArgs {
  struct Pair {
    DeviceAddress<const uint64_t> row_sums;  // of all scales
    DeviceAddress<uint64_t> sums;            // AdmSums
  } pairs[kMostPairs];
  struct Scale {
    int32_t first_row;  // of row_sums
    int32_t top, bottom;
    int32_t row_shift, den_row_shift;
  } scales[kAdmScales];  // blockIdx: scale, 0, pair
};

static_assert(sizeof(AdmScaleArgs) <= 4096 && sizeof(AdmSumArgs) <= 4096);

}  // namespace vmafhip
