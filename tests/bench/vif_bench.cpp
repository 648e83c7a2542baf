// How long VIF takes: 1080p, one thread, one distorted picture, each scale alone and all four.
// Names: vif.<stage>.<depth>.<isa>; instruction sets that this processor lacks are left out.
//
//   vif_bench --benchmark_filter='vif.all.8.*' --benchmark_repetitions=5 --benchmark_enable_random_interleaving=true
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "engine/cpu/cpu.h"
#include "engine/cpu/isa.h"

namespace vmafhip {
namespace {

constexpr int kWidth = 1920, kHeight = 1080;

using Samples = std::vector<uint16_t>;

// Smooth shapes with some grain, 8 bits and more at the same contrast.
Samples paint(int depth, uint32_t seed, int grain) {
  Samples out(size_t{kWidth} * kHeight);
  uint32_t state = seed;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      state = state * 1664525u + 1013904223u;
      const int wave = (x * x / 64 + y * y / 32) / 16 % 160, noise = static_cast<int>(state >> 16) % grain;
      const int value = 30 + (wave < 80 ? wave : 160 - wave) + 50 * ((x / 120 + y / 90) % 2) + noise;
      out[size_t(y) * kWidth + size_t(x)] =
          static_cast<uint16_t>((value << (depth - 8)) | (depth > 8 ? x % 2 : 0));
    }
  return out;
}

struct Memory {
  explicit Memory(size_t bytes)
      : data(static_cast<std::byte *>(std::aligned_alloc(64, (bytes + 64) / 64 * 64))) {}
  ~Memory() { std::free(data); }
  std::byte *data;
};

// `stage` < 0: all.
void measure(benchmark::State &state, const CpuKernels *kernels, int depth, int stage) {
  const auto metric = make_cpu_vif(*kernels, {VifParams()}, {kWidth, kHeight, depth, Chroma::c420}, 1);
  const Samples ref = paint(depth, 1, 8), dist = paint(depth, 2, 24);
  std::vector<uint8_t> bytes[2];
  FrameView frame;
  Views views;
  for (int i = 0; i < 2; ++i) {
    const Samples &from = i ? dist : ref;
    bytes[i].assign(from.begin(), from.end());
    PlaneView &to = i ? views[0] : frame.ref[0];
    to = {depth == 8 ? static_cast<const void *>(bytes[i].data()) : from.data(),
          kWidth * (depth == 8 ? 1 : 2), kWidth, kHeight, depth};
  }
  frame.dist = {&views, 1};
  const Memory scratch(metric->scratch_bytes()), frame_memory(metric->frame_bytes());
  VifSums partial;
  const auto run = [&](int s) {
    for (int strip = 0; strip < metric->strips(s); ++strip)
      metric->measure(frame, s, strip, frame_memory.data, scratch.data,
                      reinterpret_cast<std::byte *>(&partial));
  };
  for (int s = 0; s < kVifScales; ++s) run(s);  // the planes that a single stage reads
  for (auto _ : state)
    for (int s = 0; s < kVifScales; ++s)
      if (stage < 0 || s == stage) run(s);
}

}  // namespace
}  // namespace vmafhip

int main(int argc, char **argv) {
  using namespace vmafhip;
  for (const char *isa : {"scalar", "avx2", "avx512"}) {
    const auto kernels = find_cpu_kernels(isa);
    if (!kernels.ok()) continue;
    for (int depth : {8, 10})
      for (int stage = -1; stage < kVifScales; ++stage) {
        const std::string name = "vif." + (stage < 0 ? std::string("all") : "scale" + std::to_string(stage)) +
                                 "." + std::to_string(depth) + "." + isa;
        benchmark::RegisterBenchmark(name.c_str(), measure, *kernels, depth, stage)
            ->Unit(benchmark::kMillisecond);
      }
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
