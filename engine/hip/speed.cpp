// SpEED on the GPU: memory and launches of kernels/speed.hip. All planes of a batch are analysed at once, those of a
// reference once for all distorted pictures, and compared then.
#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "engine/hip/batch.h"
#include "engine/hip/float_scale.h"
#include "engine/hip/hip.h"
#include "kernels/speed_args.h"

namespace vmafhip::hip {
namespace {

class HipSpeed : public HipMetric {
 public:
  // Planes of one size.
  HipSpeed(const Device &device, const SpeedParams &params, const PictureFormat &format, int planes,
           SpeedPlaneSize size, int distorted)
      : params_(params),
        shape_(speed_shape(params, size.width, size.height)),
        depth_(format.depth),
        planes_(planes),
        pictures_(1 + distorted),
        local_mean_(device.function("speed", "speed_local_mean")),
        means_(device.function("speed", "speed_means")),
        covariance_(device.function("speed", "speed_covariance")),
        solve_(device.function("speed", "speed_solve")),
        blocks_(device.function("speed", "speed_blocks")),
        differences_(device.function("speed", "speed_differences")) {
    const bool bytes = depth_ == 8;
    if (shape_.prescaled) {
      across_.emplace(device, params.method, shape_.width, size.width);
      down_.emplace(device, params.method, shape_.height, size.height);
      reduce_ = device.function("speed", bytes ? "speed_reduce_scaled_8" : "speed_reduce_scaled_16");
    } else {
      reduce_ = device.function("speed", bytes ? "speed_reduce_8" : "speed_reduce_16");
    }
    const auto take = [&](size_t floats) {
      const size_t at = plane_bytes_ / sizeof(float);
      plane_bytes_ += rounded_to_256(floats * sizeof(float));
      return static_cast<int32_t>(at);
    };
    const size_t samples = static_cast<size_t>(shape_.columns) * static_cast<size_t>(shape_.rows),
                 blocks = static_cast<size_t>(shape_.blocks());
    layout_.coarse = take(samples);
    layout_.centred = take(samples);
    layout_.means = take(kSpeedOffsets);
    layout_.covariance = take(kSpeedMatrixFloats);
    layout_.eigenvalues = take(kSpeedOffsets);
    layout_.factors = take(kSpeedFactorsFloats);
    layout_.singular = take(2);
    layout_.variance = take(blocks);
    layout_.entropy = take(blocks);
  }

  size_t frame_bytes() const override { return plane_bytes_ * static_cast<size_t>(planes_ * pictures_); }
  size_t result_bytes() const override {
    return rounded_to_256(static_cast<size_t>(pictures_ - 1) * sizeof(SpeedSums));
  }

  void enqueue(const Stream &stream, std::span<const DeviceFrame> frames,
               const BatchMemory &memory) const override {
    std::vector<Analysed> planes;
    std::vector<SpeedScoreArgs::Pair> pairs;
    for (size_t f = 0; f < frames.size(); ++f) {
      if (!comparable(frames[f])) continue;  // its sums stay 0
      for (int plane = 0; plane < planes_; ++plane)
        for (size_t picture = 0; picture <= frames[f].dist.size(); ++picture) {
          const auto number = static_cast<size_t>(plane * pictures_) + picture;
          planes.push_back(source(frames[f], plane, picture));
          planes.back().memory =
              address_cast<float>(at(memory.frames, f * frame_bytes() + number * plane_bytes_));
          if (picture == 0) continue;
          const size_t ref = planes.size() - 1 - picture;
          const auto sums = at(memory.results, f * result_bytes() + (picture - 1) * sizeof(SpeedSums));
          pairs.push_back({planes[ref].memory, planes.back().memory, address_cast<SpeedSums>(sums), plane});
        }
    }
    in_parts<Analysed>(planes, [&](std::span<const Analysed> part) { analyse(stream, part); });
    in_parts<SpeedScoreArgs::Pair>(
        pairs, [&](std::span<const SpeedScoreArgs::Pair> part) { compare(stream, part); });
  }

  void collect(const DeviceFrame &frame, const std::byte *results, std::byte *sums) const override {
    std::memcpy(sums, results, frame.dist.size() * sizeof(SpeedSums));
  }

 protected:
  using Analysed = SpeedReduceArgs::Plane;

  // Whether there is anything to compare in this frame.
  virtual bool comparable(const DeviceFrame &) const { return true; }
  // What is analysed: of picture 0, the reference, or of distorted picture `picture` - 1.
  virtual Analysed source(const DeviceFrame &frame, int plane, size_t picture) const = 0;

