// The integer structural similarity as a HipMetric: terms, sums of rows, their sum.
#include <cstring>

#include "engine/hip/batch.h"
#include "engine/hip/hip.h"
#include "kernels/ssim_integer_args.h"

namespace vmafhip::hip {
namespace {

class HipSsimInteger final : public HipMetric {
 public:
  HipSsimInteger(const Device &device, const PictureFormat &format, int distorted)
      : terms_(device.function("ssim_integer",
                               format.depth == 8 ? "ssim_integer_terms_8" : "ssim_integer_terms_16")),
        rows_(device.function("ssim_integer", "ssim_integer_rows")),
        sum_(device.function("ssim_integer", "ssim_integer_sum")),
        format_(format),
        parts_bytes_(static_cast<size_t>(format.height) * static_cast<size_t>(ssim_blocks(format.width)) *
                     kSsimLanes * sizeof(double)),
        picture_bytes_(rounded_to_256(parts_bytes_ + static_cast<size_t>(format.height) * sizeof(double))),
        frame_bytes_(picture_bytes_ * static_cast<size_t>(distorted)),
        result_bytes_(rounded_to_256(static_cast<size_t>(distorted) * sizeof(SsimIntegerSums))) {}

  size_t frame_bytes() const override { return frame_bytes_; }
  size_t result_bytes() const override { return result_bytes_; }

  void enqueue(const Stream &stream, std::span<const DeviceFrame> frames,
               const BatchMemory &memory) const override {
    SsimIntegerArgs args = {};
    args.width = format_.width;
    args.height = format_.height;
    args.depth = format_.depth;
    Batch batch(args.pairs, [&](unsigned pairs) {
      const unsigned tiles = blocks_for(format_.width, kSsimIntegerColumns);
      stream.launch(terms_, {tiles, blocks_for(format_.height, kSsimIntegerRows), pairs}, kSsimIntegerThreads,
                    args);
      stream.launch(rows_, {blocks_for(format_.height, kSsimIntegerSumRows), 1, pairs}, kSsimIntegerThreads,
                    args);
      stream.launch(sum_, {1, 1, pairs}, kSsimIntegerThreads, args);
    });
    for (size_t f = 0; f < frames.size(); ++f)
      for (size_t d = 0; d < frames[f].dist.size(); ++d) {
        const DeviceAddress<std::byte> own = at(memory.frames, f * frame_bytes_ + d * picture_bytes_);
        const DeviceAddress<std::byte> sum =
            at(memory.results, f * result_bytes_ + d * sizeof(SsimIntegerSums));
        batch.add({{frames[f].ref[0], frames[f].dist[d][0]},
                   address_cast<double>(own),
                   address_cast<double>(at(own, parts_bytes_)),
                   address_cast<double>(sum)});
      }
    batch.flush();
  }

  void collect(const DeviceFrame &frame, const std::byte *results, std::byte *sums) const override {
    std::memcpy(sums, results, frame.dist.size() * sizeof(SsimIntegerSums));
  }

 private:
  const Function terms_, rows_, sum_;
  const PictureFormat format_;
  const size_t parts_bytes_, picture_bytes_, frame_bytes_, result_bytes_;
};

}  // namespace

std::unique_ptr<HipMetric> make_hip_ssim_integer(const Device &device, const PictureFormat &format,
                                                 int distorted) {
  return std::make_unique<HipSsimInteger>(device, format, distorted);
}

}  // namespace vmafhip::hip
