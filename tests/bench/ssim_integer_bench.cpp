// How long integer structural similarity takes: 1080p, one thread. Names: ssim_integer.<depth>.<isa>; instruction sets
// that this processor lacks are left out.
//
//   ssim_integer_bench --benchmark_repetitions=9 --benchmark_enable_random_interleaving=true
#include "tests/bench/bench_frame.h"

int main(int argc, char **argv) {
  using namespace vmafhip;
  bench::for_each_isa([](const CpuKernels &kernels, const std::string &isa) {
    for (int depth : {8, 10, 16}) {
      const std::string name = "ssim_integer." + std::to_string(depth) + "." + isa;
      const auto run = [&kernels, depth](benchmark::State &state) {
        const auto metric =
            make_cpu_ssim_integer(kernels, {bench::kWidth, bench::kHeight, depth, Chroma::c400}, 1);
        bench::measure(state, *metric, depth, sizeof(SsimIntegerSums), -1);
      };
      benchmark::RegisterBenchmark(name.c_str(), run)->Unit(benchmark::kMillisecond);
    }
  });
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
