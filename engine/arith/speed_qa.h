// speed_qa of a fork of libvmaf: how much information blocks of 7x7 samples of the distorted luma carry, in the picture
// and in its difference from the one before. It needs no reference and has nothing to do with speed_chroma.
//
// A block's weighted variance v, in steps of 8 bits, gives the entropy (c + log2(v + 1)) / 2; a score is the mean over all
// whole blocks. In f64, entropies of a row of blocks added from left to right, rows from top to bottom.
#pragma once
#include <cstdint>

#include "engine/arith/hd.h"
#include "engine/arith/log2.h"

namespace vmafhip {

constexpr int kSpeedQaBlock = 7;
// The fork's constant; it is neither log2(2 pi e) nor half of it.
constexpr double kSpeedQaEntropy = 2.0471975511965977;

// Sums over blocks of a distorted picture.
struct SpeedQaSums {
  double spatial, temporal;
};

// Outer product of a window in units of 1 / 65535, made to add up to 1.
struct SpeedQaWeights {
  double at[kSpeedQaBlock][kSpeedQaBlock];

  SpeedQaWeights() {
    constexpr double window[kSpeedQaBlock] = {558, 4504, 15754, 23903, 15754, 4504, 558};
    double sum = 0;
    for (int y = 0; y < kSpeedQaBlock; y++)
      for (int x = 0; x < kSpeedQaBlock; x++) sum += at[y][x] = window[y] * window[x] / (65535.0 * 65535.0);
    for (auto &row : at)
      for (double &weight : row) weight /= sum;
  }
};

// Steps of 8 bits in one of `depth`.
VMAFHIP_HD constexpr double speed_qa_scale(int depth) { return depth > 8 ? 255.0 / ((1 << depth) - 1) : 1.0; }

// A block's sums, or those of a vector of blocks.
template <class Real>
struct SpeedQaMoments {
  Real mean{}, square{};

  VMAFHIP_HD void add(SpeedQaMoments &m, double weight, Real value) {
    const Real weighted = value * weight;
    m.mean = m.mean + weighted;
    m.square = m.square + weighted * value;
  }
  VMAFHIP_HD Real entropy(const SpeedQaMoments &m) {
    const Real variance = maximum(m.square - m.mean * m.mean, splat<Real>(0.0));
    return (log2_of(variance + 1.0) + kSpeedQaEntropy) * 0.5;
  }
};

}  // namespace vmafhip