 private:
  // As many as a launch takes.
  template <class Part, class Function>
  static void in_parts(std::span<const Part> all, const Function &work) {
    for (size_t first = 0; first < all.size(); first += kSpeedMostPlanes)
      work(all.subspan(first, std::min<size_t>(all.size() - first, kSpeedMostPlanes)));
  }

  void analyse(const Stream &stream, std::span<const Analysed> planes) const {
    const auto count = static_cast<unsigned>(planes.size());
    SpeedReduceArgs reduce = {};
    std::copy(planes.begin(), planes.end(), reduce.planes);
    reduce.antialias = speed_antialias(params_);
    if (shape_.prescaled) reduce.scale = {across_->args(), down_->args(), params_.method};
    reduce.shape = shape_;
    reduce.layout = layout_;
    reduce.depth = depth_;
    stream.launch(
        reduce_, {blocks_for(shape_.columns, kSpeedReduceColumns), static_cast<unsigned>(shape_.rows), count},
        kSpeedReduceThreads, reduce);

    SpeedArgs args = {};
    for (size_t i = 0; i < planes.size(); ++i) args.memory[i] = planes[i].memory;
    args.local_mean = speed_local_mean(params_);
    args.shape = shape_;
    args.layout = layout_;
    args.sigma = static_cast<float>(params_.sigma);
    stream.launch(local_mean_, {blocks_for(shape_.columns * shape_.rows, kSpeedThreads), 1, count},
                  kSpeedThreads, args);
    stream.launch(means_, {1, 1, count}, kSpeedSumThreads, args);
    stream.launch(covariance_, {kSpeedProductBlocks, 1, count}, kSpeedSumThreads, args);
    stream.launch(solve_, {2, 1, count}, kSpeedSolveThreads, args);
    stream.launch(blocks_, {blocks_for(shape_.blocks(), kSpeedBlockThreads), 1, count}, kSpeedBlockThreads,
                  args);
  }

  void compare(const Stream &stream, std::span<const SpeedScoreArgs::Pair> pairs) const {
    SpeedScoreArgs args = {};
    std::copy(pairs.begin(), pairs.end(), args.pairs);
    args.layout = layout_;
    args.blocks = shape_.blocks();
    args.weight_mode = params_.weight_mode;
    args.base = speed_base(params_);
    stream.launch(differences_, {1, 1, static_cast<unsigned>(pairs.size())}, kSpeedThreads, args);
  }

  const SpeedParams params_;
  const SpeedShape shape_;
  const int depth_, planes_, pictures_;
  Function reduce_;
  const Function local_mean_, means_, covariance_, solve_, blocks_, differences_;
  std::optional<FloatScaleAxis> across_, down_;
  SpeedLayout layout_;
  size_t plane_bytes_ = 0;
};

// U and V.
class HipSpeedChroma final : public HipSpeed {
 public:
  HipSpeedChroma(const Device &device, const SpeedParams &params, const PictureFormat &format, int distorted)
      : HipSpeed(device, params, format, 2,
                 speed_chroma_size(format.width, format.height, chroma_shift_x(format.chroma),
                                   chroma_shift_y(format.chroma)),
                 distorted) {}

 private:
  Analysed source(const DeviceFrame &frame, int plane, size_t picture) const override {
    const DeviceViews &views = picture == 0 ? frame.ref : frame.dist[picture - 1];
    return {views[static_cast<size_t>(1 + plane)], {}, {}};
  }
};

// Luma: the previous picture minus the current one.
class HipSpeedTemporal final : public HipSpeed {
 public:
  HipSpeedTemporal(const Device &device, const SpeedParams &params, const PictureFormat &format,
                   int distorted)
      : HipSpeed(device, params, format, 1, {format.width, format.height}, distorted),
        minus_ref_(params.use_ref_diff) {}

 private:
  bool comparable(const DeviceFrame &frame) const override { return bool(frame.earlier[0][0].data); }
  Analysed source(const DeviceFrame &frame, int, size_t picture) const override {
    if (picture == 0) return {frame.earlier[0][0], frame.ref[0], {}};
    return {frame.earlier_dist[picture - 1][0], minus_ref_ ? frame.ref[0] : frame.dist[picture - 1][0], {}};
  }

  const bool minus_ref_;
};

}  // namespace

std::unique_ptr<HipMetric> make_hip_speed_chroma(const Device &device, const SpeedParams &params,
                                                 const PictureFormat &format, int distorted) {
  return std::make_unique<HipSpeedChroma>(device, params, format, distorted);
}

std::unique_ptr<HipMetric> make_hip_speed_temporal(const Device &device, const SpeedParams &params,
                                                   const PictureFormat &format, int distorted) {
  return std::make_unique<HipSpeedTemporal>(device, params, format, distorted);
}

}  // namespace vmafhip::hip
