// speed_qa as a Metric. Stage 0 sums the entropies of each row of blocks, stage 1 adds the rows up. Compiled for the
// baseline.
#include <cstring>

#include "engine/cpu/arena.h"
#include "engine/cpu/cpu.h"

namespace vmafhip {
namespace {

class CpuSpeedQa final : public Metric {
 public:
  CpuSpeedQa(const CpuKernels &kernels, const PictureFormat &format, int distorted)
      : kernels_(*kernels.speed_qa),
        width_(format.width),
        rows_(format.height / kSpeedQaBlock),
        distorted_(distorted) {
    constexpr int64_t kSamples = 250000;
    const int64_t row = static_cast<int64_t>(width_) * kSpeedQaBlock;
    strip_rows_ = static_cast<int>(larger<int64_t>(1, kSamples / row));
  }

  int stages() const override { return 2; }
  int strips(int stage) const override { return stage == 0 ? distorted_ * picture_strips() : 1; }
  size_t scratch_bytes() const override { return kernels_.scratch_bytes(width_); }
  size_t frame_bytes() const override {
    return static_cast<size_t>(distorted_) * static_cast<size_t>(rows_) * sizeof(SpeedQaSums);
  }

  void measure(const FrameView &frame, int stage, int strip, std::byte *frame_memory, std::byte *scratch,
               std::byte *partial) const override {
    const int distorted = static_cast<int>(frame.dist.size());
    std::memset(partial, 0, static_cast<size_t>(distorted) * sizeof(SpeedQaSums));
    SpeedQaSums *rows = reinterpret_cast<SpeedQaSums *>(frame_memory);
    const auto row_sums = [&](int d) { return rows + static_cast<ptrdiff_t>(d) * rows_; };
    if (stage == 1) {
      for (int d = 0; d < distorted; ++d) {
        SpeedQaSums total = {};
        for (int row = 0; row < rows_; ++row) {
          total.spatial += row_sums(d)[row].spatial;
          total.temporal += row_sums(d)[row].temporal;
        }
        std::memcpy(partial + static_cast<size_t>(d) * sizeof total, &total, sizeof total);
      }
      return;
    }
    const int d = strip / picture_strips();
    if (d >= distorted) return;
    const PlaneView &plane = frame.dist[static_cast<size_t>(d)][0];
    const PlaneView before =
        frame.earlier_dist.empty() ? PlaneView{} : frame.earlier_dist[static_cast<size_t>(d)][0];
    const int first = strip % picture_strips() * strip_rows_;
    for (int row = first; row < smaller(first + strip_rows_, rows_); ++row) {
      SpeedQaSums &sums = row_sums(d)[row];
      sums.spatial = kernels_.row(weights_, plane, {}, row, scratch);
      sums.temporal = before.data ? kernels_.row(weights_, plane, before, row, scratch) : 0;
    }
  }

 private:
  int picture_strips() const { return (rows_ + strip_rows_ - 1) / strip_rows_; }

  const SpeedQaKernels &kernels_;
  const SpeedQaWeights weights_;
  const int width_, rows_, distorted_;
  int strip_rows_;
};

}  // namespace

std::unique_ptr<Metric> make_cpu_speed_qa(const CpuKernels &kernels, const PictureFormat &format,
                                          int distorted) {
  return std::make_unique<CpuSpeedQa>(kernels, format, distorted);
}

}  // namespace vmafhip
