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

// The logarithms that the sums use, of one number; for tests.
template <class S>
int32_t log2_of(const uint16_t *log_table, uint64_t v) {
  if constexpr (!S::kDoubles) {
    return vif_log2(log_table, v);
  } else {
    const typename S::F all = S::set_double(static_cast<double>(v));
    return static_cast<int32_t>(S::sum32(S::add_log2_of_leading(S::zero(), S::leading(all, all))) /
                                S::kDwords) +
           2048 * 17;
  }
}

template <class S>
int32_t log2_of(const uint16_t *log_table, uint32_t v) {
  if constexpr (!S::kDoubles)
    return vif_log2(log_table, v);
  else
    return static_cast<int32_t>(S::sum32(S::add_log2(S::zero(), S::set(static_cast<int32_t>(v)))) /
                                S::kDwords) +
           2048 * 17;
}

struct VifGainLimits {
  const double *values;
  int count;
};

// Sums of a distorted picture on their way to `sums`, one for each gain limit; those of the denominator go to the first.
// In vectors, 32-bit lanes have room for the logarithms of kVectorsOfTotals vectors, 2^16 each.
constexpr int kVectorsOfTotals = 1 << 15;

template <class S, bool kVectors = S::kDoubles>
struct VifTotals {
  VifScaleSums *sums;

  static VifTotals start(VifScaleSums *sums, VifGainLimits, int32_t *) { return {sums}; }
  VMAFHIP_SIMD_FN void finish(VifTotals *, VifGainLimits) {}
};

template <class S>
struct VifTotals<S, true> {
  typename S::I den_log, num_low, den_low;
  VifScaleSums *sums;
  int32_t *num_logs;  // a vector for each gain limit

  static VifTotals start(VifScaleSums *sums, VifGainLimits limits, int32_t *num_logs) {
    VifTotals out;
    out.sums = sums;
    out.num_logs = num_logs;
    clear(&out, limits);
    return out;
  }
  VMAFHIP_SIMD_FN void finish(VifTotals *t, VifGainLimits limits) {
    t->sums->den_log += S::sum32(t->den_log);
    t->sums->den_low += S::sum32(t->den_low);
    const int64_t low = S::sum64(t->num_low);
    for (int i = 0; i < limits.count; i++) {
      t->sums[i].num_log += S::sum32(S::load(t->num_logs + i * S::kDwords));
      t->sums[i].num_low += low;
    }
    clear(t, limits);
  }

 private:
  VMAFHIP_SIMD_FN void clear(VifTotals *t, VifGainLimits limits) {
    t->den_log = t->num_low = t->den_low = S::zero();
    for (int i = 0; i < limits.count; i++) S::store(t->num_logs + i * S::kDwords, S::zero());
  }
};

// `count`, here and below, is a multiple of kDwords and at most kChunk. In vectors the logarithms are taken in loops of
// their own: what comes before them is a long chain of operations, and more pixels are on their way at a time if there is
// no more than that.
template <class S>
void add_reference(const int32_t *ref, int count, const uint16_t *log_table, VifTotals<S> *totals) {
  if constexpr (!S::kDoubles) {
    for (int i = 0; i < count; i++) vif_add_reference(ref[i], log_table, totals->sums);
  } else {
    alignas(64) int32_t numbers[kChunk];
    int kept = 0;
    typename S::I low = totals->den_low;
    for (int i = 0; i < count; i += S::kDwords) {
      const typename S::I v = S::load(ref + i);
      const typename S::Mask high = S::greater(v, S::set(kVifNoise - 1));
      if (!S::all(high)) {
        low = S::add(low, S::clear_where(high, S::set(1)));
        if (!S::any(high)) continue;
      }
      S::store(numbers + kept, S::add_where(S::set(kVifNoise), high, v));
      kept += S::kDwords;
    }
    totals->den_low = low;
    typename S::I logs = totals->den_log;
    for (int i = 0; i < kept; i += S::kDwords) logs = S::add_log2(logs, S::load(numbers + i));
    totals->den_log = logs;
  }
}

// vif_channel() and vif_signal().
template <class S>
struct Channel {
  typename S::F ref, gain, noise;

  VMAFHIP_SIMD_FN typename S::F signal(const Channel &c, typename S::F limit) {
    const typename S::F gain = S::min(c.gain, limit);
    return S::add_truncated(S::mul(S::mul(gain, gain), c.ref), c.noise);
  }
};

template <class S>
VMAFHIP_SIMD_FN Channel<S> channel(typename S::F ref, typename S::F dist, typename S::F cross) {
  const typename S::F gain = S::div(cross, S::add(ref, S::set_double(kVifEpsilon)));
  const typename S::F residue = S::max(S::trunc(S::sub(dist, S::mul(gain, cross))), S::set_double(0));
  return {ref, gain, S::add(residue, S::set_double(kVifNoise))};
}

// Sum of the logarithms of `count` numbers, of which S::leading() kept what counts.
template <class S>
VMAFHIP_SIMD_FN typename S::I sum_of_logs(const int32_t *leading, int count) {
  typename S::I sum = S::zero();
  for (int i = 0; i < count; i += S::kDwords) sum = S::add_log2_of_leading(sum, S::load(leading + i));
  return sum;
}

// `leading`: room for kChunk numbers and as many again for each gain limit.
template <class S>
void add_distorted(const int32_t *ref, const int32_t *dist, const int32_t *cross, int count,
                   const uint16_t *log_table, VifGainLimits limits, int32_t *leading, VifTotals<S> *totals) {
  if constexpr (!S::kDoubles) {
    for (int i = 0; i < count; i++)
      vif_add_distorted({ref[i], dist[i], cross[i]}, log_table, limits.values, limits.count, totals->sums);
  } else {
    int32_t *const noises = leading, *const signals = leading + kChunk;
    int kept = 0;
    typename S::I low = totals->num_low;
    for (int i = 0; i < count; i += S::kDwords) {
      const typename S::I r = S::load(ref + i), d = S::load(dist + i), c = S::load(cross + i);
      const typename S::Mask high = S::greater(r, S::set(kVifNoise - 1));
      if (!S::all(high)) {
        low = S::add_wide(low, S::clear_where(high, d));
        if (!S::any(high)) continue;
      }
      const typename S::Mask counted = S::both_greater(S::both_greater(high, c, S::zero()), d, S::zero());
      const typename S::Doubles refs = S::load_doubles(ref + i), dists = S::load_doubles(dist + i),
                                crosses = S::doubles_where(counted, c);
      const Channel<S> a = channel<S>(refs.low, dists.low, crosses.low),
                       b = channel<S>(refs.high, dists.high, crosses.high);
      S::store(noises + kept, S::leading(a.noise, b.noise));
      for (int k = 0; k < limits.count; k++) {
        const typename S::F limit = S::set_double(limits.values[k]);
        S::store(signals + k * kChunk + kept,
                 S::leading(Channel<S>::signal(a, limit), Channel<S>::signal(b, limit)));
      }
      kept += S::kDwords;
    }
    totals->num_low = low;
    const typename S::I noise = sum_of_logs<S>(noises, kept);
    for (int k = 0; k < limits.count; k++) {
      const typename S::I logs = S::sub(sum_of_logs<S>(signals + k * kChunk, kept), noise);
      S::store(totals->num_logs + k * S::kDwords, S::add(S::load(totals->num_logs + k * S::kDwords), logs));
    }
  }
}

}  // namespace
}  // namespace vmafhip
