// ADM's wavelet as kernels do it: rows of the source as a thread loads them, and the filters.
//
// A thread has one or two columns of a band and loads the columns of the source above them, twice as many; the sample before
// these and the one behind come from the threads beside, after the vertical filter. Columns beyond the borders are loaded from
// where the definition mirrors them to, so that nothing after that knows of borders.
#pragma once
#include "kernels/device.h"

#include <type_traits>

#include "engine/arith/adm.h"
#include "kernels/adm_args.h"
#include "kernels/adm_wide.h"

namespace vmafhip {

// Samples as they lie in memory: the next rows are fetched while the current ones are worked on, and wait in as few
// registers as possible.
template <class Sample, int kCount>
struct alignas(kCount * sizeof(Sample)) AdmSamples {
  using Word = std::conditional_t<kCount * sizeof(Sample) < sizeof(uint32_t), uint16_t, uint32_t>;
  static constexpr int kBits = 8 * sizeof(Sample), kInWord = sizeof(Word) / sizeof(Sample),
                       kWords = kCount / kInWord;
  Word words[kWords];

  GPU_FN int32_t sample(int i) const {
    return static_cast<Sample>(words[i / kInWord] >> i % kInWord * kBits);
  }
};

// Rows of a plane. The host sees to it that strides have no more than 32 bits.
GPU_FN DeviceAddress<const uint8_t> adm_row(const DevicePlane &plane, int row) {
  return plane.data + adm_multiply_add(row, static_cast<int32_t>(plane.stride), 0);
}

// From `column` on, which is not negative: an offset of the thread's own to an address that all have.
template <class Sample, int kCount>
GPU_FN AdmSamples<Sample, kCount> adm_load(DeviceAddress<const uint8_t> row, int column) {
  const uint32_t offset = static_cast<uint32_t>(column) * static_cast<uint32_t>(sizeof(Sample));
  return *address_cast<const AdmSamples<Sample, kCount>>(row + offset).get();
}

// The same sample by sample, mirrored at borders. Strips reach further beyond them than the definition's mirror does;
// these columns are never used and read anything.
template <class Sample, int kCount>
GPU_FN AdmSamples<Sample, kCount> adm_gather(DeviceAddress<const uint8_t> row, int column, int width) {
  using Samples = AdmSamples<Sample, kCount>;
  const Sample *from = address_cast<const Sample>(row).get(static_cast<uint64_t>(width));
  constexpr uint32_t kMask = 0xffffffffu >> (32 - Samples::kBits);
  Samples samples = {};
#pragma unroll
  for (int i = 0; i < kCount; i++) {
    const int at = smaller(larger(adm_index(column + i, width), 0), width - 1);
    typename Samples::Word &word = samples.words[i / Samples::kInWord];
    word = static_cast<typename Samples::Word>(word | (static_cast<uint32_t>(from[at]) & kMask)
                                                          << i % Samples::kInWord * Samples::kBits);
  }
  return samples;
}

// Says to AMD's compiler that a number has 16 bits: products of up to 24 bits run at four times the rate there.
GPU_FN int32_t adm_short(int32_t v) {
#if defined(__HIP__)
  return static_cast<int16_t>(v);
#else
  return v;
#endif
}

// Two rows of the source above each other, as the vertical filter takes them.
template <class Sample, int kCount>
struct AdmTwoRows {
  int32_t rows[2][kCount];

  GPU_FN AdmTwoRows() {}
  GPU_FN explicit AdmTwoRows(const AdmSamples<Sample, kCount> (&samples)[2]) {
#pragma unroll
    for (int i = 0; i < 2 * kCount; i++)
      rows[i / kCount][i % kCount] = samples[i / kCount].sample(i % kCount);
  }
  // start + first tap * upper sample + second tap * lower sample of column i.
  template <class Sum>
  GPU_FN Sum filter(int i, int32_t first, int32_t second, Sum start) const {
    return start + static_cast<Sum>(first) * static_cast<Sum>(rows[0][i]) +
           static_cast<Sum>(second) * static_cast<Sum>(rows[1][i]);
  }
  GPU_FN int64_t filter(int i, int32_t first, int32_t second, int64_t start) const {
    return adm_multiply_add(second, rows[1][i], adm_multiply_add(first, rows[0][i], start));
  }
};

#if defined(__CUDACC__)
// Bytes: pairs of upper and lower sample beside each other, for an instruction that multiplies a pair of 16-bit numbers
// by a pair of bytes and adds both products: half of the multiply-adds, and no unpacking.
template <>
struct AdmTwoRows<uint8_t, 4> {
  uint32_t pairs[2];  // of columns 0 and 1, of columns 2 and 3

