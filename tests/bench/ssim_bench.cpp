// How long structural similarity takes: 1080p, one thread. Names: ssim.<metric>.<depth>.<isa>, of multi-scale also each
// stage; instruction sets that this processor lacks are left out.
//
//   ssim_bench --benchmark_repetitions=9 --benchmark_enable_random_interleaving=true
#include "tests/bench/bench_frame.h"

int main(int argc, char **argv) {
  using namespace vmafhip;
  const auto add = [](const CpuKernels &kernels, const std::string &name, const SsimParams &params, int depth,
                      int stage) {
    const auto run = [&kernels, params, depth, stage](benchmark::State &state) {
      const auto metric =
          make_cpu_ssim(kernels, params, {bench::kWidth, bench::kHeight, depth, Chroma::c400}, 1);
      bench::measure(state, *metric, depth, sizeof(MsSsimSums), stage);
    };
    benchmark::RegisterBenchmark(name.c_str(), run)->Unit(benchmark::kMillisecond);
  };
  bench::for_each_isa([&](const CpuKernels &kernels, const std::string &isa) {
    SsimParams single, whole, multi;
    single.factor = ssim_automatic_factor(bench::kWidth, bench::kHeight);
    multi.multi_scale = true;
    for (int depth : {8, 10}) {
      const std::string tail = "." + std::to_string(depth) + "." + isa;
      add(kernels, "ssim.float" + tail, single, depth, -1);
      add(kernels, "ssim.float_scale1" + tail, whole, depth, -1);
      add(kernels, "ssim.multi" + tail, multi, depth, -1);
    }
    for (int stage = 0; stage <= kMsSsimScales; ++stage)
      add(kernels, "ssim.multi_stage" + std::to_string(stage) + ".8." + isa, multi, 8, stage);
  });
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
