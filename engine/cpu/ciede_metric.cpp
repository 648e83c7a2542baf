// CIEDE2000 as a Metric: strips of rows whose sums lie in frame memory, then one strip that adds them up. Compiled for
// the baseline.
#include <cstring>

#include "engine/cpu/cpu.h"

namespace vmafhip {
namespace {

class CpuCiede final : public Metric {
 public:
  CpuCiede(const CpuKernels &kernels, const CiedeShape &shape, int distorted)
      : kernels_(kernels), shape_(shape), distorted_(distorted) {}

  int stages() const override { return 2; }
  int strips(int stage) const override {
    constexpr int64_t kSamples = 100000;
    if (stage == 1) return 1;
    const int64_t wanted = (static_cast<int64_t>(shape_.width) * shape_.height + kSamples / 2) / kSamples;
    return static_cast<int>(larger<int64_t>(1, smaller<int64_t>(wanted, shape_.height)));
  }
  size_t scratch_bytes() const override { return kernels_.ciede->scratch_bytes(shape_.width); }
  size_t frame_bytes() const override {
    return static_cast<size_t>(shape_.height) * static_cast<size_t>(distorted_) * sizeof(double);
  }

  void measure(const FrameView &frame, int stage, int strip, std::byte *frame_memory, std::byte *scratch,
               std::byte *partial) const override {
    double *rows = reinterpret_cast<double *>(frame_memory);
    if (stage == 0) {
      const int64_t height = shape_.height, count = strips(0);
      const auto begin = [&](int number) { return static_cast<int>(height * number / count); };
      kernels_.ciede->strip({frame, shape_, begin(strip), begin(strip + 1), rows, scratch});
    }
    for (size_t d = 0; d < frame.dist.size(); ++d) {
      CiedeSums sums;
      if (stage == 1)
        for (int y = 0; y < shape_.height; ++y) sums.difference += *rows++;
      std::memcpy(partial + d * sizeof sums, &sums, sizeof sums);
    }
  }

 private:
  const CpuKernels &kernels_;
  const CiedeShape shape_;
  const int distorted_;
};

}  // namespace

std::unique_ptr<Metric> make_cpu_ciede(const CpuKernels &kernels, const CiedeParams &params,
                                       const PictureFormat &format, int distorted) {
  const bool half_width = format.chroma == Chroma::c420 || format.chroma == Chroma::c422;
  const bool half_height = format.chroma == Chroma::c420,
             swapped = format.chroma == Chroma::c422 && !params.plain_422;
  return std::make_unique<CpuCiede>(
      kernels, ciede_shape(format.width, format.height, half_width, half_height, swapped), distorted);
}

}  // namespace vmafhip
