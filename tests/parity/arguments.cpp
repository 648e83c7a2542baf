#include "tests/parity/arguments.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <stdexcept>

namespace vmafhip::parity {

const char kHelp[] = R"(Usage: hip_parity [OPTION [VALUE]]...

Compares all scores, with all additional outputs, of sessions on the GPU with those of the scalar CPU code, bit for bit:
the clips of the golden figures with all variants of options, which also must have the golden figures; and random
pictures and options. A line for each case that fails; the last line counts.

  --random N        so many random cases (200)
  --seed S          of these (1)
  --cases A,B       only these: names of golden clips, random-N
  --features A,B    only these extractors, and no model; clips that none of them takes are skipped
  --list            names the golden clips, and what is random in the random cases
  --every           an extractor that none of the cases has values of is a failure
  --elsewhere A,B   but not these: another run compares them
  --extractors      names the extractors that have kernels
  --frames N        N frames of each clip (all of a golden one, 1 to 12 of a random one); golden figures are then left out
  --samples N       the largest luma plane of random cases (4000000)
  --golden FOLDER   the golden figures, if they are not where they were when this was built
  --device N[,N]    the GPU (-1: any); of several each measures every case, all of them at the same time
  --record FILE     writes there how many values of each extractor were compared, and how many differ: the README's
                    table of parity is made of it (tests/parity)
  --seconds S       no case is begun after so many seconds
  --verbose         a line for each case, with its times

Exit status: 0 all equal, 1 one is not, 2 wrong usage or no GPU, 3 not all cases were run.
)";

long to_number(const std::string &option, const std::string &text, long low, long high) {
  char *end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end || value < low || value > high)
    throw std::invalid_argument(option + " " + text + ": not a whole number from " + std::to_string(low) +
                                " to " + std::to_string(high));
  return value;
}

namespace {

std::vector<std::string> split(const std::string &text) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    parts.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return parts;
}

const Extractor *to_extractor(const std::string &name) {
  const Extractor *extractor = find_extractor(name);
  if (!extractor) throw std::invalid_argument("--features: there is no extractor \"" + name + '"');
  return extractor;
}

}  // namespace

Arguments parse(int argc, char **argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--list") {
      a.list = true;
    } else if (option == "--extractors") {
      a.extractors = true;
    } else if (option == "--every") {
      a.every = true;
    } else if (option == "--verbose") {
      a.verbose = true;
    } else if (option == "--help" || option == "-h") {
      a.help = true;
    } else {
      static const std::set<std::string> kOptions = {"--random",   "--seed",   "--cases",    "--frames",
                                                     "--samples",  "--golden", "--device",   "--seconds",
                                                     "--features", "--record", "--elsewhere"};
      if (!kOptions.count(option)) throw std::invalid_argument("there is no option " + option);
      if (++i == argc) throw std::invalid_argument(option + " needs a value");
      const std::string value = argv[i];
      if (option == "--random") {
        a.random = int(to_number(option, value, 0, 1'000'000));
      } else if (option == "--seed") {
        a.seed = uint32_t(to_number(option, value, 0, 0xffffffffL));
      } else if (option == "--frames") {
        a.frames = int(to_number(option, value, 1, 1000));
      } else if (option == "--samples") {
        a.samples = to_number(option, value, 2000, 1L << 30);
      } else if (option == "--device") {
        a.devices.clear();
        for (const std::string &number : split(value))
          a.devices.push_back(int(to_number(option, number, -1, 1000)));
      } else if (option == "--seconds") {
        a.seconds = double(to_number(option, value, 1, 100'000));
      } else if (option == "--golden") {
        ::setenv("VMAFHIP_GOLDEN_FOLDER", value.c_str(), 1);
      } else if (option == "--features") {
        for (const std::string &name : split(value)) a.only.push_back(to_extractor(name));
      } else if (option == "--elsewhere") {
        a.elsewhere = split(value);
      } else if (option == "--record") {
        a.record = value;
      } else {
        a.cases = split(value);
      }
    }
  }
  return a;
}

}  // namespace vmafhip::parity
