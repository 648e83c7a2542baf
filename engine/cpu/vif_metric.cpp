// VIF on the CPU as a Metric: stage s is scale s; each plane of a scale is cut into strips of kStripRows rows. The
// samples of coarser scales lie in frame memory. Compiled for the baseline.
#include <array>
#include <cstring>

#include "engine/cpu/arena.h"
#include "engine/cpu/cpu.h"
#include "engine/gain_limits.h"

namespace vmafhip {
namespace {

// 12 strips for the finest scale of 1080p. A strip converts 16 more rows than it measures, which is cheap, since
// no filter runs over them.
constexpr int kStripRows = 96;
static_assert(kStripRows % 4 == 0);

const uint16_t *log_table() {
  static const auto table = [] {
    std::array<uint16_t, kVifLogEntries> t;
    vif_fill_log_table(t.data());
    return t;
  }();
  return table.data();
}

class CpuVif final : public Metric {
 public:
  CpuVif(const CpuKernels &kernels, const std::vector<VifParams> &sets, const PictureFormat &format,
         int distorted)
      : kernels_(kernels),
        limits_(sets, [](const VifParams &params) { return params.gain_limit; }),
        skip_scale0_(sets[0].skip_scale0),
        planes_(sets[0].chroma ? 3 : 1),
        pictures_(1 + distorted),
        log_table_(log_table()) {
    for (int p = 0; p < planes_; ++p) {
      const int x = p > 0 ? chroma_shift_x(format.chroma) : 0, y = p > 0 ? chroma_shift_y(format.chroma) : 0;
      sizes_[p].width = (format.width + x) >> x;
      sizes_[p].height = (format.height + y) >> y;
      for (int s = 1; s < kVifScales; ++s) {
        offsets_[p][s] = frame_samples_;
        frame_samples_ += plane_samples(p, s) * pictures_;
      }
    }
  }

  int stages() const override { return kVifScales; }
  int strips(int stage) const override {
    int count = 0;
    for (int p = 0; p < planes_; ++p) count += plane_strips(p, stage);
    return count;
  }
  size_t scratch_bytes() const override {
    return Lists(nullptr, pictures_, limits_.count()).bytes +
           kernels_.vif->scratch_bytes(sizes_[0].width, pictures_ - 1, limits_.count());
  }
  size_t frame_bytes() const override { return static_cast<size_t>(frame_samples_) * sizeof(int16_t); }

  void measure(const FrameView &frame, int stage, int strip, std::byte *frame_memory, std::byte *scratch,
               std::byte *partial) const override {
    int p = 0;
    for (; strip >= plane_strips(p, stage); ++p) strip -= plane_strips(p, stage);
    const int distorted = static_cast<int>(frame.dist.size());
    const Lists lists(scratch, pictures_, limits_.count());
    lists.pictures[0] = picture(frame.ref, 0, p, stage, frame_memory);
    for (int d = 0; d < distorted; ++d)
      lists.pictures[1 + d] = picture(frame.dist[static_cast<size_t>(d)], 1 + d, p, stage, frame_memory);

    VifStrip work = {};
    work.scale = stage;
    work.first = strip * kStripRows;
    work.last = smaller(work.first + kStripRows, sizes_[p].height >> stage);
    work.statistics = stage > 0 || p > 0 || !skip_scale0_;
    work.gain_limits = limits_.values.data();
    work.limits = limits_.count();
    work.log_table = log_table_;
    work.pictures = lists.pictures;
    work.distorted = distorted;
    work.half_stride = vif_half_stride(sizes_[p].width >> (stage + 1));
    work.scratch = scratch + lists.bytes;
    work.sums = lists.sums;
    kernels_.vif->measure(work);

    for (int d = 0; d < distorted; ++d)
      for (const int limit : limits_.of_set) {
        VifSums sums;
        (p == 0 ? sums.scale : sums.chroma[p - 1])[stage] = lists.sums[d * limits_.count() + limit];
        std::memcpy(partial, &sums, sizeof sums);
        partial += sizeof sums;
      }
  }

 private:
  struct Size {
    int width = 0, height = 0;
  };
  // At the start of the scratch memory: what a strip's pictures and results are.
  struct Lists {
    VifPicture *pictures;
    VifScaleSums *sums;
    size_t bytes;

    Lists(std::byte *memory, int count, int limits) {
      Arena arena(memory);
      pictures = arena.take<VifPicture>(static_cast<size_t>(count));
      sums = arena.take<VifScaleSums>(static_cast<size_t>(count * limits));
      bytes = arena.used();
    }
  };

  // `number`: 0 for the reference.
  VifPicture picture(const Views &views, int number, int plane, int stage, std::byte *frame_memory) const {
    const auto samples = [&](int scale) {
      return reinterpret_cast<int16_t *>(frame_memory) + offsets_[plane][scale] +
             plane_samples(plane, scale) * number;
    };
    VifPicture out = {views[static_cast<size_t>(plane)], nullptr};
    if (stage > 0) {
      const int width = sizes_[plane].width >> stage;
      out.plane = {samples(stage), vif_half_stride(width) * static_cast<ptrdiff_t>(sizeof(int16_t)), width,
                   sizes_[plane].height >> stage, 16};
    }
    if (stage + 1 < kVifScales) out.half = samples(stage + 1);
    return out;
  }

  int plane_strips(int plane, int stage) const {
    return ((sizes_[plane].height >> stage) + kStripRows - 1) / kStripRows;
  }
  // Of one picture.
  ptrdiff_t plane_samples(int plane, int scale) const {
    return vif_half_stride(sizes_[plane].width >> scale) * (sizes_[plane].height >> scale);
  }

  const CpuKernels &kernels_;
  const GainLimits limits_;
  const bool skip_scale0_;
  const int planes_, pictures_;
  const uint16_t *log_table_;
  Size sizes_[3];
  ptrdiff_t offsets_[3][kVifScales] = {};
  ptrdiff_t frame_samples_ = 0;
};

}  // namespace

std::unique_ptr<Metric> make_cpu_vif(const CpuKernels &kernels, const std::vector<VifParams> &sets,
                                     const PictureFormat &format, int distorted) {
  return std::make_unique<CpuVif>(kernels, sets, format, distorted);
}

}  // namespace vmafhip
