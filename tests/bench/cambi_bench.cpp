// How long banding takes: 1080p, one thread, one distorted picture, each stage but the last alone, which eats what the
// one before yields, and all.
// Names: cambi.<picture>.<stage>.<depth>.<isa>; pictures are
//   grain   hardly anything in the mask, as in most pictures
//   bands   slow gradients: everything in the mask, few codes
//   blocks  8x8 pixels of one code each: everything in the mask, and every code
// Instruction sets that this processor lacks are left out.
#include "engine/extractors/extractors.h"
#include "tests/bench/bench_frame.h"

namespace vmafhip::bench {
namespace {

constexpr int kStages = 4;

struct Content {
  const char *name;
  int (*sample)(int x, int y, int depth);  // of 8 bits and more
};

constexpr Content kContents[] = {
    {"grain",
     [](int x, int y, int depth) {
       const uint32_t hash = (uint32_t(x) * 2654435761u) ^ (uint32_t(y) * 40503u * 65537u);
       return ((60 + (x + 2 * y) / 64) << (depth - 8)) + int((hash ^ hash >> 15) % 24u);
     }},
    {"bands",
     [](int x, int y, int depth) {
       const int wave = (3 * x + 2 * y + (x * y) / 512) % 6400;
       return (30 << (depth - 8)) + (wave < 3200 ? wave : 6400 - wave) / (depth > 8 ? 13 : 50);
     }},
    {"blocks",
     [](int x, int y, int depth) {
       const uint32_t hash = (uint32_t(x / 8) * 2654435761u) ^ (uint32_t(y / 8) * 2246822519u);
       return (16 << (depth - 8)) + int((hash ^ hash >> 13) % uint32_t(128 << (depth - 8)));
     }},
};

void measure_content(benchmark::State &state, const CpuKernels *kernels, const Content *content, int depth,
                     int stage) {
  const PictureFormat format = {kWidth, kHeight, depth, Chroma::c420};
  const auto options = Options::parse("cambi", kCambiExtractor.options, {});
  const auto metric = make_cpu_cambi(*kernels, cambi_params(*options, format), format, 1);
  std::vector<uint8_t> samples;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      const int sample = content->sample(x, y, depth);
      samples.push_back(static_cast<uint8_t>(sample));
      if (depth > 8) samples.push_back(static_cast<uint8_t>(sample >> 8));
    }
  FrameView frame;
  Views views;
  views[0] = frame.ref[0] = {samples.data(), kWidth * (depth > 8 ? 2 : 1), kWidth, kHeight, depth};
  frame.dist = {&views, 1};
  const Memory scratch(metric->scratch_bytes()), frame_memory(metric->frame_bytes());
  CambiSums partial;
  const auto run = [&](int s) {
    for (int strip = 0; strip < metric->strips(s); ++strip)
      metric->measure(frame, s, strip, frame_memory.data, scratch.data,
                      reinterpret_cast<std::byte *>(&partial));
  };
  for (int s = 0; s < kStages; ++s) run(s);
  for (auto _ : state)
    for (int s = 0; s < kStages; ++s)
      if (stage < 0 || s == stage) run(s);
}

}  // namespace
}  // namespace vmafhip::bench

int main(int argc, char **argv) {
  using namespace vmafhip;
  using namespace vmafhip::bench;
  const char *const stages[] = {"prepare", "scales", "tiles"};
  for (const char *isa : {"scalar", "avx2", "avx512"}) {
    const auto kernels = find_cpu_kernels(isa);
    if (!kernels.ok()) continue;
    for (const Content &content : kContents)
      for (int depth : {8, 10})
        for (int stage = -1; stage < kStages - 1; ++stage) {
          const std::string name = std::string("cambi.") + content.name + "." +
                                   (stage < 0 ? "all" : stages[stage]) + "." + std::to_string(depth) + "." +
                                   isa;
          benchmark::RegisterBenchmark(name.c_str(), measure_content, *kernels, &content, depth, stage)
              ->Unit(benchmark::kMillisecond);
        }
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
