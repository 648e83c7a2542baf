// gpu_dmabuf: pictures that a GPU reads where others have put them, against the same in memory of the engine's user: the
// scores have the same bits, nothing is uploaded, and how much faster it is. See --help. Needs nothing but a driver at run
// time.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "engine/dmabuf.h"
#include "engine/hip/device.h"
#include "engine/session.h"
#include "engine/view.h"
#include "tests/clipgen/clipgen.h"
#include "tests/parity/shared_memory.h"

namespace {

using namespace vmafhip;

constexpr char kHelp[] = R"(usage: gpu_dmabuf [OPTION VALUE]...

Scores the same pictures from

  pageable    memory that the GPU cannot reach: the processor copies it
  pinned      pinned memory, which is uploaded from where it is
  imported    memory of the GPU that CUDA has exported as a file descriptor (elsewhere: of memfds, if the driver takes
              such), imported: nothing is uploaded
  registered  memfds, mapped and pinned where they are

in layouts I420, NV12 and P010, and prints a line for each: whether the scores have the bits that the CPU gives, what
was uploaded a frame, and unless --seconds is 0 frames/s and the time that one frame takes.

  --size WxH     3840x2160
  --model M      vmaf_v0.6.1
  --features F   psnr
  --device N     the GPU (-1: any)
  --seconds S    of each line's measurement (1)

Exit status: 0 all is as it should be, 1 it is not, 2 wrong usage.
)";

struct Arguments {
  int width = 3840, height = 2160, device = -1, seconds = 1;
  std::string model = "vmaf_v0.6.1", features = "psnr";
};

int to_number(const std::string &option, std::string_view text, int low, int high) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high)
    throw std::invalid_argument(option + " " + std::string(text) + " is not a number from " +
                                std::to_string(low) + " to " + std::to_string(high));
  return value;
}

Arguments parse(int argc, char **argv) {
  Arguments a;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    if (i + 1 == argc) throw std::invalid_argument(option + " needs a value");
    const std::string_view value = argv[i + 1];
    if (option == "--size") {
      const size_t x = value.find('x');
      if (x == value.npos) throw std::invalid_argument("--size takes WIDTHxHEIGHT");
      a.width = to_number(option, value.substr(0, x), 16, 16384);
      a.height = to_number(option, value.substr(x + 1), 16, 16384);
    } else if (option == "--model") {
      a.model = value;
    } else if (option == "--features") {
      a.features = value;
    } else if (option == "--device") {
      a.device = to_number(option, value, -1, 1023);
    } else if (option == "--seconds") {
      a.seconds = to_number(option, value, 0, 60);
    } else {
      throw std::invalid_argument("there is no option " + option);
    }
  }
  return a;
}

void must(const Status &status) {
  if (!status.ok()) throw std::runtime_error(status.message());
}

// Every byte that the host sends to the GPU, counted in the table of the runtime's functions.
class Uploads {
 public:
  explicit Uploads(const hip::Api &api) {
    auto &table = const_cast<hip::Api &>(api);  // no object of the runtime is constant but by its pointers
    copy = table.hipMemcpyAsync;
    copy_rows = table.hipMemcpy2DAsync;
    copy_together = table.copy_together;
    table.hipMemcpyAsync = [](void *to, const void *from, size_t bytes, int kind, void *stream) {
      if (kind == hip::kCopyHostToDevice) sent += bytes;
      return copy(to, from, bytes, kind, stream);
    };
    table.hipMemcpy2DAsync = [](void *to, size_t to_stride, const void *from, size_t from_stride,
                                size_t width, size_t rows, int kind, void *stream) {
      if (kind == hip::kCopyHostToDevice) sent += width * rows;
      return copy_rows(to, to_stride, from, from_stride, width, rows, kind, stream);
    };
    if (copy_together)
      table.copy_together = [](const hip::Upload *copies, size_t count, void *stream) {
        const int error = copy_together(copies, count, stream);
        // What is not supported is sent singly.
        for (size_t i = 0; error == 0 && i < count; ++i) sent += copies[i].width * copies[i].rows;
        return error;
      };
  }
  static uint64_t bytes() { return sent; }

 private:
  static inline decltype(hip::Functions::hipMemcpyAsync) copy;
  static inline decltype(hip::Functions::hipMemcpy2DAsync) copy_rows;
  static inline decltype(hip::Api::copy_together) copy_together;
  static inline std::atomic<uint64_t> sent{0};
};

