// Structural similarity as a Metric: stages, strips and memory. Compiled for the baseline.
//
// A stage measures the windows of one scale and makes the next scale, which lies in frame memory; a box, if any, is a
// stage before. The last stage, one strip, adds up the rows of all scales.
#include <cstring>

#include "engine/arith/ssim_decimate.h"
#include "engine/cpu/arena.h"
#include "engine/cpu/cpu.h"
#include "engine/cpu/strips.h"

namespace vmafhip {
namespace {

// Samples of a decimated plane in a strip.
constexpr int kStripSamples = 65536;

constexpr int parts_of(int64_t whole, int64_t part) { return static_cast<int>((whole + part - 1) / part); }

class CpuSsim final : public Metric {
 public:
  CpuSsim(const CpuKernels &kernels, const SsimParams &params, const PictureFormat &format, int distorted)
      : kernels_(*kernels.ssim),
        params_(params),
        scales_(params.multi_scale ? kMsSsimScales : 1),
        box_(params.factor > 1),
        pictures_(1 + distorted) {
    int width = format.width, height = format.height;
    if (box_) {
      width = ssim_decimated(width, params.factor);
      height = ssim_decimated(height, params.factor);
    }
    Arena frame(nullptr);
    for (int s = 0; s < scales_; ++s) {
      Scale &scale = scale_[s];
      scale.width = width;
      scale.height = height;
      scale.windows = height - kSsimMargin;
      scale.rows = frame.used();
      frame.take<SsimSums>(static_cast<size_t>(scale.windows) * static_cast<size_t>(distorted));
      scale.planes = frame.used();
      if (s > 0 || box_) {
        scale.samples = ssim_stride(width) * height;
        frame.take<float>(static_cast<size_t>(scale.samples * pictures_));
      }
      width = ssim_decimated(width, 2);
      height = ssim_decimated(height, 2);
    }
    frame_bytes_ = frame.used();
    scratch_bytes_ =
        larger(kernels_.window_scratch_bytes(distorted), kernels_.decimate_scratch_bytes(format.width));
  }

  int stages() const override { return scales_ + box_ + 1; }
  int strips(int stage) const override {
    if (stage == scales_ + box_) return 1;
    return window_strips(stage - box_) + decimate_strips(stage - box_ + 1) * pictures_;
  }
  size_t scratch_bytes() const override { return Lists(nullptr, pictures_).bytes + scratch_bytes_; }
  size_t frame_bytes() const override { return frame_bytes_; }

  void measure(const FrameView &frame, int stage, int strip, std::byte *frame_memory, std::byte *scratch,
               std::byte *partial) const override {
    const int distorted = static_cast<int>(frame.dist.size()), scale = stage - box_;
    std::memset(partial, 0, frame.dist.size() * sizeof(MsSsimSums));
    if (scale == scales_) {
      for (int d = 0; d < distorted; ++d) {
        const MsSsimSums sums = add_rows(d, frame_memory);
        std::memcpy(partial + static_cast<size_t>(d) * sizeof sums, &sums, sizeof sums);
      }
    } else if (strip < window_strips(scale)) {
      windows(frame, scale, strip, frame_memory, scratch);
    } else {
      const int next = scale + 1, count = decimate_strips(next), number = strip - window_strips(scale);
      if (number / count <= distorted)
        decimate(frame, next, number / count, number % count, frame_memory, scratch);
    }
  }

 private:
  struct Scale {
    int width = 0, height = 0;
    int windows = 0;        // rows of them
    size_t rows = 0;        // where in frame memory the sums of rows lie
    size_t planes = 0;      // and the planes, if they are not the pictures themselves
    ptrdiff_t samples = 0;  // of one plane
  };
  struct Lists {
    SsimPlane *planes;
    size_t bytes;

    Lists(std::byte *memory, int count) {
      Arena arena(memory);
      planes = arena.take<SsimPlane>(static_cast<size_t>(count));
      bytes = arena.used();
    }
  };

