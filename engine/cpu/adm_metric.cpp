// ADM as a Metric: stages, strips and memory. Compiled for the baseline.
#include <cstring>

#include "engine/cpu/arena.h"
#include "engine/cpu/cpu.h"
#include "engine/cpu/strips.h"
#include "engine/gain_limits.h"

namespace vmafhip {
namespace {

// Stages are scales. Strips are cut so that a worker's share of bands stays in its cache and about a dozen of
// 1080p's finest scale can be done at once; halo rows make finer cuts costly.
class CpuAdm final : public Metric {
 public:
  CpuAdm(const CpuKernels &kernels, const std::vector<AdmParams> &sets, int distorted)
      : kernels_(kernels),
        params_(sets[0]),
        limits_(sets, [](const AdmParams &params) { return params.options.gain_limit; }),
        distorted_(distorted) {}

  int stages() const override { return kAdmScales; }
  int strips(int stage) const override { return cut(stage).count; }
  size_t scratch_bytes() const override {
    return Results(nullptr, *this).bytes + kernels_.adm->scratch_bytes(params_, distorted_, limits_.count());
  }
  size_t frame_bytes() const override { return kernels_.adm->frame_bytes(params_, distorted_); }

  void measure(const FrameView &frame, int stage, int strip, std::byte *frame_memory, std::byte *scratch,
               std::byte *partial) const override {
    const Strips strips = cut(stage);
    const Results results(scratch, *this);
    kernels_.adm->measure({frame, params_, limits_.values.data(), limits_.count(), distorted_, stage,
                           strips.begin(strip), strips.begin(strip + 1), frame_memory,
                           scratch + results.bytes, results.sums});
    for (size_t d = 0; d < frame.dist.size(); ++d)
      for (const int limit : limits_.of_set) {
        AdmSums sums;
        sums.scale[stage] = results.sums[static_cast<int>(d) * limits_.count() + limit];
        std::memcpy(partial, &sums, sizeof sums);
        partial += sizeof sums;
      }
  }

 private:
  // At the start of the scratch memory: those of a strip.
  struct Results {
    AdmScaleSums *sums;
    size_t bytes;

    Results(std::byte *memory, const CpuAdm &metric) {
      Arena arena(memory);
      sums = arena.take<AdmScaleSums>(static_cast<size_t>(metric.distorted_ * metric.limits_.count()));
      bytes = arena.used();
    }
  };

  Strips cut(int scale) const {
    const AdmScaleParams &p = params_.scale[scale];
    return cut_by_samples(p.width, p.height, 45000, 8);
  }

  const CpuKernels &kernels_;
  const AdmParams params_;
  const GainLimits limits_;
  const int distorted_;
};

}  // namespace

std::unique_ptr<Metric> make_cpu_adm(const CpuKernels &kernels, const std::vector<AdmParams> &sets,
                                     const PictureFormat &, int distorted) {
  return std::make_unique<CpuAdm>(kernels, sets, distorted);
}

}  // namespace vmafhip
