// What the host hands to the kernels of psnr_hvs (kernels/psnr_hvs.hip). The blocks of a plane are taken in bands, so that
// the terms of one band have memory, and not those of the whole picture.
#pragma once
#include "engine/arith/psnr_hvs.h"
#include "kernels/args.h"

namespace vmafhip {

constexpr int kHvsThreads =
    128;  // of a block of psnr_hvs_terms_*; blockIdx: part of the band, plane, reference
constexpr int kHvsSumThreads = 256;  // of a block of psnr_hvs_sum; blockIdx: plane, 0, distorted picture
constexpr int kHvsBandBlocks = 16384;

// Terms lie in groups of blocks: [group][term][block of the group].
constexpr int kHvsTermGroup = 32;
VMAFHIP_HD constexpr int64_t hvs_term_index(int block, int term) {
  return (int64_t{block / kHvsTermGroup} * kHvsTerms + term) * kHvsTermGroup + block % kHvsTermGroup;
}

struct PsnrHvsArgs {
  struct Distorted {
    DevicePlane planes[3];
    DeviceAddress<float> terms;  // of the band, all planes
    DeviceAddress<float> sums;   // PsnrHvsSums, zeroed before the first band
  } dist[kMostPairs];
  // Its distorted pictures are dist[first] and on.
  struct Reference {
    DevicePlane planes[3];
    int32_t first, count;
  } ref[kMostPairs];
  struct Band {
    int32_t across;       // blocks of a row
    int32_t first, last;  // blocks of the band
    int32_t groups;       // that lie before this plane's in the memory of terms
  } bands[3];
  int32_t depth;
};
static_assert(sizeof(PsnrHvsArgs) <= 4096 && sizeof(PsnrHvsSums) == 3 * sizeof(float));

}  // namespace vmafhip
