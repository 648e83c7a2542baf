// Float VIF as a Metric. Stages: rescaling, if wished; then scale after scale, in strips of rows; last, the sums of the
// rows are added from top to bottom. Planes that are not the picture's own and sums of rows lie in frame memory.
// Compiled for the baseline.
#include <cstring>
#include <optional>

#include "engine/cpu/arena.h"
#include "engine/cpu/cpu.h"
#include "engine/cpu/float_scale_tables.h"

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
        method_(params.prescale_method),
        source_width_(format.width),
        distorted_(distorted) {
    const int width = float_scaled_size(format.width, params.prescale),
              height = float_scaled_size(format.height, params.prescale);
    if (width != format.width || height != format.height) {
      columns_.emplace(method_, width, format.width);
      rows_.emplace(method_, height, format.height);
      first_stage_ = 1;
    }
    for (int s = 0; s < kVifFloatScales; ++s) {
      width_[s] = width >> s;
      height_[s] = height >> s;
      filter_[s] = vif_float_filter(s, params.kernel_scale);
      radius_ = larger(radius_, filter_radius(filter_[s].length));
    }
  }

  int stages() const override { return first_stage_ + kVifFloatScales + 1; }
  int strips(int stage) const override {
    const int scale = stage - first_stage_;
    if (scale < 0) return scale_strips(0) * (1 + distorted_);
    return scale < kVifFloatScales ? scale_strips(scale) : 1;
  }
  size_t scratch_bytes() const override {
    const size_t measuring =
        Lists(nullptr, distorted_).bytes + kernels_.scratch_bytes(width_[0], radius_, distorted_);
    return first_stage_ > 0 ? larger(measuring, kernels_.scaling_scratch_bytes(source_width_)) : measuring;
  }
  size_t frame_bytes() const override { return Frame(nullptr, *this).bytes; }

  void measure(const FrameView &frame, int stage, int strip, std::byte *frame_memory, std::byte *scratch,
               std::byte *partial) const override {
    const int distorted = static_cast<int>(frame.dist.size()), scale = stage - first_stage_;
    const Frame memory(frame_memory, *this);
    std::memset(partial, 0, static_cast<size_t>(distorted) * sizeof(VifFloatSums));
    if (scale < 0) {
      const int picture = strip / scale_strips(0);
      if (picture <= distorted) rescale(frame, picture, strip % scale_strips(0), memory, scratch);
    } else if (scale < kVifFloatScales) {
      measure_strip(frame, scale, strip, memory, scratch);
    } else {
      for (int d = 0; d < distorted; ++d) {
        const VifFloatSums sums = add_rows(memory, d);
        std::memcpy(partial + static_cast<size_t>(d) * sizeof sums, &sums, sizeof sums);
      }
    }
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
    float *planes[kVifFloatScales] = {};  // all pictures' of a scale; of scale 0 only if they are rescaled
    size_t plane_floats[kVifFloatScales] = {};
    float *num[kVifFloatScales], *den[kVifFloatScales];  // sums of rows
    size_t bytes;

    Frame(std::byte *memory, const CpuVifFloat &metric) {
      Arena arena(memory);
      const size_t distorted = static_cast<size_t>(metric.distorted_);
      for (int s = 0; s < kVifFloatScales; ++s) {
        const size_t rows = static_cast<size_t>(metric.height_[s]);
        if (s > 0 || metric.first_stage_ > 0) {
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

  int scale_strips(int scale) const { return (height_[scale] + kStripRows - 1) / kStripRows; }

  static const PlaneView &luma(const FrameView &frame, int picture) {
    return picture == 0 ? frame.ref[0] : frame.dist[static_cast<size_t>(picture - 1)][0];
  }

  void rescale(const FrameView &frame, int picture, int strip, const Frame &memory,
               std::byte *scratch) const {
    VifFloatScaling work = {};
    work.samples = luma(frame, picture);
    work.method = method_;
    work.columns = &columns_->axis();
    work.rows = &rows_->axis();
    work.first = strip * kStripRows;
    work.last = smaller(work.first + kStripRows, height_[0]);
    work.to = memory.plane(0, picture);
    work.stride = vif_float_stride(width_[0]);
    work.scratch = scratch;
    kernels_.scale(work);
  }

  void measure_strip(const FrameView &frame, int scale, int strip, const Frame &memory,
                     std::byte *scratch) const {
    const Lists lists(scratch, distorted_);
    VifFloatStrip work = {};
    work.distorted = static_cast<int>(frame.dist.size());
    for (int p = 0; p <= work.distorted; ++p) {
      VifFloatPicture &picture = lists.pictures[p] = VifFloatPicture();
      if (scale + first_stage_ == 0)
        picture.samples = luma(frame, p);
      else
        picture.floats = memory.plane(scale, p);
      if (scale + 1 < kVifFloatScales) picture.half = memory.plane(scale + 1, p);
    }
    work.width = width_[scale];
    work.height = height_[scale];
    work.first = strip * kStripRows;
    work.last = smaller(work.first + kStripRows, height_[scale]);
    work.pictures = lists.pictures;
    work.stride = vif_float_stride(width_[scale]);
    if (scale > 0 || !skip_scale0_) work.filter = &filter_[scale];
    if (scale + 1 < kVifFloatScales) {
      work.next = &filter_[scale + 1];
      work.half_stride = vif_float_stride(width_[scale + 1]);
    }
    work.terms = &terms_;
    work.num = memory.num[scale];
    work.den = memory.den[scale];
    work.scratch = scratch + lists.bytes;
    kernels_.measure(work);
  }

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
  const FloatScaling method_;
  const int source_width_, distorted_;
  int first_stage_ = 0;  // the one of scale 0
  std::optional<FloatScaleTable> columns_, rows_;
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
