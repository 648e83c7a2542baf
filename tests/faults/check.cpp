// Measures a small clip on the CPU and on the simulated GPU and says whether that went as expected: a fault that was seeded
// in the GPU's code (faults.py) has to show, and nothing else may.
//
//   check FEATURES EXPECTED     EXPECTED: same, differs (the scores), or a part of what the simulated runtime reports
#include <cstdio>
#include <string>
#include <utility>

#include "tests/hipsim_control.h"
#include "tests/session_run.h"

namespace {

using namespace vmafhip;
using namespace vmafhip::test;

// Empty on success.
std::string measure(const std::string &features, Backend backend, const std::vector<Pair> &clip,
                    std::vector<FrameScores> *scores) {
  SessionOptions options;
  options.models = "";
  options.features = features;
  options.backend = backend;
  options.threads = 2;
  auto session = Session::create(options);
  if (!session.ok()) return session.status().message();
  if (Status status = (*session)->configure(clip[0].ref.format, clip[0].dist.format); !status.ok())
    return status.message();
  *scores = run_clip(**session, clip);
  return (*session)->status().message();
}

bool same(const std::vector<FrameScores> &a, const std::vector<FrameScores> &b) {
  if (a.size() != b.size()) return false;
  for (size_t n = 0; n < a.size(); ++n)
    if (bits_of(a[n].dist[0].features) != bits_of(b[n].dist[0].features)) return false;
  return true;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: check FEATURES same|differs|TEXT\n");
    return 2;
  }
  const std::string features = argv[1], expected = argv[2];
  // More than a block of each kernel both ways; neither side is a multiple of anything.
  auto clip = small_clip(4, 277, 51);
  // Every other pair the other way round, sharper than its reference: gains above 1.
  for (size_t n = 1; n < clip.size(); n += 2) std::swap(clip[n].ref, clip[n].dist);
  HipSim simulator;
  std::vector<FrameScores> on_cpu, on_gpu;
  if (const std::string error = measure(features, Backend::cpu, clip, &on_cpu); !error.empty()) {
    std::fprintf(stderr, "the CPU: %s\n", error.c_str());
    return 2;
  }
  const std::string error = measure(features, Backend::hip, clip, &on_gpu);
  const std::string reports = simulator.reports();
  const unsigned leaks = simulator.leaks();
  simulator.forget();  // a report that was expected does not fail the process

  std::string outcome =
      error.empty() && reports.empty() ? same(on_cpu, on_gpu) ? "same" : "differs" : reports;
  if (outcome.empty()) outcome = error;
  std::printf("%s: %s\n", features.c_str(), outcome.c_str());
  const bool as_expected = expected == "same" || expected == "differs"
                               ? outcome == expected
                               : !error.empty() && outcome.find(expected) != std::string::npos;
  if (!as_expected) std::fprintf(stderr, "expected: %s\n", expected.c_str());
  if (leaks) std::fprintf(stderr, "%u things were not released\n", leaks);
  return as_expected && !leaks ? 0 : 1;
}
