// Pooled values over frames, in constant memory.
#pragma once
#include <cstdint>

#include "engine/percentiles.h"

namespace vmafhip {

enum class PoolMethod { min = 1, max, mean, harmonic_mean };  // libvmaf's numbers

// The pools of one score that libvmaf has, as it defines them: sums in frame order in f64;
// harmonic mean = n / sum(1 / (s + 1)) - 1. Infinity and NaN pass through unfiltered.
class BasicPool {
 public:
  void add(double score);
  void reset() { *this = BasicPool(); }

  uint64_t count() const { return count_; }
  // NaN if nothing was added.
  double get(PoolMethod method) const;

 private:
  uint64_t count_ = 0;
  double sum_ = 0, reciprocals_ = 0, min_ = 0, max_ = 0;
};

// These and what describes the spread. A value of 32 KiB, which never allocates.
class RunningPool : public BasicPool {
 public:
  void add(double score);
  void reset();

  // Standard deviation of the population: sqrt(sum((s - mean)^2) / n). NaN if nothing was added, and once a score was
  // infinite or NaN.
  double stddev() const;
  // Of `p` percent, 0 to 100; exact up to 4096 scores and then within percentile_error(), see engine/percentiles.h.
  // Infinite scores are the smallest and the largest. NaN if nothing was added, and once a score was NaN.
  double percentile(double p) const;
  // 0 while percentiles are exact, else at most (max - min) / 4095, of the finite scores.
  double percentile_error() const { return percentiles_.error(); }

 private:
  double mean_ = 0, squares_ = 0;  // squared distances from the mean, updated without cancellation (Welford)
  bool nan_ = false;
  Percentiles percentiles_;
};

}  // namespace vmafhip
