// How a band of ADM is shared out among the warps of a GPU. What is computed does not depend on it, only how long it takes.
#pragma once
#include "engine/arith/adm.h"

namespace vmafhip::hip {

// Rows of a part, and the part that is started first (kernels/adm_args.h, AdmScaleArgs).
struct AdmParts {
  int rows = 0, first = 0;
};

// A warp of r pooled rows walks r + 2. With more than 32 there is little to gain, 6 % at most. With fewer than 6 more than a
// quarter of the work is done twice: a pair alone might be done sooner so, but kernels beside it would wait longer.
constexpr int kAdmFewestRows = 6, kAdmMostRows = 32;

// `columns`: of a strip; `pairs`: that one launch measures; `resident`: warps that the GPU holds at a time.
AdmParts adm_parts(const AdmScaleParams &scale, bool last_scale, int columns, int pairs, int resident);

// What the warp takes that walks down rows first to last - 1 of a strip, of which rows `top` to `bottom` - 1 of the band are
// pooled, or none. The last scale writes no low band, so that there only rows that are pooled take time.
int64_t adm_part_time(int first, int last, int top, int bottom, bool last_scale);

}  // namespace vmafhip::hip
