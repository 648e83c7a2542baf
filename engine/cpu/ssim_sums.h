// Sums of terms over a row, by the tree of engine/arith/ssim.h. Compiled for each instruction set.
#pragma once
#include "engine/arith/ssim.h"
#include "engine/cpu/floats.h"

namespace vmafhip {
namespace {

// Columns of a block that are summed together: every 16th.
constexpr int kSsimGroup = 16, kSsimGroups = kSsimBlock / kSsimGroup;
static_assert(kSsimGroup % kFloats == 0 && kSsimGroup == 2 * kSsimLanes);

// Sums of one kind of terms over a block.
struct SsimBlockSum {
  static constexpr int kParts = kSsimGroup / kDoubles;
  F64 part[kParts] = {};

  // `at`: which vector of the group.
  VMAFHIP_FLOATS_FN void add(SsimBlockSum *sum, int at, F64 terms) { sum->part[at] += terms; }
  VMAFHIP_FLOATS_FN void add(SsimBlockSum *sum, int at, Wide terms) {
    sum->part[2 * at] += terms.low;
    sum->part[2 * at + 1] += terms.high;
  }
  VMAFHIP_FLOATS_FN void to_lanes(const SsimBlockSum &sum, double *lane) {
    for (int i = 0; i < kParts / 2; i++) {
      double *at = lane + i * kDoubles;
      store_vector(at, load_doubles(at) + (sum.part[i] + sum.part[i + kParts / 2]));
    }
  }
};

}  // namespace
}  // namespace vmafhip
