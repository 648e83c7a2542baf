#include "tests/parity/owners.h"

#include <algorithm>
#include <stdexcept>

#include "engine/plan.h"

namespace vmafhip::parity {

Owners owners_of(const Case &c, const HipBackend &gpu) {
  const auto plan = Plan::make(c.options.models, c.options.features);
  if (!plan.ok()) throw std::runtime_error(plan.status().message());
  Owners owners;
  owners.features.resize(plan->feature_names.size());
  owners.aggregates.resize(plan->aggregate_names.size());
  PictureFormat compared = c.ref_format();
  for (const PictureFormat &dist : c.dist_formats()) compared.depth = std::max(compared.depth, dist.depth);
  const auto own = [](std::vector<std::string> &names, const std::vector<int> &columns, const char *name) {
    for (const int column : columns)
      if (column >= 0) names.at(size_t(column)) = name;
  };
  for (const PlannedExtractor &p : plan->extractors) {
    const auto metric = gpu.make(*p.extractor, p.options, compared, c.options.distorted);
    if (!metric.ok()) throw std::runtime_error(metric.status().message());
    if (!*metric) continue;  // the CPU measures
    own(owners.features, p.columns, p.extractor->name);
    own(owners.aggregates, p.aggregate_columns, p.extractor->name);
    if (std::ranges::find(owners.all, p.extractor->name) == owners.all.end())
      owners.all.push_back(p.extractor->name);
  }
  return owners;
}

}  // namespace vmafhip::parity
