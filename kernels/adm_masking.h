// ADM's contrast masking and sums as kernels do them; the definitions are those of engine/arith/adm.h.
#pragma once
#include "kernels/device.h"

#include "engine/arith/adm.h"
#include "kernels/adm_args.h"
#include "kernels/adm_wide.h"

namespace vmafhip {

// What a sample weighs as a masker, summed over bands.
struct AdmWeights {
  int32_t neighbour = 0, centre = 0;
};

// A sample weighted by contrast sensitivity, from its magnitude: |csf * sample| at scale 0, |adm_weighted()| later. As a
// signal the sample is that, and its weights as a masker follow from it.
//
// Right shifts round down, which for a negative sample rounds the magnitude up: |(-w + half) >> n| is
// (w + 2^n - 1 - half) >> n, so that there a half is one less, and one more of the odd 65535. `sign` is -1 or 0.
//
// Scale 0: csf is at most 36,453 for h and v and 49,417 for d (AdmHipArithmetic.SensitivityIsBounded), samples at most
// 22,931. So products fit 31 bits, what libvmaf rounds to 16 bits is at most 25,510 and 8,645, and of all that wraps there
// at 16 bits only the centre weights of h and v can: 8738 * 25,510 / 4096 = 54,420. Shifted up by four bits the wrap is
// that of 32 bits.
// Later scales: weighted samples fit 31 bits, as sensitivities are below 1/16.
template <int kScale, int kBand>
GPU_FN uint32_t adm_weigh(uint32_t size, int32_t sign, uint32_t csf, AdmWeights *weights) {
  if constexpr (kScale == 0) {
    const uint32_t product = csf * size;
    const uint32_t half = static_cast<uint32_t>(adm_mask_round0(kBand) + (kBand == 2 ? -sign : sign));
    const uint32_t c = (product + half) >> adm_mask_shift0(kBand);
    weights->neighbour += static_cast<int32_t>((4369 * c + 2048) >> 12);
    weights->centre += static_cast<int32_t>((16 * 8738) * c + 16 * 2048) >> 16;
    return product;
  } else {
    const uint64_t product = static_cast<uint64_t>(csf) * size + static_cast<uint32_t>((1 << 27) + sign);
    const uint32_t c = static_cast<uint32_t>(product >> 28);
    constexpr uint64_t half = uint64_t{1} << 31;
    weights->neighbour += static_cast<int32_t>((uint64_t{143165577} * c - half) >> 32);
    weights->centre += static_cast<int32_t>((uint64_t{286331153} * c - half) >> 32);
    return c;
  }
}

// Whether a column is pooled, as a number: with the smallest threshold possible nothing changes, with the largest
// nothing is left above it.
constexpr int32_t kAdmPooled = INT32_MIN, kAdmNotPooled = INT32_MAX;

// Third power of what is above the threshold. Without adm_cube_offset()'s offset, as there is an arithmetic shift of 64
// bits.
template <int kScale, int kBand>
GPU_FN uint64_t adm_masked_cube(uint32_t size, int32_t threshold, int32_t pooled, const AdmScaleArgs &args) {
  constexpr int kThreshold = kScale == 0 ? adm_threshold_shift0(kBand) : 0,
                kSquare = adm_square_shift(kScale, kBand);
  const int32_t limit = larger(static_cast<int32_t>(static_cast<uint32_t>(threshold) << kThreshold), pooled);
  const int32_t x = larger(static_cast<int32_t>(size - static_cast<uint32_t>(limit)), 0);
  const uint32_t above = static_cast<uint32_t>(x);
  const uint64_t wide = static_cast<uint64_t>(above) * above + args.halves.square[kBand == 2];
  const int32_t square = static_cast<int32_t>(static_cast<uint32_t>(wide >> kSquare));
  return static_cast<uint64_t>(adm_multiply_add(square, x, args.halves.cube[kBand == 2]) >>
                               args.scale.col_shift[kBand == 2 ? 2 : 0]);
}

// adm_cube_den0() and adm_cube_den() of a magnitude.
template <int kScale>
GPU_FN uint64_t adm_reference_cube(uint32_t size, const AdmScaleArgs &args) {
  if constexpr (kScale == 0) {
    return static_cast<uint64_t>(size * size) * size;
  } else {
    const uint64_t square = static_cast<uint64_t>(size) * size + args.halves.den_square;
    return ((square >> adm_den_square_shift(kScale)) * size + args.halves.den_cube) >>
           args.scale.den_col_shift;
  }
}

// Adds the warp's sums of a row of a band, those from kFirst on of kAdmRowSums. Sums of a warp are taken in two halves of 27
// bits (26 of 64 threads), whose sums fit 32 bits; larger sums and negative ones, which only the most extreme pictures
// have, are added thread by thread. Rows of 16,384 samples, as pictures of 32,768 columns have, stay far below 2^63:
// den of scale 0 is 22,931^3 < 2^44 a sample, and what is shifted by the row's logarithm is smaller.
template <int kFirst, int kCount>
GPU_FN void adm_add_row(const uint64_t (&sums)[kCount], const AdmScaleArgs &args, int limit, int row) {
  const int half_bits = gpu_warp_size() == 64 ? 26 : 27, lane = gpu_anew(gpu_lane());
  const DeviceAddress<uint64_t> to =
      args.pairs[gpu_anew_for_all(static_cast<int>(blockIdx.y))].row_sums[limit] +
      (static_cast<int64_t>(row) * kAdmRowSums + kFirst);
  uint32_t high = 0;
#pragma unroll
  for (const uint64_t sum : sums) high |= static_cast<uint32_t>(sum >> 32);
  if (!gpu_any(high >> (2 * half_bits - 32) != 0)) {
    uint32_t low_half = 0, high_half = 0;  // of the sum that is this thread's to add
#pragma unroll
    for (int i = 0; i < kCount; i++) {
      const uint32_t low = gpu_warp_sum_all(static_cast<uint32_t>(sums[i]) & ((1u << half_bits) - 1)),
                     top = gpu_warp_sum_all(static_cast<uint32_t>(sums[i] >> half_bits));
      if (lane == i) {
        low_half = low;
        high_half = top;
      }
    }
    const uint64_t sum = low_half + (static_cast<uint64_t>(high_half) << half_bits);
    if (sum) gpu_atomic_add((to + lane).get(), sum);
  } else {
#pragma unroll
    for (int i = 0; i < kCount; i++)
      if (sums[i]) gpu_atomic_add((to + i).get(), sums[i]);
  }
}

}  // namespace vmafhip
