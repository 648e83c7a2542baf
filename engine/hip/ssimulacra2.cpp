// SSIMULACRA 2 on the GPU: memory and launches of kernels/ssimulacra2.hip. A frame has XYB of all scales and linear RGB of
// the coarser ones for each picture, and for each distorted picture what is blurred along rows and the sums of columns.
#include <algorithm>
#include <array>
#include <cstring>

#include "engine/hip/batch.h"
#include "engine/hip/hip.h"
#include "kernels/ssimulacra2_args.h"

namespace vmafhip::hip {
namespace {

using Curve = std::array<Ssimulacra2Piece, kSsimulacra2Pieces>;

Buffer<Ssimulacra2Piece> upload_curve(const Device &device) {
  Curve curve;
  ssimulacra2_fill_curve(curve.data());
  Buffer<Ssimulacra2Piece> buffer(device, curve.size());
  const Stream stream(device);
  stream.upload(address_cast<std::byte>(buffer.address()), sizeof curve, curve.data(), sizeof curve,
                sizeof curve, 1);
  stream.synchronize();
  return buffer;
}

class HipSsimulacra2 final : public HipMetric {
 public:
  HipSsimulacra2(const Device &device, const Ssimulacra2Params &params, const PictureFormat &format,
                 int distorted)
      : samples_(device.function("ssimulacra2",
                                 format.depth == 8 ? "ssimulacra2_colours_8" : "ssimulacra2_colours_16")),
        colours_(device.function("ssimulacra2", "ssimulacra2_colours")),
        rows_(device.function("ssimulacra2", "ssimulacra2_rows")),
        columns_(device.function("ssimulacra2", "ssimulacra2_columns")),
        sum_(device.function("ssimulacra2", "ssimulacra2_sum")),
        range_(ssimulacra2_range(params, format.depth)),
        chroma_shift_x_(chroma_shift_x(format.chroma)),
        chroma_shift_y_(chroma_shift_y(format.chroma)),
        curve_(upload_curve(device)) {
    const size_t pictures = static_cast<size_t>(distorted) + 1;
    int width = format.width, height = format.height;
    int64_t floats = 0;
    int32_t doubles = 0;
    layout_.scales = ssimulacra2_scales(width, height);
    for (int s = 0; s < layout_.scales; s++) {
      Ssimulacra2Plane &plane = layout_.scale[s];
      plane = {.width = width,
               .height = height,
               .stride = (width + kSsimulacra2Stride - 1) / kSsimulacra2Stride * kSsimulacra2Stride,
               .row_block = static_cast<int32_t>(row_blocks_),
               .column_block = static_cast<int32_t>(column_blocks_),
               .columns = doubles,
               .at = floats};
      row_blocks_ += blocks_for(height, kSsimulacra2BlurThreads);
      column_blocks_ += blocks_for(width, kSsimulacra2BlurThreads);
      doubles += plane.stride * kSsimulacra2ScaleSums;
      floats += kSsimulacra2Channels * ssimulacra2_plane_floats(plane);
      width = (width + 1) / 2;
      height = (height + 1) / 2;
    }
    const auto bytes = [](int64_t count, size_t each) {
      return rounded_to_256(static_cast<size_t>(count) * each);
    };
    const int64_t coarser = layout_.scales > 1 ? layout_.scale[1].at : floats;
    xyb_bytes_ = bytes(floats, sizeof(float));
    rgb_bytes_ = bytes(floats - coarser, sizeof(float));
    lines_bytes_ = bytes(floats * kSsimulacra2Lines, sizeof(float));
    columns_bytes_ = bytes(doubles, sizeof(double));
    picture_bytes_ = xyb_bytes_ + rgb_bytes_;
    pairs_at_ = pictures * picture_bytes_;
    pair_bytes_ = lines_bytes_ + columns_bytes_;
    frame_bytes_ = pairs_at_ + static_cast<size_t>(distorted) * pair_bytes_;
    result_bytes_ = rounded_to_256(static_cast<size_t>(distorted) * sizeof(Ssimulacra2Sums));
  }

  size_t frame_bytes() const override { return frame_bytes_; }
  size_t result_bytes() const override { return result_bytes_; }

