// hip_parity: sessions on a GPU against the same on the scalar CPU code, bit for bit. See --help. Needs nothing but a
// driver at run time, so that it can be taken to a machine that has a GPU.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "engine/session.h"
#include "tests/parity/arguments.h"
#include "tests/parity/cases.h"
#include "tests/parity/owners.h"
#include "tests/parity/record.h"
#include "tests/scratch_folder.h"
#include "tools/gpu_pictures.h"

namespace {

using namespace vmafhip;
using parity::Arguments;
using parity::Case;

std::vector<std::string> names_of(const Arguments &a) {
  if (!a.cases.empty()) return a.cases;
  std::vector<std::string> names = parity::golden_names();
  for (int n = 0; n < a.random; ++n) names.push_back("random-" + std::to_string(n));
  return names;
}

Case make(const Arguments &a, const std::string &name) {
  if (name.starts_with("random-"))
    return parity::random_case(a.seed, int(parity::to_number("--cases", name.substr(7), 0, 1'000'000)),
                               a.frames, a.samples, a.only);
  return parity::golden_case(name, a.frames, a.only);
}

// What a session says of a clip: one value a name, of each distorted picture of each frame.
struct Scores {
  std::vector<std::string> names;
  std::vector<FrameScores> frames;
  std::vector<std::string> aggregate_names;
  std::vector<std::vector<double>> aggregates;
  std::string backend;
  MemoryKind memory = MemoryKind::host;  // where the pictures were
  int mirrored = 0;                      // how many of them the GPU read by itself
};

void must(const Status &status) {
  if (!status.ok()) throw std::runtime_error(status.message());
}

Scores score(const Case &c, Backend backend, const GpuPictures *gpu) {
  const test::ScratchFolder folder;
  SessionOptions options = parity::with_folder(c.options, folder.path());
  options.backend = backend;
  MemoryKind memory = MemoryKind::host;
  if (gpu) {
    options.device = gpu->number();
    memory = c.memory;
  } else {
    options.threads = 0;
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
  Scores all;
  // `number` in the frame: 0 is the reference.
  const auto place = [&](const Picture &picture, size_t frame, int number) {
    if (memory != MemoryKind::host) return gpu->copy(picture, memory, c.alignment);
    if (!gpu || c.mirrored == 0 || (frame + size_t(number)) % size_t(c.mirrored)) return picture;
    Picture mirror = gpu->mirror(picture, c.offset);
    const uint8_t read_by_host = session.host_planes(number);
    for (int n = 0; n < 3; ++n)
      if (!(read_by_host >> n & 1)) mirror.planes[size_t(n)].data = nullptr;
    ++all.mirrored;
    return mirror;
  };

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
    const Picture ref = place(c.ref[n], n, 0);
    std::vector<Picture> dist;
    for (const Picture &picture : c.dist[n]) dist.push_back(place(picture, n, 1 + int(dist.size())));
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

// Counts the values that were compared, by extractor too, and keeps the first that differ.
class Judge {
 public:
  explicit Judge(const parity::Owners &owners) : owners_(owners) {
    for (const std::string &name : owners.all) by_extractor_[name].cases = 1;
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
          const std::string owner = i < owners_.features.size() ? owners_.features[i] : "";
          compare(owner, picture + ", " + hip.names[i], hip_values[i], cpu_values[i], "the CPU says");
          if (const auto golden = c.expected.find(hip.names[i]); golden != c.expected.end())
            compare(owner, picture + ", " + hip.names[i], hip_values[i], golden->second.at(a.index),
                    "libvmaf says");
        }
      }
    }
    for (size_t d = 0; d < hip.aggregates.size(); ++d)
      for (size_t i = 0; i < hip.aggregates[d].size(); ++i)
        compare(owners_.aggregates[i], "in all, " + hip.aggregate_names[i], hip.aggregates[d][i],
                cpu.aggregates[d][i], "the CPU says");
  }
  // Of the whole case: it counts against every extractor.
  void refuse(const std::string &text) {
    if (++different_ == 1) first_ = text;
    for (auto &[name, tally] : by_extractor_) ++tally.differing;
  }

