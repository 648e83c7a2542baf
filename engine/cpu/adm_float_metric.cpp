// Float ADM as a Metric: stages, strips and memory. Compiled for the baseline.
#include "engine/cpu/cpu.h"

#include <cstring>

namespace vmafhip {
namespace {

// Stages are scales, cut as CpuAdm's are; a last one adds up the sums of rows.
class CpuAdmFloat final : public Metric {
 public:
  CpuAdmFloat(const CpuKernels &kernels, const AdmFloatParams &params, int distorted)
      : kernels_(*kernels.adm_float), params_(params), distorted_(distorted) {}

  int stages() const override { return kAdmScales + 1; }
  int strips(int stage) const override {
    if (stage == kAdmScales) return 1;
    constexpr int64_t kSamples = 45000;
    const AdmFloatScaleParams &p = params_.scale[stage];
    const int64_t wanted = (static_cast<int64_t>(p.width) * p.height + kSamples / 2) / kSamples;
    return static_cast<int>(larger<int64_t>(1, smaller<int64_t>(wanted, p.height / 8)));
  }
  size_t scratch_bytes() const override { return kernels_.scratch_bytes(params_, distorted_); }
  size_t frame_bytes() const override { return kernels_.frame_bytes(params_, distorted_); }

  void measure(const FrameView &frame, int stage, int strip, std::byte *frame_memory, std::byte *scratch,
               std::byte *partial) const override {
    const int pictures = static_cast<int>(frame.dist.size());
    if (stage == kAdmScales) {
      kernels_.total(params_, distorted_, pictures, frame_memory, partial);
      return;
    }
    const int64_t height = params_.scale[stage].height, count = strips(stage);
    const auto begin = [&](int number) { return static_cast<int>(height * number / count); };
    kernels_.measure(
        {frame, params_, distorted_, stage, begin(strip), begin(strip + 1), frame_memory, scratch});
    std::memset(partial, 0, static_cast<size_t>(pictures) * sizeof(AdmFloatSums));
  }

 private:
  const AdmFloatKernels &kernels_;
  const AdmFloatParams params_;
  const int distorted_;
};

}  // namespace

std::unique_ptr<Metric> make_cpu_adm_float(const CpuKernels &kernels, const AdmFloatParams &params,
                                           const PictureFormat &, int distorted) {
  return std::make_unique<CpuAdmFloat>(kernels, params, distorted);
}

}  // namespace vmafhip
