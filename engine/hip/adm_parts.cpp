#include "engine/hip/adm_parts.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace vmafhip::hip {
namespace {

// What a row takes that is pooled and one of which only the low band is wanted. In instructions of the loop, without what is
// rare, these are 927 and 238 at scale 0 of 8 bits (nvcc 13, sm_90). It need not be exact: parts that are chosen with any
// ratio from 3 to 7 take 1.3 % longer than the best on average, 13 % at most, by the schedule of hip_adm_parts_test.
constexpr int kPooledRow = 5, kLowRow = 1;

}  // namespace

int64_t adm_part_time(int first, int last, int top, int bottom, bool last_scale) {
  const int64_t low = last_scale ? 0 : kLowRow * int64_t{last - first};
  const int64_t pooled = std::min(last, bottom) - std::max(first, top);
  if (pooled <= 0) return low;
  return kPooledRow * (pooled + 2) + std::max<int64_t>(low - kLowRow * (pooled + 2), 0);
}

// Parts are to be long, as a warp walks two rows more that others own; but the `resident` warps that a GPU holds at a time
// should all have one, and after them, if need be, as many again: a few that are left for the end take as long as all. Strips
// and parts of which little is pooled are quick, and are fitted in between and at the end.
AdmParts adm_parts(const AdmScaleParams &p, bool last_scale, int columns, int pairs, int resident) {
  struct Part {
    int64_t pooled, other;  // what it takes in strips that are pooled, and in those that are not
  };
  std::vector<Part> parts;
  int64_t strips = 0, pooled_strips = 0;
  for (int x = 0; x < p.width; x += columns, ++strips)
    pooled_strips += x < p.right && x + columns > p.left && p.top < p.bottom;

  AdmParts best;
  int64_t best_time = INT64_MAX;
  for (int rows = std::min(p.height, kAdmMostRows); rows >= std::min(p.height, kAdmFewestRows); --rows) {
    parts.clear();
    int64_t most = 0;
    for (int y = 0; y < p.height; y += rows) {
      const int end = std::min(y + rows, p.height);
      const Part part = {adm_part_time(y, end, p.top, p.bottom, last_scale),
                         adm_part_time(y, end, 0, 0, last_scale)};
      most = std::max({most, part.other, pooled_strips > 0 ? part.pooled : 0});
      parts.push_back(part);
    }
    // Two warps that take more than half of the longest time do not fit one after the other beside the one that takes it:
    // each of these fills a place for a round. Of the others several do; what matters of them is what they take together,
    // and the longest, which may be the last to begin.
    int64_t long_ones = 0, rest = 0, longest = 0;
    const auto add = [&](int64_t time, int64_t warps) {
      if (2 * time > most) {
        long_ones += warps;
      } else if (warps > 0) {
        rest += warps * time;
        longest = std::max(longest, time);
      }
    };
    for (const Part &part : parts) {
      add(part.pooled, pooled_strips * pairs);
      add(part.other, (strips - pooled_strips) * pairs);
    }
    const int64_t rounds = (long_ones + resident - 1) / resident,
                  spare = (rounds * resident - long_ones) * most;
    const int64_t time = rounds * most + (rest > spare ? longest + (rest - spare) / resident : 0);
    if (time >= best_time) continue;
    best_time = time;
    const auto first = std::ranges::find_if(parts, [&](const Part &part) { return 2 * part.pooled > most; });
    best = {rows, first == parts.end() ? 0 : static_cast<int>(first - parts.begin())};
  }
  return best;
}

}  // namespace vmafhip::hip