  int window_strips(int scale) const {
    return scale < 0 ? 0 : parts_of(scale_[scale].windows, kSsimStripRows);
  }
  // Strips that make one plane of a scale.
  int decimate_strips(int scale) const {
    if (scale == scales_ || (scale == 0 && !box_)) return 0;
    return parts_of(int64_t{scale_[scale].width} * scale_[scale].height, kStripSamples);
  }

  SsimSums *rows(int scale, std::byte *frame_memory) const {
    return reinterpret_cast<SsimSums *>(frame_memory + scale_[scale].rows);
  }
  float *floats(int scale, int picture, std::byte *frame_memory) const {
    return reinterpret_cast<float *>(frame_memory + scale_[scale].planes) + scale_[scale].samples * picture;
  }
  // Picture 0 is the reference. Scale -1 is the pictures' own where a box follows.
  SsimPlane plane(const FrameView &frame, int scale, int picture, std::byte *frame_memory) const {
    SsimPlane plane;
    if (scale < 0 || scale_[scale].samples == 0) {
      plane.samples = picture == 0 ? frame.ref[0] : frame.dist[static_cast<size_t>(picture - 1)][0];
      plane.width = plane.samples.width;
      plane.height = plane.samples.height;
    } else {
      plane.floats = floats(scale, picture, frame_memory);
      plane.width = scale_[scale].width;
      plane.height = scale_[scale].height;
      plane.stride = ssim_stride(plane.width);
    }
    return plane;
  }

  void windows(const FrameView &frame, int scale, int strip, std::byte *frame_memory,
               std::byte *scratch) const {
    const Scale &s = scale_[scale];
    const Lists lists(scratch, pictures_);
    SsimWindowStrip work = {};
    work.planes = lists.planes;
    work.distorted = static_cast<int>(frame.dist.size());
    for (int p = 0; p <= work.distorted; ++p) lists.planes[p] = plane(frame, scale, p, frame_memory);
    const Strips cut = {s.windows, window_strips(scale)};
    work.first = cut.begin(strip);
    work.last = cut.begin(strip + 1);
    // Only the coarsest scale's luminance counts.
    work.parts.l = params_.lcs || (params_.multi_scale && scale == kMsSsimScales - 1);
    work.parts.cs = params_.lcs || params_.multi_scale;
    work.parts.lcs = !params_.multi_scale;
    work.rows = rows(scale, frame_memory);
    work.of_next = s.windows;
    work.scratch = scratch + lists.bytes;
    kernels_.windows(work);
  }

  void decimate(const FrameView &frame, int scale, int picture, int strip, std::byte *frame_memory,
                std::byte *scratch) const {
    const Scale &s = scale_[scale];
    const Strips cut = {s.height, decimate_strips(scale)};
    SsimDecimateStrip work = {};
    work.from = plane(frame, scale - 1, picture, frame_memory);
    work.factor = box_ ? params_.factor : 0;
    work.width = s.width;
    work.first = cut.begin(strip);
    work.last = cut.begin(strip + 1);
    work.to = floats(scale, picture, frame_memory);
    work.stride = ssim_stride(s.width);
    work.scratch = scratch;
    kernels_.decimate(work);
  }

  MsSsimSums add_rows(int distorted, std::byte *frame_memory) const {
    MsSsimSums sums = {};
    for (int s = 0; s < scales_; ++s) {
      SsimSums &sum = sums.scale[s];
      const SsimSums *row = rows(s, frame_memory) + static_cast<ptrdiff_t>(scale_[s].windows) * distorted;
      for (int y = 0; y < scale_[s].windows; ++y) {
        sum.l += row[y].l;
        sum.c += row[y].c;
        sum.s += row[y].s;
        sum.lcs += row[y].lcs;
      }
    }
    return sums;
  }

  const SsimKernels &kernels_;
  const SsimParams params_;
  const int scales_, box_, pictures_;
  Scale scale_[kMsSsimScales];
  size_t frame_bytes_ = 0, scratch_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Metric> make_cpu_ssim(const CpuKernels &kernels, const SsimParams &params,
                                      const PictureFormat &format, int distorted) {
  return std::make_unique<CpuSsim>(kernels, params, format, distorted);
}

}  // namespace vmafhip
