// Banding on the GPU: memory and launches. The kernels are in kernels/cambi.hip.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "engine/hip/hip.h"
#include "kernels/cambi_args.h"

namespace vmafhip::hip {
namespace {

constexpr size_t kAlign = 256;  // of what memory is divided into
constexpr size_t aligned(size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }
unsigned blocks(int count, int each) { return static_cast<unsigned>((count + each - 1) / each); }

template <class T>
Buffer<T> upload(const Device &device, const std::vector<T> &table) {
  Buffer<T> buffer(device, table.size());
  const Stream stream(device);
  const size_t bytes = table.size() * sizeof(T);
  stream.upload(address_cast<std::byte>(buffer.address()), bytes, table.data(), static_cast<ptrdiff_t>(bytes),
                bytes, 1);
  stream.synchronize();
  return buffer;
}

Buffer<float> upload_reciprocals(const Device &device) {
  std::vector<float> table;
  for (int k = 0; k < kCambiReciprocals; k++) table.push_back(cambi_reciprocal(k));
  return upload(device, table);
}

Buffer<int32_t> upload_nearest(const Device &device, int size, int target) {
  std::vector<int32_t> table(static_cast<size_t>(target));
  cambi_nearest(size, target, table.data());
  return upload(device, table);
}

// Pictures that are analysed at one target size: how their memory is divided, and the launches.
class CambiSize {
 public:
  CambiSize(const Device &device, const CambiParams &params, const CambiTarget &target)
      : params_(params),
        target_(target),
        warp_(device.warp_size()),
        reciprocals_(upload_reciprocals(device)),
        prepare_(device.function("cambi", params.depth == 8 ? "cambi_prepare_8" : "cambi_prepare_16")),
        halve_(device.function("cambi", "cambi_halve_plane")),
        count_(device.function("cambi", count_name())),
        digits_(device.function("cambi", "cambi_digits")),
        digit_(device.function("cambi", "cambi_digit")),
        sum_(device.function("cambi", "cambi_sum")) {
    if (params.width != target.width || params.height != target.height) {
      columns_ = upload_nearest(device, params.width, target.width);
      rows_ = upload_nearest(device, params.height, target.height);
    }
    for (int s = 0; s < kCambiScales; s++) {
      Scale &scale = scales_[s];
      scale.width = cambi_scale_size(target.width, s, params.half);
      scale.height = cambi_scale_size(target.height, s, params.half);
      scale.stride = (scale.width + 31) / 32 * 32;
      scale.plane_at = plane_words_;
      scale.values_at = value_count_;
      plane_words_ += (int64_t{scale.stride} * scale.height + 127) / 128 * 128;
      value_count_ += (int64_t{scale.width} * scale.height + 63) / 64 * 64;
    }
  }

  // Memory of a picture that is to be zeroed, and its other memory.
  size_t zeroed_bytes() const { return aligned(sizeof(CambiDigits) * kCambiScales) + values_bytes(); }
  size_t planes_bytes() const { return static_cast<size_t>(plane_words_) * sizeof(uint16_t); }

  struct Picture {
    DevicePlane from;
    DeviceAddress<std::byte> zeroed, planes;
    DeviceAddress<CambiFound> found;  // of each scale
  };
  void measure(const Stream &stream, std::span<const Picture> pictures) const {
    for (size_t first = 0; first < pictures.size(); first += kMostPairs) {
      const auto some = pictures.subspan(first, std::min<size_t>(kMostPairs, pictures.size() - first));
      make_planes(stream, some);
      count(stream, some);
      sum_largest(stream, some);
    }
  }

  // The mean of the largest c-values of a scale.
  double mean(int scale, const CambiFound &found) const {
    CambiSum sum = found.above;
    float smallest;
    static_assert(sizeof smallest == sizeof found.bits);
    std::memcpy(&smallest, &found.bits, sizeof smallest);
    cambi_add(&sum, static_cast<uint64_t>(static_cast<double>(smallest) * (1 << kCambiFraction)),
              found.smallest);
    return cambi_value(sum) / static_cast<double>(top(scale));
  }

 private:
  struct Scale {
    int width, height, stride;
    int64_t plane_at, values_at;
  };

  int reach() const { return target_.window >> 1; }
  int64_t top(int scale) const {
    return cambi_top(params_.topk, scales_[scale].width, scales_[scale].height);
  }
  const char *count_name() const {
    if (params_.contrasts != 4) return "cambi_count_any";
    return cambi_scans(warp_, reach()) <= 2 ? "cambi_count_2" : "cambi_count_3";
  }

