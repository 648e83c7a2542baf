#include "engine/model/collection.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace vmafhip {
namespace {

// Linear interpolation between the two nearest of the sorted values; p in percent.
double percentile(std::span<const double> sorted, double p) {
  const double at = p * static_cast<double>(sorted.size() - 1) / 100;
  const double left = std::floor(at), right = std::ceil(at);
  const double low = sorted[static_cast<size_t>(left)], high = sorted[static_cast<size_t>(right)];
  return left == right ? low : low * (right - at) + high * (at - left);
}

}  // namespace

std::vector<std::string> Collection::names(const std::string &label) const {
  std::vector<std::string> names;
  for (size_t i = 1; i <= members_.size(); ++i) {
    char number[24];
    std::snprintf(number, sizeof number, "_%04zu", i);
    names.push_back(label + number);
  }
  for (const char *what : {"_bagging", "_stddev", "_ci_p95_lo", "_ci_p95_hi"}) names.push_back(label + what);
  return names;
}

void Collection::score(std::span<double> raw, std::span<double> scores) const {
  size_t next = 0;
  for (size_t i = 0; i < members_.size(); ++i) scores[next++] = members_[i].finish(raw[i]);

  // Statistics are of what the members say before transform and clip; what comes out goes through those of the first.
  const double count = static_cast<double>(raw.size());
  double sum = 0, squares = 0;
  for (const double s : raw) sum += s;
  const double mean = sum / count;
  for (const double s : raw) squares += (s - mean) * (s - mean);
  const double deviation = std::sqrt(squares / count);
  std::sort(raw.begin(), raw.end(),
            [](double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); });

  const Finish &finish = members_[0].finish;
  constexpr double kStep = 0.01;  // of the slope by which a transform stretches the deviation
  const double slope = (finish(mean + kStep) - finish(mean - kStep)) / (2.0 * kStep);
  scores[next++] = finish(mean);
  scores[next++] = deviation * slope;
  scores[next++] = finish(percentile(raw, 2.5));
  scores[next++] = finish(percentile(raw, 97.5));
}

}  // namespace vmafhip
