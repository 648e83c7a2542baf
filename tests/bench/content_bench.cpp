// What content synchronisation costs a frame: 1080p, one thread, pictures out of the cache. Names:
// content.signature.<depth>[.bars], content.sync.<frames a second>: all that follows the signature, a frame.
//
//   content_bench --benchmark_repetitions=9 --benchmark_enable_random_interleaving=true
#include <benchmark/benchmark.h>

#include "gst/vmafhip/content/content_sync.h"
#include "tests/content/drawn.h"

using namespace vmafhip::content;
using namespace vmafhip::content::test;

namespace {

constexpr int kWidth = 1920, kHeight = 1080, kPictures = 40;

void signature(benchmark::State &state, int depth, bool bars) {
  Drawing drawing = Programme{3, kWidth, kHeight}(1);
  if (bars) drawing = letterboxed(drawing, 0.75);
  const size_t samples = drawing.luma.size();
  std::vector<uint16_t> words(depth > 8 ? kPictures * samples : 0);
  std::vector<uint8_t> bytes(depth > 8 ? 0 : kPictures * samples);
  for (size_t i = 0; i < words.size(); ++i) words[i] = uint16_t(drawing.luma[i % samples] << (depth - 8));
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = drawing.luma[i % samples];
  Signer signer;
  Signature result;
  size_t n = 0;
  for (auto _ : state) {
    const size_t at = n % kPictures * samples;
    const Luma luma = depth > 8 ? Luma{&words[at], 2 * kWidth, kWidth, kHeight, depth, 0}
                                : Luma{&bytes[at], kWidth, kWidth, kHeight, 8, 0};
    signer.sign(luma, double(n++) / 25, result);
    benchmark::DoNotOptimize(result);
  }
  if (result.bars != bars) state.SkipWithError("the bars were not seen");
}

// A frame of either stream, locked.
void follow(benchmark::State &state, double rate) {
  ContentSync content(5);
  Signer signer;
  std::vector<Signature> signatures(size_t(10 * rate));
  for (size_t i = 0; i < signatures.size(); ++i)
    signer.sign(Programme{}(double(i) / rate).view(), double(i) / rate, signatures[i]);
  std::vector<Match> matches;
  size_t n = 0;
  const auto push = [&] {
    content.push_ref(int64_t(n), double(n) / rate, signatures[n % signatures.size()]);
    content.push_dist(int64_t(n), double(n) / rate, signatures[(n + 10) % signatures.size()]);
    content.take(matches);
    matches.clear();
    ++n;
  };
  while (double(n) < 10 * rate) push();
  for (auto _ : state) push();
  state.SetItemsProcessed(state.iterations() * 2);
}

}  // namespace

int main(int argc, char **argv) {
  for (const int depth : {8, 10})
    for (const bool bars : {false, true})
      benchmark::RegisterBenchmark(
          ("content.signature." + std::to_string(depth) + (bars ? ".bars" : "")).c_str(), signature, depth,
          bars)
          ->Unit(benchmark::kMillisecond);
  for (const int rate : {25, 60})
    benchmark::RegisterBenchmark(("content.sync." + std::to_string(rate)).c_str(), follow, rate)
        ->Unit(benchmark::kMicrosecond);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
