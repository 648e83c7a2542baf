// How long the sums over a luma plane take: 1080p, one thread. Names: psnr.<sum>.<depth>.<isa>; instruction sets that
// this processor lacks are left out.
//
//   psnr_bench --benchmark_repetitions=9 --benchmark_enable_random_interleaving=true
#include "tests/bench/bench_frame.h"

int main(int argc, char **argv) {
  using namespace vmafhip;
  using Make = std::unique_ptr<Metric> (*)(const CpuKernels &, const PictureFormat &);
  struct Sum {
    const char *name;
    size_t bytes;
    Make make;
  };
  static const Sum sums[] = {
      {"squares", sizeof(PsnrSums), [](auto &k, auto &f) { return make_cpu_psnr(k, 1, f, 1); }},
      {"rounded_squares", sizeof(FloatPsnrSums),
       [](auto &k, auto &f) { return make_cpu_float_psnr(k, f, 1); }},
      {"moments", sizeof(MomentSums), [](auto &k, auto &f) { return make_cpu_moment(k, f, 1); }},
  };
  bench::for_each_isa([](const CpuKernels &kernels, const std::string &isa) {
    for (const Sum &sum : sums)
      for (int depth : {8, 10, 16}) {
        const std::string name = "psnr." + std::string(sum.name) + "." + std::to_string(depth) + "." + isa;
        const auto run = [&kernels, &sum, depth](benchmark::State &state) {
          const PictureFormat format = {bench::kWidth, bench::kHeight, depth, Chroma::c400};
          bench::measure(state, *sum.make(kernels, format), depth, sum.bytes, -1);
        };
        benchmark::RegisterBenchmark(name.c_str(), run)->Unit(benchmark::kMillisecond);
      }
  });
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
