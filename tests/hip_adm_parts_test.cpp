// How bands of ADM are shared out among warps: what was chosen is started on a GPU that is played here, one warp after the
// other where a place is free, and is nearly as soon done as with the best choice that there is.
#include "engine/hip/adm_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <vector>

#include "kernels/adm_args.h"

namespace vmafhip::hip {
namespace {

constexpr int kWarp = 32, kMultiprocessors = 132, kDepth = 8;

// When the last of all warps is done. They begin in the order of blocks: strips, pairs, parts.
int64_t time_of(const AdmScaleParams &p, bool last_scale, int columns, int pairs, int resident,
                const AdmParts &chosen) {
  AdmScaleArgs args = {};
  args.part_rows = chosen.rows;
  args.parts = (p.height + chosen.rows - 1) / chosen.rows;
  args.first_part = chosen.first;
  std::priority_queue<int64_t, std::vector<int64_t>, std::greater<>> free;  // when places are
  for (int i = 0; i < resident; ++i) free.push(0);
  int64_t done = 0;
  for (int turn = 0; turn < args.parts; ++turn) {
    const int first = adm_part(args, turn) * chosen.rows, last = std::min(first + chosen.rows, p.height);
    for (int pair = 0; pair < pairs; ++pair)
      for (int x = 0; x < p.width; x += columns) {
        const bool pooled = x < p.right && x + columns > p.left;
        const int64_t end = free.top() + (pooled ? adm_part_time(first, last, p.top, p.bottom, last_scale)
                                                 : adm_part_time(first, last, 0, 0, last_scale));
        free.pop();
        free.push(end);
        done = std::max(done, end);
      }
  }
  return done;
}

struct Size {
  int width, height;
};

TEST(HipAdmParts, AreDoneNearlyAsSoonAsTheBest) {
  double sum = 0;
  int cases = 0;
  for (const auto &[width, height] : {Size{1920, 1080}, {3840, 2160}, {720, 576}})
    for (int s = 0; s < kAdmScales; ++s)
      for (const int limits : {1, 2})
        for (const int pairs : {1, 4, 16}) {
          const AdmScaleParams p = adm_configure({}, width, height).scale[s];
          const bool last = s + 1 == kAdmScales;
          const int columns = adm_strip_columns(kWarp, s, limits),
                    resident = kMultiprocessors * adm_resident_warps(s, kDepth, limits);
          const AdmParts chosen = adm_parts(p, last, columns, pairs, resident);
          int64_t best = INT64_MAX;
          for (int rows = kAdmFewestRows; rows <= kAdmMostRows; ++rows)
            for (const int first : {0, p.top / rows, (p.top + rows - 1) / rows})
              best = std::min(best, time_of(p, last, columns, pairs, resident, {rows, first}));
          const double ratio = double(time_of(p, last, columns, pairs, resident, chosen)) / double(best);
          EXPECT_LE(ratio, 1.15) << width << "x" << height << ", scale " << s << ", " << limits << " limits, "
                                 << pairs << " pairs: " << chosen.rows << " rows";
          sum += ratio;
          ++cases;
        }
  EXPECT_LE(sum / cases, 1.02);
}

// Nothing is pooled where an option leaves a scale out, and small bands are one part.
TEST(HipAdmParts, OfWhatIsNotPooledAndOfSmallBands) {
  AdmScaleParams p = adm_configure({}, 1920, 1080).scale[0];
  p.left = p.right = p.top = p.bottom = 0;
  EXPECT_EQ(adm_part_time(0, p.height, p.top, p.bottom, true), 0);
  EXPECT_EQ(adm_part_time(0, p.height, p.top, p.bottom, false), p.height);
  const AdmParts none = adm_parts(p, false, adm_strip_columns(kWarp, 0, 1), 16, 100);
  EXPECT_GE(none.rows, kAdmFewestRows);
  EXPECT_EQ(none.first, 0);
  for (int s = 0; s < kAdmScales; ++s) {
    const AdmScaleParams small = adm_configure({}, 33, 33).scale[s];
    const AdmParts parts = adm_parts(small, s + 1 == kAdmScales, adm_strip_columns(kWarp, s, 1), 1, 100);
    EXPECT_GE(parts.rows, std::min(small.height, kAdmFewestRows)) << "scale " << s;
    EXPECT_LT(parts.first * parts.rows, small.height) << "scale " << s;
  }
}

}  // namespace
}  // namespace vmafhip::hip
