// How long speed_qa takes: 1080p, one thread, without the difference of pictures. Names: speed_qa.<depth>.<isa>.
//
//   speed_qa_bench --benchmark_repetitions=9 --benchmark_enable_random_interleaving=true
#include "tests/bench/bench_frame.h"

int main(int argc, char **argv) {
  using namespace vmafhip;
  bench::for_each_isa([](const CpuKernels &kernels, const std::string &isa) {
    for (int depth : {8, 10}) {
      const std::string name = "speed_qa." + std::to_string(depth) + "." + isa;
      const auto run = [&kernels, depth](benchmark::State &state) {
        const auto metric =
            make_cpu_speed_qa(kernels, {bench::kWidth, bench::kHeight, depth, Chroma::c420}, 1);
        bench::measure(state, *metric, depth, sizeof(SpeedQaSums), -1);
      };
      benchmark::RegisterBenchmark(name.c_str(), run)->Unit(benchmark::kMillisecond);
    }
  });
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
