// Of banding: the sum of the largest c-values. The smallest of them is found by the digits of its bit pattern, since
// patterns are ordered like the values; then what is larger is summed exactly.
#pragma once
#include "kernels/cambi_args.h"
#include "kernels/device.h"

namespace vmafhip {

// The values that a block takes, four at a time.
class CambiShare {
 public:
  GPU_FN explicit CambiShare(const CambiPoolArgs &args) {
    while (scale_ + 1 < kCambiScales && blockIdx.x >= args.scales[scale_ + 1].first_block) scale_++;
    const CambiPoolArgs::Scale &scale = args.scales[scale_];
    first_ = (blockIdx.x - scale.first_block) * kCambiPoolFours + threadIdx.x;
    last_ = smaller(first_ - threadIdx.x + kCambiPoolFours, scale.count);
    values_ = address_cast<const Words4>(args.pictures[blockIdx.z].values + scale.values_at);
  }
  GPU_FN int scale() const { return scale_; }

  // Calls function(bit pattern) for each that is not 0.
  template <class Function>
  GPU_FN void each(Function function) const {
#pragma unroll 4
    for (uint32_t i = first_; i < last_; i += kCambiThreads) {
      const Words4 four = *(values_ + i).get();
      if (four.x) function(four.x);
      if (four.y) function(four.y);
      if (four.z) function(four.z);
      if (four.w) function(four.w);
    }
  }

 private:
  int scale_ = 0;
  uint32_t first_, last_;
  DeviceAddress<const Words4> values_;
};

GPU_FN uint32_t *cambi_digits_of(const CambiPoolArgs &args, int scale) {
  CambiDigits *digits = (args.pictures[blockIdx.z].digits + scale).get();
  return args.digit == 0 ? digits->first : digits->others[args.digit - 1];
}

// Block (x, y, z): some values of a scale of picture z. How often each digit occurs, behind the digits found so far.
GPU_FN void cambi_count_digits(const CambiPoolArgs &args) {
  GPU_SHARED uint32_t counts[kCambiFirstDigits];
  const CambiShare share(args);
  const uint32_t found = (args.pictures[blockIdx.z].found + share.scale()).get()->bits;
  if (args.digit > 0 && found == 0) return;
  const uint32_t number = args.digit == 0 ? kCambiFirstDigits : kCambiOtherDigits;
  for (uint32_t i = threadIdx.x; i < number; i += kCambiThreads) counts[i] = 0;
  gpu_sync();
  const int shift = cambi_digit_shift(args.digit);
  if (args.digit == 0)
    share.each([&](uint32_t bits) { gpu_atomic_add(&counts[(bits >> 16) - (kCambiFirstExponent - 1)], 1u); });
  else
    share.each([&](uint32_t bits) {
      if ((bits ^ found) >> (shift + 8) == 0) gpu_atomic_add(&counts[bits >> shift & 255], 1u);
    });
  gpu_sync();
  uint32_t *digits = cambi_digits_of(args, share.scale());
  for (uint32_t i = threadIdx.x; i < number; i += kCambiThreads)
    if (counts[i]) gpu_atomic_add(&digits[i], counts[i]);
}

// Block (x, 0, z): scale x of picture z. The digit of the smallest value, and how many of those that begin with the digits
// so far count. With fewer values than count, all that are not 0 are larger than the smallest.
GPU_FN void cambi_find_digit(const CambiPoolArgs &args) {
  GPU_SHARED uint32_t sums[kCambiThreads];
  const int scale = static_cast<int>(blockIdx.x);
  CambiFound *found = (args.pictures[blockIdx.z].found + scale).get();
  if (args.digit > 0 && found->bits == 0) return;
  const uint32_t *digits = cambi_digits_of(args, scale);
  const int each = (args.digit == 0 ? kCambiFirstDigits : kCambiOtherDigits) / kCambiThreads;
  const int thread = static_cast<int>(threadIdx.x);
  uint32_t sum = 0;
  for (int i = 0; i < each; i++) sum += digits[thread * each + i];
  sums[thread] = sum;
  gpu_sync();
  if (thread > 0) return;
  // Zero before the first digit. (A choice between the two would be one between addresses of two kinds of memory.)
  uint64_t left = found->smallest + (args.digit == 0 ? args.scales[scale].top : 0);
  int group = kCambiThreads - 1;
  for (; group > 0 && sums[group] < left; group--) left -= sums[group];
  int digit = (group + 1) * each - 1;
  for (; digit > group * each && digits[digit] < left; digit--) left -= digits[digit];
  uint32_t value = static_cast<uint32_t>(digit);
  if (args.digit == 0 && digit > 0) value += kCambiFirstExponent - 1;
  found->bits |= value << cambi_digit_shift(args.digit);
  found->smallest = left;
}

// A c-value in units of 2^-kCambiFraction: 0.5, which has the exponent 126, is 2^23 of them.
GPU_FN uint64_t cambi_units(uint32_t bits) {
  static_assert(kCambiFraction == 24);
  return static_cast<uint64_t>((bits & 0x7fffff) | 0x800000) << ((bits >> 23) - 126);
}

// Block (x, y, z): some values of a scale of picture z. A block's sum stays below 2^52.
GPU_FN void cambi_sum_values(const CambiPoolArgs &args) {
  GPU_SHARED uint64_t sums[kCambiThreads / 32];
  const CambiShare share(args);
  CambiFound *found = (args.pictures[blockIdx.z].found + share.scale()).get();
  const uint32_t smallest = found->bits;
  uint64_t sum = 0;
  share.each([&](uint32_t bits) {
    if (bits > smallest) sum += cambi_units(bits);
  });
  for (int d = gpu_warp_size() / 2; d > 0; d /= 2) sum += gpu_shuffle_down(sum, d);
  if (gpu_lane() == 0) sums[static_cast<int>(threadIdx.x) / gpu_warp_size()] = sum;
  gpu_sync();
  if (threadIdx.x > 0) return;
  for (int warp = 1; warp < kCambiThreads / gpu_warp_size(); warp++) sum += sums[warp];
  if (sum == 0) return;
  gpu_atomic_add(&found->above.whole, sum >> kCambiFraction);
  gpu_atomic_add(&found->above.part, sum & kCambiPart);
}

}  // namespace vmafhip
