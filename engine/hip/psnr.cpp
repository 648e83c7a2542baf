// psnr, float_psnr and float_moment as HipMetrics: a launch takes as many planes as there is room for in its arguments.
#include <algorithm>
#include <cstring>

#include "engine/hip/batch.h"
#include "engine/hip/hip.h"
#include "engine/metric.h"
#include "kernels/psnr_args.h"

namespace vmafhip::hip {
namespace {

// Blocks that it takes for the groups of rows.
unsigned blocks_of(const Device &device, int rows) {
  return blocks_for(rows, kPsnrThreads / device.warp_size() * kPsnrRows);
}

const char *kernel_of(int depth, bool rounded, const char *bytes, const char *words,
                      const char *rounded_words) {
  return depth == 8 ? bytes : rounded && !squares_are_exact(depth) ? rounded_words : words;
}

// Sums of a distorted picture: one of squares for each of the planes, and as many in all as Sums has.
template <class Sums>
class HipSquares final : public HipMetric {
 public:
  HipSquares(const Device &device, const char *kernel, int planes, const PictureFormat &format, int distorted)
      : kernel_(device.function("psnr", kernel)),
        planes_(planes),
        blocks_(blocks_of(device, format.height)),
        result_bytes_(rounded_to_256(static_cast<size_t>(distorted) * sizeof(Sums))) {
    for (int p = 0; p < planes; ++p) sizes_[p] = rounded_down({}, format, p);
  }

  size_t frame_bytes() const override { return 0; }
  size_t result_bytes() const override { return result_bytes_; }

  void enqueue(const Stream &stream, std::span<const DeviceFrame> frames,
               const BatchMemory &memory) const override {
    SquaresArgs args = {};
    Batch batch(args.items, [&](unsigned count) {
      stream.launch(kernel_, {blocks_, 1, count}, kPsnrThreads, args);
    });
    for (size_t f = 0; f < frames.size(); ++f)
      for (size_t d = 0; d < frames[f].dist.size(); ++d)
        for (size_t p = 0; p < static_cast<size_t>(planes_); ++p) {
          const size_t sum = f * result_bytes_ + d * sizeof(Sums) + p * sizeof(uint64_t);
          batch.add({{frames[f].ref[p], frames[f].dist[d][p]},
                     address_cast<uint64_t>(at(memory.results, sum)),
                     sizes_[p].width,
                     sizes_[p].height});
        }
    batch.flush();
  }

  void collect(const DeviceFrame &frame, const std::byte *results, std::byte *sums) const override {
    std::memcpy(sums, results, frame.dist.size() * sizeof(Sums));
  }

 private:
  const Function kernel_;
  const int planes_;
  const unsigned blocks_;
  const size_t result_bytes_;
  PlaneView sizes_[3];
};

// The kernel leaves Moments of the reference, then of each distorted picture.
class HipMoment final : public HipMetric {
 public:
  HipMoment(const Device &device, const PictureFormat &format, int distorted)
      : kernel_(device.function("psnr", kernel_of(format.depth, true, "psnr_moments_8", "psnr_moments_16",
                                                  "psnr_moments_rounded"))),
        width_(format.width),
        height_(format.height),
        blocks_(blocks_of(device, format.height)),
        result_bytes_(rounded_to_256((1 + static_cast<size_t>(distorted)) * sizeof(Moments))) {}

  size_t frame_bytes() const override { return 0; }
  size_t result_bytes() const override { return result_bytes_; }

  void enqueue(const Stream &stream, std::span<const DeviceFrame> frames,
               const BatchMemory &memory) const override {
    MomentsArgs args = {};
    args.width = width_;
    args.height = height_;
    Batch batch(args.items, [&](unsigned count) {
      stream.launch(kernel_, {blocks_, 1, count}, kPsnrThreads, args);
    });
    for (size_t f = 0; f < frames.size(); ++f) {
      DeviceAddress<Moments> sums = address_cast<Moments>(at(memory.results, f * result_bytes_));
      batch.add({frames[f].ref[0], sums});
      for (const DeviceViews &dist : frames[f].dist) batch.add({dist[0], sums = sums + 1});
    }
    batch.flush();
  }

  void collect(const DeviceFrame &frame, const std::byte *results, std::byte *sums) const override {
    for (size_t d = 0; d < frame.dist.size(); ++d, sums += sizeof(MomentSums)) {
      MomentSums both;
      std::memcpy(&both.ref, results, sizeof both.ref);
      std::memcpy(&both.dist, results + (1 + d) * sizeof both.dist, sizeof both.dist);
      std::memcpy(sums, &both, sizeof both);
    }
  }

 private:
  const Function kernel_;
  const int width_, height_;
  const unsigned blocks_;
  const size_t result_bytes_;
};

}  // namespace

std::unique_ptr<HipMetric> make_hip_psnr(const Device &device, int planes, const PictureFormat &format,
                                         int distorted) {
  const char *kernel = kernel_of(format.depth, false, "psnr_squares_8", "psnr_squares_16", nullptr);
  return std::make_unique<HipSquares<PsnrSums>>(device, kernel, planes, format, distorted);
}

std::unique_ptr<HipMetric> make_hip_float_psnr(const Device &device, const PictureFormat &format,
                                               int distorted) {
  const char *kernel =
      kernel_of(format.depth, true, "psnr_squares_8", "psnr_squares_16", "psnr_squares_rounded");
  return std::make_unique<HipSquares<FloatPsnrSums>>(device, kernel, 1, format, distorted);
}

std::unique_ptr<HipMetric> make_hip_moment(const Device &device, const PictureFormat &format, int distorted) {
  return std::make_unique<HipMoment>(device, format, distorted);
}

}  // namespace vmafhip::hip
