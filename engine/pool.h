// Pooled values over frames, in constant memory.
#pragma once
#include <cstdint>

namespace vmafhip {

enum class PoolMethod { min = 1, max, mean, harmonic_mean };  // libvmaf's numbers

// Running pools of one score, as libvmaf defines them: sums in frame order in f64;
// harmonic mean = n / sum(1 / (s + 1)) - 1. Infinity and NaN pass through unfiltered.
class RunningPool {
 public:
  void add(double score);
  void reset() { *this = RunningPool(); }

  uint64_t count() const { return count_; }
  // NaN if nothing was added.
  double get(PoolMethod method) const;

 private:
  uint64_t count_ = 0;
  double sum_ = 0, reciprocals_ = 0, min_ = 0, max_ = 0;
};

}  // namespace vmafhip
