// Kernels of psnr_hvs (engine/arith/psnr_hvs.h has the definition): the terms of blocks, a thread a block, and their f32
// sum in raster order, which one block of threads takes by runs (engine/arith/serial_sum.h), a thread a run of 64 terms.
#include "kernels/device.h"

#include "engine/arith/serial_sum.h"
#include "kernels/psnr_hvs_args.h"
#include "kernels/tile.h"

using namespace vmafhip;

namespace {

// The same number, of which the compiler for AMD does not know: else it loads a plane's tables before the loop over
// pictures, and has more of them than scalar registers.
GPU_FN int reconsider(int number) {
#if defined(__HIP__)
  asm volatile("" : "+s"(number));
#endif
  return number;
}

// What comes later is not begun before. AMD's compiler else has more in hand than there are registers.
GPU_FN void end_phase() {
#if defined(__HIP__)
  __builtin_amdgcn_sched_barrier(0);
#endif
}

// Coefficients of the block at (x, y), and the contrast by which it masks.
template <class Sample>
GPU_FN float transform_block(const DevicePlane &plane, int number, int x, int y, int depth,
                             int32_t (&out)[kHvsTerms]) {
  int32_t samples[kHvsTerms], half_done[kHvsTerms];
#pragma unroll
  for (int i = 0; i < kHvsSize; i++) {
    const Sample *row = tile_row<Sample>(plane, y + i, x + kHvsSize) + x;
#pragma unroll
    for (int j = 0; j < kHvsSize; j++)
      samples[kHvsSize * i + j] = sizeof(Sample) == 1 ? row[j] : row[j] & ((1 << depth) - 1);
  }
  const float contrast = hvs_contrast<float>([&](int k) { return static_cast<float>(samples[k]); });

  // Each of eight lines, whose values are kHvsSize apart; results are one after the other.
  const auto transform_lines = [](const int32_t(&from)[kHvsTerms], int32_t(&to)[kHvsTerms]) {
#pragma unroll
    for (int line = 0; line < kHvsSize; line++) {
      int32_t a[kHvsSize], b[kHvsSize];
#pragma unroll
      for (int k = 0; k < kHvsSize; k++) a[k] = from[kHvsSize * k + line];
      hvs_transform(a, b);
#pragma unroll
      for (int k = 0; k < kHvsSize; k++) to[kHvsSize * line + k] = b[k];
    }
  };
  end_phase();
  transform_lines(samples, half_done);
  end_phase();
  transform_lines(half_done, out);
  end_phase();
  return hvs_masking<float>([&](int k) { return static_cast<float>(out[k]); },
                            kHvsMask.of[reconsider(number)], contrast);
}

template <class Sample>
GPU_FN void make_terms(const PsnrHvsArgs &args) {
  const PsnrHvsArgs::Reference &ref = args.ref[blockIdx.z];
  const int number = static_cast<int>(blockIdx.y);
  const PsnrHvsArgs::Band &band = args.bands[number];
  const int at = static_cast<int>(blockIdx.x * kHvsThreads + threadIdx.x), block = band.first + at;
  if (block >= band.last) return;
  const int x = block % band.across * kHvsStep, y = block / band.across * kHvsStep;

  int32_t coefficients[kHvsTerms];
  // Two a word: they have 16 bits.
  uint32_t ref_coefficients[kHvsTerms / 2];
  float ref_masking = 0;
  for (int d = -1; d < ref.count; d++) {
    const PsnrHvsArgs::Distorted &dist = args.dist[ref.first + larger(d, 0)];
    const DevicePlane ref_plane = ref.planes[number], dist_plane = dist.planes[number];
    const DevicePlane plane = {{d < 0 ? ref_plane.data.value : dist_plane.data.value},
                               d < 0 ? ref_plane.stride : dist_plane.stride};
    const float masking = transform_block<Sample>(plane, number, x, y, args.depth, coefficients);
    if (d < 0) {
      ref_masking = masking;
#pragma unroll
      for (int k = 0; k < kHvsTerms; k += 2)
        ref_coefficients[k / 2] = (static_cast<uint32_t>(coefficients[k]) & 0xffff) |
                                  static_cast<uint32_t>(coefficients[k + 1]) << 16;
      continue;
    }
    const float most = maximum(masking, ref_masking);
    const DeviceAddress<float> terms =
        dist.terms + (int64_t{band.groups} * kHvsTermGroup * kHvsTerms + hvs_term_index(at, 0));
    float *to = terms.get((kHvsTerms - 1) * kHvsTermGroup + 1);
    int table = number;
#pragma unroll
    for (int k = 0; k < kHvsTerms; k++) {
      if (k % 16 == 0) table = reconsider(table);
      const uint32_t word = ref_coefficients[k / 2];
      const int32_t coefficient =
          k % 2 == 0 ? static_cast<int16_t>(word & 0xffff) : static_cast<int32_t>(word) >> 16;
      to[k * kHvsTermGroup] = hvs_term(static_cast<float>(coefficient - coefficients[k]), most, k,
                                       kHvsMask.of[table][k], kHvsSensitivity[table][k]);
    }
  }
}

// Runs of kHvsSumThreads blocks.
struct Runs {
  SerialRun thread[kHvsSumThreads];
  SerialRun warp[kHvsSumThreads / 32];
};

GPU_FN SerialRun join_warp(SerialRun run) {
  for (int d = 1; d < gpu_warp_size(); d *= 2) {
    const SerialRun then = {gpu_shuffle_down(run.even, d), gpu_shuffle_down(run.odd, d)};
    run = serial_join(run, then);
  }
  return run;
}

// Adds the terms of up to kHvsSumThreads blocks to a sum, whose bits all threads have. term(block, k) reads one.
template <class Term>
GPU_FN uint32_t add_blocks(uint32_t sum, int blocks, Runs *runs, const Term &term) {
  const int thread = static_cast<int>(threadIdx.x), warp_size = gpu_warp_size();
  for (int first = 0;;) {  // blocks before it are added
    const uint32_t binade = serial_binade(sum);
    SerialRun run = {0, 0};
    if (thread >= first && thread < blocks)
      run = serial_run(binade, kHvsTerms, [&](int k) { return term(thread, k); });
    gpu_sync();
    runs->thread[thread] = run;
    run = join_warp(run);
    if (gpu_lane() == 0) runs->warp[thread / warp_size] = run;
    gpu_sync();
    // From here on all threads do the same.
    int warp = 0;
    while (warp < kHvsSumThreads / warp_size && serial_add(binade, runs->warp[warp], &sum)) warp++;
    if (warp == kHvsSumThreads / warp_size) return sum;
    int block = warp * warp_size;
    while (serial_add(binade, runs->thread[block], &sum)) block++;
    // This one leaves the binade.
    float exact = real_of(static_cast<int32_t>(sum));
#pragma unroll 16
    for (int k = 0; k < kHvsTerms; k++) exact = exact + term(block, k);
    sum = static_cast<uint32_t>(bits_of(exact));
    first = block + 1;
  }
}

}  // namespace

