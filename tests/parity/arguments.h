// Command line of hip_parity.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tests/parity/cases.h"

namespace vmafhip::parity {

struct Arguments {
  int random = 200, frames = 0;
  uint32_t seed = 1;
  int64_t samples = 4'000'000;
  double seconds = 1e9;
  std::vector<std::string> cases, elsewhere;
  std::vector<int> devices = {-1};
  parity::Extractors only;
  std::string record;
  bool list = false, extractors = false, every = false, verbose = false, help = false;
};

// Throw std::invalid_argument, with the option in its text.
Arguments parse(int argc, char **argv);
long to_number(const std::string &option, const std::string &text, long low, long high);

extern const char kHelp[];

}  // namespace vmafhip::parity