  int64_t compared() const { return values_; }
  const std::map<std::string, parity::Tally> &by_extractor() const { return by_extractor_; }
  // Empty if all is equal.
  std::string verdict() const {
    return different_ > 1 ? first_ + " (and " + std::to_string(different_ - 1) + " others)" : first_;
  }

 private:
  void compare(const std::string &owner, const std::string &where, double actual, double expected,
               const char *whose) {
    const bool equal = same(actual, expected);
    ++values_;
    if (!owner.empty()) {
      ++by_extractor_[owner].values;
      by_extractor_[owner].differing += !equal;
    }
    if (!equal && ++different_ == 1)
      first_ = where + ": " + digits(actual) + ", " + whose + " " + digits(expected);
  }
  static std::vector<double> values(const PictureScores &scores) {
    std::vector<double> all = scores.features;
    all.insert(all.end(), scores.models.begin(), scores.models.end());
    return all;
  }

  const parity::Owners &owners_;
  std::map<std::string, parity::Tally> by_extractor_;
  int64_t values_ = 0, different_ = 0;
  std::string first_;
};

using Clock = std::chrono::steady_clock;
double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

// All cases on all GPUs that were asked for.
class Comparison {
 public:
  explicit Comparison(const Arguments &arguments) : arguments_(arguments) {
    for (const int device : arguments.devices) gpus_.push_back(std::make_unique<GpuPictures>(device));
    auto backend = HipBackend::open(gpus_[0]->number());
    must(backend.status());
    backend_.emplace(std::move(*backend));
    for (const Extractor *extractor : arguments.only.empty() ? parity::all_extractors() : arguments.only)
      record_.extractors[extractor->name];
  }

  int run() {
    const auto start = Clock::now();
    for (const std::string &name : names_of(arguments_)) {
      if (since(start) > arguments_.seconds) {
        ++left_out_;
        continue;
      }
      compare(name);
    }
    const std::string cases = std::to_string(golden_) + " golden and " + std::to_string(random_) +
                              " random cases (seed " + std::to_string(arguments_.seed) + ")";
    std::printf(
        "%s, %lld values, %d failed, %d with pictures in GPU memory, %d with some that it reads in place",
        cases.c_str(), static_cast<long long>(compared_), failed_, resident_, mirrored_);
    if (without_gpu_) std::printf(", %d with nothing to do for the GPU", without_gpu_);
    if (left_out_) std::printf(", %d not begun in time", left_out_);
    std::printf("; %.0f s, the GPU's sessions %.0f; ", since(start), gpu_seconds_);
    for (const auto &gpu : gpus_)
      std::printf("%s%s", gpu == gpus_[0] ? "" : " and ", gpu->description().c_str());
    std::printf("\n");
    if (!skipped_.empty()) {
      std::printf("skipped, as the extractors do not take such pictures:");
      for (const std::string &name : skipped_) std::printf(" %s", name.c_str());
      std::printf("\n");
    }
    if (golden_ + random_ + failed_ == 0 && left_out_ == 0) {
      std::printf("FAIL nothing was compared\n");
      ++failed_;
    }
    for (const auto &[extractor, tally] : record_.extractors)
      if (arguments_.every && tally.values == 0 &&
          std::ranges::find(arguments_.elsewhere, extractor) == arguments_.elsewhere.end()) {
        std::printf("FAIL no case has values of %s\n", extractor.c_str());
        ++failed_;
      }
    if (!arguments_.record.empty()) {
      record_.device = gpus_[0]->description();
      record_.runs = cases;
      if (const std::string wrong = record_.write(arguments_.record); !wrong.empty())
        throw std::runtime_error(wrong);
    }
    return failed_ ? 1 : left_out_ ? 3 : 0;
  }

