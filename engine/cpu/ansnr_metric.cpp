// float_ansnr as a Metric: strips of rows leave the sums of their rows in frame memory, a second stage adds these up.
// Compiled for the baseline.
#include <cstring>

#include "engine/cpu/arena.h"
#include "engine/cpu/cpu.h"
#include "engine/cpu/strips.h"

namespace vmafhip {
namespace {

class CpuAnsnr final : public Metric {
 public:
  CpuAnsnr(const AnsnrKernels &kernels, const PictureFormat &format, int distorted)
      : kernels_(kernels),
        width_(format.width),
        height_(format.height),
        distorted_(distorted),
        strips_(cut_by_samples(format.width, format.height, 260000, 16)) {}

  int stages() const override { return 2; }
  int strips(int stage) const override { return stage == 0 ? strips_.count : 1; }
  size_t scratch_bytes() const override { return kernels_.scratch_bytes(width_); }
  size_t frame_bytes() const override { return RowSums(nullptr, height_, distorted_).bytes; }

  void measure(const FrameView &frame, int stage, int strip, std::byte *frame_memory, std::byte *scratch,
               std::byte *partial) const override {
    const RowSums rows(frame_memory, height_, distorted_);
    for (size_t d = 0; d < frame.dist.size(); ++d) {
      AnsnrSums sums = {};
      // Each distorted picture has the signal's sums of its own: they take less time than to be told apart.
      float *const signal = rows.signal(d), *const noise = rows.noise(d);
      if (stage == 0)
        kernels_.measure({frame.ref[0], frame.dist[d][0], strips_.begin(strip), strips_.begin(strip + 1),
                          scratch, signal, noise});
      else
        for (int y = 0; y < height_; ++y) {
          sums.signal += signal[y];
          sums.noise += noise[y];
        }
      std::memcpy(partial + d * sizeof sums, &sums, sizeof sums);
    }
  }

 private:
  // In frame memory: per distorted picture, two sums a row.
  struct RowSums {
    RowSums(std::byte *memory, int rows, int distorted) : height(static_cast<size_t>(rows)) {
      Arena arena(memory);
      first = arena.take<float>(2 * height * static_cast<size_t>(distorted));
      bytes = arena.used();
    }
    float *signal(size_t picture) const { return first + 2 * height * picture; }
    float *noise(size_t picture) const { return signal(picture) + height; }

    size_t height, bytes;
    float *first;
  };

  const AnsnrKernels &kernels_;
  const int width_, height_, distorted_;
  const Strips strips_;
};

}  // namespace

std::unique_ptr<Metric> make_cpu_ansnr(const CpuKernels &kernels, const PictureFormat &format,
                                       int distorted) {
  return std::make_unique<CpuAnsnr>(*kernels.ansnr, format, distorted);
}

}  // namespace vmafhip
