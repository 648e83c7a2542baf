// ADM on the GPU: memory and launches. The kernels are in kernels/adm.hip.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "engine/gain_limits.h"
#include "engine/hip/adm_parts.h"
#include "engine/hip/batch.h"
#include "engine/hip/hip.h"
#include "kernels/adm_args.h"

namespace vmafhip::hip {
namespace {

AdmHalves halves_of(const AdmScaleParams &p, int scale) {
  AdmHalves halves = {};
  halves.across = half_of(kAdmHorizontalShift[scale]);
  for (int band : {0, 2}) {
    halves.square[band == 2] = static_cast<uint64_t>(half_of(adm_square_shift(scale, band)));
    halves.cube[band == 2] = half_of(p.col_shift[band]);
  }
  halves.den_square = uint64_t{1} << adm_den_square_shift(scale);
  halves.den_cube = static_cast<uint64_t>(half_of(p.den_col_shift));
  return halves;
}

class HipAdm final : public HipMetric {
 public:
  HipAdm(const Device &device, const std::vector<AdmParams> &sets, const PictureFormat &format, int distorted)
      : params_(sets[0]),
        limits_(sets, [](const AdmParams &params) { return params.options.gain_limit; }),
        depth_(format.depth),
        distorted_(distorted),
        threads_(device.warp_size()) {
    kernels_[0] = {device.function("adm", depth_ == 8 ? "adm_scale0_8" : "adm_scale0_16"),
                   device.function("adm", "adm_scale1"), device.function("adm", "adm_scale2"),
                   device.function("adm", "adm_scale3")};
    kernels_[1] = {device.function("adm", depth_ == 8 ? "adm_scale0_8_limits" : "adm_scale0_16_limits"),
                   device.function("adm", "adm_scale1_limits"), device.function("adm", "adm_scale2_limits"),
                   device.function("adm", "adm_scale3_limits")};
    sum_rows_ = device.function("adm", "adm_sum_rows");
    for (int s = 0; s < kAdmScales; s++) {
      const AdmScaleParams &p = params_.scale[s];
      first_row_[s] = rows_;
      rows_ += p.height;
      if (s + 1 == kAdmScales) break;
      low_stride_[s] = static_cast<int>(
          (static_cast<size_t>(p.width) * (s == 0 ? sizeof(int16_t) : sizeof(int32_t)) + 63) / 64 * 64);
      low_at_[s] = low_bytes_;
      low_bytes_ += rounded_to_256(static_cast<size_t>(low_stride_[s]) * static_cast<size_t>(p.height));
    }
    row_sums_bytes_ = static_cast<size_t>(rows_) * kAdmRowSums * sizeof(uint64_t);
    if (params_.options.skip_scale0) {  // nothing is pooled there
      AdmScaleParams &p = params_.scale[0];
      p.left = p.right = p.top = p.bottom = 0;
    }
    for (int limits = 1; limits <= std::min(kAdmMostLimits, limits_.count()); limits++)
      for (int s = 0; s < kAdmScales; s++)
        for (int pairs = 1; pairs <= kMostPairs; pairs++)
          parts_.push_back(adm_parts(params_.scale[s], s + 1 == kAdmScales,
                                     adm_strip_columns(threads_, s, limits), pairs,
                                     device.multiprocessors() * adm_resident_warps(s, depth_, limits)));
  }

  size_t frame_bytes() const override { return frame_sums_bytes() + frame_low_bytes(); }
  size_t result_bytes() const override { return rounded_to_256(sizeof(AdmSums) * sums_of_frame()); }

  void enqueue(const Stream &stream, std::span<const DeviceFrame> frames,
               const BatchMemory &memory) const override {
    // The sums of all frames lie together, so that one call clears them.
    stream.clear(memory.frames, frame_sums_bytes() * frames.size());
    std::array<Pair, kMostPairs> pairs;
    size_t count = 0;
    const auto launch = [&] {
      const std::span<const Pair> these(pairs.data(), count);
      for (int limit = 0; limit < limits_.count() && count > 0; limit += kAdmMostLimits)
        for (int s = 0; s < kAdmScales; s++) launch_scale(stream, s, limit, these, frames.size(), memory);
      for (int limit = 0; limit < limits_.count() && count > 0; limit++)
        launch_sums(stream, limit, these, memory);
      count = 0;
    };
    for (size_t f = 0; f < frames.size(); f++)
      for (size_t d = 0; d < frames[f].dist.size(); d++) {
        pairs[count++] = {&frames[f], f, d};
        if (count == pairs.size()) launch();
      }
    launch();
  }

