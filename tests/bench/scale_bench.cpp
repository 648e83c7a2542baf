// How long scaling to 1080p takes: luma, one thread. Names: scale.<method>.<from>.<depth>.<isa>; instruction sets that
// this processor lacks are left out.
//
//   scale_bench --benchmark_repetitions=9 --benchmark_enable_random_interleaving=true
#include "tests/bench/bench_frame.h"

int main(int argc, char **argv) {
  using namespace vmafhip;
  constexpr struct {
    const char *name;
    ScaleMethod method;
  } kMethods[] = {{"bilinear", ScaleMethod::bilinear},
                  {"bicubic", ScaleMethod::bicubic},
                  {"lanczos", ScaleMethod::lanczos}};
  bench::for_each_isa([&](const CpuKernels &kernels, const std::string &isa) {
    for (const auto &method : kMethods)
      for (const auto &[width, height] : {std::pair{960, 540}, {1280, 720}, {3840, 2160}})
        for (int depth : {8, 10}) {
          const std::string name = "scale." + std::string(method.name) + "." + std::to_string(height) + "." +
                                   std::to_string(depth) + "." + isa;
          const auto run = [&kernels, method, width = width, height = height,
                            depth](benchmark::State &state) {
            const PlaneScaling scaling = {method.method, width,          height, depth,
                                          bench::kWidth, bench::kHeight, depth};
            const auto scaler = make_cpu_scaler(kernels, scaling);
            const int bytes = depth > 8 ? 2 : 1;
            std::vector<uint8_t> samples(static_cast<size_t>(width) * static_cast<size_t>(height * bytes));
            uint32_t noise = 1;
            for (size_t i = 0; i < samples.size(); ++i) {
              noise = noise * 1664525u + 1013904223u;
              samples[i] = static_cast<uint8_t>(depth > 8 && i % 2 ? noise >> 30 : noise >> 24);
            }
            Picture picture;
            picture.format = {width, height, depth, Chroma::c400};
            picture.planes[0] = {samples.data(), ptrdiff_t{width} * bytes, width, height, 1};
            const bench::Memory scratch(scaler->scratch_bytes()),
                out(static_cast<size_t>(bench::kWidth) * static_cast<size_t>(bench::kHeight * bytes));
            for (auto _ : state) scaler->scale(picture, 0, out.data, 0, bench::kHeight, scratch.data);
          };
          benchmark::RegisterBenchmark(name.c_str(), run)->Unit(benchmark::kMillisecond);
        }
  });
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
