// Structural similarity on the GPU: a plane of lower resolution or, for several scales, each made of the one before; then
// the windows of each scale, and the sums of their rows added up.
#include <algorithm>
#include <cstring>
#include <string>

#include "engine/arith/float_samples.h"
#include "engine/hip/batch.h"
#include "engine/hip/float_planes.h"
#include "engine/hip/hip.h"
#include "kernels/ssim_args.h"

namespace vmafhip::hip {
namespace {

// Sums that are asked for.
int count(const SsimParts &parts) { return parts.l + 2 * parts.cs + parts.lcs; }

class HipSsim final : public HipMetric {
 public:
  HipSsim(const Device &device, const SsimParams &params, const PictureFormat &format, int distorted)
      : params_(params),
        scales_(params.multi_scale ? kMsSsimScales : 1),
        width_(format.width),
        height_(format.height),
        step_(float_sample_step(format.depth)),
        distorted_(distorted) {
    const std::string samples = format.depth == 8 ? "8" : "16";
    const auto function = [&](const std::string &name) {
      return device.function("ssim", ("ssim_" + name).c_str());
    };
    const bool box = params.factor > 1;
    size_t most_parts = 0;
    for (int s = 0; s < scales_; ++s) {
      Scale &scale = scale_[s];
      const int factor = s == 0 ? params.factor : 2;
      scale.width = ssim_decimated(s == 0 ? width_ : scale_[s - 1].width, factor);
      scale.height = ssim_decimated(s == 0 ? height_ : scale_[s - 1].height, factor);
      scale.asked.l = params.lcs || (params.multi_scale && s == kMsSsimScales - 1);
      scale.asked.cs = params.lcs || params.multi_scale;
      scale.asked.lcs = !params.multi_scale;
      const bool made = s > 0 || box, cs_alone = scale.asked.cs && !scale.asked.l && !scale.asked.lcs;
      scale.measure = function((cs_alone ? "windows_cs_" : "windows_") + (made ? "32" : samples));
      if (made) scale.make = function(s == 0 ? "box_" + samples : "half_" + (s == 1 ? samples : "32"));
      const int rows = scale.height - kSsimMargin, sums = count(scale.asked) * distorted_;
      scale.rows_at = layout_.take<double>(static_cast<size_t>(rows) * static_cast<size_t>(sums));
      sums_.add(scale.rows_at, rows, sums);
      // One scale after the other is measured: all use the memory of the largest.
      most_parts = std::max(most_parts, scale.parts() * static_cast<size_t>(distorted_));
    }
    parts_at_ = layout_.take<double>(most_parts);
    for (int s = box ? 0 : 1; s < scales_; ++s)
      scale_[s].planes = FloatPlanes(layout_, scale_[s].width, scale_[s].height, 1 + distorted_);
    results_.take<double>(sums_.size());
    rows_ = function("rows");
    total_ = function("total");
  }

  size_t frame_bytes() const override { return layout_.bytes(); }
  size_t result_bytes() const override { return results_.bytes(); }

  void enqueue(const Stream &stream, std::span<const DeviceFrame> frames,
               const BatchMemory &memory) const override {
    const FrameBatch batch = {frames, memory, frame_bytes(), result_bytes()};
    for (int s = 0; s < scales_; ++s)
      if (scale_[s].planes) make_planes(stream, batch, s);
    for (int s = 0; s < scales_; ++s) measure(stream, batch, s);
    sums_.launch(stream, total_, batch);
  }

  void collect(const DeviceFrame &, const std::byte *results, std::byte *sums) const override {
    const std::byte *from = results;
    const auto next = [&](bool asked) {
      if (!asked) return 0.0;
      const double sum = result<double>(from, 0);
      from += sizeof sum;
      return sum;
    };
    for (int s = 0; s < kMsSsimScales; ++s)
      for (int d = 0; d < distorted_; ++d) {
        const SsimParts &asked = scale_[s].asked;
        SsimSums out;
        out.l = next(asked.l);
        out.c = next(asked.cs);
        out.s = next(asked.cs);
        out.lcs = next(asked.lcs);
        std::memcpy(sums + static_cast<size_t>(d) * sizeof(MsSsimSums) + static_cast<size_t>(s) * sizeof out,
                    &out, sizeof out);
      }
  }

