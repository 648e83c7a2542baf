// SpEED as a Metric. Stage 0 reduces planes to their coarse scale, strip by strip; stage 1 analyses each plane, those of
// the reference once for all distorted pictures; stage 2 compares. Compiled for the baseline.
#include <cstring>
#include <optional>
#include <vector>

#include "engine/cpu/arena.h"
#include "engine/cpu/cpu.h"
#include "engine/cpu/float_scale_tables.h"

namespace vmafhip {
namespace {

// Results of one plane of one picture, and what they are made from, in a frame's memory.
struct PlaneMemory {
  float *coarse, *variance, *entropy;
  bool *singular;
};

class CpuSpeed : public Metric {
 public:
  // Planes of one size.
  CpuSpeed(const CpuKernels &kernels, const SpeedParams &params, int planes, SpeedPlaneSize size,
           int distorted)
      : kernels_(*kernels.speed), planes_(planes), pictures_(1 + distorted) {
    setup_.params = params;
    setup_.shape = speed_shape(params, size.width, size.height);
    setup_.antialias = speed_antialias(params);
    setup_.local_mean = speed_local_mean(params);
    if (setup_.shape.prescaled) {
      across_.emplace(params.method, setup_.shape.width, size.width);
      down_.emplace(params.method, setup_.shape.height, size.height);
      setup_.across = &across_->axis();
      setup_.down = &down_->axis();
    }
    // About as many samples as the other metrics' strips read.
    constexpr int64_t kSamples = 250000;
    const int64_t row = static_cast<int64_t>(size.width) * size.height / setup_.shape.rows;
    strip_rows_ = static_cast<int>(larger<int64_t>(1, kSamples / row));
    strips_ = (setup_.shape.rows + strip_rows_ - 1) / strip_rows_;
  }
  CpuSpeed(const CpuSpeed &) = delete;

  int stages() const override { return 3; }
  int strips(int stage) const override {
    const int all = planes_ * pictures_;
    return stage == 0 ? all * strips_ : stage == 1 ? all : 1;
  }
  size_t scratch_bytes() const override {
    return larger(kernels_.reduce_scratch_bytes(setup_), kernels_.analyse_scratch_bytes(setup_));
  }
  size_t frame_bytes() const override {
    Arena arena(nullptr);
    for (int i = 0; i < planes_ * pictures_; ++i) take(arena);
    return arena.used();
  }

  void measure(const FrameView &frame, int stage, int strip, std::byte *frame_memory, std::byte *scratch,
               std::byte *partial) const override {
    const int distorted = static_cast<int>(frame.dist.size());
    std::memset(partial, 0, static_cast<size_t>(distorted) * sizeof(SpeedSums));
    if (!comparable(frame)) return;
    if (stage == 2) {
      for (int d = 0; d < distorted; ++d) {
        const SpeedSums sums = compare(d, frame_memory);
        std::memcpy(partial + static_cast<size_t>(d) * sizeof sums, &sums, sizeof sums);
      }
      return;
    }
    const int number = stage == 0 ? strip / strips_ : strip;
    const int plane = number / pictures_, picture = number % pictures_;
    if (picture > distorted) return;
    const PlaneMemory memory = plane_memory(plane, picture, frame_memory);
    if (stage == 1) {
      *memory.singular = kernels_.analyse(setup_, memory.coarse, memory.variance, memory.entropy, scratch);
      return;
    }
    SpeedStrip work = source(frame, plane, picture);
    work.first = strip % strips_ * strip_rows_;
    work.last = smaller(work.first + strip_rows_, setup_.shape.rows);
    work.coarse = memory.coarse;
    kernels_.reduce(setup_, work, scratch);
  }

 protected:
  // Whether there is anything to compare in this frame; if not, its sums are 0.
  virtual bool comparable(const FrameView &) const { return true; }
  // What is analysed: of picture 0, the reference, or of distorted picture `picture` - 1.
  virtual SpeedStrip source(const FrameView &frame, int plane, int picture) const = 0;

