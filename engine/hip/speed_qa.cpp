// speed_qa on the GPU: launches of kernels/speed_qa.hip, and the sums of rows added up.
#include "engine/arith/speed_qa.h"

#include <cstring>

#include "engine/hip/batch.h"
#include "engine/hip/hip.h"
#include "kernels/speed_qa_args.h"

namespace vmafhip::hip {
namespace {

class HipSpeedQa final : public HipMetric {
 public:
  HipSpeedQa(const Device &device, const PictureFormat &format, int distorted)
      : depth_(format.depth),
        blocks_(format.width / kSpeedQaBlock),
        rows_(static_cast<size_t>(format.height / kSpeedQaBlock)),
        distorted_(static_cast<size_t>(distorted)),
        kernel_(device.function("speed_qa", depth_ == 8 ? "speed_qa_8" : "speed_qa_16")) {}

  size_t frame_bytes() const override { return 0; }
  size_t result_bytes() const override { return rounded_to_256(distorted_ * rows_ * sizeof(SpeedQaSums)); }

  void enqueue(const Stream &stream, std::span<const DeviceFrame> frames,
               const BatchMemory &memory) const override {
    SpeedQaArgs args = {};
    args.blocks = blocks_;
    args.depth = depth_;
    Batch pictures(args.pictures, [&](unsigned count) {
      stream.launch(kernel_, {1, static_cast<unsigned>(rows_), count}, kSpeedQaThreads, args);
    });
    for (size_t f = 0; f < frames.size(); ++f) {
      const DeviceFrame &frame = frames[f];
      for (size_t d = 0; d < frame.dist.size(); ++d) {
        const DevicePlane before = frame.earlier_dist.empty() ? DevicePlane{} : frame.earlier_dist[d][0];
        const auto rows = at(memory.results, f * result_bytes() + d * rows_ * sizeof(SpeedQaSums));
        pictures.add({frame.dist[d][0], before, address_cast<SpeedQaSums>(rows)});
      }
    }
    pictures.flush();
  }

  void collect(const DeviceFrame &frame, const std::byte *results, std::byte *sums) const override {
    for (size_t d = 0; d < frame.dist.size(); ++d) {
      SpeedQaSums total = {};
      for (size_t row = 0; row < rows_; ++row) {
        SpeedQaSums of_row;
        std::memcpy(&of_row, results + (d * rows_ + row) * sizeof of_row, sizeof of_row);
        total.spatial += of_row.spatial;
        total.temporal += of_row.temporal;
      }
      std::memcpy(sums + d * sizeof total, &total, sizeof total);
    }
  }

 private:
  const int depth_, blocks_;
  const size_t rows_, distorted_;
  const Function kernel_;
};

}  // namespace

std::unique_ptr<HipMetric> make_hip_speed_qa(const Device &device, const PictureFormat &format,
                                             int distorted) {
  return std::make_unique<HipSpeedQa>(device, format, distorted);
}

}  // namespace vmafhip::hip
