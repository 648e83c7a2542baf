#include "engine/model/finish.h"

#include <algorithm>
#include <cmath>

#include "engine/model/limits.h"
#include "engine/model/refused.h"

namespace vmafhip {

void Transform::set_knots(const std::vector<std::array<double, 2>> &points) {
  if (points.size() < 2 || points.size() > kMaxKnots)
    refuse("has " + std::to_string(points.size()) + " points, must have 2 to " + std::to_string(kMaxKnots));
  segments_.clear();
  for (size_t i = 0; i + 1 < points.size(); ++i) {
    const auto [x0, y0] = points[i];
    const auto [x1, y1] = points[i + 1];
    if (!(x0 < x1)) refuse("x of point " + std::to_string(i + 1) + " must be above that of the point before");
    if (!(y0 <= y1))
      refuse("y of point " + std::to_string(i + 1) + " must not be below that of the point before");
    Segment segment{x0, x1, 0, y0, y0 == y1};
    if (!segment.horizontal) {
      segment.alpha = (y1 - y0) / (x1 - x0);
      segment.beta = y0 - x0 * segment.alpha;
    }
    if (!(segment.alpha <= kLargestNumber)) refuse("point " + std::to_string(i + 1) + " is too steep");
    segments_.push_back(segment);
  }
}

double Transform::operator()(double y) const {
  double z = y;
  if (p0 || p1 || p2) {
    z = 0;
    if (p0) z += *p0;
    if (p1) z += *p1 * y;
    if (p2) z += *p2 * y * y;
  }
  if (!segments_.empty()) {
    const double x = z;
    // A value on an inner point lies in two segments: the later one has it.
    for (size_t i = 0; i < segments_.size(); ++i) {
      const Segment &s = segments_[i];
      const bool below = i == 0 && x < s.first, above = i + 1 == segments_.size() && x > s.last;
      if (below || above || (x >= s.first && x <= s.last)) z = s.horizontal ? s.beta : s.alpha * x + s.beta;
    }
  }
  if (out_lte_in && z > y) z = y;
  if (out_gte_in && z < y) z = y;
  return z;
}

double Finish::operator()(double y) const {
  if (transform) y = (*transform)(y);
  if (clip) {
    if (y < (*clip)[0]) y = (*clip)[0];
    if (y > (*clip)[1]) y = (*clip)[1];
  }
  return y;
}

}  // namespace vmafhip
