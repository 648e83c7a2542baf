#include "tools/bench_arguments.h"

#include <charconv>
#include <stdexcept>

namespace vmafhip::bench {

const char kHelp[] =
    R"(Usage: vmafhip-bench [OPTION VALUE]...

Measures the engine and prints one line of JSON. Pictures are made once (or read from files) and lie in memory; a
run plays them forwards and backwards.

  --size WxH        1920x1080
  --depth N         8 to 16 bits a sample (8)
  --chroma C        400, 420, 422 or 444 (420)
  --dist-size WxH   of distorted pictures, which are then scaled (the reference's)
  --scale-method S  bicubic, bilinear, lanczos or none (bicubic)
  --model M         models as the element's property takes them (vmaf_v0.6.1); "" for none
  --features F      further extractors
  --backend B       auto, cpu or hip (auto: a GPU if there is one)
  --device N        which GPU, as its driver counts (-1: any)
  --resident        pictures lie in the GPU's memory (as a decoder there leaves them)
  --upload          they lie in pinned host memory, and are copied to the GPU on their way
  --pageable        they lie anywhere in host memory, and are copied twice (what happens unless told otherwise)
  --batch B         frames that the GPU measures together at most, 0 = by their size (0)
  --threads T       workers, 0 = number of processors (0)
  --distorted N     distorted pictures compared with each reference (1)
  --frames N        frames that are measured (50)
  --sessions N      so many sessions at a time, each fed with the same frames by a thread of its own (1)
  --rate R          frames/s of each, as of a live stream, 0 = as fast as it can (0)
  --seconds S       no frame is begun after so many seconds, however many are asked for (no limit)
  --warmup N        frames before them (5)
  --pictures N      different frames in memory (4 generated ones, or the first 64 of a file)
  --ref FILE        raw planar reference instead of generated pictures: bytes at depth 8, else little-endian words,
                    chroma rounded up
  --dist FILE       its distorted picture; once per distorted picture
  --stages          also the processor time that workers spend on each stage, and the rest: handing out work, waking
                    threads, adding up, scores, looking at clocks
  --help

In the JSON:
  fps               measured frames per second, with as many frames in flight as the session takes
  cpu_ms_per_frame  processor time of the whole process over the same frames
  workers_busy      share of that time that workers ran or waited for a processor: where it is 1 and cpu_ms_per_frame
                    that of one thread, two threads do twice as much on two idle cores; GPU sessions have threads of
                    their driver besides
  latency_ms        from submitting a frame until its sums are complete and scored, one frame in flight (another run)
  peak_rss_kib      of the process since the pictures were made, which are input_kib of it; session_kib: what the session
                    works in
  checksum          of the bits of all scores of warm-up and measured frames: the same for any number of threads,
                    every instruction set (VMAFHIP_ISA) and every GPU
  With several sessions, or a rate:
  fps               of all together, and session_fps of the slowest and the fastest
  latency_ms        with a rate: from submitting a frame until its sums are complete and scored
  session_device_kib, session_pinned_kib    the most that one of them takes; device_kib, pinned_kib: that all take
  equal_scores      whether all have scores of the same bits
  With a GPU:
  device_kib        of its memory that the session takes, besides pictures; pinned_kib: of the host's, for the GPU
  equals_cpu        whether the scores of all measured frames have the bits that the CPU gives for these pictures
)";

namespace {

int to_int(const std::string &option, const std::string &text, int low, int high) {
  int value = 0;
  const char *end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || at != end || value < low || value > high)
    throw std::invalid_argument(option + " " + text + ": not a whole number from " + std::to_string(low) +
                                " to " + std::to_string(high));
  return value;
}

constexpr struct {
  const char *text;
  Chroma chroma;
} kChromas[] = {{"400", Chroma::c400}, {"420", Chroma::c420}, {"422", Chroma::c422}, {"444", Chroma::c444}};

Chroma to_chroma(const std::string &text) {
  for (const auto &c : kChromas)
    if (text == c.text) return c.chroma;
  throw std::invalid_argument("--chroma " + text + ": not one of 400, 420, 422 and 444");
}

Backend to_backend(const std::string &text) {
  if (text == "auto") return Backend::automatic;
  if (text == "cpu") return Backend::cpu;
  if (text == "hip") return Backend::hip;
  throw std::invalid_argument("--backend " + text + ": not one of auto, cpu and hip");
}

ScaleMethod to_scale_method(const std::string &text) {
  if (text == "bicubic") return ScaleMethod::bicubic;
  if (text == "bilinear") return ScaleMethod::bilinear;
  if (text == "lanczos") return ScaleMethod::lanczos;
  if (text == "none") return ScaleMethod::none;
  throw std::invalid_argument("--scale-method " + text + ": not one of bicubic, bilinear, lanczos and none");
}

void set_size(const std::string &option, const std::string &text, int &width, int &height) {
  const size_t x = text.find('x');
  if (x == std::string::npos) throw std::invalid_argument(option + " " + text + ": not WIDTHxHEIGHT");
  width = to_int(option, text.substr(0, x), 1, 1 << 20);
  height = to_int(option, text.substr(x + 1), 1, 1 << 20);
}

// What there is to say of pictures that a GPU reads; null if the option is another one.
const MemoryKind *to_memory(const std::string &option) {
  static constexpr struct {
    const char *option;
    MemoryKind memory;
  } kMemories[] = {
      {"--resident", MemoryKind::device}, {"--upload", MemoryKind::pinned}, {"--pageable", MemoryKind::host}};
  for (const auto &m : kMemories)
    if (option == m.option) return &m.memory;
  return nullptr;
}

}  // namespace