// Where the planes of a picture lie in a block of memory.
struct Layout {
  const char *name;
  int depth, shift;
  bool interleaved;
  struct Place {
    uint64_t offset;
    ptrdiff_t stride;
    int width, height, step;
  };
  std::array<Place, 3> planes{};
  uint64_t bytes = 0;
  PictureFormat format{};

  void set_size(int width, int height) {
    format = {width, height, depth, Chroma::c420};
    bytes = 0;
    for (int p = 0; p < 3; ++p) {
      const PlaneSize size = plane_size(format, p);
      const int step = p > 0 && interleaved ? 2 : 1;
      const ptrdiff_t stride = (ptrdiff_t(size.width) * step * sample() + 255) / 256 * 256;
      if (p == 2 && interleaved) {
        planes[2] = planes[1];
        planes[2].offset += uint64_t(sample());
      } else {
        planes[size_t(p)] = {bytes, stride, size.width, size.height, step};
        bytes += uint64_t(stride) * uint64_t(size.height);
      }
    }
  }
  int sample() const { return depth > 8 ? 2 : 1; }

  std::vector<uint8_t> fill(const clipgen::Generator &clip, clipgen::Role role, int frame) const {
    std::vector<uint8_t> block(bytes);
    for (int p = 0; p < 3; ++p) {
      const Place &plane = planes[size_t(p)];
      const std::vector<uint16_t> samples = clip.plane(role, frame, p);
      for (int y = 0; y < plane.height; ++y)
        for (int x = 0; x < plane.width; ++x) {
          const auto value = uint16_t(samples[size_t(y) * size_t(plane.width) + size_t(x)] << shift);
          std::memcpy(&block[plane.offset + uint64_t(y) * uint64_t(plane.stride) +
                             uint64_t(x) * uint64_t(plane.step * sample())],
                      &value, size_t(sample()));
        }
    }
    return block;
  }

  // `data` or `device` may be 0.
  Picture picture(const void *data, uint64_t device, MemoryKind memory,
                  std::shared_ptr<const void> owner) const {
    Picture picture;
    picture.format = format;
    picture.format.memory = memory;
    picture.shift = shift;
    for (size_t p = 0; p < 3; ++p) {
      const Place &from = planes[p];
      Plane &plane = picture.planes[p];
      plane = {nullptr, from.stride, from.width, from.height, from.step};
      if (data) plane.data = static_cast<const uint8_t *>(data) + from.offset;
      if (device) plane.device = device + from.offset;
    }
    picture.owner = std::move(owner);
    return picture;
  }
};

// The nth picture of one of the two streams, anew for each frame.
using Give = std::function<Picture(int stream, int n)>;

// Bits of scores.
using Bits = std::vector<uint64_t>;

struct Figures {
  Bits bits;
  uint64_t uploaded = 0, frames = 0;  // in the time after the first frames
  double fps = 0, latency_ms = 0;
};

constexpr int kPictures = 4, kCompared = 8;

class Run {
 public:
  Run(const Arguments &a, Backend backend, const PictureFormat &format, const Give &give) : give_(give) {
    SessionOptions options;
    options.models = a.model;
    options.features = a.features;
    options.backend = backend;
    if (backend == Backend::hip) options.device = a.device;
    auto created = Session::create(options);
    must(created.status());
    session_ = std::move(*created);
    must(session_->configure(format, format));
  }
  Session &session() { return *session_; }

