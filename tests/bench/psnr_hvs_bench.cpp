// How long psnr_hvs takes: 1080p, one thread. Names: psnr_hvs.all.<depth>.<isa>; instruction sets that this processor
// lacks are left out.
//
//   psnr_hvs_bench --benchmark_repetitions=9 --benchmark_enable_random_interleaving=true
#include "engine/arith/psnr_hvs.h"
#include "tests/bench/bench_frame.h"

int main(int argc, char **argv) {
  using namespace vmafhip;
  bench::for_each_isa([](const CpuKernels &kernels, const std::string &isa) {
    for (int depth : {8, 10}) {
      const std::string name = "psnr_hvs.all." + std::to_string(depth) + "." + isa;
      const auto run = [&kernels, depth](benchmark::State &state) {
        const auto metric =
            make_cpu_psnr_hvs(kernels, {bench::kWidth, bench::kHeight, depth, Chroma::c420}, 1);
        bench::measure(state, *metric, depth, sizeof(PsnrHvsSums), -1);
      };
      benchmark::RegisterBenchmark(name.c_str(), run)->Unit(benchmark::kMillisecond);
    }
  });
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
