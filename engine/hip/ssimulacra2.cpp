// SSIMULACRA 2 on the GPU: memory and launches of kernels/ssimulacra2.hip. A frame has XYB of all scales of each picture;
// what of the reference alone is blurred along rows; and for each distorted picture what else is, and the sums of columns.
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
      : colours_(device.function("ssimulacra2",
                                 format.depth == 8 ? "ssimulacra2_colours_8" : "ssimulacra2_colours_16")),
        rows_(device.function("ssimulacra2", "ssimulacra2_rows")),
        more_rows_(device.function("ssimulacra2", "ssimulacra2_more_rows")),
        columns_(device.function("ssimulacra2", "ssimulacra2_columns")),
        sum_(device.function("ssimulacra2", "ssimulacra2_sum")),
        range_(ssimulacra2_range(params, format.depth)),
        chroma_shift_x_(chroma_shift_x(format.chroma)),
        chroma_shift_y_(chroma_shift_y(format.chroma)),
        curve_(upload_curve(device)) {
    const size_t pictures = static_cast<size_t>(distorted) + 1;
    int width = format.width, height = format.height;
    int64_t floats = 0, ref_floats = 0, own_floats = 0;
    int32_t doubles = 0;
    layout_.scales = ssimulacra2_scales(width, height);
    for (int s = 0; s < layout_.scales; s++) {
      Ssimulacra2Plane &plane = layout_.scale[s];
      plane = {.width = width,
               .height = height,
               .stride = (width + kSsimulacra2Stride - 1) / kSsimulacra2Stride * kSsimulacra2Stride,
               .columns = doubles,
               .at = floats,
               .channel = {}};
      for (int c = 0; c < kSsimulacra2Channels; c++) {
        const bool alone = ssimulacra2_artefacts_alone(s, c);
        const int lines = ssimulacra2_lines(alone, false), own_lines = ssimulacra2_lines(alone, true);
        plane.channel[c] = {ref_floats,
                            own_floats,
                            static_cast<int32_t>(row_blocks_),
                            static_cast<int32_t>(further_row_blocks_),
                            static_cast<int32_t>(column_blocks_),
                            alone};
        row_blocks_ += blocks_for(height, ssimulacra2_group(alone, false));
        further_row_blocks_ += blocks_for(height, ssimulacra2_group(alone, true));
        column_blocks_ += blocks_for(width, ssimulacra2_group(alone, false));
        ref_floats += (lines - own_lines) * ssimulacra2_plane_floats(plane);
        own_floats += own_lines * ssimulacra2_plane_floats(plane);
      }
      doubles += plane.stride * kSsimulacra2ScaleSums;
      floats += kSsimulacra2Channels * ssimulacra2_plane_floats(plane);
      width = (width + 1) / 2;
      height = (height + 1) / 2;
    }
    const auto bytes = [](int64_t count, size_t each) {
      return rounded_to_256(static_cast<size_t>(count) * each);
    };
    picture_bytes_ = bytes(floats, sizeof(float));
    ref_lines_at_ = pictures * picture_bytes_;
    pairs_at_ = ref_lines_at_ + bytes(ref_floats, sizeof(float));
    lines_bytes_ = bytes(own_floats, sizeof(float));
    pair_bytes_ = lines_bytes_ + bytes(doubles, sizeof(double));
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
    const auto launch = [&](const Function &function, unsigned blocks, unsigned threads) {
      return [&, function = &function, blocks, threads](unsigned count) {
        stream.launch(*function, {blocks, 1, count}, threads, args);
      };
    };
    // What further distorted pictures share comes with the first.
    Batch rows(args.pairs, launch(rows_, row_blocks_, kSsimulacra2BlurThreads));
    for (size_t f = 0; f < frames.size(); f++) rows.add(pair(memory, f, 0));
    rows.flush();
    Batch more_rows(args.pairs, launch(more_rows_, further_row_blocks_, kSsimulacra2MoreThreads));
    for (size_t f = 0; f < frames.size(); f++)
      for (size_t d = 1; d < frames[f].dist.size(); d++) more_rows.add(pair(memory, f, d));
    more_rows.flush();
    Batch all(args.pairs, [&](unsigned count) {
      stream.launch(columns_, {column_blocks_, 1, count}, kSsimulacra2BlurThreads, args);
      stream.launch(sum_, {kSsimulacra2ScaleSums, static_cast<unsigned>(layout_.scales), count}, kSumLanes,
                    args);
    });
    for (size_t f = 0; f < frames.size(); f++)
      for (size_t d = 0; d < frames[f].dist.size(); d++) all.add(pair(memory, f, d));
    all.flush();
  }

  void collect(const DeviceFrame &frame, const std::byte *results, std::byte *sums) const override {
    std::memcpy(sums, results, frame.dist.size() * sizeof(Ssimulacra2Sums));
  }

 private:
  void enqueue_colours(const Stream &stream, std::span<const DeviceFrame> frames,
                       const BatchMemory &memory) const {
    Ssimulacra2ColourArgs args = {};
    args.layout = layout_;
    args.range = range_;
    args.curve = address_cast<const Ssimulacra2Piece>(curve_.address());
    args.chroma_shift_x = chroma_shift_x_;
    args.chroma_shift_y = chroma_shift_y_;
    Batch batch(args.sources, [&](unsigned count) {
      stream.launch(colours_,
                    {blocks_for(layout_.scale[0].width, kSsimulacra2ColourTile),
                     blocks_for(layout_.scale[0].height, kSsimulacra2ColourTile), count},
                    kSsimulacra2ColourThreads, args);
    });
    for (size_t f = 0; f < frames.size(); f++)
      for (size_t p = 0; p <= frames[f].dist.size(); p++) {
        const DeviceViews &views = p == 0 ? frames[f].ref : frames[f].dist[p - 1];
        Ssimulacra2Source source = {};
        std::copy(views.begin(), views.end(), source.planes);
        source.xyb = address_cast<float>(at(memory.frames, f * frame_bytes_ + p * picture_bytes_));
        batch.add(source);
      }
    batch.flush();
  }

  Ssimulacra2Pair pair(const BatchMemory &memory, size_t frame, size_t distorted) const {
    const DeviceAddress<std::byte> own = at(memory.frames, frame * frame_bytes_),
                                   lines = at(own, pairs_at_ + distorted * pair_bytes_);
    return {address_cast<const float>(own),
            address_cast<const float>(at(own, (1 + distorted) * picture_bytes_)),
            address_cast<float>(at(own, ref_lines_at_)),
            address_cast<float>(lines),
            address_cast<double>(at(lines, lines_bytes_)),
            address_cast<double>(
                at(memory.results, frame * result_bytes_ + distorted * sizeof(Ssimulacra2Sums)))};
  }

  const Function colours_, rows_, more_rows_, columns_, sum_;
  const Ssimulacra2Range range_;
  const int chroma_shift_x_, chroma_shift_y_;
  const Buffer<Ssimulacra2Piece> curve_;
  Ssimulacra2Layout layout_ = {};
  unsigned row_blocks_ = 0, further_row_blocks_ = 0, column_blocks_ = 0;
  // In a frame's memory: pictures, lines of the reference, pairs; in that of a pair lines, then sums of columns.
  size_t picture_bytes_ = 0, ref_lines_at_ = 0, pairs_at_ = 0, lines_bytes_ = 0, pair_bytes_ = 0;
  size_t frame_bytes_ = 0, result_bytes_ = 0;
};

}  // namespace

std::unique_ptr<HipMetric> make_hip_ssimulacra2(const Device &device, const Ssimulacra2Params &params,
                                                const PictureFormat &format, int distorted) {
  return std::make_unique<HipSsimulacra2>(device, params, format, distorted);
}

}  // namespace vmafhip::hip
