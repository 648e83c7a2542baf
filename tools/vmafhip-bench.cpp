// vmafhip-bench: how fast the engine is, without GStreamer. bench_arguments.cpp has the help.
#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "engine/registry.h"
#include "engine/session.h"
#include "tools/bench_arguments.h"
#include "tools/bench_channels.h"
#include "tools/bench_checksum.h"
#include "tools/bench_pictures.h"
#include "tools/bench_process.h"

namespace {

using namespace vmafhip;
using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

double seconds_since(Clock::time_point start) { return Milliseconds(Clock::now() - start).count() / 1000; }

void must(const Status &status) {
  if (!status.ok()) throw std::runtime_error(status.message());
}

uint64_t checksum_of(const FrameScores &scores) {
  bench::Checksum sum;
  sum.add(scores);
  return sum.value();
}

// More frames than any score looks back.
constexpr uint64_t kHistory = 8;

class Bench {
 public:
  Bench(const bench::Arguments &arguments, const bench::Pictures &pictures, Session &session)
      : arguments_(arguments), pictures_(pictures), session_(session) {}

  // With as many frames in flight as the session takes.
  void throughput(nlohmann::ordered_json &out) {
    uint64_t n = 0;
    for (; n < uint64_t(arguments_.warmup); ++n) submit(n);
    take_all();
    const std::vector<StageTime> before = session_.stage_times();
    const auto start = Clock::now();
    const double cpu = cpu_seconds(), busy = bench::others_busy_seconds();
    const uint64_t first = n, end = first + uint64_t(arguments_.frames);
    for (; n < end && seconds_since(start) < arguments_.seconds; ++n) submit(n);
    session_.finish();
    take_all();
    const double seconds = seconds_since(start);
    const auto frames = int(n - first);
    out["frames"] = frames;
    out["fps"] = frames / seconds;
    out["cpu_ms_per_frame"] = (cpu_seconds() - cpu) * 1000 / frames;
    out["workers_busy"] = (bench::others_busy_seconds() - busy) / seconds / session_.threads();
    out["checksum"] = sum_.text();
    for (size_t i = 0; i < session_.aggregate_names().size(); ++i)
      if (!std::isnan(session_.aggregates()[i]))
        out["aggregates"][session_.aggregate_names()[i]] = session_.aggregates()[i];
    if (!arguments_.stages) return;
    const std::vector<StageTime> after = session_.stage_times();
    double rest = out["cpu_ms_per_frame"];
    for (size_t i = 0; i < after.size(); ++i) {
      const double spent = (after[i].seconds - before[i].seconds) * 1000 / frames;
      rest -= spent;
      out["stages"].push_back(
          {{"extractor", after[i].extractor}, {"stage", after[i].stage}, {"ms_per_frame", spent}});
    }
    out["rest_ms_per_frame"] = rest;
  }

  // Whether the CPU gives the same scores. Pictures come again after a period, and so do their scores once all frames
  // that they depend on are there: the CPU need not measure all. The last frames lack their successors.
  bool equals_cpu(const bench::Pictures &in_host_memory) {
    SessionOptions options = arguments_.session;
    options.backend = Backend::cpu;
    auto cpu = Session::create(options);
    must(cpu.status());
    const uint64_t period = in_host_memory.period(), lookahead = uint64_t((*cpu)->lookahead());
    const uint64_t repeated = (kHistory / period + 1) * period;
    const uint64_t measured = frames_.size(), needed = std::min(measured, 2 * repeated + lookahead);
    must((*cpu)->configure(arguments_.format,
                           std::vector(size_t(arguments_.session.distorted), arguments_.dist_format())));
    std::vector<uint64_t> expected;
    FrameScores scores;
    for (uint64_t n = 0; n < needed; ++n) {
      const bench::Frame &frame = in_host_memory.at(n);
      std::vector<Picture> dist = frame.dist;
      while (!(*cpu)->submit(frame.ref, dist))
        if ((*cpu)->wait(scores) == Session::Next::ready) expected.push_back(checksum_of(scores));
    }
    (*cpu)->finish();
    while ((*cpu)->wait(scores) == Session::Next::ready) expected.push_back(checksum_of(scores));
    if (needed == measured) return expected == frames_;
    for (uint64_t n = 0; n < measured - lookahead; ++n) {
      const uint64_t like = n < 2 * repeated ? n : repeated + (n - repeated) % period;
      if (frames_[n] != expected[like]) return false;
    }
    return true;
  }

  // With one frame in flight.
  void latency(nlohmann::ordered_json &out) {
    session_.reset();
    const int frames = std::min(arguments_.frames, 100), first = std::min(arguments_.warmup, 3);
    std::vector<double> times;
    for (int n = 0; n < first + frames; ++n) {
      const auto start = Clock::now();
      submit(uint64_t(n));
      must_go_on(
          session_.wait(scores_));  // until the frame's sums are there, whether or not they complete a score
      if (n >= first) times.push_back(Milliseconds(Clock::now() - start).count());
    }
    std::sort(times.begin(), times.end());
    const auto percentile = [&](size_t p) { return times[(times.size() * p + 99) / 100 - 1]; };
    out["latency_ms"] = {{"min", times[0]}, {"p50", percentile(50)}, {"p99", percentile(99)}};
  }