  Bits bits() {
    feed(kCompared + session_->lookahead());
    return bits_;
  }
  Figures measure(int seconds) {
    Figures figures;
    // All lanes of the GPU are made by then, and so many frames were in flight as ever will be.
    feed(kCompared + 2 * session_->max_in_flight());
    figures.bits = bits_;
    const uint64_t before = Uploads::bytes(), first = frames_;
    const auto start = Clock::now();
    do feed(kCompared);
    while (since(start) < seconds);
    figures.fps = double(frames_ - first) / since(start);
    std::vector<double> times;
    const auto alone = Clock::now();
    do {
      const auto begin = Clock::now();
      submit();
      drain();
      times.push_back(since(begin) * 1000);
    } while (since(alone) < seconds * 0.5);
    std::ranges::nth_element(times, times.begin() + ptrdiff_t(times.size() / 2));
    figures.latency_ms = times[times.size() / 2];
    figures.uploaded = Uploads::bytes() - before;
    figures.frames = frames_ - first;
    return figures;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

  // Forwards and backwards.
  static int place(uint64_t frame) {
    const int n = int(frame % (2 * kPictures - 2));
    return n < kPictures ? n : 2 * kPictures - 2 - n;
  }
  bool take() {
    const Session::Next next = session_->wait(scores_);
    if (next == Session::Next::failed) must(session_->status());
    if (next != Session::Next::ready) return false;
    if (scores_.index < kCompared)
      for (const auto *values : {&scores_.dist[0].features, &scores_.dist[0].models})
        for (const double value : *values) bits_.push_back(std::bit_cast<uint64_t>(value));
    return true;
  }
  void drain() {
    while (take()) {
    }
  }
  void submit() {
    const int n = place(frames_);
    const Picture ref = give_(0, n), dist = give_(1, n);
    while (!session_->submit(ref, dist))
      if (!take()) throw std::runtime_error("the session is stuck");
    ++frames_;
  }
  void feed(int frames) {
    for (int i = 0; i < frames; ++i) submit();
    drain();
  }

  const Give &give_;
  std::unique_ptr<Session> session_;
  FrameScores scores_;
  Bits bits_;
  uint64_t frames_ = 0;
};

// Takes nothing as it is, so that everything is pinned.
struct PinsOnly : Importer {
  explicit PinsOnly(std::shared_ptr<const Importer> real) : real(std::move(real)) {}
  Result<ExternalMemory> import(int, uint64_t) const override {
    return Status(Code::unsupported, "it is to be pinned");
  }
  Result<ExternalMemory> pin(void *data, uint64_t bytes) const override { return real->pin(data, bytes); }
  std::shared_ptr<const Importer> real;
};

class Comparison {
 public:
  Comparison(const Arguments &arguments, std::shared_ptr<hip::Device> device)
      : arguments_(arguments), device_(std::move(device)) {}

  int run() {
    for (Layout layout :
         {Layout{"I420", 8, 0, false}, Layout{"NV12", 8, 0, true}, Layout{"P010", 10, 6, true}}) {
      layout.set_size(arguments_.width, arguments_.height);
      compare(layout);
    }
    std::printf("gpu_dmabuf: %d cases, %d failed, %dx%d; %s\n", cases_, failed_, arguments_.width,
                arguments_.height, device_->description().c_str());
    return failed_ ? 1 : 0;
  }

 private:
  using Blocks = std::array<std::vector<std::vector<uint8_t>>, 2>;  // by stream and picture
  using Objects = std::array<std::vector<std::unique_ptr<parity::SharedMemory>>, 2>;

  void compare(const Layout &layout) {
    clipgen::Format clip_format{layout.format.width, layout.format.height, kPictures, layout.depth};
    const clipgen::Generator clip("natural-blur", clip_format);
    Blocks blocks;
    std::vector<std::thread> threads;
    for (size_t stream = 0; stream < 2; ++stream) {
      blocks[stream].resize(kPictures);
      for (int n = 0; n < kPictures; ++n)
        threads.emplace_back([&, stream, n] {
          const auto role = stream == 0 ? clipgen::Role::reference : clipgen::Role::distorted;
          blocks[stream][size_t(n)] = layout.fill(clip, role, n);
        });
    }
    for (std::thread &thread : threads) thread.join();
    const Give pageable = [&](int stream, int n) {
      return layout.picture(blocks[size_t(stream)][size_t(n)].data(), 0, MemoryKind::host, nullptr);
    };
    cpu_ = Run(arguments_, Backend::cpu, layout.format, pageable).bits();
    pinned_ = {};
    step(layout, "pageable", [&] { return measure(layout, pageable); });
    step(layout, "pinned", [&] { return from_pinned(layout, blocks); });
    step(layout, "imported", [&] { return from_objects(layout, blocks, true); });
    step(layout, "registered", [&] { return from_objects(layout, blocks, false); });
  }

  Figures measure(const Layout &layout, const Give &give) {
    return Run(arguments_, Backend::hip, layout.format, give).measure(arguments_.seconds);
  }

  Figures from_pinned(const Layout &layout, const Blocks &blocks) {
    std::array<std::vector<std::shared_ptr<hip::PinnedBuffer>>, 2> copies;
    {
      const hip::CurrentDevice current(*device_);
      for (size_t stream = 0; stream < 2; ++stream)
        for (const auto &block : blocks[stream]) {
          copies[stream].push_back(std::make_shared<hip::PinnedBuffer>(*device_, block.size()));
          std::memcpy(copies[stream].back()->data(), block.data(), block.size());
        }
    }
    return measure(layout, [&](int stream, int n) {
      return layout.picture(copies[size_t(stream)][size_t(n)]->data(), 0, MemoryKind::pinned, nullptr);
    });
  }

