// Float ADM on the GPU: low bands of all scales, each made of the one before, then the masked sums of each scale band by
// band of rows, and the sums of the rows added up.
#include <algorithm>
#include <cstring>
#include <string>

#include "engine/arith/float_samples.h"
#include "engine/hip/float_planes.h"
#include "engine/hip/hip.h"
#include "kernels/adm_float_args.h"

namespace vmafhip::hip {
namespace {

class HipAdmFloat final : public HipMetric {
 public:
  HipAdmFloat(const Device &device, const AdmFloatParams &params, const PictureFormat &format, int distorted)
      : params_(params),
        first_(params.options.skip_scale0 ? 1 : 0),
        step_(float_sample_step(format.depth)),
        distorted_(distorted) {
    const std::string samples = format.depth == 8 ? "8" : "16", power = params.cubes ? "" : "power_";
    const auto function = [&](const std::string &name) {
      return device.function("adm_float", ("adm_float_" + name).c_str());
    };
    // Sums first: they are addressed by 32 bits.
    for (int s = first_; s < kAdmScales; ++s) {
      const int rows = params_.scale[s].bottom - params_.scale[s].top,
                of_pictures = kAdmFloatPictureSums * distorted_;
      Scale &scale = scale_[s];
      scale.den_at = layout_.take<float>(static_cast<size_t>(rows) * kAdmBands);
      scale.pictures_at = layout_.take<float>(static_cast<size_t>(rows) * static_cast<size_t>(of_pictures));
      sums_.add(scale.den_at, rows, kAdmBands);
      sums_.add(scale.pictures_at, rows, of_pictures);
      scale.measure = function(power + (s == 0 ? samples : "32"));
    }
    for (int s = 0; s + 1 < kAdmScales; ++s) {
      scale_[s].low = FloatPlanes(layout_, params_.scale[s].width, params_.scale[s].height, 1 + distorted_);
      scale_[s].make_low = function("low_" + (s == 0 ? samples : "32"));
    }
    results_.take<float>(sums_.size());
    total_ = function("total");
  }

  size_t frame_bytes() const override { return layout_.bytes(); }
  size_t result_bytes() const override { return results_.bytes(); }

  void enqueue(const Stream &stream, std::span<const DeviceFrame> frames,
               const BatchMemory &memory) const override {
    const FrameBatch batch = {frames, memory, frame_bytes(), result_bytes()};
    for (int s = 0; s + 1 < kAdmScales; ++s) make_low(stream, batch, s);
    for (int s = first_; s < kAdmScales; ++s) measure(stream, batch, s);
    sums_.launch(stream, total_, batch);
  }

  void collect(const DeviceFrame &, const std::byte *results, std::byte *sums) const override {
    for (int d = 0; d < distorted_; ++d) {
      AdmFloatSums out = {};
      size_t first = 0;
      for (int s = first_; s < kAdmScales; ++s) {
        for (size_t band = 0; band < kAdmBands; ++band) {
          const size_t of_picture = first + kAdmBands + static_cast<size_t>(d) * kAdmFloatPictureSums + band;
          out.scale[s].den[band] = result<float>(results, first + band);
          out.scale[s].num[band] = result<float>(results, of_picture);
          out.scale[s].aim[band] = result<float>(results, of_picture + kAdmBands);
        }
        first += kAdmBands + static_cast<size_t>(distorted_) * kAdmFloatPictureSums;
      }
      std::memcpy(sums + static_cast<size_t>(d) * sizeof out, &out, sizeof out);
    }
  }

 private:
  struct Scale {
    Function measure, make_low;
    FloatPlanes low;
    size_t den_at = 0, pictures_at = 0;  // sums of rows
  };

  // What scale s is made of.
  DevicePlane source(const FrameBatch &batch, size_t frame, int s, int picture) const {
    return s == 0 ? batch.luma(frame, picture) : scale_[s - 1].low.plane(batch.frame_memory(frame), picture);
  }
  int source_width(int s) const { return s == 0 ? params_.width : params_.scale[s - 1].width; }
  int source_height(int s) const { return s == 0 ? params_.height : params_.scale[s - 1].height; }

  void make_low(const Stream &stream, const FrameBatch &batch, int s) const {
    AdmFloatLowArgs args = {};
    args.width = source_width(s);
    args.height = source_height(s);
    args.to_width = params_.scale[s].width;
    args.to_stride = scale_[s].low.stride();
    args.step = step_;
    unsigned count = 0;
    const auto launch = [&] {
      stream.launch(
          scale_[s].make_low,
          {parts_of(args.to_width, kAdmFloatThreads), static_cast<unsigned>(params_.scale[s].height), count},
          kAdmFloatThreads, args);
      count = 0;
    };
    for (size_t i = 0; i < batch.size(); ++i)
      for (int p = 0; p <= distorted_; ++p) {
        args.planes[count++] = {source(batch, i, s, p), scale_[s].low.address(batch.frame_memory(i), p)};
        if (count == kAdmFloatPlanes) launch();
      }
    if (count > 0) launch();
  }

  void measure(const Stream &stream, const FrameBatch &batch, int s) const {
    const AdmFloatScaleParams &p = params_.scale[s];
    AdmFloatArgs args = {};
    args.frame_floats = static_cast<int64_t>(frame_bytes() / sizeof(float));
    args.scale = p;
    args.width = source_width(s);
    args.height = source_height(s);
    args.step = step_;
    args.exponent = params_.exponent;
    args.bypass_masking = params_.options.bypass_masking;
    args.gain_limit = params_.options.gain_limit;
    for_each_launch(batch.size(), distorted_, kAdmFloatPlanes, kAdmFloatDistorted,
                    [&](size_t frame, size_t frames, int first, int pictures) {
                      DevicePlane *to = args.planes;
                      for (size_t i = frame; i < frame + frames; ++i) {
                        *to++ = source(batch, i, s, 0);
                        for (int d = first; d < first + pictures; ++d) *to++ = source(batch, i, s, 1 + d);
                      }
                      args.distorted = pictures;
                      const DeviceAddress<std::byte> memory = batch.frame_memory(frame);
                      args.den = at<float>(memory, scale_[s].den_at);
                      args.pictures = at<float>(memory, scale_[s].pictures_at) +
                                      int64_t{first} * kAdmFloatPictureSums * (p.bottom - p.top);
                      stream.launch(
                          scale_[s].measure,
                          {parts_of(p.bottom - p.top, kAdmFloatRows), 1, static_cast<unsigned>(frames)},
                          kAdmFloatThreads, args);
                    });
  }

  const AdmFloatParams params_;
  const int first_;  // scale that is measured
  const float step_;
  const int distorted_;
  Function total_;
  Scale scale_[kAdmScales];
  FrameLayout layout_, results_;
  SerialSums<float> sums_;
};

}  // namespace

std::unique_ptr<HipMetric> make_hip_adm_float(const Device &device, const AdmFloatParams &params,
                                              const PictureFormat &format, int distorted) {
  return std::make_unique<HipAdmFloat>(device, params, format, distorted);
}

}  // namespace vmafhip::hip
