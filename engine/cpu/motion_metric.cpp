// Motion as a Metric: strips and memory. Compiled for the baseline.
#include <cstring>

#include "engine/cpu/cpu.h"
#include "engine/cpu/strips.h"

namespace vmafhip {
namespace {

// Strips of rows; the reference alone counts, so that all distorted pictures get the same sums.
class CpuMotion final : public Metric {
 public:
  CpuMotion(const CpuKernels &kernels, const MotionParams &params, const PictureFormat &format)
      : kernels_(kernels),
        params_(params),
        format_(format),
        strips_(cut_by_samples(format.width, format.height, 260000, 16)) {}

  int strips(int) const override { return strips_.count; }
  size_t scratch_bytes() const override {
    return kernels_.motion->scratch_bytes(format_.width, format_.height);
  }

  void measure(const FrameView &frame, int, int strip, std::byte *, std::byte *scratch,
               std::byte *partial) const override {
    MotionSums result = {};
    const PlaneView &earlier = frame.earlier[static_cast<size_t>(motion_lag(params_) - 1)][0];
    if (!params_.force_zero && earlier.data)
      result.sad = kernels_.motion->sad(earlier, frame.ref[0], strips_.begin(strip), strips_.begin(strip + 1),
                                        scratch);
    for (size_t d = 0; d < frame.dist.size(); ++d)
      std::memcpy(partial + d * sizeof result, &result, sizeof result);
  }

 private:
  const CpuKernels &kernels_;
  const MotionParams params_;
  const PictureFormat format_;
  const Strips strips_;
};

}  // namespace

std::unique_ptr<Metric> make_cpu_motion(const CpuKernels &kernels, const MotionParams &params,
                                        const PictureFormat &format, int) {
  return std::make_unique<CpuMotion>(kernels, params, format);
}

}  // namespace vmafhip