 private:
  void compare(const std::string &name) {
    std::string verdict, text;
    double cpu_time = 0, gpu_time = 0;
    try {
      const Case c = make(arguments_, name);
      if (c.options.features.empty()) return skipped_.push_back(name);
      ++(name.starts_with("random-") ? random_ : golden_);
      text = c.text;
      const parity::Owners owners = parity::owners_of(c, *backend_);
      auto begin = Clock::now();
      ::setenv("VMAFHIP_ISA", "scalar", 1);
      const Scores cpu = score(c, Backend::cpu, nullptr);
      ::unsetenv("VMAFHIP_ISA");
      cpu_time = since(begin);
      begin = Clock::now();
      const std::vector<Judge> judges = on_all_gpus(c, cpu, owners);
      gpu_time = since(begin);
      for (const Judge &judge : judges) {
        compared_ += judge.compared();
        if (verdict.empty()) verdict = judge.verdict();
        for (const auto &[extractor, tally] : judge.by_extractor()) {
          parity::Tally &sum = record_.extractors[extractor];
          sum.cases += tally.cases;
          sum.values += tally.values;
          sum.differing += tally.differing;
        }
      }
    } catch (const std::exception &error) {
      verdict = error.what();
      // Whose it is, nobody knows.
      for (auto &[extractor, tally] : record_.extractors) ++tally.differing;
    }
    gpu_seconds_ += gpu_time;
    failed_ += !verdict.empty();
    if (!verdict.empty()) std::printf("FAIL %s: %s [%s]\n", name.c_str(), verdict.c_str(), text.c_str());
    if (arguments_.verbose)
      std::printf("%s %s: CPU %.2f s, GPU %.2f s [%s]\n", verdict.empty() ? "ok" : "--", name.c_str(),
                  cpu_time, gpu_time, text.c_str());
    std::fflush(stdout);
  }

  // At the same time, a thread each.
  std::vector<Judge> on_all_gpus(const Case &c, const Scores &cpu, const parity::Owners &owners) {
    std::vector<Judge> judges(gpus_.size(), Judge(owners));
    std::vector<Scores> scores(gpus_.size());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < gpus_.size(); ++i)
      threads.emplace_back([&, i] {
        try {
          scores[i] = score(c, Backend::hip, gpus_[i].get());
          judges[i].compare(scores[i], cpu, c);
        } catch (const std::exception &error) {
          judges[i].refuse(error.what());
        }
      });
    for (std::thread &thread : threads) thread.join();
    if (!scores[0].backend.starts_with("hip")) ++without_gpu_;
    if (scores[0].memory == MemoryKind::device) ++resident_;
    if (scores[0].mirrored > 0) ++mirrored_;
    return judges;
  }

  const Arguments &arguments_;
  std::vector<std::unique_ptr<GpuPictures>> gpus_;
  std::optional<HipBackend> backend_;
  parity::Record record_;
  int golden_ = 0, random_ = 0, failed_ = 0, without_gpu_ = 0, resident_ = 0, mirrored_ = 0, left_out_ = 0;
  int64_t compared_ = 0;
  std::vector<std::string> skipped_;
  double gpu_seconds_ = 0;
};

int run(const Arguments &a) {
  if (a.extractors) {
    for (const Extractor *extractor : parity::all_extractors()) std::printf("%s\n", extractor->name);
    return 0;
  }
  if (!a.list) return Comparison(a).run();
  for (const std::string &name : names_of(a))
    std::printf("%s: %s\n", name.c_str(), make(a, name).text.c_str());
  return 0;
}

}  // namespace

int main(int argc, char **argv) {
  try {
    const Arguments arguments = parity::parse(argc, argv);
    if (arguments.help) {
      std::fputs(parity::kHelp, stdout);
      return 0;
    }
    return run(arguments);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "hip_parity: %s\n", error.what());
    return 2;
  }
}
