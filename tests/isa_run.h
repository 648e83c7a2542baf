// For the tests of one metric on several instruction sets: a metric measured strip by strip, in any order and by
// several threads, from memory of exactly the size that it asks for.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <thread>

#include "engine/cpu/cpu.h"
#include "engine/cpu/isa.h"
#include "tests/metric_run.h"

namespace vmafhip::test {

// The instruction sets other than the plain one that this build and this processor have. One that is missing is
// named in the log, once.
inline const std::vector<const CpuKernels *> &wide_kernels() {
  static const auto found = [] {
    std::vector<const CpuKernels *> all;
    for (const char *name : {"avx2", "avx512"}) {
      const auto kernels = find_cpu_kernels(name);
      if (kernels.ok())
        all.push_back(*kernels);
      else
        std::printf("%s is NOT tested: %s\n", name, kernels.status().message().c_str());
    }
    return all;
  }();
  return found;
}

inline const CpuKernels &plain_kernels() { return **find_cpu_kernels("scalar"); }

inline std::vector<const CpuKernels *> all_kernels() {
  std::vector<const CpuKernels *> all = wide_kernels();
  all.push_back(&plain_kernels());
  return all;
}

// Memory of exactly so many bytes, 64-byte aligned, filled with rubbish.
class Rubbish {
 public:
  explicit Rubbish(size_t bytes)
      : memory_(static_cast<std::byte *>(::operator new[](bytes + 1, std::align_val_t(64)))) {
    std::memset(memory_.get(), 0xa5, bytes);
  }
  std::byte *get() const { return memory_.get(); }

 private:
  struct Free {
    void operator()(std::byte *p) const { ::operator delete[](p, std::align_val_t(64)); }
  };
  std::unique_ptr<std::byte, Free> memory_;
};

// One frame: a reference, distorted pictures, and the references before, nearest first.
struct StoredFrame {
  std::vector<StoredLuma> ref, dist;
  std::vector<Views> views;
  FrameView view;

  StoredFrame(const std::vector<Luma> &refs, const std::vector<Luma> &dists, const Layout &layout = {}) {
    for (const Luma &luma : refs) ref.emplace_back(luma, layout);
    for (const Luma &luma : dists) dist.emplace_back(luma, layout);
    for (const StoredLuma &picture : dist) views.push_back({picture.view()});
    view.index = ref.size() - 1;
    view.ref[0] = ref[0].view();
    view.dist = views;
    for (size_t back = 1; back < ref.size() && back <= 2; ++back)
      view.earlier[back - 1][0] = ref[back].view();
  }
  StoredFrame(const StoredFrame &) = delete;
};

struct Order {
  bool backwards = false;
  int threads = 1;
};

using Bytes = std::vector<std::byte>;

// Sums of each distorted picture, `bytes` long, which `add` adds.
inline std::vector<Bytes> measure_bytes(const Metric &metric, const FrameView &frame, size_t bytes,
                                        void (*add)(std::byte *total, const std::byte *partial),
                                        Order order = {}) {
  const size_t pictures = frame.dist.size();
  const Rubbish frame_memory(metric.frame_bytes());
  std::vector<Bytes> total(pictures, Bytes(bytes));
  for (int stage = 0; stage < metric.stages(); ++stage) {
    const int strips = metric.strips(stage);
    std::vector<Rubbish> partials;
    for (int strip = 0; strip < strips; ++strip) partials.emplace_back(pictures * bytes);
    std::atomic<int> taken = 0;
    const auto work = [&] {
      const Rubbish scratch(metric.scratch_bytes());
      for (int i = taken++; i < strips; i = taken++) {
        const int strip = order.backwards ? strips - 1 - i : i;
        metric.measure(frame, stage, strip, frame_memory.get(), scratch.get(),
                       partials[static_cast<size_t>(strip)].get());
      }
    };
    std::vector<std::thread> threads;
    for (int i = 1; i < order.threads; ++i) threads.emplace_back(work);
    work();
    for (std::thread &thread : threads) thread.join();
    for (const Rubbish &partial : partials)
      for (size_t d = 0; d < pictures; ++d) add(total[d].data(), partial.get() + d * bytes);
  }
  return total;
}

// The same for sums of integers, and for those that are one strip's alone.
template <class Sums>
std::vector<Sums> measure_sums(const Metric &metric, const FrameView &frame, Order order = {}) {
  const std::vector<Bytes> all = measure_bytes(metric, frame, sizeof(Sums), add_integer_sums<Sums>, order);
  std::vector<Sums> sums(all.size());
  for (size_t d = 0; d < all.size(); ++d)
    std::memcpy(static_cast<void *>(&sums[d]), all[d].data(), sizeof(Sums));
  return sums;
}

template <class Sums>
bool same_sums(const std::vector<Sums> &a, const std::vector<Sums> &b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Sums)) == 0;
}

// Distorted pictures made from `ref`: noise, less contrast and more, blocks; all within the depth's range.
inline Luma distorted_from(const Luma &ref, uint32_t seed) {
  Noise source(seed);
  const int top = (1 << ref.depth) - 1, mid = 1 << (ref.depth - 1), grain = larger(1, top / 20);
  return paint(ref.width, ref.height, ref.depth, [&](int x, int y) {
    const int gain = x < ref.width / 2 ? 2 : 6, noise = y < ref.height / 2 ? 0 : source.below(grain);
    return std::clamp(mid + (ref.at(x, y) - mid) * gain / 4 + noise, 0, top);
  });
}

// Waves and edges, as natural pictures have more of than noise.
inline Luma waves(int width, int height, int depth, int shift) {
  const int top = (1 << depth) - 1;
  return paint(width, height, depth, [&](int x, int y) {
    const int base = (3 * (x + shift) + 5 * y) % 211 + 40 * (((x + shift) / 16 + y / 16) % 2);
    return static_cast<int>(int64_t{base} * top / 255) ^ ((x * 7 + y * 3 + shift) & (depth > 8 ? 3 : 1));
  });
}

}  // namespace vmafhip::test