 private:
  PlaneMemory take(Arena &arena) const {
    const SpeedShape &shape = setup_.shape;
    const size_t samples = static_cast<size_t>(shape.columns) * static_cast<size_t>(shape.rows);
    const size_t blocks = static_cast<size_t>(shape.blocks());
    PlaneMemory memory;
    memory.coarse = arena.take<float>(samples);
    memory.variance = arena.take<float>(blocks, 0, kSpeedBeyond);
    memory.entropy = arena.take<float>(blocks, 0, kSpeedBeyond);
    memory.singular = arena.take<bool>(1);
    return memory;
  }
  PlaneMemory plane_memory(int plane, int picture, std::byte *frame_memory) const {
    Arena arena(frame_memory);
    for (int i = 0; i < plane * pictures_ + picture; ++i) take(arena);
    return take(arena);
  }

  SpeedSums compare(int distorted, std::byte *frame_memory) const {
    SpeedSums sums = {};
    for (int plane = 0; plane < planes_; ++plane) {
      const auto analysis = [&](int picture) {
        const PlaneMemory memory = plane_memory(plane, picture, frame_memory);
        return SpeedAnalysis{memory.variance, memory.entropy, *memory.singular};
      };
      const SpeedAnalysis ref = analysis(0), dist = analysis(1 + distorted);
      sums.score[plane] = speed_score(setup_.params, setup_.shape.blocks(), ref, dist);
      sums.singular[plane] = ref.singular || dist.singular;
    }
    return sums;
  }

  const SpeedKernels &kernels_;
  const int planes_, pictures_;
  SpeedSetup setup_;
  std::optional<FloatScaleTable> across_, down_;
  int strip_rows_, strips_;
};

// U and V.
class CpuSpeedChroma final : public CpuSpeed {
 public:
  CpuSpeedChroma(const CpuKernels &kernels, const SpeedParams &params, const PictureFormat &format,
                 int distorted)
      : CpuSpeed(kernels, params, 2,
                 speed_chroma_size(format.width, format.height, chroma_shift_x(format.chroma),
                                   chroma_shift_y(format.chroma)),
                 distorted) {}

 private:
  SpeedStrip source(const FrameView &frame, int plane, int picture) const override {
    const Views &views = picture == 0 ? frame.ref : frame.dist[static_cast<size_t>(picture - 1)];
    return {views[static_cast<size_t>(1 + plane)], {}};
  }
};

// Luma: the previous picture minus the current one.
class CpuSpeedTemporal final : public CpuSpeed {
 public:
  CpuSpeedTemporal(const CpuKernels &kernels, const SpeedParams &params, const PictureFormat &format,
                   int distorted)
      : CpuSpeed(kernels, params, 1, {format.width, format.height}, distorted),
        minus_ref_(params.use_ref_diff) {}

 private:
  bool comparable(const FrameView &frame) const override { return frame.earlier[0][0].data != nullptr; }
  SpeedStrip source(const FrameView &frame, int, int picture) const override {
    if (picture == 0) return {frame.earlier[0][0], frame.ref[0]};
    const size_t d = static_cast<size_t>(picture - 1);
    return {frame.earlier_dist[d][0], minus_ref_ ? frame.ref[0] : frame.dist[d][0]};
  }

  const bool minus_ref_;
};

}  // namespace

std::unique_ptr<Metric> make_cpu_speed_chroma(const CpuKernels &kernels, const SpeedParams &params,
                                              const PictureFormat &format, int distorted) {
  return std::make_unique<CpuSpeedChroma>(kernels, params, format, distorted);
}

std::unique_ptr<Metric> make_cpu_speed_temporal(const CpuKernels &kernels, const SpeedParams &params,
                                                const PictureFormat &format, int distorted) {
  return std::make_unique<CpuSpeedTemporal>(kernels, params, format, distorted);
}

}  // namespace vmafhip