  void collect(const DeviceFrame &frame, const std::byte *results, std::byte *sums) const override {
    for (size_t d = 0; d < frame.dist.size(); d++)
      for (const int limit : limits_.of_set) {
        AdmSums of, first;
        std::memcpy(&of, results + number_of(d, limit) * sizeof of, sizeof of);
        std::memcpy(&first, results + number_of(d, 0) * sizeof of, sizeof of);
        for (int s = 0; s < kAdmScales; s++) std::ranges::copy(first.scale[s].den, of.scale[s].den);
        if (params_.options.skip_aim)
          for (AdmScaleSums &scale : of.scale) std::fill(std::begin(scale.aim), std::end(scale.aim), 0);
        std::memcpy(sums, &of, sizeof of);
        sums += sizeof of;
      }
  }

 private:
  struct Pair {
    const DeviceFrame *frame = nullptr;
    size_t number = 0;  // of the frame in the batch
    size_t dist = 0;
  };

  // Sums of a frame: for each distorted picture, those of each gain limit.
  size_t sums_of_frame() const { return static_cast<size_t>(distorted_ * limits_.count()); }
  size_t number_of(size_t dist, int limit) const {
    return dist * static_cast<size_t>(limits_.count()) + static_cast<size_t>(limit);
  }

  // A frame's share of the memory: all sums, row by row; low bands of the reference, then of each distorted picture.
  size_t frame_sums_bytes() const { return rounded_to_256(row_sums_bytes_ * sums_of_frame()); }
  size_t frame_low_bytes() const { return low_bytes_ * (1 + static_cast<size_t>(distorted_)); }

  DeviceAddress<uint64_t> row_sums(const Pair &pair, int limit, const BatchMemory &memory) const {
    return address_cast<uint64_t>(
        at(memory.frames, pair.number * frame_sums_bytes() + number_of(pair.dist, limit) * row_sums_bytes_));
  }
  DeviceAddress<std::byte> low_band(int scale, const Pair &pair, size_t picture, size_t frames,
                                    const BatchMemory &memory) const {
    return at(memory.frames, frames * frame_sums_bytes() + pair.number * frame_low_bytes() +
                                 picture * low_bytes_ + low_at_[scale]);
  }

  const AdmParts &parts_of(int limits, int scale, size_t pairs) const {
    return parts_[static_cast<size_t>((limits - 1) * kAdmScales + scale) * kMostPairs + pairs - 1];
  }

