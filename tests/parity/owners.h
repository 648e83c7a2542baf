// Which extractor each of a session's values is of, as far as the GPU measures it.
#pragma once
#include <string>
#include <vector>

#include "engine/registry.h"
#include "tests/parity/cases.h"

namespace vmafhip::parity {

// Whose the values of a case are: per column of a session's features and aggregates the extractor's name; "" if the CPU
// measures it.
struct Owners {
  std::vector<std::string> features, aggregates;
  std::vector<std::string> all;  // each once
};
Owners owners_of(const Case &c, const HipBackend &gpu);

}  // namespace vmafhip::parity
