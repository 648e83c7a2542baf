// psnr_hvs as a HipMetric: band by band the terms of all blocks, then their sum.
#include <algorithm>
#include <cstring>

#include "engine/hip/batch.h"
#include "engine/hip/hip.h"
#include "engine/metric.h"
#include "kernels/psnr_hvs_args.h"

namespace vmafhip::hip {
namespace {

class HipPsnrHvs final : public HipMetric {
 public:
  HipPsnrHvs(const Device &device, const PictureFormat &format, int distorted)
      : terms_(device.function("psnr_hvs", format.depth == 8 ? "psnr_hvs_terms_8" : "psnr_hvs_terms_16")),
        sum_(device.function("psnr_hvs", "psnr_hvs_sum")),
        depth_(format.depth) {
    for (int p = 0; p < 3; ++p) {
      const PlaneView size = rounded_down({}, format, p);
      planes_[p].across = hvs_blocks_across(size.width);
      planes_[p].blocks = planes_[p].across * hvs_blocks_across(size.height);
    }
    bands_ = static_cast<int>(blocks_for(planes_[0].blocks, kHvsBandBlocks));
    int groups = 0;
    for (Plane &plane : planes_) {
      const int in_band = static_cast<int>(blocks_for(plane.blocks, bands_));
      plane.groups_before = groups;
      plane.groups = static_cast<int>(blocks_for(in_band, kHvsTermGroup));
      groups += plane.groups;
    }
    // A whole group of blocks is a multiple of 256 bytes.
    picture_bytes_ = static_cast<size_t>(groups) * kHvsTermGroup * kHvsTerms * sizeof(float);
    frame_bytes_ = picture_bytes_ * static_cast<size_t>(distorted);
    result_bytes_ = rounded_to_256(static_cast<size_t>(distorted) * sizeof(PsnrHvsSums));
  }

  size_t frame_bytes() const override { return frame_bytes_; }
  size_t result_bytes() const override { return result_bytes_; }

  void enqueue(const Stream &stream, std::span<const DeviceFrame> frames,
               const BatchMemory &memory) const override {
    PsnrHvsArgs args = {};
    args.depth = depth_;
    int references = 0, pictures = 0;
    const auto launch = [&] {
      if (pictures > 0)
        launch_bands(stream, args, static_cast<unsigned>(references), static_cast<unsigned>(pictures));
      references = pictures = 0;
    };
    for (size_t f = 0; f < frames.size(); ++f)
      for (size_t d = 0; d < frames[f].dist.size(); ++d) {
        if (pictures == kMostPairs) launch();
        if (d == 0 || pictures == 0) {
          PsnrHvsArgs::Reference &ref = args.ref[references++];
          std::copy(frames[f].ref.begin(), frames[f].ref.end(), ref.planes);
          ref.first = pictures;
          ref.count = 0;
        }
        ++args.ref[references - 1].count;
        PsnrHvsArgs::Distorted &dist = args.dist[pictures++];
        std::copy(frames[f].dist[d].begin(), frames[f].dist[d].end(), dist.planes);
        dist.terms = address_cast<float>(at(memory.frames, f * frame_bytes_ + d * picture_bytes_));
        dist.sums = address_cast<float>(at(memory.results, f * result_bytes_ + d * sizeof(PsnrHvsSums)));
      }
    launch();
  }

  void collect(const DeviceFrame &frame, const std::byte *results, std::byte *sums) const override {
    std::memcpy(sums, results, frame.dist.size() * sizeof(PsnrHvsSums));
  }

 private:
  struct Plane {
    int across = 0, blocks = 0;
    int groups = 0, groups_before = 0;  // of a band
  };

  void launch_bands(const Stream &stream, PsnrHvsArgs &args, unsigned references, unsigned pictures) const {
    for (int b = 0; b < bands_; ++b) {
      int most = 0;
      for (size_t p = 0; p < 3; ++p) {
        const Plane &plane = planes_[p];
        const int band = plane.groups * kHvsTermGroup;
        args.bands[p] = {plane.across, std::min(plane.blocks, b * band),
                         std::min(plane.blocks, (b + 1) * band), plane.groups_before};
        most = std::max(most, args.bands[p].last - args.bands[p].first);
      }
      stream.launch(terms_, {blocks_for(most, kHvsThreads), 3, references}, kHvsThreads, args);
      stream.launch(sum_, {3, 1, pictures}, kHvsSumThreads, args);
    }
  }

  const Function terms_, sum_;
  const int depth_;
  Plane planes_[3];
  int bands_ = 1;
  size_t picture_bytes_ = 0, frame_bytes_ = 0, result_bytes_ = 0;
};

}  // namespace

std::unique_ptr<HipMetric> make_hip_psnr_hvs(const Device &device, const PictureFormat &format,
                                             int distorted) {
  return std::make_unique<HipPsnrHvs>(device, format, distorted);
}

}  // namespace vmafhip::hip
