// How long float_vif takes: 1080p, one thread. Names: vif_float.<scale0 to scale3, or all>.<depth>.<isa>; instruction
// sets that this processor lacks are left out.
//
//   vif_float_bench --benchmark_repetitions=9 --benchmark_enable_random_interleaving=true
#include "tests/bench/bench_frame.h"

int main(int argc, char **argv) {
  using namespace vmafhip;
  bench::for_each_isa([](const CpuKernels &kernels, const std::string &isa) {
    for (int depth : {8, 10})
      for (int stage = -1; stage < kVifFloatScales; ++stage) {
        const std::string part = stage < 0 ? "all" : "scale" + std::to_string(stage);
        const std::string name = "vif_float." + part + "." + std::to_string(depth) + "." + isa;
        const auto run = [&kernels, depth, stage](benchmark::State &state) {
          const auto metric =
              make_cpu_vif_float(kernels, {}, {bench::kWidth, bench::kHeight, depth, Chroma::c400}, 1);
          bench::measure(state, *metric, depth, sizeof(VifFloatSums), stage);
        };
        benchmark::RegisterBenchmark(name.c_str(), run)->Unit(benchmark::kMillisecond);
      }
  });
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
