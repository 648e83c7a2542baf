// CIEDE2000 as a Metric: strips of rows whose sums lie in frame memory, then one strip that adds them up. Compiled for
// the baseline.
#include <cstring>

#include "engine/cpu/cpu.h"
#include "engine/cpu/strips.h"

namespace vmafhip {
namespace {

class CpuCiede final : public Metric {
 public:
  CpuCiede(const CpuKernels &kernels, const CiedeShape &shape, int distorted)
      : kernels_(kernels),
        shape_(shape),
        strips_(cut_by_samples(shape.width, shape.height, 100000, 1)),
        distorted_(distorted) {}

  int stages() const override { return 2; }
  int strips(int stage) const override { return stage == 0 ? strips_.count : 1; }
  size_t scratch_bytes() const override { return kernels_.ciede->scratch_bytes(shape_.width); }
  size_t frame_bytes() const override {
    return static_cast<size_t>(shape_.height) * static_cast<size_t>(distorted_) * sizeof(double);
  }

  void measure(const FrameView &frame, int stage, int strip, std::byte *frame_memory, std::byte *scratch,
               std::byte *partial) const override {
    double *rows = reinterpret_cast<double *>(frame_memory);
    if (stage == 0)
      kernels_.ciede->strip({frame, shape_, strips_.begin(strip), strips_.begin(strip + 1), rows, scratch});
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
  const Strips strips_;
  const int distorted_;
};

}  // namespace

std::unique_ptr<Metric> make_cpu_ciede(const CpuKernels &kernels, const CiedeParams &params,
                                       const PictureFormat &format, int distorted) {
  const bool swapped = format.chroma == Chroma::c422 && !params.plain_422;
  return std::make_unique<CpuCiede>(kernels,
                                    ciede_shape(format.width, format.height, chroma_shift_x(format.chroma),
                                                chroma_shift_y(format.chroma), swapped),
                                    distorted);
}

}  // namespace vmafhip
