// float_ansnr as a HipMetric: sums of rows, then their sums.
#include <cstring>

#include "engine/hip/batch.h"
#include "engine/hip/hip.h"
#include "kernels/ansnr_args.h"

namespace vmafhip::hip {
namespace {

class HipAnsnr final : public HipMetric {
 public:
  HipAnsnr(const Device &device, const PictureFormat &format, int distorted)
      : rows_(device.function("ansnr", format.depth == 8 ? "ansnr_rows_8" : "ansnr_rows_16")),
        sum_(device.function("ansnr", "ansnr_sum")),
        format_(format),
        picture_bytes_(rounded_to_256(2 * static_cast<size_t>(format.height) * sizeof(float))),
        frame_bytes_(picture_bytes_ * static_cast<size_t>(distorted)),
        result_bytes_(rounded_to_256(static_cast<size_t>(distorted) * sizeof(AnsnrSums))) {}

  size_t frame_bytes() const override { return frame_bytes_; }
  size_t result_bytes() const override { return result_bytes_; }

  void enqueue(const Stream &stream, std::span<const DeviceFrame> frames,
               const BatchMemory &memory) const override {
    AnsnrArgs args = {};
    args.width = format_.width;
    args.height = format_.height;
    args.depth = format_.depth;
    Batch batch(args.pairs, [&](unsigned pairs) {
      stream.launch(rows_, {blocks_for(format_.height, kAnsnrRows), 1, pairs}, kAnsnrThreads, args);
      stream.launch(sum_, {2, 1, pairs}, kAnsnrSumThreads, args);
    });
    for (size_t f = 0; f < frames.size(); ++f)
      for (size_t d = 0; d < frames[f].dist.size(); ++d)
        batch.add({{frames[f].ref[0], frames[f].dist[d][0]},
                   address_cast<float>(at(memory.frames, f * frame_bytes_ + d * picture_bytes_)),
                   address_cast<float>(at(memory.results, f * result_bytes_ + d * sizeof(AnsnrSums)))});
    batch.flush();
  }

  void collect(const DeviceFrame &frame, const std::byte *results, std::byte *sums) const override {
    std::memcpy(sums, results, frame.dist.size() * sizeof(AnsnrSums));
  }

 private:
  const Function rows_, sum_;
  const PictureFormat format_;
  const size_t picture_bytes_, frame_bytes_, result_bytes_;
};

}  // namespace

std::unique_ptr<HipMetric> make_hip_ansnr(const Device &device, const PictureFormat &format, int distorted) {
  return std::make_unique<HipAnsnr>(device, format, distorted);
}

}  // namespace vmafhip::hip