 private:
  struct Scale {
    int width = 0, height = 0;
    SsimParts asked = {};
    Function measure, make;
    FloatPlanes planes;  // none where the pictures are measured themselves
    size_t rows_at = 0;  // sums of rows of each distorted picture

    // Sums of rows of a distorted picture, and what lanes of blocks have of them.
    size_t sums() const {
      return static_cast<size_t>(count(asked)) * static_cast<size_t>(height - kSsimMargin);
    }
    size_t parts() const {
      return sums() * static_cast<size_t>(ssim_blocks(width - kSsimMargin) * kSsimLanes);
    }
  };

  // Scale -1: the pictures, where scale 0 is made of them.
  DevicePlane plane(const FrameBatch &batch, size_t frame, int scale, int picture) const {
    if (scale < 0 || !scale_[scale].planes) return batch.luma(frame, picture);
    return scale_[scale].planes.plane(batch.frame_memory(frame), picture);
  }

  void make_planes(const Stream &stream, const FrameBatch &batch, int s) const {
    const Scale &scale = scale_[s];
    SsimPlaneArgs args = {};
    args.width = s == 0 ? width_ : scale_[s - 1].width;
    args.height = s == 0 ? height_ : scale_[s - 1].height;
    args.to_width = scale.width;
    args.to_height = scale.height;
    args.to_stride = scale.planes.stride();
    args.factor = params_.factor;
    args.step = step_;
    Batch planes(args.planes, [&](unsigned count) {
      stream.launch(scale.make,
                    {parts_of(scale.width, kSsimPlaneThreads),
                     parts_of(scale.height, s == 0 ? 1 : kSsimHalfRows), count},
                    kSsimPlaneThreads, args);
    });
    for (size_t i = 0; i < batch.size(); ++i)
      for (int p = 0; p <= distorted_; ++p)
        planes.add({plane(batch, i, s - 1, p), scale.planes.address(batch.frame_memory(i), p)});
    planes.flush();
  }

  void measure(const Stream &stream, const FrameBatch &batch, int s) const {
    const Scale &scale = scale_[s];
    SsimArgs args = {};
    args.width = scale.width;
    args.height = scale.height;
    args.sums = static_cast<int32_t>(scale.sums());
    args.step = step_;
    args.asked = scale.asked;
    Batch pairs(args.pairs, [&](unsigned count) {
      const auto blocks = static_cast<unsigned>(ssim_blocks(scale.width - kSsimMargin));
      stream.launch(scale.measure, {blocks, parts_of(scale.height - kSsimMargin, kSsimRows), count},
                    kSsimThreads, args);
      stream.launch(rows_, {parts_of(args.sums, kSsimSumRows), 1, count}, kSsimRowThreads, args);
    });
    for (size_t i = 0; i < batch.size(); ++i)
      for (int d = 0; d < distorted_; ++d) {
        const DeviceAddress<std::byte> memory = batch.frame_memory(i);
        const auto number = static_cast<int64_t>(d);
        pairs.add({plane(batch, i, s, 0), plane(batch, i, s, 1 + d),
                   at<double>(memory, parts_at_) + number * static_cast<int64_t>(scale.parts()),
                   at<double>(memory, scale.rows_at) + number * static_cast<int64_t>(scale.sums())});
      }
    pairs.flush();
  }

  const SsimParams params_;
  const int scales_;
  const int width_, height_;
  const float step_;
  const int distorted_;
  Function rows_, total_;
  Scale scale_[kMsSsimScales];
  FrameLayout layout_, results_;
  size_t parts_at_ = 0;
  SerialSums<double> sums_;
};

}  // namespace

std::unique_ptr<HipMetric> make_hip_ssim(const Device &device, const SsimParams &params,
                                         const PictureFormat &format, int distorted) {
  return std::make_unique<HipSsim>(device, params, format, distorted);
}

}  // namespace vmafhip::hip