GPU_KERNEL void GPU_BOUNDS(kHvsThreads, 2) psnr_hvs_terms_8(PsnrHvsArgs args) { make_terms<uint8_t>(args); }
GPU_KERNEL void GPU_BOUNDS(kHvsThreads, 2) psnr_hvs_terms_16(PsnrHvsArgs args) { make_terms<uint16_t>(args); }

GPU_KERNEL void GPU_BOUNDS(kHvsSumThreads, 2) psnr_hvs_sum(PsnrHvsArgs args) {
  GPU_SHARED Runs runs;
  const int number = static_cast<int>(blockIdx.x);
  const PsnrHvsArgs::Band &band = args.bands[number];
  const PsnrHvsArgs::Distorted &dist = args.dist[blockIdx.z];
  const int blocks = band.last - band.first;
  if (blocks <= 0) return;
  const DeviceAddress<float> first = dist.terms + int64_t{band.groups} * kHvsTermGroup * kHvsTerms;
  const float *terms = first.get(static_cast<uint64_t>(hvs_term_index(blocks - 1, kHvsTerms - 1) + 1));
  float *total = (dist.sums + number).get();
  uint32_t sum = static_cast<uint32_t>(bits_of(*total));
  for (int at = 0; at < blocks; at += kHvsSumThreads)
    sum = add_blocks(sum, smaller(blocks - at, kHvsSumThreads), &runs,
                     [&](int block, int k) { return terms[hvs_term_index(at + block, k)]; });
  if (threadIdx.x == 0) *total = real_of(static_cast<int32_t>(sum));
}
