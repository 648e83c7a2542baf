// Metrics on the CPU: they bind a kernel to its parameters. Compiled for the baseline.
#include "engine/cpu/cpu.h"

#include <cstring>

namespace vmafhip {
namespace {

// Stages are scales. Strips are cut so that a worker's share of bands stays in its cache and about a dozen of
// 1080p's finest scale can be done at once; halo rows make finer cuts costly.
class CpuAdm final : public Metric {
 public:
  CpuAdm(const CpuKernels &kernels, const AdmParams &params, int distorted)
      : kernels_(kernels), params_(params), distorted_(distorted) {}

  int stages() const override { return kAdmScales; }
  int strips(int stage) const override {
    constexpr int64_t kSamples = 45000;
    const AdmScaleParams &p = params_.scale[stage];
    const int64_t wanted = (static_cast<int64_t>(p.width) * p.height + kSamples / 2) / kSamples;
    return static_cast<int>(larger<int64_t>(1, smaller<int64_t>(wanted, p.height / 8)));
  }
  size_t scratch_bytes() const override { return kernels_.adm_scratch_bytes(params_, distorted_); }
  size_t frame_bytes() const override { return kernels_.adm_frame_bytes(params_, distorted_); }

  void measure(const FrameView &frame, int stage, int strip, std::byte *frame_memory, std::byte *scratch,
               std::byte *partial) const override {
    const int64_t height = params_.scale[stage].height, count = strips(stage);
    const auto begin = [&](int number) { return static_cast<int>(height * number / count); };
    kernels_.adm(
        {frame, params_, distorted_, stage, begin(strip), begin(strip + 1), frame_memory, scratch, partial});
  }

 private:
  const CpuKernels &kernels_;
  const AdmParams params_;
  const int distorted_;
};

// Strips of rows; the reference alone counts, so that all distorted pictures get the same sums.
class CpuMotion final : public Metric {
 public:
  CpuMotion(const CpuKernels &kernels, const MotionParams &params, const PictureFormat &format)
      : kernels_(kernels), params_(params), format_(format) {}

  int strips(int) const override {
    constexpr int64_t kSamples = 260000;
    const int64_t wanted = (static_cast<int64_t>(format_.width) * format_.height + kSamples / 2) / kSamples;
    return static_cast<int>(larger<int64_t>(1, smaller<int64_t>(wanted, format_.height / 16)));
  }
  size_t scratch_bytes() const override {
    return kernels_.motion_scratch_bytes(format_.width, format_.height);
  }

  void measure(const FrameView &frame, int, int strip, std::byte *, std::byte *scratch,
               std::byte *partial) const override {
    MotionSums result = {};
    const PlaneView &earlier = frame.earlier[static_cast<size_t>(motion_lag(params_) - 1)];
    if (!params_.force_zero && earlier.data) {
      const int64_t height = format_.height, count = strips(0);
      const auto begin = [&](int number) { return static_cast<int>(height * number / count); };
      result.sad = kernels_.motion_sad(earlier, frame.ref[0], begin(strip), begin(strip + 1), scratch);
    }
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
                                     const PictureFormat &, int distorted) {
  return std::make_unique<CpuAdm>(kernels, params, distorted);
}

std::unique_ptr<Metric> make_cpu_motion(const CpuKernels &kernels, const MotionParams &params,
                                        const PictureFormat &format, int) {
  return std::make_unique<CpuMotion>(kernels, params, format);
}

}  // namespace vmafhip
