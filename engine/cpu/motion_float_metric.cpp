// Float motion as a Metric. Stages: strips of rows of each plane; the same at half size, if wished; last, the sums of the
// rows are added from top to bottom. These and the filtered planes that the second stage reads lie in frame memory.
// Compiled for the baseline.
#include <cstring>
#include <optional>

#include "engine/cpu/arena.h"
#include "engine/cpu/cpu.h"
#include "engine/cpu/float_scale_tables.h"

namespace vmafhip {
namespace {

// About 11 strips for 1080p; whole groups of rows on every instruction set.
constexpr int kStripRows = 96;

// The reference alone counts, so that all distorted pictures get the same sums.
class CpuMotionFloat final : public Metric {
 public:
  CpuMotionFloat(const CpuKernels &kernels, const MotionFloatParams &params, const PictureFormat &format)
      : kernels_(*kernels.motion_float),
        params_(params),
        shape_(motion_float_shape(format.width, format.height, chroma_shift_x(format.chroma),
                                  chroma_shift_y(format.chroma), params)),
        filter_(motion_float_filter(params.filter_size)) {
    if (!params.add_scale1) return;
    for (int p = 0; p < smaller(shape_.planes, 2); ++p) {
      columns_[p].emplace(FloatScaling::bilinear, half_width(p), shape_.width[p]);
      rows_[p].emplace(FloatScaling::bilinear, half_height(p), shape_.height[p]);
    }
  }

  int stages() const override { return params_.add_scale1 ? 3 : 2; }
  int strips(int stage) const override {
    if (stage + 1 == stages()) return 1;
    int count = 0;
    for (int p = 0; p < shape_.planes; ++p) count += plane_strips(stage, p);
    return count;
  }
  size_t scratch_bytes() const override { return kernels_.scratch_bytes(shape_.width[0]); }
  size_t frame_bytes() const override { return Frame(nullptr, *this).bytes; }

  void measure(const FrameView &frame, int stage, int strip, std::byte *frame_memory, std::byte *scratch,
               std::byte *partial) const override {
    MotionFloatSums sums = {};
    const Frame memory(frame_memory, *this);
    if (!params_.force_zero && frame.earlier[0][0].data) {
      int plane = 0;
      if (stage + 1 == stages()) {
        sums = add_rows(memory);
      } else {
        for (; strip >= plane_strips(stage, plane); ++plane) strip -= plane_strips(stage, plane);
        if (stage == 0)
          measure_strip(frame, plane, strip, memory, scratch);
        else
          measure_half(plane, strip, memory, scratch);
      }
    }
    for (size_t d = 0; d < frame.dist.size(); ++d) std::memcpy(partial + d * sizeof sums, &sums, sizeof sums);
  }

 private:
  struct Frame {
    float *sums[3], *half_sums[3];  // of rows, of each plane
    float *filtered[3][2] = {};     // of both frames
    size_t bytes;

    Frame(std::byte *memory, const CpuMotionFloat &metric) {
      Arena arena(memory);
      for (int p = 0; p < metric.shape_.planes; ++p) {
        const size_t height = static_cast<size_t>(metric.shape_.height[p]);
        sums[p] = arena.take<float>(height);
        if (!metric.params_.add_scale1) continue;
        half_sums[p] = arena.take<float>(static_cast<size_t>(metric.half_height(p)));
        for (float *&plane : filtered[p])
          plane =
              arena.take<float>(static_cast<size_t>(motion_float_stride(metric.shape_.width[p])) * height);
      }
      bytes = arena.used();
    }
  };

  int half_width(int plane) const { return MotionFloatShape::half(shape_.width[plane]); }
  int half_height(int plane) const { return MotionFloatShape::half(shape_.height[plane]); }
  int plane_strips(int stage, int plane) const {
    return ((stage == 0 ? shape_.height[plane] : half_height(plane)) + kStripRows - 1) / kStripRows;
  }

  void measure_strip(const FrameView &frame, int plane, int strip, const Frame &memory,
                     std::byte *scratch) const {
    MotionFloatStrip work = {};
    work.earlier = frame.earlier[0][static_cast<size_t>(plane)];
    work.current = frame.ref[static_cast<size_t>(plane)];
    work.width = shape_.width[plane];
    work.height = shape_.height[plane];
    work.first = strip * kStripRows;
    work.last = smaller(work.first + kStripRows, work.height);
    work.filter = &filter_;
    work.sums = memory.sums[plane];
    for (int f = 0; f < 2; ++f) work.filtered[f] = memory.filtered[plane][f];
    work.stride = motion_float_stride(work.width);
    work.scratch = scratch;
    kernels_.measure(work);
  }

  void measure_half(int plane, int strip, const Frame &memory, std::byte *scratch) const {
    MotionFloatHalf work = {};
    for (int f = 0; f < 2; ++f) work.filtered[f] = memory.filtered[plane][f];
    work.stride = motion_float_stride(shape_.width[plane]);
    work.columns = &columns_[smaller(plane, 1)]->axis();
    work.rows = &rows_[smaller(plane, 1)]->axis();
    work.first = strip * kStripRows;
    work.last = smaller(work.first + kStripRows, half_height(plane));
    work.sums = memory.half_sums[plane];
    work.scratch = scratch;
    kernels_.measure_half(work);
  }

  MotionFloatSums add_rows(const Frame &memory) const {
    MotionFloatSums sums = {};
    for (int p = 0; p < shape_.planes; ++p) {
      for (int y = 0; y < shape_.height[p]; ++y) sums.sad[p] += memory.sums[p][y];
      for (int y = 0; params_.add_scale1 && y < half_height(p); ++y) sums.half[p] += memory.half_sums[p][y];
    }
    return sums;
  }

  const MotionFloatKernels &kernels_;
  const MotionFloatParams params_;
  const MotionFloatShape shape_;
  const FloatFilter filter_;
  std::optional<FloatScaleTable> columns_[2], rows_[2];  // of luma and of chroma
};

}  // namespace

std::unique_ptr<Metric> make_cpu_motion_float(const CpuKernels &kernels, const MotionFloatParams &params,
                                              const PictureFormat &format, int) {
  return std::make_unique<CpuMotionFloat>(kernels, params, format);
}

}  // namespace vmafhip
