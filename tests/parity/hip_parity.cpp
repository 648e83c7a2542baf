// hip_parity: sessions on a GPU against the same on the scalar CPU code, bit for bit. See kHelp. Needs nothing but a
// driver at run time, so that it can be taken to a machine that has a GPU.
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/session.h"
#include "tests/parity/cases.h"
#include "tools/gpu_pictures.h"

namespace {

using namespace vmafhip;
using parity::Case;

constexpr char kHelp[] = R"(Usage: hip_parity [OPTION [VALUE]]...

Compares all scores, with all additional outputs, of sessions on the GPU with those of the scalar CPU code, bit for bit:
the clips of the golden figures with all variants of options, which also must have the golden figures; and random
pictures and options. A line for each case that fails; the last line counts.

  --random N        so many random cases (200)
  --seed S          of these (1)
  --cases A,B       only these: names of golden clips, random-N
  --list            names the golden clips, and what is random in the random cases
  --frames N        N frames of each clip (all of a golden one, 1 to 12 of a random one); golden figures are then left out
  --samples N       the largest luma plane of random cases (4000000)
  --golden FOLDER   the golden figures, if they are not where they were when this was built
  --device N        the GPU (-1: any)
  --seconds S       no case is begun after so many seconds
  --verbose         a line for each case, with its times

Exit status: 0 all equal, 1 one is not, 2 wrong usage or no GPU, 3 not all cases were run.
)";

struct Arguments {
  int random = 200, frames = 0, device = -1;
  uint32_t seed = 1;
  int64_t samples = 4'000'000;
  double seconds = 1e9;
  std::vector<std::string> cases;
  bool list = false, verbose = false, help = false;
};

long to_number(const std::string &option, const std::string &text, long low, long high) {
  char *end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end || value < low || value > high)
    throw std::invalid_argument(option + " " + text + ": not a whole number from " + std::to_string(low) +
                                " to " + std::to_string(high));
  return value;
}

Arguments parse(int argc, char **argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--list") {
      a.list = true;
    } else if (option == "--verbose") {
      a.verbose = true;
    } else if (option == "--help" || option == "-h") {
      a.help = true;
    } else {
      static const std::set<std::string> kOptions = {"--random",  "--seed",   "--cases",  "--frames",
                                                     "--samples", "--golden", "--device", "--seconds"};
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
        a.device = int(to_number(option, value, -1, 1000));
      } else if (option == "--seconds") {
        a.seconds = double(to_number(option, value, 1, 100'000));
      } else if (option == "--golden") {
        ::setenv("VMAFHIP_GOLDEN_FOLDER", value.c_str(), 1);
      } else {
        for (size_t at = 0; at <= value.size();) {
          const size_t comma = std::min(value.find(',', at), value.size());
          a.cases.push_back(value.substr(at, comma - at));
          at = comma + 1;
        }
      }
    }
  }
  return a;
}

std::vector<std::string> names_of(const Arguments &a) {
  if (!a.cases.empty()) return a.cases;
  std::vector<std::string> names = parity::golden_names();
  for (int n = 0; n < a.random; ++n) names.push_back("random-" + std::to_string(n));
  return names;
}

Case make(const Arguments &a, const std::string &name) {
  if (name.starts_with("random-"))
    return parity::random_case(a.seed, int(to_number("--cases", name.substr(7), 0, 1'000'000)), a.frames,
                               a.samples);
  return parity::golden_case(name, a.frames);
}

// What a session says of a clip: one value a name, of each distorted picture of each frame.
struct Scores {
  std::vector<std::string> names;
  std::vector<FrameScores> frames;
  std::vector<std::string> aggregate_names;
  std::vector<std::vector<double>> aggregates;
  std::string backend;
  MemoryKind memory;  // where the pictures were
};

void must(const Status &status) {
  if (!status.ok()) throw std::runtime_error(status.message());
}

