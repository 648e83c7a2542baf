// Limits on the gain of sets of options that one metric measures in one pass (OptionSpec::one_pass). Each is measured once,
// however many sets have it.
#pragma once
#include <algorithm>
#include <vector>

namespace vmafhip {

struct GainLimits {
  std::vector<double> values;
  std::vector<int> of_set;  // for each set of options: which of the values

  // `limit_of` tells that of a set.
  template <class Params, class LimitOf>
  GainLimits(const std::vector<Params> &sets, LimitOf limit_of) {
    for (const Params &params : sets) {
      const auto known = std::find(values.begin(), values.end(), limit_of(params));
      of_set.push_back(static_cast<int>(known - values.begin()));
      if (known == values.end()) values.push_back(limit_of(params));
    }
  }
  int count() const { return static_cast<int>(values.size()); }
  int sets() const { return static_cast<int>(of_set.size()); }
};

}  // namespace vmafhip
