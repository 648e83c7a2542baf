// Float motion on the GPU: filtered planes of both frames compared band by band, the same at half size, and the sums of
// the rows added up. The reference alone counts.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "engine/arith/float_samples.h"
#include "engine/hip/float_scale.h"
#include "engine/hip/frame_layout.h"
#include "engine/hip/hip.h"
#include "kernels/motion_float_args.h"
#include "kernels/serial_sums_args.h"

namespace vmafhip::hip {
namespace {

class HipMotionFloat final : public HipMetric {
 public:
  HipMotionFloat(const Device &device, const MotionFloatParams &params, const PictureFormat &format,
                 int distorted)
      : params_(params),
        shape_(motion_float_shape(format.width, format.height, chroma_shift_x(format.chroma),
                                  chroma_shift_y(format.chroma), params)),
        filter_(motion_float_filter(params.filter_size)),
        step_(float_sample_step(format.depth)),
        distorted_(distorted) {
    if (params_.force_zero) return;
    measure_ = device.function(
        "motion_float",
        ("motion_float_" + std::to_string(filter_.length) + (format.depth == 8 ? "_8" : "_16")).c_str());
    total_ = device.function("motion_float", "motion_float_total");
    if (params_.add_scale1) half_ = device.function("motion_float", "motion_float_half");
    for (int p = 0; p < shape_.planes; ++p) {
      const int height = shape_.height[p];
      sums_at_[p] = layout_.take<float>(static_cast<size_t>(height));
      parts_[p] = {static_cast<int32_t>(sums_at_[p] / sizeof(float)), height, 1};
      if (!params_.add_scale1) continue;
      const int half_height = MotionFloatShape::half(height);
      half_sums_at_[p] = layout_.take<float>(static_cast<size_t>(half_height));
      parts_[shape_.planes + p] = {static_cast<int32_t>(half_sums_at_[p] / sizeof(float)), half_height, 1};
      for (size_t &plane : filtered_at_[p])
        plane = layout_.take<float>(static_cast<size_t>(float_plane_stride(shape_.width[p])) *
                                    static_cast<size_t>(height));
      if (p < 2) {  // both chroma planes are of one size
        columns_[p].emplace(device, FloatScaling::bilinear, MotionFloatShape::half(shape_.width[p]),
                            shape_.width[p]);
        rows_[p].emplace(device, FloatScaling::bilinear, half_height, height);
      }
    }
  }

  size_t frame_bytes() const override { return layout_.bytes(); }
  size_t result_bytes() const override { return 256; }

  void enqueue(const Stream &stream, std::span<const DeviceFrame> frames,
               const BatchMemory &memory) const override {
    if (params_.force_zero) return;
    for (size_t first = 0; first < frames.size(); first += kMostPairs) {
      Batch batch;
      const size_t end = std::min(frames.size(), first + kMostPairs);
      for (size_t i = first; i < end; ++i) {
        if (!frames[i].earlier[0][0].data) continue;  // nothing to compare with: sums stay 0
        batch.frames[batch.count] = &frames[i];
        batch.memory[batch.count] = memory.frames + static_cast<int64_t>(i * frame_bytes());
        batch.results[batch.count++] = memory.results + static_cast<int64_t>(i * result_bytes());
      }
      if (batch.count == 0) continue;
      for (int p = 0; p < shape_.planes; ++p) measure(stream, batch, p);
      for (int p = 0; params_.add_scale1 && p < shape_.planes; ++p) measure_half(stream, batch, p);
      total(stream, batch);
    }
  }

  void collect(const DeviceFrame &, const std::byte *results, std::byte *sums) const override {
    MotionFloatSums out = {};
    const size_t bytes = static_cast<size_t>(shape_.planes) * sizeof(float);
    std::memcpy(out.sad, results, bytes);
    if (params_.add_scale1) std::memcpy(out.half, results + bytes, bytes);
    for (int d = 0; d < distorted_; ++d)
      std::memcpy(sums + static_cast<size_t>(d) * sizeof out, &out, sizeof out);
  }

 private:
  struct Batch {
    size_t count = 0;
    const DeviceFrame *frames[kMostPairs];
    DeviceAddress<std::byte> memory[kMostPairs], results[kMostPairs];
  };

  void measure(const Stream &stream, const Batch &batch, int plane) const {
    MotionFloatArgs args = {};
    for (size_t i = 0; i < batch.count; ++i) {
      MotionFloatPair &pair = args.pairs[i];
      pair.earlier = batch.frames[i]->earlier[0][static_cast<size_t>(plane)];
      pair.current = batch.frames[i]->ref[static_cast<size_t>(plane)];
      pair.sums = at<float>(batch.memory[i], sums_at_[plane]);
      for (int f = 0; params_.add_scale1 && f < 2; ++f)
        pair.filtered[f] = at<float>(batch.memory[i], filtered_at_[plane][f]);
    }
    args.filter = filter_;
    args.width = shape_.width[plane];
    args.height = shape_.height[plane];
    args.stride = float_plane_stride(args.width);
    args.step = step_;
    stream.launch(measure_, bands(args.height, batch), kFloatTileThreads, args);
  }

  void measure_half(const Stream &stream, const Batch &batch, int plane) const {
    MotionFloatHalfArgs args = {};
    for (size_t i = 0; i < batch.count; ++i) {
      for (int f = 0; f < 2; ++f)
        args.pairs[i].filtered[f] = at<const float>(batch.memory[i], filtered_at_[plane][f]);
      args.pairs[i].sums = at<float>(batch.memory[i], half_sums_at_[plane]);
    }
    const int axis = std::min(plane, 1);
    args.scale = {columns_[axis]->args(), rows_[axis]->args(), FloatScaling::bilinear};
    args.stride = float_plane_stride(shape_.width[plane]);
    stream.launch(half_, bands(MotionFloatShape::half(shape_.height[plane]), batch), kFloatTileThreads, args);
  }

  void total(const Stream &stream, const Batch &batch) const {
    SerialSumArgs<float> args = {};
    static_assert(kMostPairs <= kSerialSumFrames);
    for (size_t i = 0; i < batch.count; ++i)
      args.frames[i] = {at<const float>(batch.memory[i], 0), at<float>(batch.results[i], 0)};
    std::copy(std::begin(parts_), std::end(parts_), args.parts);
    const unsigned sums = static_cast<unsigned>(shape_.planes) * (params_.add_scale1 ? 2 : 1);
    stream.launch(total_, {sums, 1, static_cast<unsigned>(batch.count)}, kSerialSumThreads, args);
  }

  static Grid bands(int height, const Batch &batch) {
    return {static_cast<unsigned>(float_tile_bands(height)), 1, static_cast<unsigned>(batch.count)};
  }

  const MotionFloatParams params_;
  const MotionFloatShape shape_;
  const FloatFilter filter_;
  const float step_;
  const int distorted_;
  Function measure_, half_, total_;
  FrameLayout layout_;
  size_t sums_at_[3] = {}, half_sums_at_[3] = {}, filtered_at_[3][2] = {};
  SerialSumArgs<float>::Part parts_[6] = {};            // of each plane, then of each at half size
  std::optional<FloatScaleAxis> columns_[2], rows_[2];  // of luma and of chroma
};

}  // namespace

std::unique_ptr<HipMetric> make_hip_motion_float(const Device &device, const MotionFloatParams &params,
                                                 const PictureFormat &format, int distorted) {
  return std::make_unique<HipMotionFloat>(device, params, format, distorted);
}

}  // namespace vmafhip::hip
