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
  typename S::I num_log, den_log, num_low, den_low;
  VifScaleSums *sums;
  int32_t *further_logs;  // as num_log: of the limits behind the first

  static VifTotals start(VifScaleSums *sums, VifGainLimits limits, int32_t *further_logs) {
    VifTotals out;
    out.sums = sums;
    out.further_logs = further_logs;
    clear(&out, limits);
    return out;
  }
  VMAFHIP_SIMD_FN int32_t *logs(const VifTotals &t, int limit) {
    return t.further_logs + (limit - 1) * S::kDwords;
  }
  VMAFHIP_SIMD_FN void finish(VifTotals *t, VifGainLimits limits) {
    t->sums->den_log += S::sum32(t->den_log);
    t->sums->den_low += S::sum32(t->den_low);
    const int64_t low = S::sum64(t->num_low);
    for (int i = 0; i < limits.count; i++) {
      t->sums[i].num_log += S::sum32(i == 0 ? t->num_log : S::load(logs(*t, i)));
      t->sums[i].num_low += low;
    }
    clear(t, limits);
  }

 private:
  VMAFHIP_SIMD_FN void clear(VifTotals *t, VifGainLimits limits) {
    t->num_log = t->den_log = t->num_low = t->den_low = S::zero();
    for (int i = 1; i < limits.count; i++) S::store(logs(*t, i), S::zero());
  }
};

// `count`, here and below, is a multiple of kDwords.
template <class S>
void add_reference(const int32_t *ref, int count, const uint16_t *log_table, VifTotals<S> *totals) {
  if constexpr (!S::kDoubles) {
    for (int i = 0; i < count; i++) vif_add_reference(ref[i], log_table, totals->sums);
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

// vif_channel() and vif_signal().
template <class S>
struct Channel {
  typename S::F ref, gain, noise;

  VMAFHIP_SIMD_FN typename S::F signal(const Channel &c, typename S::F limit) {
    const typename S::F gain = S::min(c.gain, limit);
    return S::add(S::trunc(S::mul(S::mul(gain, gain), c.ref)), c.noise);
  }
};

template <class S>
VMAFHIP_SIMD_FN Channel<S> channel(typename S::F ref, typename S::F dist, typename S::F cross) {
  const typename S::F gain = S::div(cross, S::add(ref, S::set_double(kVifEpsilon)));
  const typename S::F residue = S::max(S::trunc(S::sub(dist, S::mul(gain, cross))), S::set_double(0));
  return {ref, gain, S::add(residue, S::set_double(kVifNoise))};
}

template <class S>
void add_distorted(const int32_t *ref, const int32_t *dist, const int32_t *cross, int count,
                   const uint16_t *log_table, VifGainLimits limits, VifTotals<S> *totals) {
  if constexpr (!S::kDoubles) {
    for (int i = 0; i < count; i++)
      vif_add_distorted({ref[i], dist[i], cross[i]}, log_table, limits.values, limits.count, totals->sums);
  } else {
    const typename S::F limit = S::set_double(limits.values[0]);
    typename S::I logs = totals->num_log, low = totals->num_low;
    for (int i = 0; i < count; i += S::kDwords) {
      const typename S::I r = S::load(ref + i), d = S::load(dist + i), below = S::set(kVifNoise - 1);
      low = S::add_wide(low, S::keep_greater(d, S::set(kVifNoise), r));
      if (!S::any_greater(r, below)) continue;
      typename S::I c = S::load(cross + i);
      c = S::keep_greater(S::keep_greater(S::keep_greater(c, r, below), c, S::zero()), d, S::zero());
      const Channel<S> a = channel<S>(S::double_low(r), S::double_low(d), S::double_low(c)),
                       b = channel<S>(S::double_high(r), S::double_high(d), S::double_high(c));
      const typename S::I noise = S::log2(a.noise, b.noise);
      const auto information = [&](typename S::F at_most) __attribute__((always_inline)) {
        return S::sub(S::log2(Channel<S>::signal(a, at_most), Channel<S>::signal(b, at_most)), noise);
      };
      const typename S::I first = information(limit);
      logs = S::add(logs, first);
      for (int k = 1; k < limits.count; k++) {
        const typename S::F other = S::set_double(limits.values[k]);
        // Gains that neither limit cuts off give the same.
        const bool same = !S::any_greater(a.gain, b.gain, S::min(limit, other));
        int32_t *const sums = VifTotals<S>::logs(*totals, k);
        S::store(sums, S::add(S::load(sums), same ? first : information(other)));
      }
    }
    totals->num_log = logs;
    totals->num_low = low;
  }
}

}  // namespace
}  // namespace vmafhip