  void enqueue(const Stream &stream, std::span<const DeviceFrame> frames,
               const BatchMemory &memory) const override {
    enqueue_colours(stream, frames, memory);
    Ssimulacra2PairArgs args = {};
    args.layout = layout_;
    Batch batch(args.pairs, [&](unsigned count) {
      stream.launch(rows_, {row_blocks_, kSsimulacra2Channels, count}, kSsimulacra2BlurThreads, args);
      stream.launch(columns_, {column_blocks_, kSsimulacra2Channels, count}, kSsimulacra2BlurThreads, args);
      stream.launch(sum_, {kSsimulacra2ScaleSums, static_cast<unsigned>(layout_.scales), count}, kSumLanes,
                    args);
    });
    for (size_t f = 0; f < frames.size(); f++) {
      const DeviceAddress<std::byte> frame = at(memory.frames, f * frame_bytes_);
      for (size_t d = 0; d < frames[f].dist.size(); d++) {
        const DeviceAddress<std::byte> pair = at(frame, pairs_at_ + d * pair_bytes_);
        batch.add(
            {address_cast<const float>(frame), address_cast<const float>(at(frame, (1 + d) * picture_bytes_)),
             address_cast<float>(pair), address_cast<double>(at(pair, lines_bytes_)),
             address_cast<double>(at(memory.results, f * result_bytes_ + d * sizeof(Ssimulacra2Sums)))});
      }
    }
    batch.flush();
  }

  void collect(const DeviceFrame &frame, const std::byte *results, std::byte *sums) const override {
    std::memcpy(sums, results, frame.dist.size() * sizeof(Ssimulacra2Sums));
  }

 private:
  // XYB of all scales, each scale from the linear RGB that the one before leaves.
  void enqueue_colours(const Stream &stream, std::span<const DeviceFrame> frames,
                       const BatchMemory &memory) const {
    Ssimulacra2ColourArgs args = {};
    args.range = range_;
    args.curve = address_cast<const Ssimulacra2Piece>(curve_.address());
    args.chroma_shift_x = chroma_shift_x_;
    args.chroma_shift_y = chroma_shift_y_;
    Batch batch(args.sources, [&](unsigned count) {
      for (int s = 0; s < layout_.scales; s++) {
        args.from = layout_.scale[s];
        args.to = s + 1 < layout_.scales ? layout_.scale[s + 1] : Ssimulacra2Plane();
        stream.launch(s == 0 ? samples_ : colours_,
                      {blocks_for((args.from.width + 1) / 2, kSsimulacra2ColourThreads),
                       blocks_for(args.from.height, 2), count},
                      kSsimulacra2ColourThreads, args);
      }
    });
    for (size_t f = 0; f < frames.size(); f++)
      for (size_t p = 0; p <= frames[f].dist.size(); p++) {
        const DeviceViews &views = p == 0 ? frames[f].ref : frames[f].dist[p - 1];
        const DeviceAddress<std::byte> picture = at(memory.frames, f * frame_bytes_ + p * picture_bytes_);
        Ssimulacra2Source source = {};
        std::copy(views.begin(), views.end(), source.planes);
        source.xyb = address_cast<float>(picture);
        const int64_t coarser = layout_.scales > 1 ? layout_.scale[1].at : 0;
        source.rgb = address_cast<float>(at(picture, xyb_bytes_)) + -coarser;
        batch.add(source);
      }
    batch.flush();
  }

  const Function samples_, colours_, rows_, columns_, sum_;
  const Ssimulacra2Range range_;
  const int chroma_shift_x_, chroma_shift_y_;
  const Buffer<Ssimulacra2Piece> curve_;
  Ssimulacra2Layout layout_ = {};
  unsigned row_blocks_ = 0, column_blocks_ = 0;
  // Of a picture: XYB, RGB, both. Of a distorted picture besides: lines, sums of columns, both.
  size_t xyb_bytes_ = 0, rgb_bytes_ = 0, picture_bytes_ = 0;
  size_t lines_bytes_ = 0, columns_bytes_ = 0, pair_bytes_ = 0, pairs_at_ = 0;
  size_t frame_bytes_ = 0, result_bytes_ = 0;
};

}  // namespace

std::unique_ptr<HipMetric> make_hip_ssimulacra2(const Device &device, const Ssimulacra2Params &params,
                                                const PictureFormat &format, int distorted) {
  return std::make_unique<HipSsimulacra2>(device, params, format, distorted);
}

}  // namespace vmafhip::hip