  // With up to kAdmMostLimits gain limits from `first` on.
  void launch_scale(const Stream &stream, int scale, int first, std::span<const Pair> pairs, size_t frames,
                    const BatchMemory &memory) const {
    const AdmScaleParams &p = params_.scale[scale];
    AdmScaleArgs args = {};
    args.scale = p;
    args.halves = halves_of(p, scale);
    const int limits = std::min(kAdmMostLimits, limits_.count() - first);
    for (int i = 0; i < limits; i++) {
      const double limit = limits_.values[static_cast<size_t>(first + i)];
      args.limits[i] = {limit, limit == std::floor(limit) ? static_cast<int32_t>(limit) : 0};
    }
    args.source_width = scale == 0 ? params_.width : params_.scale[scale - 1].width;
    args.source_height = scale == 0 ? params_.height : params_.scale[scale - 1].height;
    args.depth = depth_;
    args.aligned = true;
    if (scale + 1 < kAdmScales) args.low_stride = low_stride_[scale];
    for (size_t i = 0; i < pairs.size(); i++) {
      const Pair &pair = pairs[i];
      AdmPair &to = args.pairs[i];
      if (scale == 0) {
        to.ref = picture(pair.frame->ref[0], &args);
        to.dist = picture(pair.frame->dist[pair.dist][0], &args);
      } else {
        const auto band = [&](size_t of) {
          return DevicePlane{address_cast<const uint8_t>(low_band(scale - 1, pair, of, frames, memory)),
                             low_stride_[scale - 1]};
        };
        to.ref = band(0);
        to.dist = band(1 + pair.dist);
      }
      if (scale + 1 < kAdmScales) {
        // The reference's own is the same for all.
        if (pair.dist == 0) to.low_ref = low_band(scale, pair, 0, frames, memory);
        to.low_dist = low_band(scale, pair, 1 + pair.dist, frames, memory);
      }
      for (int l = 0; l < limits; l++)
        to.row_sums[l] = row_sums(pair, first + l, memory) + int64_t{first_row_[scale]} * kAdmRowSums;
    }
    const int columns = adm_strip_columns(threads_, scale, limits),
              strips = (p.width + columns - 1) / columns;
    const AdmParts &parts = parts_of(limits, scale, pairs.size());
    args.part_rows = parts.rows;
    args.parts = (p.height + parts.rows - 1) / parts.rows;
    args.first_part = parts.first;
    stream.launch(kernels_[limits - 1][static_cast<size_t>(scale)],
                  {static_cast<unsigned>(strips), static_cast<unsigned>(pairs.size()),
                   static_cast<unsigned>(args.parts)},
                  static_cast<unsigned>(threads_), args);
  }

  // A plane of a picture, which can lie anywhere.
  DevicePlane picture(const DevicePlane &plane, AdmScaleArgs *args) const {
    if (plane.stride != static_cast<int32_t>(plane.stride))
      throw DeviceError(1, "adm: rows of a picture on the device are " + std::to_string(plane.stride) +
                               " bytes apart; at most 2 GiB are possible");
    const unsigned bytes = depth_ == 8 ? 4 : 8;  // of four samples, as many as a thread loads at most
    if (plane.data.value % bytes != 0 || plane.stride % static_cast<int>(bytes) != 0) args->aligned = false;
    return plane;
  }

  void launch_sums(const Stream &stream, int limit, std::span<const Pair> pairs,
                   const BatchMemory &memory) const {
    AdmSumArgs args = {};
    for (size_t i = 0; i < pairs.size(); i++) {
      args.pairs[i].row_sums = address_cast<const uint64_t>(row_sums(pairs[i], limit, memory));
      args.pairs[i].sums =
          address_cast<uint64_t>(at(memory.results, pairs[i].number * result_bytes() +
                                                        number_of(pairs[i].dist, limit) * sizeof(AdmSums)));
    }
    for (int s = 0; s < kAdmScales; s++) {
      const AdmScaleParams &p = params_.scale[s];
      args.scales[s] = {first_row_[s], p.top, p.bottom, p.row_shift, p.den_row_shift};
    }
    stream.launch(sum_rows_, {kAdmScales, 1, static_cast<unsigned>(pairs.size())}, kAdmSumThreads, args);
  }

  AdmParams params_;
  const GainLimits limits_;
  const int depth_, distorted_, threads_;
  std::array<std::array<Function, kAdmScales>, kAdmMostLimits> kernels_;  // by the number of limits
  std::vector<AdmParts> parts_;                                           // parts_of()
  Function sum_rows_;
  // Of a pair: rows of all scales, and where those of a scale begin. Of a picture: bytes of the low bands, where that of a
  // scale begins, and bytes between its rows.
  int rows_ = 0, first_row_[kAdmScales] = {};
  size_t row_sums_bytes_ = 0, low_bytes_ = 0, low_at_[kAdmScales - 1] = {};
  int low_stride_[kAdmScales - 1] = {};
};

}  // namespace

std::unique_ptr<HipMetric> make_hip_adm(const Device &device, const std::vector<AdmParams> &sets,
                                        const PictureFormat &format, int distorted) {
  return std::make_unique<HipAdm>(device, sets, format, distorted);
}

}  // namespace vmafhip::hip
