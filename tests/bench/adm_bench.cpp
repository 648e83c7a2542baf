// How long ADM takes: 1080p, one thread, one distorted picture, each scale alone and all four.
// Names: adm.<stage>.<depth>.<isa>; instruction sets that this processor lacks are left out.
//
//   adm_bench --benchmark_filter='adm.all.*' --benchmark_repetitions=9 --benchmark_enable_random_interleaving=true
#include "tests/bench/bench_frame.h"

int main(int argc, char **argv) {
  using namespace vmafhip;
  bench::for_each_isa([](const CpuKernels &kernels, const std::string &isa) {
    for (int depth : {8, 10})
      for (int stage = -1; stage < kAdmScales; ++stage) {
        const std::string what = stage < 0 ? "all" : "scale" + std::to_string(stage);
        const std::string name = "adm." + what + "." + std::to_string(depth) + "." + isa;
        const auto run = [&kernels, depth, stage](benchmark::State &state) {
          const auto metric = make_cpu_adm(kernels, {adm_configure({}, bench::kWidth, bench::kHeight)},
                                           {bench::kWidth, bench::kHeight, depth, Chroma::c400}, 1);
          bench::measure(state, *metric, depth, sizeof(AdmSums), stage);
        };
        benchmark::RegisterBenchmark(name.c_str(), run)->Unit(benchmark::kMillisecond);
      }
  });
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