Arguments parse(int argc, const char *const *argv) {
  Arguments a;
  bool counted = false;
  std::string placed;  // the option that says where pictures lie
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--help" || option == "-h") {
      a.help = true;
      return a;
    }
    if (option == "--stages") {
      a.stages = a.session.stage_times = true;
      continue;
    }
    if (const MemoryKind *memory = to_memory(option)) {
      if (!placed.empty() && placed != option)
        throw std::invalid_argument(placed + " and " + option + ": pictures lie in one place");
      placed = option;
      a.memory = *memory;
      continue;
    }
    static constexpr const char *kOptions[] = {
        "--size",         "--depth",  "--chroma",   "--model",     "--features", "--backend", "--threads",
        "--frames",       "--warmup", "--pictures", "--distorted", "--ref",      "--dist",    "--dist-size",
        "--scale-method", "--device", "--batch",    "--seconds",   "--sessions", "--rate"};
    bool known = false;
    for (const char *name : kOptions) known |= option == name;
    if (!known) throw std::invalid_argument("there is no option " + option);
    if (++i == argc) throw std::invalid_argument(option + " needs a value");
    const std::string value = argv[i];
    if (option == "--size") {
      set_size(option, value, a.format.width, a.format.height);
    } else if (option == "--dist-size") {
      set_size(option, value, a.dist_width, a.dist_height);
    } else if (option == "--scale-method") {
      a.session.scale = to_scale_method(value);
    } else if (option == "--depth") {
      a.format.depth = to_int(option, value, 8, 16);
    } else if (option == "--chroma") {
      a.format.chroma = to_chroma(value);
    } else if (option == "--model") {
      a.session.models = value;
    } else if (option == "--features") {
      a.session.features = value;
    } else if (option == "--backend") {
      a.session.backend = to_backend(value);
    } else if (option == "--device") {
      a.session.device = to_int(option, value, -1, 1023);
    } else if (option == "--batch") {
      a.session.batch = to_int(option, value, 0, 32);
    } else if (option == "--threads") {
      a.session.threads = to_int(option, value, 0, 1024);
    } else if (option == "--frames") {
      a.frames = to_int(option, value, 1, 1'000'000);
    } else if (option == "--sessions") {
      a.sessions = to_int(option, value, 1, 1024);
    } else if (option == "--rate") {
      a.rate = to_int(option, value, 0, 100'000);
    } else if (option == "--seconds") {
      a.seconds = to_int(option, value, 1, 100'000);
    } else if (option == "--warmup") {
      a.warmup = to_int(option, value, 0, 1'000'000);
    } else if (option == "--pictures") {
      a.pictures = to_int(option, value, 1, 10'000);
    } else if (option == "--distorted") {
      a.session.distorted = to_int(option, value, 1, 64);
      counted = true;
    } else if (option == "--ref") {
      a.ref = value;
    } else {
      a.dist.push_back(value);
    }
  }
  if (a.ref.empty() != a.dist.empty()) throw std::invalid_argument("--ref and --dist need each other");
  if (!a.dist.empty()) {
    if (counted && a.session.distorted != int(a.dist.size()))
      throw std::invalid_argument("--distorted says " + std::to_string(a.session.distorted) +
                                  ", but there are " + std::to_string(a.dist.size()) + " --dist");
    a.session.distorted = int(a.dist.size());
  }
  if (!placed.empty()) {
    if (a.session.backend == Backend::cpu)
      throw std::invalid_argument(placed + " is for GPUs, and --backend cpu uses none");
    a.session.backend = Backend::hip;
  }
  return a;
}

const char *chroma_text(Chroma chroma) {
  for (const auto &c : kChromas)
    if (chroma == c.chroma) return c.text;
  return "";
}

}  // namespace vmafhip::bench
