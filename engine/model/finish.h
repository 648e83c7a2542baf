// What follows a model's regression: transform and clip of the score.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace vmafhip {

// A model's score_transform. The polynomial and the knots map the score; out_lte_in and out_gte_in then bound the
// result by what went in.
class Transform {
 public:
  std::optional<double> p0, p1, p2;
  bool out_lte_in = false, out_gte_in = false;

  // Piecewise linear map through 2 to 10 points (x, y), extrapolated by its first and last segment. Throws Refused
  // unless x rises strictly and y never falls.
  void set_knots(const std::vector<std::array<double, 2>> &points);

  double operator()(double y) const;

 private:
  struct Segment {
    double first, last;  // x
    double alpha, beta;  // alpha * x + beta; alpha is 0 on a horizontal segment
    bool horizontal;
  };
  std::vector<Segment> segments_;
};

struct Finish {
  std::optional<Transform> transform;
  std::optional<std::array<double, 2>> clip;  // min, max

  double operator()(double y) const;
};

}  // namespace vmafhip