  // As an element does it: an object is looked up for each picture.
  Figures from_objects(const Layout &layout, const Blocks &blocks, bool imports) {
    const bool nvidia = device_->api().vendor == hip::Vendor::nvidia;
    Objects objects;
    for (size_t stream = 0; stream < 2; ++stream)
      for (const auto &block : blocks[stream])
        objects[stream].push_back(imports && nvidia ? parity::make_exported(device_, block)
                                                    : parity::make_memfd(block));
    DmaBufs cache;
    const Give give = [&](int stream, int n) {
      const parity::SharedMemory &memory = *objects[size_t(stream)][size_t(n)];
      const auto object = cache.find(memory.fd(), memory.bytes());
      must(object.status());
      if (!is_written(memory.fd(), 0))
        throw std::runtime_error("what nobody writes to is said to be written");
      const DmaBuf &found = **object;
      if (imports != (found.device() != 0) || imports == found.pinned())
        throw std::runtime_error((imports ? "it is not imported: " : "it is not pinned: ") + cache.refusal());
      return layout.picture(found.data(), found.device(),
                            found.pinned() ? MemoryKind::pinned : MemoryKind::host, *object);
    };
    Run run(arguments_, Backend::hip, layout.format, give);
    std::shared_ptr<const Importer> importer = run.session().importer();
    if (!importer) throw std::runtime_error("the session has no importer");
    // CUDA's refuses memfds itself.
    if (!imports && !nvidia) importer = std::make_shared<PinsOnly>(importer);
    cache.set_importer(importer);
    const Figures figures = run.measure(arguments_.seconds);
    const DmaBufs::Counts counts = cache.counts();
    const uint64_t made = 2 * kPictures;
    if (counts.imported != (imports ? made : 0) || counts.pinned != (imports ? 0 : made) ||
        counts.mapped != 0)
      throw std::runtime_error(std::to_string(made) + " objects were imported " +
                               std::to_string(counts.imported) + " times, pinned " +
                               std::to_string(counts.pinned) + " times, and mapped alone " +
                               std::to_string(counts.mapped) + " times");
    return figures;
  }

  void step(const Layout &layout, const char *name, const std::function<Figures()> &measure) {
    ++cases_;
    std::string wrong;
    Figures figures;
    try {
      figures = measure();
      if (std::string(name) == "pinned") pinned_ = figures;
      const bool uploads = std::string(name) != "imported";
      if (figures.bits != cpu_ || cpu_.empty())
        wrong = "the scores have not the bits that the CPU gives";
      else if (uploads != (figures.uploaded > 0))
        wrong = std::to_string(figures.uploaded) + " bytes were uploaded";
    } catch (const std::exception &error) {
      wrong = error.what();
    }
    failed_ += !wrong.empty();
    if (!wrong.empty()) {
      std::printf("FAIL %s %s: %s\n", name, layout.name, wrong.c_str());
    } else {
      std::printf("%-10s %s  same bits, %llu bytes uploaded a frame", name, layout.name,
                  static_cast<unsigned long long>(figures.uploaded / figures.frames));
      if (arguments_.seconds > 0) {
        std::printf(", %.0f frames/s, %.3f ms a frame", figures.fps, figures.latency_ms);
        if (pinned_.fps > 0)
          std::printf(" (pinned: x %.2f, x %.2f)", figures.fps / pinned_.fps,
                      figures.latency_ms / pinned_.latency_ms);
      }
      std::printf("\n");
    }
    std::fflush(stdout);
  }

  const Arguments &arguments_;
  std::shared_ptr<hip::Device> device_;
  Bits cpu_;
  Figures pinned_;
  int cases_ = 0, failed_ = 0;
};

}  // namespace

int main(int argc, char **argv) {
  if (argc > 1 && (std::string(argv[1]) == "--help" || std::string(argv[1]) == "-h")) {
    std::fputs(kHelp, stdout);
    return 0;
  }
  Arguments arguments;
  try {
    arguments = parse(argc, argv);
  } catch (const std::invalid_argument &error) {
    std::fprintf(stderr, "gpu_dmabuf: %s; see --help\n", error.what());
    return 2;
  }
  try {
    auto device = hip::Device::open(arguments.device);
    must(device.status());
    arguments.device = (*device)->number();
    const Uploads counted((*device)->api());
    return Comparison(arguments, *device).run();
  } catch (const std::exception &error) {
    std::printf("gpu_dmabuf: FAIL %s\n", error.what());
    return 1;
  }
}