 private:
  void must_go_on(Session::Next next) const {
    if (next == Session::Next::failed) throw std::runtime_error(session_.status().message());
  }
  void add() {
    sum_.add(scores_.index);
    const uint64_t frame = checksum_of(scores_);
    sum_.add(frame);
    frames_.push_back(frame);
  }
  void take_all() {
    for (;;) {
      const Session::Next next = session_.wait(scores_);
      must_go_on(next);
      if (next != Session::Next::ready) return;
      add();
    }
  }
  void submit(uint64_t n) {
    const bench::Frame &frame = pictures_.at(n);
    dist_ = frame.dist;
    while (!session_.submit(frame.ref, dist_)) {
      const Session::Next next = session_.wait(scores_);
      must_go_on(next);
      if (next != Session::Next::ready) throw std::runtime_error("the session is stuck");
      add();
    }
  }

  const bench::Arguments &arguments_;
  const bench::Pictures &pictures_;
  Session &session_;
  std::vector<Picture> dist_;
  FrameScores scores_;
  bench::Checksum sum_;
  std::vector<uint64_t> frames_;  // of each frame's scores
};

const char *memory_text(MemoryKind memory) {
  switch (memory) {
    case MemoryKind::host:
      return "pageable";
    case MemoryKind::pinned:
      return "pinned";
    case MemoryKind::device:
      return "device";
  }
  return "";
}

void print(const nlohmann::ordered_json &out) {
  std::printf("%s\n", out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

void run(bench::Arguments arguments) {
  // The pictures' GPU is the session's, too.
  std::optional<GpuPictures> gpu;
  if (arguments.memory != MemoryKind::host) {
    gpu.emplace(arguments.session.device);
    arguments.session.device = gpu->number();
  }
  auto session = Session::create(arguments.session);
  must(session.status());
  // Before the pictures, which take longer: a format that will not do is told at once.
  PictureFormat ref = arguments.format, dist = arguments.dist_format();
  ref.memory = dist.memory = arguments.memory;
  must((*session)->configure(ref, std::vector(size_t(arguments.session.distorted), dist)));
  for (const std::string &remark : (*session)->remarks())
    std::fprintf(stderr, "vmafhip-bench: %s\n", remark.c_str());
  const bench::Pictures pictures = bench::make_pictures(arguments);
  bench::forget_peak_rss();  // making pictures takes more than comparing them
  const bench::Pictures placed = gpu ? bench::place(pictures, *gpu, arguments.memory) : pictures;

  nlohmann::ordered_json out;
  out["size"] = std::to_string(ref.width) + "x" + std::to_string(ref.height);
  out["dist_size"] = std::to_string(dist.width) + "x" + std::to_string(dist.height);
  out["depth"] = ref.depth;
  out["chroma"] = bench::chroma_text(ref.chroma);
  out["model"] = arguments.session.models;
  out["features"] = arguments.session.features;
  const std::string backend = (*session)->backend_description();
  const bool on_gpu = backend.starts_with("hip");
  out["backend"] = on_gpu ? "hip" : "cpu";
  out["isa"] = CpuBackend::choose()->isa();
  out["threads"] = (*session)->threads();
  if (on_gpu) {
    out["device"] = backend;
    out["memory"] = memory_text(arguments.memory);
    out["batch"] = arguments.session.batch;
  }
  out["distorted"] = arguments.session.distorted;
  if (arguments.sessions > 1 || arguments.rate > 0) {
    *session = nullptr;  // its memory is the others'
    measure_channels(arguments, placed, out);
    return print(out);
  }
  Bench bench(arguments, placed, **session);
  bench.throughput(out);
  bench.latency(out);
  out["peak_rss_kib"] = bench::peak_rss_kib();
  out["input_kib"] = pictures.bytes / 1024;
  out["session_kib"] = (*session)->host_bytes() / 1024;
  if (on_gpu) {
    out["device_kib"] = (*session)->device_bytes() / 1024;
    out["pinned_kib"] = (*session)->pinned_bytes() / 1024;
    out["equals_cpu"] = bench.equals_cpu(pictures);
  }
  print(out);
}

}  // namespace

int main(int argc, char **argv) {
  mallopt(M_ARENA_MAX, 1);  // of others, what threads that made pictures leave behind cannot be given back
  bench::Arguments arguments;
  try {
    arguments = bench::parse(argc, argv);
  } catch (const std::invalid_argument &error) {
    std::fprintf(stderr, "vmafhip-bench: %s (see --help)\n", error.what());
    return 2;
  }
  if (arguments.help) {
    std::fputs(bench::kHelp, stdout);
    return 0;
  }
  try {
    run(arguments);
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "vmafhip-bench: %s\n", error.what());
    return 1;
  }
}
