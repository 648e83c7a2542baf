// Float VIF on the GPU: planes of all scales, each made of the one before, then the statistics of each scale band by band,
// and the sums of the rows added up.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "engine/arith/float_samples.h"
#include "engine/hip/float_scale.h"
#include "engine/hip/frame_layout.h"
#include "engine/hip/hip.h"
#include "kernels/serial_sums_args.h"
#include "kernels/vif_float_args.h"

namespace vmafhip::hip {
namespace {

unsigned parts_of(int whole, int part) { return static_cast<unsigned>((whole + part - 1) / part); }

class HipVifFloat final : public HipMetric {
 public:
  HipVifFloat(const Device &device, const VifFloatParams &params, const PictureFormat &format, int distorted)
      : terms_(vif_float_terms(params)),
        first_(params.skip_scale0 ? 1 : 0),
        source_width_(format.width),
        source_height_(format.height),
        step_(float_sample_step(format.depth)),
        distorted_(distorted),
        method_(params.prescale_method) {
    const int width = float_scaled_size(format.width, params.prescale),
              height = float_scaled_size(format.height, params.prescale);
    const std::string samples = format.depth == 8 ? "8" : "16";
    const auto function = [&](const std::string &name) {
      return device.function("vif_float", ("vif_float_" + name).c_str());
    };
    scaled_ = width != format.width || height != format.height;
    if (scaled_) {
      columns_.emplace(device, method_, width, format.width);
      rows_.emplace(device, method_, height, format.height);
      rescale_ = function("scale_" + samples);
    }
    for (int s = 0; s < kVifFloatScales; ++s) {
      Scale &scale = scale_[s];
      scale.width = width >> s;
      scale.height = height >> s;
      scale.filter = vif_float_filter(s, params.kernel_scale);
      scale.own_length = scale.filter.length == filter_length(s, 1.0);
      const std::string length = scale.own_length ? std::to_string(scale.filter.length) : "any";
      const bool floats = s > 0 || scaled_;
      if (s >= first_) scale.measure = function(length + "_" + (floats ? "32" : samples));
      if (s > 0) scale.halve = function("half_" + length + "_" + (s > 1 || scaled_ ? "32" : samples));
      const auto rows = static_cast<size_t>(scale.height);
      scale.den_at = layout_.take<float>(rows);
      scale.num_at = layout_.take<float>(rows * static_cast<size_t>(distorted_));
    }
    for (int s = scaled_ ? 0 : 1; s < kVifFloatScales; ++s) {
      scale_[s].plane_bytes = static_cast<size_t>(float_plane_stride(scale_[s].width)) *
                              static_cast<size_t>(scale_[s].height) * sizeof(float);
      scale_[s].planes_at =
          layout_.take<std::byte>(scale_[s].plane_bytes * static_cast<size_t>(1 + distorted_));
    }
    results_.take<float>(static_cast<size_t>(kVifFloatScales - first_) * static_cast<size_t>(1 + distorted_));
    total_ = function("total");
  }

  size_t frame_bytes() const override { return layout_.bytes(); }
  size_t result_bytes() const override { return results_.bytes(); }

  void enqueue(const Stream &stream, std::span<const DeviceFrame> frames,
               const BatchMemory &memory) const override {
    const Batch batch = {frames, memory};
    for (int s = scaled_ ? 0 : 1; s < kVifFloatScales; ++s) make_planes(stream, batch, s);
    for (int s = first_; s < kVifFloatScales; ++s) measure(stream, batch, s);
    total(stream, batch);
  }

  void collect(const DeviceFrame &, const std::byte *results, std::byte *sums) const override {
    for (int d = 0; d < distorted_; ++d) {
      VifFloatSums out = {};
      for (int s = first_; s < kVifFloatScales; ++s) {
        const auto number = [&](int i) {
          float v;
          std::memcpy(&v, results + sizeof v * static_cast<size_t>((s - first_) * (1 + distorted_) + i),
                      sizeof v);
          return v;
        };
        out.den[s] = number(0);
        out.num[s] = number(1 + d);
      }
      std::memcpy(sums + static_cast<size_t>(d) * sizeof out, &out, sizeof out);
    }
  }

 private:
  struct Scale {
    int width, height;
    FloatFilter filter;
    bool own_length;          // that of kernel scale 1, for which there are kernels
    Function measure, halve;  // `halve` makes this scale's planes
    size_t den_at, num_at;    // sums of rows
    size_t planes_at, plane_bytes = 0;

    // Of the plane that this one is made of, in a step of `halve`.
    int columns() const {
      const int radius = filter_radius(filter.length);
      return own_length ? float_tile_columns<1>(radius) : float_tile_columns<0>(radius);
    }
  };
  struct Batch {
    std::span<const DeviceFrame> frames;
    const BatchMemory &memory;
  };

