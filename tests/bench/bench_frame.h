// For benchmarks of metrics: a 1080p 4:2:0 frame with smooth shapes, edges and grain, and a metric run over it.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "engine/cpu/cpu.h"
#include "engine/cpu/isa.h"

namespace vmafhip::bench {

constexpr int kWidth = 1920, kHeight = 1080;

class Frame {
 public:
  // 8 bits and more at the same contrast.
  explicit Frame(int depth) : depth_(depth) {
    const uint32_t seeds[] = {1, 2, 3};  // reference, distorted, reference before
    for (int i = 0; i < 3; ++i)
      for (int plane = 0; plane < 3; ++plane)
        paint(seeds[i] + 10 * plane, i == 1 ? 24 : 8, i == 2 ? 5 : 0, plane ? 2 : 1, &samples_[i][plane]);
    for (int plane = 0; plane < 3; ++plane) {
      view_.ref[plane] = view_of(0, plane);
      views_[plane] = view_of(1, plane);
    }
    view_.dist = {&views_, 1};
    view_.earlier[0][0] = view_of(2, 0);
    view_.index = 1;
  }
  Frame(const Frame &) = delete;
  const FrameView &view() const { return view_; }

 private:
  void paint(uint32_t state, int grain, int shift, int step, std::vector<uint8_t> *out) const {
    for (int y = 0; y < kHeight; y += step)
      for (int i = 0; i < kWidth; i += step) {
        const int x = i + shift;
        state = state * 1664525u + 1013904223u;
        const int wave = (x * x / 64 + y * y / 32) / 16 % 160, noise = static_cast<int>(state >> 16) % grain;
        const int value = 30 + (wave < 80 ? wave : 160 - wave) + 50 * ((x / 120 + y / 90) % 2) + noise;
        const int sample = (value << (depth_ - 8)) | (depth_ > 8 ? x % 2 : 0);
        out->push_back(static_cast<uint8_t>(sample));
        if (depth_ > 8) out->push_back(static_cast<uint8_t>(sample >> 8));
      }
  }
  PlaneView view_of(int i, int plane) const {
    const int width = plane ? kWidth / 2 : kWidth, height = plane ? kHeight / 2 : kHeight;
    return {samples_[i][plane].data(), width * (depth_ > 8 ? 2 : 1), width, height, depth_};
  }

  const int depth_;
  std::vector<uint8_t> samples_[3][3];
  Views views_;
  FrameView view_;
};

struct Memory {
  explicit Memory(size_t bytes)
      : data(static_cast<std::byte *>(std::aligned_alloc(64, (bytes + 64) / 64 * 64))) {}
  ~Memory() { std::free(data); }
  Memory(const Memory &) = delete;
  std::byte *const data;
};

// All strips of one stage, or of all if `stage` < 0, on one thread.
inline void measure(benchmark::State &state, const Metric &metric, int depth, size_t sums_bytes, int stage) {
  const Frame frame(depth);
  const Memory scratch(metric.scratch_bytes()), frame_memory(metric.frame_bytes()), partial(sums_bytes);
  const auto run = [&](int s) {
    for (int strip = 0; strip < metric.strips(s); ++strip)
      metric.measure(frame.view(), s, strip, frame_memory.data, scratch.data, partial.data);
  };
  for (int s = 0; s < metric.stages(); ++s) run(s);  // what a single stage reads
  for (auto _ : state)
    for (int s = 0; s < metric.stages(); ++s)
      if (stage < 0 || s == stage) run(s);
}

// Calls add(kernels, name of the instruction set) for those that this processor has.
template <class Add>
void for_each_isa(Add add) {
  for (const char *isa : {"scalar", "avx2", "avx512"})
    if (const auto kernels = find_cpu_kernels(isa); kernels.ok()) add(**kernels, std::string(isa));
}

}  // namespace vmafhip::bench
