// Float ADM as a Metric: stages, strips and memory. Compiled for the baseline.
#include "engine/cpu/cpu.h"
#include "engine/cpu/strips.h"

#include <cstring>

namespace vmafhip {
namespace {

// Stages are scales, cut as CpuAdm's are; a last one adds up the sums of rows.
class CpuAdmFloat final : public Metric {
 public:
  CpuAdmFloat(const CpuKernels &kernels, const AdmFloatParams &params, int distorted)
      : kernels_(*kernels.adm_float), params_(params), distorted_(distorted) {}

  int stages() const override { return kAdmScales + 1; }
  int strips(int stage) const override { return stage == kAdmScales ? 1 : cut(stage).count; }
  size_t scratch_bytes() const override { return kernels_.scratch_bytes(params_, distorted_); }
  size_t frame_bytes() const override { return kernels_.frame_bytes(params_, distorted_); }

  void measure(const FrameView &frame, int stage, int strip, std::byte *frame_memory, std::byte *scratch,
               std::byte *partial) const override {
    const int pictures = static_cast<int>(frame.dist.size());
    if (stage == kAdmScales) {
      kernels_.total(params_, distorted_, pictures, frame_memory, partial);
      return;
    }
    const Strips strips = cut(stage);
    kernels_.measure({frame, params_, distorted_, stage, strips.begin(strip), strips.begin(strip + 1),
                      frame_memory, scratch});
    std::memset(partial, 0, static_cast<size_t>(pictures) * sizeof(AdmFloatSums));
  }

 private:
  Strips cut(int scale) const {
    const AdmFloatScaleParams &p = params_.scale[scale];
    return cut_by_samples(p.width, p.height, 45000, 8);
  }

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
