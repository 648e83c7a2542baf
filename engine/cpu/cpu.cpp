// Metrics on the CPU: they bind a kernel to its parameters. Compiled for the baseline.
#include "engine/cpu/cpu.h"

#include <cstring>

namespace vmafhip {
namespace {

class CpuAdm final : public Metric {
 public:
  CpuAdm(const CpuKernels &kernels, const AdmParams &params, const PictureFormat &format)
      : kernels_(kernels), params_(params), format_(format) {}

  size_t scratch_bytes() const override { return kernels_.adm_scratch_bytes(format_.width, format_.height); }

  void measure(const FrameView &frame, int, int, std::byte *, std::byte *scratch,
               std::byte *partial) const override {
    for (size_t d = 0; d < frame.dist.size(); ++d) {
      AdmSums result;
      kernels_.adm(frame.ref[0], frame.dist[d][0], params_, scratch, &result);
      std::memcpy(partial + d * sizeof result, &result, sizeof result);
    }
  }

 private:
  const CpuKernels &kernels_;
  const AdmParams params_;
  const PictureFormat format_;
};

class CpuMotion final : public Metric {
 public:
  CpuMotion(const CpuKernels &kernels, const MotionParams &params, const PictureFormat &format)
      : kernels_(kernels), params_(params), format_(format) {}

  size_t scratch_bytes() const override {
    return kernels_.motion_scratch_bytes(format_.width, format_.height);
  }

  void measure(const FrameView &frame, int, int, std::byte *, std::byte *scratch,
               std::byte *partial) const override {
    MotionSums result = {};
    const PlaneView &earlier = frame.earlier[static_cast<size_t>(motion_lag(params_) - 1)];
    if (!params_.force_zero && earlier.data) result.sad = kernels_.motion_sad(earlier, frame.ref[0], scratch);
    for (size_t d = 0; d < frame.dist.size(); ++d)
      std::memcpy(partial + d * sizeof result, &result, sizeof result);
  }

 private:
  const CpuKernels &kernels_;
  const MotionParams params_;
  const PictureFormat format_;
};

}  // namespace

std::unique_ptr<Metric> make_cpu_adm(const CpuKernels &kernels, const AdmParams &params,
                                     const PictureFormat &format, int) {
  return std::make_unique<CpuAdm>(kernels, params, format);
}

std::unique_ptr<Metric> make_cpu_motion(const CpuKernels &kernels, const MotionParams &params,
                                        const PictureFormat &format, int) {
  return std::make_unique<CpuMotion>(kernels, params, format);
}

}  // namespace vmafhip
