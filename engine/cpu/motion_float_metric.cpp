// Float motion as a Metric: strips of rows of each plane; a last stage adds the sums of the rows, which lie in frame
// memory, from top to bottom. Compiled for the baseline.
#include <cstring>

#include "engine/cpu/arena.h"
#include "engine/cpu/cpu.h"

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
        shape_(motion_float_shape(format.width, format.height,
                                  format.chroma == Chroma::c420 || format.chroma == Chroma::c422,
                                  format.chroma == Chroma::c420, params)),
        filter_(motion_float_filter(params.filter_size)) {}

  int stages() const override { return 2; }
  int strips(int stage) const override {
    int count = 0;
    for (int p = 0; p < shape_.planes; ++p) count += plane_strips(p);
    return stage == 0 ? count : 1;
  }
  size_t scratch_bytes() const override { return kernels_.scratch_bytes(shape_.width[0]); }
  size_t frame_bytes() const override { return Frame(nullptr, shape_).bytes; }

  void measure(const FrameView &frame, int stage, int strip, std::byte *frame_memory, std::byte *scratch,
               std::byte *partial) const override {
    MotionFloatSums sums = {};
    const Frame memory(frame_memory, shape_);
    if (!params_.force_zero && frame.earlier[0][0].data) {
      if (stage == 0)
        measure_strip(frame, strip, memory, scratch);
      else
        sums = add_rows(memory);
    }
    for (size_t d = 0; d < frame.dist.size(); ++d) std::memcpy(partial + d * sizeof sums, &sums, sizeof sums);
  }

 private:
  struct Frame {
    float *sums[3];  // of rows, of each plane
    size_t bytes;

    Frame(std::byte *memory, const MotionFloatShape &shape) {
      Arena arena(memory);
      for (int p = 0; p < shape.planes; ++p)
        sums[p] = arena.take<float>(static_cast<size_t>(shape.height[p]));
      bytes = arena.used();
    }
  };

  int plane_strips(int plane) const { return (shape_.height[plane] + kStripRows - 1) / kStripRows; }

  void measure_strip(const FrameView &frame, int strip, const Frame &memory, std::byte *scratch) const {
    size_t p = 0;
    for (; strip >= plane_strips(static_cast<int>(p)); ++p) strip -= plane_strips(static_cast<int>(p));
    MotionFloatStrip work = {};
    work.earlier = frame.earlier[0][p];
    work.current = frame.ref[p];
    work.width = shape_.width[p];
    work.height = shape_.height[p];
    work.first = strip * kStripRows;
    work.last = smaller(work.first + kStripRows, work.height);
    work.filter = &filter_;
    work.sums = memory.sums[p];
    work.scratch = scratch;
    kernels_.measure(work);
  }

  MotionFloatSums add_rows(const Frame &memory) const {
    MotionFloatSums sums = {};
    for (int p = 0; p < shape_.planes; ++p)
      for (int y = 0; y < shape_.height[p]; ++y) sums.sad[p] += memory.sums[p][y];
    return sums;
  }

  const MotionFloatKernels &kernels_;
  const MotionFloatParams params_;
  const MotionFloatShape shape_;
  const FloatFilter filter_;
};

}  // namespace

std::unique_ptr<Metric> make_cpu_motion_float(const CpuKernels &kernels, const MotionFloatParams &params,
                                              const PictureFormat &format, int) {
  return std::make_unique<CpuMotionFloat>(kernels, params, format);
}

}  // namespace vmafhip