Scores score(const Case &c, Backend backend, const GpuPictures *gpu) {
  SessionOptions options = c.options;
  options.backend = backend;
  MemoryKind memory = MemoryKind::host;
  if (gpu) {
    options.device = gpu->number();
    memory = c.memory;
    ::unsetenv("VMAFHIP_ISA");
  } else {
    options.threads = 0;
    ::setenv("VMAFHIP_ISA", "scalar", 1);
  }
  auto created = Session::create(options);
  must(created.status());
  Session &session = **created;
  PictureFormat ref_format = c.ref_format();
  std::vector<PictureFormat> dist_formats = c.dist_formats();
  ref_format.memory = memory;
  for (PictureFormat &format : dist_formats) format.memory = memory;
  Status configured = session.configure(ref_format, dist_formats);
  if (memory == MemoryKind::device && configured.code() == Code::unsupported) {
    // What has no kernels is measured by the CPU, which cannot read there.
    memory = MemoryKind::pinned;
    ref_format.memory = memory;
    for (PictureFormat &format : dist_formats) format.memory = memory;
    configured = session.configure(ref_format, dist_formats);
  }
  must(configured);
  const auto place = [&](const Picture &picture) {
    return memory == MemoryKind::host ? picture : gpu->copy(picture, memory, c.alignment);
  };

  Scores all;
  all.names = session.feature_names();
  for (const ModelInfo &model : session.models()) all.names.push_back(model.label);
  all.aggregate_names = session.aggregate_names();
  FrameScores scores;
  const auto take = [&] {
    const Session::Next next = session.wait(scores);
    if (next == Session::Next::failed) must(session.status());
    if (next == Session::Next::ready) all.frames.push_back(scores);
    return next == Session::Next::ready;
  };
  for (size_t n = 0; n < c.ref.size(); ++n) {
    const Picture ref = place(c.ref[n]);
    std::vector<Picture> dist;
    for (const Picture &picture : c.dist[n]) dist.push_back(place(picture));
    while (!session.submit(ref, dist))
      // With subsample, room also comes of frames that are not scored.
      if (!take() && !session.has_room()) throw std::runtime_error("no room, and no score to take");
  }
  session.finish();
  while (take()) {
  }
  for (int d = 0; d < session.distorted(); ++d) all.aggregates.push_back(session.aggregates(size_t(d)));
  all.backend = session.backend_description();
  all.memory = memory;
  return all;
}

bool same(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) || (std::isnan(a) && std::isnan(b));
}

