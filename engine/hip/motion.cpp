// Motion on the GPU: launches of kernels/motion.hip. The reference alone counts: a frame is measured once, however many
// distorted pictures it has.
#include <cstring>

#include "engine/hip/batch.h"
#include "engine/hip/hip.h"
#include "kernels/motion_args.h"

namespace vmafhip::hip {
namespace {

constexpr size_t kResultBytes = rounded_to_256(kMotionSlots * sizeof(uint64_t));

class HipMotion final : public HipMetric {
 public:
  HipMotion(const Device &device, const MotionParams &params, const PictureFormat &format)
      : params_(params),
        format_(format),
        kernel_(device.function("motion", format.depth == 8 ? "motion_8" : "motion_16")) {}

  size_t frame_bytes() const override { return 0; }
  size_t result_bytes() const override { return kResultBytes; }

  void enqueue(const Stream &stream, std::span<const DeviceFrame> frames,
               const BatchMemory &memory) const override {
    if (params_.force_zero) return;
    MotionArgs args = {};
    args.width = format_.width;
    args.height = format_.height;
    args.depth = format_.depth;
    Batch batch(args.pairs, [&](unsigned count) {
      stream.launch(
          kernel_,
          {blocks_for(args.width, kMotionTileColumns), blocks_for(args.height, kMotionTileRows), count},
          kMotionThreads, args);
    });
    for (size_t f = 0; f < frames.size(); f++) {
      // The first frames have nothing to be compared with: their sums stay 0.
      const DevicePlane &earlier = frames[f].earlier[static_cast<size_t>(motion_lag(params_) - 1)][0];
      if (!earlier.data) continue;
      batch.add({earlier, frames[f].ref[0], address_cast<uint64_t>(at(memory.results, f * kResultBytes))});
    }
    batch.flush();
  }

  void collect(const DeviceFrame &frame, const std::byte *results, std::byte *sums) const override {
    uint64_t sads[kMotionSlots];
    std::memcpy(sads, results, sizeof sads);
    MotionSums total = {};
    for (uint64_t sad : sads) total.sad += sad;
    for (size_t d = 0; d < frame.dist.size(); d++) std::memcpy(sums + d * sizeof total, &total, sizeof total);
  }

 private:
  const MotionParams params_;
  const PictureFormat format_;
  const Function kernel_;
};

}  // namespace

std::unique_ptr<HipMetric> make_hip_motion(const Device &device, const MotionParams &params,
                                           const PictureFormat &format, int) {
  return std::make_unique<HipMotion>(device, params, format);
}

}  // namespace vmafhip::hip
