// How long speed_chroma takes: 1080p, one thread. Names: speed_chroma.<stage>.<depth>.<isa>.
//
//   speed_bench --benchmark_repetitions=9 --benchmark_enable_random_interleaving=true
#include "tests/bench/bench_frame.h"

int main(int argc, char **argv) {
  using namespace vmafhip;
  static constexpr const char *kStages[] = {"reduce", "analyse", "compare"};
  bench::for_each_isa([](const CpuKernels &kernels, const std::string &isa) {
    for (int depth : {8, 10})
      for (int stage = 0; stage < 3; ++stage) {
        const std::string name =
            std::string("speed_chroma.") + kStages[stage] + "." + std::to_string(depth) + "." + isa;
        const auto run = [&kernels, depth, stage](benchmark::State &state) {
          const auto metric =
              make_cpu_speed_chroma(kernels, {}, {bench::kWidth, bench::kHeight, depth, Chroma::c420}, 1);
          bench::measure(state, *metric, depth, sizeof(SpeedSums), stage);
        };
        benchmark::RegisterBenchmark(name.c_str(), run)->Unit(benchmark::kMillisecond);
      }
  });
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
