// Float VIF as a Metric: stage s is scale s, in strips of rows; a last stage adds the sums of the rows from top to
// bottom. The coarser scales and the sums of rows lie in frame memory. Compiled for the baseline.
#include <cstring>

#include "engine/cpu/arena.h"
#include "engine/cpu/cpu.h"

namespace vmafhip {
namespace {

// 12 strips for the finest scale of 1080p; whole groups of rows on every instruction set.
constexpr int kStripRows = 96;

class CpuVifFloat final : public Metric {
 public:
  CpuVifFloat(const CpuKernels &kernels, const VifFloatParams &params, const PictureFormat &format,
              int distorted)
      : kernels_(*kernels.vif_float),
        terms_(vif_float_terms(params)),
        skip_scale0_(params.skip_scale0),
        distorted_(distorted) {
    for (int s = 0; s < kVifFloatScales; ++s) {
      width_[s] = format.width >> s;
      height_[s] = format.height >> s;
      filter_[s] = vif_float_filter(s, params.kernel_scale);
      radius_ = larger(radius_, filter_radius(filter_[s].length));
    }
  }

  int stages() const override { return kVifFloatScales + 1; }
  int strips(int stage) const override {
    return stage < kVifFloatScales ? (height_[stage] + kStripRows - 1) / kStripRows : 1;
  }
  size_t scratch_bytes() const override {
    return Lists(nullptr, distorted_).bytes + kernels_.scratch_bytes(width_[0], radius_, distorted_);
  }
  size_t frame_bytes() const override { return Frame(nullptr, *this).bytes; }

  void measure(const FrameView &frame, int stage, int strip, std::byte *frame_memory, std::byte *scratch,
               std::byte *partial) const override {
    const int distorted = static_cast<int>(frame.dist.size());
    const Frame memory(frame_memory, *this);
    if (stage == kVifFloatScales) {
      for (int d = 0; d < distorted; ++d) {
        const VifFloatSums sums = add_rows(memory, d);
        std::memcpy(partial + static_cast<size_t>(d) * sizeof sums, &sums, sizeof sums);
      }
      return;
    }
    std::memset(partial, 0, static_cast<size_t>(distorted) * sizeof(VifFloatSums));

    const Lists lists(scratch, distorted_);
    for (int p = 0; p <= distorted; ++p) {
      VifFloatPicture &picture = lists.pictures[p] = VifFloatPicture();
      if (stage == 0)
        picture.samples = p == 0 ? frame.ref[0] : frame.dist[static_cast<size_t>(p - 1)][0];
      else
        picture.floats = memory.plane(stage, p);
      if (stage + 1 < kVifFloatScales) picture.half = memory.plane(stage + 1, p);
    }
    VifFloatStrip work = {};
    work.width = width_[stage];
    work.height = height_[stage];
    work.first = strip * kStripRows;
    work.last = smaller(work.first + kStripRows, height_[stage]);
    work.pictures = lists.pictures;
    work.distorted = distorted;
    work.stride = vif_float_stride(width_[stage]);
    if (stage > 0 || !skip_scale0_) work.filter = &filter_[stage];
    if (stage + 1 < kVifFloatScales) {
      work.next = &filter_[stage + 1];
      work.half_stride = vif_float_stride(width_[stage + 1]);
    }
    work.terms = &terms_;
    work.num = memory.num[stage];
    work.den = memory.den[stage];
    work.scratch = scratch + lists.bytes;
    kernels_.measure(work);
  }

 private:
  // At the start of the scratch memory: what a strip's pictures are.
  struct Lists {
    VifFloatPicture *pictures;
    size_t bytes;

    Lists(std::byte *memory, int distorted) {
      Arena arena(memory);
      pictures = arena.take<VifFloatPicture>(static_cast<size_t>(1 + distorted));
      bytes = arena.used();
    }
  };

  struct Frame {
    float *planes[kVifFloatScales] = {};  // all pictures' of a scale; none of scale 0
    size_t plane_floats[kVifFloatScales] = {};
    float *num[kVifFloatScales], *den[kVifFloatScales];  // sums of rows
    size_t bytes;

    Frame(std::byte *memory, const CpuVifFloat &metric) {
      Arena arena(memory);
      const size_t distorted = static_cast<size_t>(metric.distorted_);
      for (int s = 0; s < kVifFloatScales; ++s) {
        const size_t rows = static_cast<size_t>(metric.height_[s]);
        if (s > 0) {
          plane_floats[s] = static_cast<size_t>(vif_float_stride(metric.width_[s])) * rows;
          planes[s] = arena.take<float>(plane_floats[s] * (1 + distorted));
        }
        num[s] = arena.take<float>(rows * distorted);
        den[s] = arena.take<float>(rows);
      }
      bytes = arena.used();
    }
    float *plane(int scale, int picture) const {
      return planes[scale] + plane_floats[scale] * static_cast<size_t>(picture);
    }
  };

  VifFloatSums add_rows(const Frame &memory, int d) const {
    VifFloatSums sums = {};
    for (int s = skip_scale0_ ? 1 : 0; s < kVifFloatScales; ++s) {
      const float *num = memory.num[s] + static_cast<ptrdiff_t>(d) * height_[s];
      for (int y = 0; y < height_[s]; ++y) {
        sums.num[s] += num[y];
        sums.den[s] += memory.den[s][y];
      }
    }
    return sums;
  }

  const VifFloatKernels &kernels_;
  const VifFloatTerms terms_;
  const bool skip_scale0_;
  const int distorted_;
  int width_[kVifFloatScales], height_[kVifFloatScales];
  FloatFilter filter_[kVifFloatScales];
  int radius_ = 0;
};

}  // namespace

std::unique_ptr<Metric> make_cpu_vif_float(const CpuKernels &kernels, const VifFloatParams &params,
                                           const PictureFormat &format, int distorted) {
  return std::make_unique<CpuVifFloat>(kernels, params, format, distorted);
}

}  // namespace vmafhip
