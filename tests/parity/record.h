// What hip_parity saw of each extractor: the README's table of parity (tests/tools/extractor_table.cpp) claims for a GPU
// what such a record holds, and nothing else.
#pragma once
#include <cstdint>
#include <map>
#include <string>

namespace vmafhip::parity {

struct Tally {
  int64_t cases = 0, values = 0, differing = 0;
};

struct Record {
  std::string device;                       // its description
  std::string runs;                         // which cases
  std::map<std::string, Tally> extractors;  // by name

  // "" or what went wrong.
  std::string write(const std::string &path) const;
  // Throws std::runtime_error. A file that is not there is an empty record.
  static Record read(const std::string &path);
};

}  // namespace vmafhip::parity