  DeviceAddress<std::byte> frame_memory(const Batch &batch, size_t frame) const {
    return batch.memory.frames + static_cast<int64_t>(frame * frame_bytes());
  }
  size_t plane_at(int scale, int picture) const {
    return scale_[scale].planes_at + scale_[scale].plane_bytes * static_cast<size_t>(picture);
  }
  // Picture 0 is the reference.
  DevicePlane plane(const Batch &batch, size_t frame, int scale, int picture) const {
    if (scale == 0 && !scaled_) return picture_plane(batch.frames[frame], picture);
    return {at<const uint8_t>(frame_memory(batch, frame), plane_at(scale, picture)),
            float_plane_stride(scale_[scale].width) * static_cast<int64_t>(sizeof(float))};
  }
  static const DevicePlane &picture_plane(const DeviceFrame &frame, int picture) {
    return picture == 0 ? frame.ref[0] : frame.dist[static_cast<size_t>(picture - 1)][0];
  }

  // Of scale 0, rescaled pictures; of the others, the one before at half size.
  void make_planes(const Stream &stream, const Batch &batch, int s) const {
    const Scale &scale = scale_[s];
    VifFloatPlaneArgs args = {};
    args.filter = scale.filter;
    if (s == 0) args.scale = {columns_->args(), rows_->args(), method_};
    args.width = s == 0 ? source_width_ : scale_[s - 1].width;
    args.height = s == 0 ? source_height_ : scale_[s - 1].height;
    args.to_width = scale.width;
    args.to_height = scale.height;
    args.step = step_;
    unsigned count = 0;
    const auto launch = [&] {
      if (s == 0)
        stream.launch(rescale_,
                      {parts_of(scale.width, kFloatTileThreads), static_cast<unsigned>(scale.height), count},
                      kFloatTileThreads, args);
      else
        stream.launch(
            scale.halve,
            {parts_of(scale.height, kFloatTileRows), parts_of(2 * scale.width, scale.columns()), count},
            kFloatTileThreads, args);
      count = 0;
    };
    for (size_t i = 0; i < batch.frames.size(); ++i)
      for (int p = 0; p <= distorted_; ++p) {
        args.planes[count++] = {s == 0 ? picture_plane(batch.frames[i], p) : plane(batch, i, s - 1, p),
                                at<float>(frame_memory(batch, i), plane_at(s, p))};
        if (count == kVifFloatPlanes) launch();
      }
    if (count > 0) launch();
  }

  void measure(const Stream &stream, const Batch &batch, int s) const {
    const Scale &scale = scale_[s];
    VifFloatArgs args = {};
    args.frame_floats = static_cast<int64_t>(frame_bytes() / sizeof(float));
    args.filter = scale.filter;
    args.terms = terms_;
    args.width = scale.width;
    args.height = scale.height;
    args.step = step_;
    for (int first = 0; first < distorted_; first += kVifFloatDistorted) {
      args.distorted = std::min(distorted_ - first, kVifFloatDistorted);
      const size_t most = static_cast<size_t>(kVifFloatPlanes / (1 + args.distorted));
      for (size_t frame = 0; frame < batch.frames.size(); frame += most) {
        const size_t count = std::min(batch.frames.size() - frame, most);
        size_t to = 0;
        for (size_t i = frame; i < frame + count; ++i) {
          args.planes[to++] = plane(batch, i, s, 0);
          for (int d = first; d < first + args.distorted; ++d) args.planes[to++] = plane(batch, i, s, 1 + d);
        }
        const DeviceAddress<std::byte> memory = frame_memory(batch, frame);
        args.den = at<float>(memory, scale.den_at);
        args.num = at<float>(memory, scale.num_at) + int64_t{first} * scale.height;
        stream.launch(scale.measure,
                      {parts_of(scale.height, kFloatTileRows), 1, static_cast<unsigned>(count)},
                      kFloatTileThreads, args);
      }
    }
  }

  void total(const Stream &stream, const Batch &batch) const {
    SerialSumArgs<float> args = {};
    int part = 0;
    for (int s = first_; s < kVifFloatScales; ++s) {
      args.parts[part++] = {static_cast<int32_t>(scale_[s].den_at / sizeof(float)), scale_[s].height, 1};
      args.parts[part++] = {static_cast<int32_t>(scale_[s].num_at / sizeof(float)), scale_[s].height,
                            distorted_};
    }
    const auto sums = static_cast<unsigned>((kVifFloatScales - first_) * (1 + distorted_));
    for (size_t frame = 0; frame < batch.frames.size(); frame += kSerialSumFrames) {
      const size_t count = std::min<size_t>(batch.frames.size() - frame, kSerialSumFrames);
      for (size_t i = 0; i < count; ++i)
        args.frames[i] = {at<const float>(frame_memory(batch, frame + i), 0),
                          at<float>(batch.memory.results, (frame + i) * result_bytes())};
      stream.launch(total_, {sums, 1, static_cast<unsigned>(count)}, kSerialSumThreads, args);
    }
  }

  const VifFloatTerms terms_;
  const int first_;  // scale that is measured
  const int source_width_, source_height_;
  const float step_;
  const int distorted_;
  const FloatScaling method_;
  bool scaled_ = false;
  std::optional<FloatScaleAxis> columns_, rows_;
  Function rescale_, total_;
  Scale scale_[kVifFloatScales];
  FrameLayout layout_, results_;
};

}  // namespace

std::unique_ptr<HipMetric> make_hip_vif_float(const Device &device, const VifFloatParams &params,
                                              const PictureFormat &format, int distorted) {
  return std::make_unique<HipVifFloat>(device, params, format, distorted);
}

}  // namespace vmafhip::hip
