// psnr, float_psnr and float_moment as Metrics: each plane is cut into strips of rows. Compiled for the baseline.
#include <cstring>

#include "engine/cpu/cpu.h"
#include "engine/cpu/strips.h"

namespace vmafhip {
namespace {

// Rows of the first planes of a format, cut into strips of about 260,000 samples: 8 for luma of 1080p.
class PlaneStrips {
 public:
  struct Strip {
    int plane, first, last;
  };

  PlaneStrips(const PictureFormat &format, int planes) : format_(format) {
    for (int p = 0; p < planes; ++p) {
      const PlaneView size = rounded_down({}, format, p);
      cuts_[p] = cut_by_samples(size.width, size.height, 260000, 16);
    }
  }

  int count() const { return cuts_[0].count + cuts_[1].count + cuts_[2].count; }
  Strip operator[](int strip) const {
    int p = 0;
    for (; strip >= cuts_[p].count; ++p) strip -= cuts_[p].count;
    return {p, cuts_[p].begin(strip), cuts_[p].begin(strip + 1)};
  }
  PlaneView view(const Views &views, int plane) const {
    return rounded_down(views[static_cast<size_t>(plane)], format_, plane);
  }

 private:
  const PictureFormat format_;
  Strips cuts_[3] = {{0, 0}, {0, 0}, {0, 0}};
};

// Sums of distorted picture `number` among a strip's results.
template <class Sums>
void put(std::byte *partial, size_t number, const Sums &sums) {
  std::memcpy(partial + number * sizeof sums, &sums, sizeof sums);
}

class CpuPsnr final : public Metric {
 public:
  CpuPsnr(const PsnrKernels &kernels, const PictureFormat &format, int planes)
      : kernels_(kernels), strips_(format, planes) {}

  int strips(int) const override { return strips_.count(); }
  size_t scratch_bytes() const override { return 0; }
  void measure(const FrameView &frame, int, int strip, std::byte *, std::byte *,
               std::byte *partial) const override {
    const auto [p, first, last] = strips_[strip];
    for (size_t d = 0; d < frame.dist.size(); ++d) {
      PsnrSums sums = {};
      sums.squares[p] =
          kernels_.squares(strips_.view(frame.ref, p), strips_.view(frame.dist[d], p), first, last);
      put(partial, d, sums);
    }
  }

 private:
  const PsnrKernels &kernels_;
  const PlaneStrips strips_;
};

class CpuFloatPsnr final : public Metric {
 public:
  CpuFloatPsnr(const PsnrKernels &kernels, const PictureFormat &format)
      : kernels_(kernels), strips_(format, 1) {}

  int strips(int) const override { return strips_.count(); }
  size_t scratch_bytes() const override { return 0; }
  void measure(const FrameView &frame, int, int strip, std::byte *, std::byte *,
               std::byte *partial) const override {
    const auto [p, first, last] = strips_[strip];
    for (size_t d = 0; d < frame.dist.size(); ++d)
      put(partial, d, FloatPsnrSums{kernels_.rounded_squares(frame.ref[0], frame.dist[d][0], first, last)});
  }

 private:
  const PsnrKernels &kernels_;
  const PlaneStrips strips_;
};

class CpuMoment final : public Metric {
 public:
  CpuMoment(const PsnrKernels &kernels, const PictureFormat &format)
      : kernels_(kernels), strips_(format, 1) {}

  int strips(int) const override { return strips_.count(); }
  size_t scratch_bytes() const override { return 0; }
  void measure(const FrameView &frame, int, int strip, std::byte *, std::byte *,
               std::byte *partial) const override {
    const auto [p, first, last] = strips_[strip];
    MomentSums sums;
    sums.ref = kernels_.moments(frame.ref[0], first, last);
    for (size_t d = 0; d < frame.dist.size(); ++d) {
      sums.dist = kernels_.moments(frame.dist[d][0], first, last);
      put(partial, d, sums);
    }
  }

 private:
  const PsnrKernels &kernels_;
  const PlaneStrips strips_;
};

}  // namespace

std::unique_ptr<Metric> make_cpu_psnr(const CpuKernels &kernels, int planes, const PictureFormat &format,
                                      int) {
  return std::make_unique<CpuPsnr>(*kernels.psnr, format, planes);
}

std::unique_ptr<Metric> make_cpu_float_psnr(const CpuKernels &kernels, const PictureFormat &format, int) {
  return std::make_unique<CpuFloatPsnr>(*kernels.psnr, format);
}

std::unique_ptr<Metric> make_cpu_moment(const CpuKernels &kernels, const PictureFormat &format, int) {
  return std::make_unique<CpuMoment>(*kernels.psnr, format);
}

}  // namespace vmafhip