  // Digits are followed by values.
  size_t values_bytes() const { return aligned(static_cast<size_t>(value_count_) * sizeof(float)); }
  static DeviceAddress<CambiDigits> digits(const Picture &picture) {
    return address_cast<CambiDigits>(picture.zeroed);
  }
  static DeviceAddress<float> values(const Picture &picture) {
    return address_cast<float>(picture.zeroed +
                               static_cast<int64_t>(aligned(sizeof(CambiDigits) * kCambiScales)));
  }
  DeviceAddress<uint16_t> plane(const Picture &picture, int scale) const {
    return address_cast<uint16_t>(picture.planes) + scales_[scale].plane_at;
  }

  void make_planes(const Stream &stream, std::span<const Picture> pictures) const {
    const unsigned number = static_cast<unsigned>(pictures.size());
    CambiPrepareArgs prepare = {};
    for (size_t i = 0; i < pictures.size(); i++)
      prepare.pictures[i] = {pictures[i].from, plane(pictures[i], 0)};
    prepare.columns = address_cast<const int32_t>(columns_.address());
    prepare.rows = address_cast<const int32_t>(rows_.address());
    prepare.width = target_.width;
    prepare.height = target_.height;
    prepare.depth = params_.depth;
    prepare.step = params_.half ? 2 : 1;
    prepare.plane_width = scales_[0].width;
    prepare.plane_height = scales_[0].height;
    prepare.plane_stride = scales_[0].stride;
    prepare.mask_limit = cambi_mask_limit(target_.width, target_.height);
    prepare.anti_dither = params_.anti_dither;
    stream.launch(prepare_,
                  {blocks(target_.width, kCambiTileColumns), blocks(target_.height, kCambiTileRows), number},
                  kCambiThreads, prepare);

    for (int s = 1; s < kCambiScales; s++) {
      CambiHalveArgs halve = {};
      for (size_t i = 0; i < pictures.size(); i++)
        halve.pictures[i] = {address_cast<const uint16_t>(plane(pictures[i], s - 1)), plane(pictures[i], s)};
      halve.from_stride = scales_[s - 1].stride;
      halve.width = scales_[s].width;
      halve.height = scales_[s].height;
      halve.stride = scales_[s].stride;
      stream.launch(halve_,
                    {blocks(halve.width, kCambiHalveColumns), blocks(halve.height, kCambiHalveRows), number},
                    kCambiThreads, halve);
    }
  }

  void count(const Stream &stream, std::span<const Picture> pictures) const {
    CambiCountArgs args = {};
    for (size_t i = 0; i < pictures.size(); i++)
      args.pictures[i] = {address_cast<const uint16_t>(plane(pictures[i], 0)), values(pictures[i])};
    args.reciprocals = address_cast<const float>(reciprocals_.address());
    args.reach = reach();
    args.codes = cambi_codes(params_);
    args.contrasts = params_.contrasts;
    args.darkest = params_.darkest;
    std::copy(std::begin(params_.visible_up_to), std::end(params_.visible_up_to), args.visible_up_to);
    for (int d = 0; d < params_.contrasts; d++)
      args.brightest = std::max(args.brightest, std::min(args.visible_up_to[d], kCambiMaxCode));
    args.share = cambi_counted_codes(warp_) - 2 * params_.contrasts;
    if (args.brightest < args.codes.first) return;  // nothing can be seen
    unsigned of_picture = 0;
    for (int s = 0; s < kCambiScales; s++) {
      const Scale &scale = scales_[s];
      const int strips = (scale.width + warp_ - 1) / warp_;
      args.scales[s] = {scale.plane_at,
                        scale.values_at,
                        scale.width,
                        scale.height,
                        scale.stride,
                        strips,
                        rows_of_block(scale.height, strips, static_cast<int>(pictures.size())),
                        static_cast<int32_t>(of_picture)};
      of_picture += static_cast<unsigned>(strips) * blocks(scale.height, args.scales[s].rows);
    }
    stream.launch(count_,
                  {of_picture, blocks(args.brightest - args.codes.first + 1, args.share),
                   static_cast<unsigned>(pictures.size())},
                  static_cast<unsigned>(warp_), args);
  }

  // A block goes through as many rows as the window has before its first, so that it should have several times as many;
  // but with fewer than some 4000 of them in all a large GPU has too little to do.
  int rows_of_block(int height, int strips, int pictures) const {
    const int64_t rows = int64_t{height} * strips * pictures / 4000;
    const int longest = static_cast<int>(std::clamp<int64_t>(rows, 8 + 4 * reach(), 512));
    const int parts = (height + longest - 1) / longest;
    return (height + parts - 1) / parts;
  }

