// Integer structural similarity as a Metric: strips of rows, then a stage of one strip that adds up the rows. Compiled
// for the baseline.
#include <cstring>

#include "engine/cpu/cpu.h"
#include "engine/cpu/strips.h"

namespace vmafhip {
namespace {

class CpuSsimInteger final : public Metric {
 public:
  CpuSsimInteger(const CpuKernels &kernels, const PictureFormat &format, int distorted)
      : kernels_(*kernels.ssim_integer),
        height_(format.height),
        distorted_(distorted),
        strips_(cut_by_rows(format.height, kSsimIntegerStripRows)) {}

  int stages() const override { return 2; }
  int strips(int stage) const override { return stage == 0 ? strips_.count : 1; }
  size_t scratch_bytes() const override { return kernels_.scratch_bytes(); }
  size_t frame_bytes() const override {
    return static_cast<size_t>(height_) * static_cast<size_t>(distorted_) * sizeof(double);
  }

  void measure(const FrameView &frame, int stage, int strip, std::byte *frame_memory, std::byte *scratch,
               std::byte *partial) const override {
    std::memset(partial, 0, frame.dist.size() * sizeof(SsimIntegerSums));
    for (size_t d = 0; d < frame.dist.size(); ++d) {
      double *rows = reinterpret_cast<double *>(frame_memory) + d * static_cast<size_t>(height_);
      if (stage == 0) {
        kernels_.measure(frame.ref[0], frame.dist[d][0], strips_.begin(strip), strips_.begin(strip + 1), rows,
                         scratch);
      } else {
        SsimIntegerSums sums = {0};
        for (int y = 0; y < height_; ++y) sums.terms += rows[y];
        std::memcpy(partial + d * sizeof sums, &sums, sizeof sums);
      }
    }
  }

 private:
  const SsimIntegerKernels &kernels_;
  const int height_, distorted_;
  const Strips strips_;
};

}  // namespace

std::unique_ptr<Metric> make_cpu_ssim_integer(const CpuKernels &kernels, const PictureFormat &format,
                                              int distorted) {
  return std::make_unique<CpuSsimInteger>(kernels, format, distorted);
}

}  // namespace vmafhip
