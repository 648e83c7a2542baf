#include "tests/parity/record.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

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

}  // namespace vmafhip::parity
