#include "tests/parity/record.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "engine/plan.h"

namespace vmafhip::parity {
namespace {

constexpr char kDevice[] = "device: ", kRuns[] = "runs: ";

}  // namespace

std::string Record::write(const std::string &path) const {
  std::ofstream out(path);
  out << "# Scores of a GPU against those of the scalar CPU code, as hip_parity --record writes them.\n"
      << kDevice << device << '\n'
      << kRuns << runs << '\n'
      << "# extractor, cases, values compared, of these differing in a bit\n";
  for (const auto &[name, tally] : extractors)
    out << name << ' ' << tally.cases << ' ' << tally.values << ' ' << tally.differing << '\n';
  return out.flush() ? "" : path + " cannot be written";
}

Record Record::read(const std::string &path) {
  Record record;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line.starts_with(kDevice)) {
      record.device = line.substr(sizeof kDevice - 1);
    } else if (line.starts_with(kRuns)) {
      record.runs = line.substr(sizeof kRuns - 1);
    } else {
      std::istringstream words(line);
      std::string name, rest;
      Tally tally;
      if (!(words >> name >> tally.cases >> tally.values >> tally.differing) || words >> rest)
        throw std::runtime_error(path + ": not a name and three numbers: " + line);
      record.extractors[name] = tally;
    }
  }
  return record;
}

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