std::string digits(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

// Counts the values that were compared, and keeps the first that differ.
class Judge {
 public:
  void compare(const std::string &where, const std::string &name, double actual, double expected,
               const char *whose) {
    ++values_;
    if (same(actual, expected)) return;
    if (++different_ == 1)
      first_ = where + ", " + name + ": " + digits(actual) + ", " + whose + " " + digits(expected);
  }
  void refuse(const std::string &text) {
    if (++different_ == 1) first_ = text;
  }
  void compare(const Scores &hip, const Scores &cpu, const Case &c) {
    if (hip.names != cpu.names || hip.frames.size() != cpu.frames.size())
      return refuse(std::to_string(hip.frames.size()) + " frames and " + std::to_string(hip.names.size()) +
                    " scores, the CPU gives " + std::to_string(cpu.frames.size()) + " and " +
                    std::to_string(cpu.names.size()));
    for (size_t n = 0; n < hip.frames.size(); ++n) {
      const FrameScores &a = hip.frames[n], &b = cpu.frames[n];
      const std::string where = "frame " + std::to_string(a.index);
      if (a.index != b.index || a.warm_up != b.warm_up || a.dist.size() != b.dist.size())
        return refuse(where + " is frame " + std::to_string(b.index) +
                      " on the CPU, or differs in what it is");
      for (size_t d = 0; d < a.dist.size(); ++d) {
        const std::string picture = a.dist.size() > 1 ? where + ", picture " + std::to_string(d) : where;
        const std::vector<double> hip_values = values(a.dist[d]), cpu_values = values(b.dist[d]);
        for (size_t i = 0; i < hip_values.size(); ++i) {
          compare(picture, hip.names[i], hip_values[i], cpu_values[i], "the CPU says");
          if (const auto golden = c.expected.find(hip.names[i]); golden != c.expected.end())
            compare(picture, hip.names[i], hip_values[i], golden->second.at(a.index), "libvmaf says");
        }
      }
    }
    for (size_t d = 0; d < hip.aggregates.size(); ++d)
      for (size_t i = 0; i < hip.aggregates[d].size(); ++i)
        compare("in all", hip.aggregate_names[i], hip.aggregates[d][i], cpu.aggregates[d][i], "the CPU says");
  }

  int64_t compared() const { return values_; }
  // Empty if all is equal.
  std::string verdict() const {
    return different_ > 1 ? first_ + " (and " + std::to_string(different_ - 1) + " others)" : first_;
  }

 private:
  static std::vector<double> values(const PictureScores &scores) {
    std::vector<double> all = scores.features;
    all.insert(all.end(), scores.models.begin(), scores.models.end());
    return all;
  }
  int64_t values_ = 0, different_ = 0;
  std::string first_;
};

int run(const Arguments &a) {
  if (a.list) {
    for (const std::string &name : names_of(a))
      std::printf("%s: %s\n", name.c_str(), make(a, name).text.c_str());
    return 0;
  }
  const GpuPictures gpu(a.device);
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto since = [](Clock::time_point t) {
    return std::chrono::duration<double>(Clock::now() - t).count();
  };
  int golden = 0, random = 0, failed = 0, without_gpu = 0, resident = 0, left_out = 0;
  int64_t compared = 0;
  double gpu_seconds = 0;
  for (const std::string &name : names_of(a)) {
    if (since(start) > a.seconds) {
      ++left_out;
      continue;
    }
    ++(name.starts_with("random-") ? random : golden);
    std::string verdict, text;
    double cpu_time = 0, gpu_time = 0;
    try {
      const Case c = make(a, name);
      text = c.text;
      auto begin = Clock::now();
      const Scores cpu = score(c, Backend::cpu, nullptr);
      cpu_time = since(begin);
      begin = Clock::now();
      const Scores hip = score(c, Backend::hip, &gpu);
      gpu_time = since(begin);
      Judge judge;
      judge.compare(hip, cpu, c);
      compared += judge.compared();
      verdict = judge.verdict();
      if (!hip.backend.starts_with("hip")) ++without_gpu;
      if (hip.memory == MemoryKind::device) ++resident;
    } catch (const std::exception &error) {
      verdict = error.what();
    }
    gpu_seconds += gpu_time;
    failed += !verdict.empty();
    if (!verdict.empty()) std::printf("FAIL %s: %s [%s]\n", name.c_str(), verdict.c_str(), text.c_str());
    if (a.verbose)
      std::printf("%s %s: CPU %.2f s, GPU %.2f s [%s]\n", verdict.empty() ? "ok" : "--", name.c_str(),
                  cpu_time, gpu_time, text.c_str());
    std::fflush(stdout);
  }
  std::printf(
      "%d golden and %d random cases (seed %u), %lld values, %d failed, %d with pictures in GPU memory",
      golden, random, a.seed, static_cast<long long>(compared), failed, resident);
  if (without_gpu) std::printf(", %d with nothing to do for the GPU", without_gpu);
  if (left_out) std::printf(", %d not begun in time", left_out);
  std::printf("; %.0f s, the GPU's sessions %.0f; %s\n", since(start), gpu_seconds,
              gpu.description().c_str());
  return failed ? 1 : left_out ? 3 : 0;
}

}  // namespace

int main(int argc, char **argv) {
  try {
    const Arguments arguments = parse(argc, argv);
    if (arguments.help) {
      std::fputs(kHelp, stdout);
      return 0;
    }
    return run(arguments);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "hip_parity: %s\n", error.what());
    return 2;
  }
}
