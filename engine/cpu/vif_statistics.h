// VIF on the CPU: from variances and covariance of pixels to the sums of logarithms, the arithmetic of
// vif_add_reference() and vif_add_distorted() in vectors.
//
// Integers up to 2^52 are exact in doubles, which makes truncation a rounding towards zero and gives the leading 16
// bits for the logarithm as they stand in the number. A pixel that a sum does not take gets a value that adds 0:
// variance 0 to the denominator, covariance 0 (no gain, hence no signal) to the numerator.
#pragma once
#include <cstdint>

#include "engine/cpu/vif_memory.h"

namespace vmafhip {
namespace {

// The logarithm that the sums use, of one number; for tests.
template <class S>
int32_t log2_of(const uint16_t *log_table, uint64_t v) {
  if constexpr (!S::kDoubles) {
    return vif_log2(log_table, v);
  } else {
    const typename S::F all = S::set_double(static_cast<double>(v));
    return static_cast<int32_t>(S::sum32(S::log2(all, all)) / S::kDwords);
  }
}

// Sums of a group of rows. In vectors, 32-bit lanes have room for the logarithms of 2^15 vectors, 2^16 each.
template <class S, bool kVectors = S::kDoubles>
struct VifTotals {
  VifScaleSums sums;
  VMAFHIP_SIMD_FN void clear(VifTotals &t) { t.sums = VifScaleSums(); }
  VMAFHIP_SIMD_FN VifScaleSums finish(const VifTotals &t) { return t.sums; }
};

template <class S>
struct VifTotals<S, true> {
  typename S::I num_log, den_log, num_low, den_low;
  VMAFHIP_SIMD_FN void clear(VifTotals &t) { t.num_log = t.den_log = t.num_low = t.den_low = S::zero(); }
  VMAFHIP_SIMD_FN VifScaleSums finish(const VifTotals &t) {
    return {S::sum32(t.num_log), S::sum32(t.den_log), S::sum64(t.num_low), S::sum32(t.den_low)};
  }
};

// `count`, here and below, is a multiple of kDwords.
template <class S>
void add_reference(const int32_t *ref, int count, const uint16_t *log_table, VifTotals<S> *totals) {
  if constexpr (!S::kDoubles) {
    for (int i = 0; i < count; i++) vif_add_reference(ref[i], log_table, &totals->sums);
  } else {
    const typename S::F noise = S::set_double(kVifNoise);
    typename S::I logs = totals->den_log, low = totals->den_low;
    for (int i = 0; i < count; i += S::kDwords) {
      const typename S::I v = S::load(ref + i);
      low = S::add(low, S::keep_greater(S::set(1), S::set(kVifNoise), v));
      if (!S::any_greater(v, S::set(kVifNoise - 1))) continue;
      const typename S::I high = S::keep_greater(v, v, S::set(kVifNoise - 1));
      const typename S::I log =
          S::log2(S::add(S::double_low(high), noise), S::add(S::double_high(high), noise));
      logs = S::add(logs, S::sub(log, S::set(2048 * 17)));
    }
    totals->den_log = logs;
    totals->den_low = low;
  }
}

// What is left of a pixel, and that with the signal: arguments of the numerator's logarithms.
template <class S>
struct Channel {
  typename S::F noise, signal;
};

template <class S>
VMAFHIP_SIMD_FN Channel<S> channel(typename S::F ref, typename S::F dist, typename S::F cross,
                                   typename S::F limit) {
  const typename S::F gain = S::div(cross, S::add(ref, S::set_double(kVifEpsilon)));
  const typename S::F residue = S::max(S::trunc(S::sub(dist, S::mul(gain, cross))), S::set_double(0));
  const typename S::F noise = S::add(residue, S::set_double(kVifNoise)), limited = S::min(gain, limit);
  return {noise, S::add(S::trunc(S::mul(S::mul(limited, limited), ref)), noise)};
}

template <class S>
void add_distorted(const int32_t *ref, const int32_t *dist, const int32_t *cross, int count,
                   const uint16_t *log_table, double gain_limit, VifTotals<S> *totals) {
  if constexpr (!S::kDoubles) {
    for (int i = 0; i < count; i++)
      vif_add_distorted({ref[i], dist[i], cross[i]}, log_table, gain_limit, &totals->sums);
  } else {
    const typename S::F limit = S::set_double(gain_limit);
    typename S::I logs = totals->num_log, low = totals->num_low;
    for (int i = 0; i < count; i += S::kDwords) {
      const typename S::I r = S::load(ref + i), d = S::load(dist + i), below = S::set(kVifNoise - 1);
      low = S::add_wide(low, S::keep_greater(d, S::set(kVifNoise), r));
      if (!S::any_greater(r, below)) continue;
      typename S::I c = S::load(cross + i);
      c = S::keep_greater(S::keep_greater(S::keep_greater(c, r, below), c, S::zero()), d, S::zero());
      const Channel<S> a = channel<S>(S::double_low(r), S::double_low(d), S::double_low(c), limit);
      const Channel<S> b = channel<S>(S::double_high(r), S::double_high(d), S::double_high(c), limit);
      logs = S::add(logs, S::sub(S::log2(a.signal, b.signal), S::log2(a.noise, b.noise)));
    }
    totals->num_log = logs;
    totals->num_low = low;
  }
}

}  // namespace
}  // namespace vmafhip
