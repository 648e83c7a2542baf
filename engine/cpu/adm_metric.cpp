// ADM as a Metric: stages, strips and memory. Compiled for the baseline.
#include "engine/cpu/cpu.h"
#include "engine/cpu/strips.h"

namespace vmafhip {
namespace {

// Stages are scales. Strips are cut so that a worker's share of bands stays in its cache and about a dozen of
// 1080p's finest scale can be done at once; halo rows make finer cuts costly.
class CpuAdm final : public Metric {
 public:
  CpuAdm(const CpuKernels &kernels, const AdmParams &params, int distorted)
      : kernels_(kernels), params_(params), distorted_(distorted) {}

  int stages() const override { return kAdmScales; }
  int strips(int stage) const override { return cut(stage).count; }
  size_t scratch_bytes() const override { return kernels_.adm->scratch_bytes(params_, distorted_); }
  size_t frame_bytes() const override { return kernels_.adm->frame_bytes(params_, distorted_); }

  void measure(const FrameView &frame, int stage, int strip, std::byte *frame_memory, std::byte *scratch,
               std::byte *partial) const override {
    const Strips strips = cut(stage);
    kernels_.adm->measure({frame, params_, distorted_, stage, strips.begin(strip), strips.begin(strip + 1),
                           frame_memory, scratch, partial});
  }

 private:
  Strips cut(int scale) const {
    const AdmScaleParams &p = params_.scale[scale];
    return cut_by_samples(p.width, p.height, 45000, 8);
  }

  const CpuKernels &kernels_;
  const AdmParams params_;
  const int distorted_;
};

}  // namespace

std::unique_ptr<Metric> make_cpu_adm(const CpuKernels &kernels, const AdmParams &params,
                                     const PictureFormat &, int distorted) {
  return std::make_unique<CpuAdm>(kernels, params, distorted);
}

}  // namespace vmafhip
