// CIEDE2000 on the GPU: launches of kernels/ciede.hip. Differences of pixels and sums of rows lie in the frame's memory.
#include <cstring>

#include "engine/hip/batch.h"
#include "engine/hip/hip.h"
#include "kernels/ciede_args.h"

namespace vmafhip::hip {
namespace {

class HipCiede final : public HipMetric {
 public:
  HipCiede(const Device &device, const CiedeParams &params, const PictureFormat &format, int distorted)
      : pixels_(device.function("ciede", format.depth == 8 ? "ciede_pixels_8" : "ciede_pixels_16")),
        rows_(device.function("ciede", "ciede_rows")),
        sum_(device.function("ciede", "ciede_sum")),
        shape_(ciede_shape(format.width, format.height, chroma_shift_x(format.chroma),
                           chroma_shift_y(format.chroma),
                           format.chroma == Chroma::c422 && !params.plain_422)),
        range_(ciede_range(format.depth)),
        differences_bytes_(rounded_to_256(static_cast<size_t>(format.width) *
                                          static_cast<size_t>(format.height) * sizeof(float))),
        pair_bytes_(differences_bytes_ + rounded_to_256(static_cast<size_t>(format.height) * sizeof(double))),
        frame_bytes_(static_cast<size_t>(distorted) * pair_bytes_),
        result_bytes_(rounded_to_256(static_cast<size_t>(distorted) * sizeof(CiedeSums))) {}

  size_t frame_bytes() const override { return frame_bytes_; }
  size_t result_bytes() const override { return result_bytes_; }

  void enqueue(const Stream &stream, std::span<const DeviceFrame> frames,
               const BatchMemory &memory) const override {
    CiedeArgs args = {};
    args.shape = shape_;
    args.range = range_;
    const unsigned height = static_cast<unsigned>(shape_.height);
    Batch batch(args.pairs, [&](unsigned count) {
      stream.launch(pixels_, {blocks_for(shape_.width, kCiedeThreads), height, count}, kCiedeThreads, args);
      stream.launch(rows_, {height, 1, count}, kSumLanes, args);
      stream.launch(sum_, {1, 1, count}, kCiedeThreads, args);
    });
    for (size_t f = 0; f < frames.size(); f++)
      for (size_t d = 0; d < frames[f].dist.size(); d++) {
        const DeviceAddress<std::byte> own = at(memory.frames, f * frame_bytes_ + d * pair_bytes_);
        const DeviceViews &ref = frames[f].ref, &dist = frames[f].dist[d];
        batch.add({{ref[0], ref[1], ref[2]},
                   {dist[0], dist[1], dist[2]},
                   address_cast<float>(own),
                   address_cast<double>(at(own, differences_bytes_)),
                   address_cast<double>(at(memory.results, f * result_bytes_ + d * sizeof(CiedeSums)))});
      }
    batch.flush();
  }

  void collect(const DeviceFrame &frame, const std::byte *results, std::byte *sums) const override {
    static_assert(sizeof(CiedeSums) == sizeof(double));
    std::memcpy(sums, results, frame.dist.size() * sizeof(CiedeSums));
  }

 private:
  const Function pixels_, rows_, sum_;
  const CiedeShape shape_;
  const CiedeRange range_;
  const size_t differences_bytes_, pair_bytes_, frame_bytes_, result_bytes_;
};

}  // namespace

std::unique_ptr<HipMetric> make_hip_ciede(const Device &device, const CiedeParams &params,
                                          const PictureFormat &format, int distorted) {
  return std::make_unique<HipCiede>(device, params, format, distorted);
}

}  // namespace vmafhip::hip