  void sum_largest(const Stream &stream, std::span<const Picture> pictures) const {
    CambiPoolArgs args = {};
    for (size_t i = 0; i < pictures.size(); i++)
      args.pictures[i] = {address_cast<const float>(values(pictures[i])), digits(pictures[i]),
                          pictures[i].found};
    const unsigned number = static_cast<unsigned>(pictures.size());
    uint32_t of_picture = 0;
    for (int s = 0; s < kCambiScales; s++) {
      const int64_t count = (int64_t{scales_[s].width} * scales_[s].height + 3) / 4;
      args.scales[s] = {scales_[s].values_at, static_cast<uint64_t>(top(s)), static_cast<uint32_t>(count),
                        of_picture};
      of_picture += static_cast<uint32_t>((count + kCambiPoolFours - 1) / kCambiPoolFours);
    }
    for (args.digit = 0; args.digit < kCambiDigits; args.digit++) {
      stream.launch(digits_, {of_picture, 1, number}, kCambiThreads, args);
      stream.launch(digit_, {kCambiScales, 1, number}, kCambiThreads, args);
    }
    stream.launch(sum_, {of_picture, 1, number}, kCambiThreads, args);
  }

  const CambiParams params_;
  const CambiTarget target_;
  const int warp_;
  const Buffer<float> reciprocals_;
  Buffer<int32_t> columns_, rows_;
  const Function prepare_, halve_, count_, digits_, digit_, sum_;
  Scale scales_[kCambiScales] = {};
  int64_t plane_words_ = 0, value_count_ = 0;
};

// The pictures of a frame are the distorted ones and, with full_ref, the reference behind them.
class HipCambi final : public HipMetric {
 public:
  HipCambi(const Device &device, const CambiParams &params, int distorted)
      : distorted_(static_cast<size_t>(distorted)), enc_(device, params, params.enc) {
    if (params.full_ref) src_.emplace(device, params, params.src);
  }

  size_t frame_bytes() const override { return zeroed_bytes() + planes_bytes(); }
  size_t result_bytes() const override {
    return aligned(sizeof(CambiFound) * kCambiScales * (distorted_ + (src_ ? 1 : 0)));
  }

  void enqueue(const Stream &stream, std::span<const DeviceFrame> frames,
               const BatchMemory &memory) const override {
    // What is to be zeroed of all frames lies together, so that one call does it.
    stream.clear(memory.frames, zeroed_bytes() * frames.size());
    std::vector<CambiSize::Picture> enc, src;
    for (size_t f = 0; f < frames.size(); f++) {
      const DeviceAddress<std::byte> zeroed = memory.frames + static_cast<int64_t>(f * zeroed_bytes());
      const DeviceAddress<std::byte> planes =
          memory.frames + static_cast<int64_t>(frames.size() * zeroed_bytes() + f * planes_bytes());
      const auto found = address_cast<CambiFound>(memory.results + static_cast<int64_t>(f * result_bytes()));
      const auto picture = [&](const DevicePlane &from, size_t number) {
        return CambiSize::Picture{from, zeroed + static_cast<int64_t>(number * enc_.zeroed_bytes()),
                                  planes + static_cast<int64_t>(number * enc_.planes_bytes()),
                                  found + static_cast<int64_t>(number * kCambiScales)};
      };
      for (size_t d = 0; d < frames[f].dist.size(); d++) enc.push_back(picture(frames[f].dist[d][0], d));
      if (src_) src.push_back(picture(frames[f].ref[0], distorted_));
    }
    enc_.measure(stream, enc);
    if (src_) src_->measure(stream, src);
  }

  void collect(const DeviceFrame &frame, const std::byte *results, std::byte *sums) const override {
    const auto means = [&](const CambiSize &size, size_t number, double *to) {
      for (int s = 0; s < kCambiScales; s++) {
        CambiFound found;
        std::memcpy(&found, results + (number * kCambiScales + static_cast<size_t>(s)) * sizeof found,
                    sizeof found);
        to[s] = size.mean(s, found);
      }
    };
    CambiSums of = {};
    if (src_) means(*src_, distorted_, of.src);
    for (size_t d = 0; d < frame.dist.size(); d++) {
      means(enc_, d, of.enc);
      std::memcpy(sums + d * sizeof of, &of, sizeof of);
    }
  }

 private:
  size_t zeroed_bytes() const { return distorted_ * enc_.zeroed_bytes() + (src_ ? src_->zeroed_bytes() : 0); }
  size_t planes_bytes() const { return distorted_ * enc_.planes_bytes() + (src_ ? src_->planes_bytes() : 0); }

  const size_t distorted_;
  const CambiSize enc_;
  std::optional<CambiSize> src_;
};

}  // namespace

std::unique_ptr<HipMetric> make_hip_cambi(const Device &device, const CambiParams &params,
                                          const PictureFormat &, int distorted) {
  return std::make_unique<HipCambi>(device, params, distorted);
}

}  // namespace vmafhip::hip
