// Unpacks planes whose samples are interleaved (NV12's chroma), shifted (P010), of fewer bits than the comparison has, or at
// odd addresses. Four samples at a time are read as the aligned words that they lie in, and never a byte that is not
// between the first and the last sample of a row.
#include "kernels/device.h"
#include "kernels/unpack_args.h"

using namespace vmafhip;

namespace {

constexpr int kSamples = kUnpackSamples, kRows = kUnpackRowsOfThread;

// As many samples as a thread stores at once.
template <class Out>
struct alignas(kSamples * sizeof(Out)) Stored {
  uint32_t words[kSamples * sizeof(Out) / 4];
};

template <class In>
GPU_FN uint32_t load_sample(DeviceAddress<const uint8_t> at) {
  uint32_t v = *at.get();
  if constexpr (sizeof(In) == 2)
    v |= static_cast<uint32_t>(*(at + 1).get()) << 8;  // perhaps at an odd address
  return v;
}

// The 32 bits that begin at bit `shift`, below 32, of two words.
GPU_FN uint32_t shifted_words(uint32_t low, uint32_t high, unsigned shift) {
  return static_cast<uint32_t>((static_cast<uint64_t>(high) << 32 | low) >> shift);
}

// Samples of a row, kStep apart, from column x on; kStep 0 is one that is only known at run time. Zeros stand for those
// that are not there.
template <class In, int kStep>
GPU_FN void load_samples(DeviceAddress<const uint8_t> row, int x, int width, int step, uint32_t *out) {
  if constexpr (kStep > 0) {
    constexpr int kApart = kStep * static_cast<int>(sizeof(In));  // bytes from one to the next
    constexpr int kBytes = (kSamples - 1) * kApart + static_cast<int>(sizeof(In));
    constexpr int kWords = (kBytes + 3) / 4;
    const int from = x * kApart, end = (width - 1) * kApart + static_cast<int>(sizeof(In));
    const int before = static_cast<int>((uint64_t)(row + from).value & 3);
    // A further word is read if they reach into it.
    const bool further = before + kBytes > 4 * kWords;
    if (from >= before && from - before + 4 * (kWords + further) <= end) {
      const DeviceAddress<const uint32_t> aligned = address_cast<const uint32_t>(row + (from - before));
      uint32_t words[kWords + 1];
#pragma unroll
      for (int i = 0; i < kWords; i++) words[i] = *(aligned + i).get();
      words[kWords] = further ? *(aligned + kWords).get() : 0;
#pragma unroll
      for (int i = 0; i < kWords; i++)
        words[i] = shifted_words(words[i], words[i + 1], 8 * static_cast<unsigned>(before));
#pragma unroll
      for (int i = 0; i < kSamples; i++)
        out[i] = static_cast<In>(words[i * kApart / 4] >> 8 * (i * kApart % 4));
      return;
    }
    step = kStep;
  }
#pragma unroll
  for (int i = 0; i < kSamples; i++)
    out[i] = x + i < width
                 ? load_sample<In>(row + static_cast<int64_t>(x + i) * step * static_cast<int>(sizeof(In)))
                 : 0;
}

template <class In, class Out, int kStep>
GPU_FN void unpack_rows(const UnpackArgs::Item &item, int x, int y) {
  uint32_t samples[kRows][kSamples];
#pragma unroll
  for (int r = 0; r < kRows; r++)
    if (y + r < item.height)
      load_samples<In, kStep>(item.from.data + (y + r) * item.from.stride, x, item.width, item.step,
                              samples[r]);
#pragma unroll
  for (int r = 0; r < kRows; r++) {
    if (y + r >= item.height) continue;
    Stored<Out> stored = {};
#pragma unroll
    for (int i = 0; i < kSamples; i++) {
      constexpr int kInWord = 4 / sizeof(Out);
      stored.words[i / kInWord] |=
          static_cast<uint32_t>(static_cast<Out>(samples[r][i] >> item.down << item.up))
          << i % kInWord * (32 / kInWord);
    }
    const auto to = item.to + ((y + r) * item.to_stride + x * static_cast<int>(sizeof(Out)));
    *address_cast<Stored<Out>>(to).get() = stored;
  }
}

template <class In, class Out>
GPU_FN void unpack_steps(const UnpackArgs::Item &item, int x, int y) {
  if (item.step == 1)
    unpack_rows<In, Out, 1>(item, x, y);
  else if (item.step == 2)
    unpack_rows<In, Out, 2>(item, x, y);
  else
    unpack_rows<In, Out, 0>(item, x, y);
}

// Where the thread begins; false if there is nothing for it.
GPU_FN bool find_place(const UnpackArgs::Item &item, int *x, int *y) {
  const int thread = static_cast<int>(threadIdx.x);
  *x = static_cast<int>(blockIdx.x) * kUnpackColumns + thread % kUnpackThreadsOfRow * kSamples;
  *y = static_cast<int>(blockIdx.y) * kUnpackRows + thread / kUnpackThreadsOfRow * kRows;
  return *x < item.width && *y < item.height;
}

}  // namespace

GPU_KERNEL void GPU_BOUNDS(kUnpackThreads, 4) unpack_8(UnpackArgs args) {
  const UnpackArgs::Item &item = args.items[blockIdx.z];
  int x, y;
  if (find_place(item, &x, &y)) unpack_steps<uint8_t, uint8_t>(item, x, y);
}

GPU_KERNEL void GPU_BOUNDS(kUnpackThreads, 4) unpack_16(UnpackArgs args) {
  const UnpackArgs::Item &item = args.items[blockIdx.z];
  int x, y;
  if (!find_place(item, &x, &y)) return;
  if (item.sample_bytes == 1)
    unpack_steps<uint8_t, uint16_t>(item, x, y);
  else
    unpack_steps<uint16_t, uint16_t>(item, x, y);
}
