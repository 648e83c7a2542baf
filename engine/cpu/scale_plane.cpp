// Scaling on the CPU as a PlaneScaler: the tables of a plane's two directions. Compiled for the baseline.
#include <vector>

#include "engine/arith/scale.h"
#include "engine/cpu/cpu.h"

namespace vmafhip {
namespace {

ScaleKernel kernel_of(ScaleMethod method) {
  return method == ScaleMethod::bilinear  ? ScaleKernel::bilinear
         : method == ScaleMethod::lanczos ? ScaleKernel::lanczos
                                          : ScaleKernel::bicubic;
}

// As words of one 32-bit lane.
int32_t pair_of(int16_t low, int16_t high) {
  return static_cast<int32_t>(static_cast<uint16_t>(low) | static_cast<uint32_t>(high) << 16);
}

class Axis {
 public:
  Axis(ScaleKernel kernel, int in, int out) {
    axis_.in = in;
    axis_.out = out;
    if (in == out) return;
    const bool grouped = in <= int64_t{kScalePairRatio} * out;
    axis_.taps = axis_.stride = scale_taps(kernel, in, out);
    // Dots of vectors take over where groups of the narrowest lanes end.
    if (in > 2 * int64_t{out})
      axis_.stride = (axis_.taps + kScaleWeightPad - 1) / kScaleWeightPad * kScaleWeightPad;
    const int groups = (out + kScaleGroup - 1) / kScaleGroup, half = axis_.taps / 2;
    first_.resize(static_cast<size_t>(groups) * kScaleGroup);
    weights_.resize(static_cast<size_t>(out) * static_cast<size_t>(axis_.stride));
    if (grouped) pairs_.resize(static_cast<size_t>(groups) * kScaleGroup * static_cast<size_t>(half));
    for (int i = 0; i < out; ++i) {
      int16_t *weights = &weights_[static_cast<size_t>(i) * static_cast<size_t>(axis_.stride)];
      first_[static_cast<size_t>(i)] = scale_weights(kernel, in, out, i, weights);
      if (!grouped) continue;
      int32_t *pairs = &pairs_[static_cast<size_t>(i / kScaleGroup * half * kScaleGroup + i % kScaleGroup)];
      for (int k = 0; k < half; ++k) pairs[k * kScaleGroup] = pair_of(weights[2 * k], weights[2 * k + 1]);
    }
    for (size_t i = static_cast<size_t>(out); i < first_.size(); ++i) first_[i] = first_[i - 1];
    axis_.first = first_.data();
    axis_.weights = weights_.data();
    axis_.pairs = grouped ? pairs_.data() : nullptr;
  }
  Axis(const Axis &) = delete;
  const ScaleAxis &axis() const { return axis_; }

 private:
  ScaleAxis axis_;
  std::vector<int32_t> first_, pairs_;
  std::vector<int16_t> weights_;
};

class CpuScaler final : public PlaneScaler {
 public:
  CpuScaler(const CpuKernels &kernels, const PlaneScaling &s)
      : kernels_(kernels),
        x_(kernel_of(s.method), s.from_width, s.to_width),
        y_(kernel_of(s.method), s.from_height, s.to_height),
        plan_{x_.axis(), y_.axis(), s.from_depth, s.to_depth} {}

  size_t scratch_bytes() const override { return kernels_.scale->scratch_bytes(plan_); }
  void scale(const Picture &picture, int plane, std::byte *out, int first, int last,
             std::byte *scratch) const override {
    kernels_.scale->scale({plan_, picture.planes[static_cast<size_t>(plane)], picture.shift, out, first,
                           smaller(last, plan_.y.out), scratch});
  }

 private:
  const CpuKernels &kernels_;
  const Axis x_, y_;
  const ScalePlan plan_;
};

}  // namespace

std::unique_ptr<PlaneScaler> make_cpu_scaler(const CpuKernels &kernels, const PlaneScaling &scaling) {
  return std::make_unique<CpuScaler>(kernels, scaling);
}

}  // namespace vmafhip