  GPU_FN AdmTwoRows() {}
  GPU_FN explicit AdmTwoRows(const AdmSamples<uint8_t, 4> (&samples)[2])
      : pairs{__byte_perm(samples[0].words[0], samples[1].words[0], 0x5140),
              __byte_perm(samples[0].words[0], samples[1].words[0], 0x7362)} {}
  GPU_FN uint32_t filter(int i, int32_t first, int32_t second, uint32_t start) const {
    const uint32_t taps = (static_cast<uint32_t>(first) & 0xffff) | static_cast<uint32_t>(second) << 16;
    uint32_t sum;
    if (i % 2 == 0)
      asm("dp2a.lo.s32.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(taps), "r"(pairs[i / 2]), "r"(start));
    else
      asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(taps), "r"(pairs[i / 2]), "r"(start));
    return sum;
  }
};
#endif

// Vertical filter of column i. The magnitudes of the taps sum to 54,822, so that at scale 0 samples of depth b, centred,
// give at most 54,822 * 2^(b - 1), which the shift by b makes 27,411: 16 bits, and no sum leaves 32 bits once
// the centre is taken off; before that sums of 16-bit samples do, hence unsigned. Scale 1 filters samples of 16 bits and
// does not shift: 32 bits again. Later ones need 64.
template <int kScale, class Sample, int kCount>
GPU_FN int32_t adm_down(const int32_t (&taps)[4], const AdmScaleArgs &args, int i,
                        const AdmTwoRows<Sample, kCount> &above, const AdmTwoRows<Sample, kCount> &below) {
  const auto sum = [&](auto start) {
    return below.filter(i, taps[2], taps[3], above.filter(i, taps[0], taps[1], start));
  };
  if constexpr (kScale == 0) {
    // The low pass sums to 46,342 and takes the centre 2^(b - 1) off as often; the high pass sums to 0.
    const int32_t gain = taps[0] + taps[1] + taps[2] + taps[3];
    const uint32_t start = static_cast<uint32_t>(1 - gain) << (args.depth - 1);
    return adm_short(static_cast<int32_t>(sum(start)) >> args.depth);
  } else if constexpr (kScale == 1) {
    return sum(int32_t{0});
  } else {
    return static_cast<int32_t>(sum(half_of(16)) >> 16);
  }
}

// Horizontal filter. At scale 0 again sums of at most 27,411 * 54,822, which leave 22,931 at most: what libvmaf keeps
// in 16 bits never wraps.
template <int kScale>
GPU_FN int32_t adm_across(const int32_t (&taps)[4], const AdmScaleArgs &args, const int32_t *from) {
  constexpr int kShift = kScale == 0 || kScale == 2 ? 16 : 15;
  if constexpr (kScale == 0) {
    uint32_t sum = 1u << (kShift - 1);  // unsigned, as samples above the depth's range may lead anywhere
#pragma unroll
    for (int k = 0; k < 4; k++) sum += static_cast<uint32_t>(taps[k]) * static_cast<uint32_t>(from[k]);
    return adm_short(static_cast<int32_t>(sum) >> kShift);
  } else {
    int64_t sum = args.halves.across;
#pragma unroll
    for (int k = 0; k < 4; k++) sum = adm_multiply_add(taps[k], from[k], sum);
    return static_cast<int32_t>(sum >> kShift);
  }
}

// Columns that a thread filters horizontally: its own in the middle, one of each neighbour beside.
template <int kCount>
struct AdmFiltered {
  int32_t columns[kCount + 2];

  // The four that column c of the thread's band is made of.
  GPU_FN const int32_t *from(int c) const { return columns + 2 * c; }

  GPU_FN void exchange() {
    columns[0] = gpu_shuffle_up(columns[kCount], 1);
    columns[kCount + 1] = gpu_shuffle_down(columns[1], 1);
  }
};

// A thread's samples of a low band.
template <class Low, int kCount>
struct alignas(kCount * sizeof(Low)) AdmLow {
  Low samples[kCount];
};

}  // namespace vmafhip
