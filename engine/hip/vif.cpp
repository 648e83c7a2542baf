// VIF on the GPU: memory and launches of kernels/vif.hip. Samples of coarser scales lie in the frame's memory.
//
// Several distorted pictures share what depends on the reference alone: its samples of coarser scales, its share of the
// sums and most of its filtering (kernels/vif_filter.h). The matrix units' kernel filters the reference again for each: its
// means and variances, 8 bytes a pixel, are more than registers and shared memory would hold. So do the kernels of two gain
// limits, which have no registers to spare.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include "engine/gain_limits.h"
#include "engine/hip/batch.h"
#include "engine/hip/hip.h"
#include "kernels/vif_args.h"

namespace vmafhip::hip {
namespace {

constexpr size_t kScaleBytes = kVifSlots * sizeof(VifScaleSums), kPlaneBytes = kVifScales * kScaleBytes;
static_assert(kPlaneBytes % 256 == 0);

Buffer<uint16_t> upload_log_table(const Device &device) {
  std::array<uint16_t, kVifLogEntries> table;
  std::array<uint16_t, kVifFoldedEntries> folded;
  vif_fill_log_table(table.data());
  vif_fold_log_table(table.data(), folded.data());
  Buffer<uint16_t> buffer(device, folded.size());
  const Stream stream(device);
  stream.upload(address_cast<std::byte>(buffer.address()), sizeof folded, folded.data(), sizeof folded,
                sizeof folded, 1);
  stream.synchronize();
  return buffer;
}

// A kernel that there is not for every GPU.
std::optional<Function> optional_kernel(const Device &device, const char *name) {
  try {
    return device.function("vif", name);
  } catch (const DeviceError &) {
    return std::nullopt;  // the module is loaded: there is no such kernel for this GPU
  }
}

// The kernel for matrix units, which not every GPU has, for one gain limit or two: vif_scale0_matrix_* of NVIDIA's warps of
// 32, vif_scale0_matrix64_* of AMD's of 64. VMAFHIP_VIF_MATRIX=0 does without, for tests.
std::optional<Function> matrix_kernel(const Device &device, int depth, int limits) {
  const char *wanted = std::getenv("VMAFHIP_VIF_MATRIX");
  if (wanted && std::string_view(wanted) == "0") return std::nullopt;
  const std::string name =
      std::string(device.warp_size() == 64 ? "vif_scale0_matrix64_" : "vif_scale0_matrix_") +
      (depth == 8    ? "8"
       : depth <= 12 ? "12"
                     : "16") +
      (limits > 1 ? "_limits" : "");
  return optional_kernel(device, name.c_str());
}

class HipVif final : public HipMetric {
 public:
  HipVif(const Device &device, const std::vector<VifParams> &sets, const PictureFormat &format, int distorted)
      : limits_(sets, [](const VifParams &params) { return params.gain_limit; }),
        skip_scale0_(sets[0].skip_scale0),
        depth_(format.depth),
        planes_(sets[0].chroma ? 3 : 1),
        distorted_(distorted),
        kernels_{device.function("vif", depth_ == 8 ? "vif_scale0_8" : "vif_scale0_16"),
                 device.function("vif", "vif_scale1"), device.function("vif", "vif_scale2"),
                 device.function("vif", "vif_scale3")},
        kernels_of_several_{
            optional_kernel(device, depth_ == 8 ? "vif_scale0_8_several" : "vif_scale0_16_several"),
            optional_kernel(device, "vif_scale1_several"), optional_kernel(device, "vif_scale2_several"),
            optional_kernel(device, "vif_scale3_several")},
        kernels_of_limits_{
            device.function("vif", depth_ == 8 ? "vif_scale0_8_limits" : "vif_scale0_16_limits"),
            device.function("vif", "vif_scale1_limits"), device.function("vif", "vif_scale2_limits"),
            device.function("vif", "vif_scale3_limits")},
        halve_(device.function("vif", depth_ == 8 ? "vif_halve_8" : "vif_halve_16")),
        warp_(device.warp_size()),
        matrix_{matrix_kernel(device, depth_, 1), matrix_kernel(device, depth_, 2)},
        log_table_(upload_log_table(device)) {
    for (int p = 0; p < planes_; p++) {
      const int x = p > 0 ? chroma_shift_x(format.chroma) : 0, y = p > 0 ? chroma_shift_y(format.chroma) : 0;
      sizes_[p] = {(format.width + x) >> x, (format.height + y) >> y};
      for (int s = 1; s < kVifScales; s++) {
        offsets_[p][s] = frame_bytes_;
        frame_bytes_ += plane_bytes(p, s) * static_cast<size_t>(1 + distorted);
      }
    }
  }

  size_t frame_bytes() const override { return frame_bytes_; }
  size_t result_bytes() const override {
    return static_cast<size_t>(distorted_ * limits_.count() * planes_) * kPlaneBytes;
  }

  // Twice as long as others that leave as much in memory.
  double cost() const override { return 2.0 * static_cast<double>(frame_bytes_); }

  void enqueue(const Stream &stream, std::span<const DeviceFrame> frames,
               const BatchMemory &memory) const override {
    enqueue_planes(stream, frames, memory, 0, 1);
    if (planes_ > 1) enqueue_planes(stream, frames, memory, 1, planes_);
  }

  void collect(const DeviceFrame &frame, const std::byte *results, std::byte *sums) const override {
    for (size_t d = 0; d < frame.dist.size(); d++)
      for (const int limit : limits_.of_set) {
        VifSums total;
        for (int p = 0; p < planes_; p++)
          for (int s = 0; s < kVifScales; s++) {
            const VifScaleSums reference = add_slots(results + result_offset(p, 0, 0, s)),
                               picture = add_slots(results + result_offset(p, static_cast<int>(d), 0, s)),
                               limited = add_slots(results + result_offset(p, static_cast<int>(d), limit, s));
            of(total, p, s) = {limited.num_log, reference.den_log, picture.num_low, reference.den_low};
          }
        std::memcpy(sums, &total, sizeof total);
        sums += sizeof total;
      }
  }

 private:
  struct Size {
    int width = 0, height = 0;
  };
  // Planes that are compared.
  struct Pair {
    const DeviceFrame *frame;
    size_t number;  // of the frame in the batch
    int plane, dist;
  };
  // Pairs for one launch, `pictures` after `pictures` with a reference in common.
  class Pairs {
   public:
    std::span<const Pair> all() const { return std::span(pairs_).first(count_); }
    int pictures() const { return pictures_; }
    bool takes(int pictures) const {
      return count_ == 0 ||
             (pictures == pictures_ && count_ + static_cast<size_t>(pictures) <= pairs_.size());
    }
    void add(const DeviceFrame &frame, size_t number, int plane, int dist, int pictures) {
      pictures_ = pictures;
      for (int d = dist; d < dist + pictures; d++) pairs_[count_++] = {&frame, number, plane, d};
    }

   private:
    std::array<Pair, kMostPairs> pairs_;
    size_t count_ = 0;
    int pictures_ = 1;
  };

  static VifScaleSums add_slots(const std::byte *slots) {
    VifScaleSums sum;
    for (int slot = 0; slot < kVifSlots; slot++) {
      VifScaleSums part;
      std::memcpy(&part, slots + static_cast<size_t>(slot) * sizeof part, sizeof part);
      sum.num_log += part.num_log;
      sum.den_log += part.den_log;
      sum.num_low += part.num_low;
      sum.den_low += part.den_low;
    }
    return sum;
  }

  static VifScaleSums &of(VifSums &sums, int plane, int scale) {
    return (plane == 0 ? sums.scale : sums.chroma[plane - 1])[scale];
  }

  // Rows of coarser scales begin at multiples of 256 bytes.
  static int stride(int width) { return (width + 127) & ~127; }
  size_t plane_bytes(int plane, int scale) const {
    return static_cast<size_t>(stride(sizes_[plane].width >> scale)) *
           static_cast<size_t>(sizes_[plane].height >> scale) * sizeof(uint16_t);
  }
  size_t result_offset(int plane, int dist, int limit, int scale) const {
    return static_cast<size_t>((dist * limits_.count() + limit) * planes_ + plane) * kPlaneBytes +
           static_cast<size_t>(scale) * kScaleBytes;
  }

  // `picture`: 0 for the reference.
  DeviceAddress<uint16_t> samples(const BatchMemory &memory, const Pair &pair, int picture, int scale) const {
    return address_cast<uint16_t>(
        at(memory.frames, pair.number * frame_bytes_ + offsets_[pair.plane][scale] +
                              static_cast<size_t>(picture) * plane_bytes(pair.plane, scale)));
  }
  DevicePlane plane(const BatchMemory &memory, const Pair &pair, int picture, int scale) const {
    const size_t p = static_cast<size_t>(pair.plane);
    if (scale == 0)
      return picture == 0 ? pair.frame->ref[p] : pair.frame->dist[static_cast<size_t>(pair.dist)][p];
    return {address_cast<const uint8_t>(samples(memory, pair, picture, scale)),
            static_cast<int64_t>(stride(sizes_[p].width >> scale)) * int64_t{sizeof(uint16_t)}};
  }

  // Planes first to last - 1, which are of one size. When the pictures of a frame do not fit one launch, the first of them
  // is still measured before the others.
  void enqueue_planes(const Stream &stream, std::span<const DeviceFrame> frames, const BatchMemory &memory,
                      int first, int last) const {
    Pairs pairs;
    for (size_t f = 0; f < frames.size(); f++)
      for (int p = first; p < last; p++) {
        const int distorted = static_cast<int>(frames[f].dist.size());
        for (int d = 0; d < distorted; d += kMostPairs) {
          const int pictures = std::min(distorted - d, kMostPairs);
          if (!pairs.takes(pictures)) {
            measure(stream, pairs, memory);
            pairs = {};
          }
          pairs.add(frames[f], f, p, d, pictures);
        }
      }
    if (!pairs.all().empty()) measure(stream, pairs, memory);
  }

  void measure(const Stream &stream, const Pairs &of_launch, const BatchMemory &memory) const {
    for (int limit = 0; limit < limits_.count(); limit += kVifMostLimits)
      measure(stream, of_launch, limit, std::min(kVifMostLimits, limits_.count() - limit), memory);
  }

  // All scales, with `limits` gain limits from `first` on.
  void measure(const Stream &stream, const Pairs &of_launch, int first, int limits,
               const BatchMemory &memory) const {
    const std::span<const Pair> pairs = of_launch.all();
    for (int s = 0; s < kVifScales; s++) {
      VifArgs args = {};
      args.width = sizes_[pairs[0].plane].width >> s;
      args.height = sizes_[pairs[0].plane].height >> s;
      args.depth = depth_;
      args.pictures = of_launch.pictures();
      args.half_stride = stride(args.width / 2);
      args.log_table = address_cast<const uint16_t>(log_table_.address());
      for (int i = 0; i < limits; i++) args.gain_limits[i] = limits_.values[static_cast<size_t>(first + i)];
      bool matrix = s == 0 && matrix_[limits - 1].has_value();
      for (size_t i = 0; i < pairs.size(); i++) {
        const Pair &pair = pairs[i];
        VifPair &out = args.pairs[i];
        out.planes = {plane(memory, pair, 0, s), plane(memory, pair, 1 + pair.dist, s)};
        matrix = matrix && vif_matrix_takes(out.planes.ref, args.height) &&
                 vif_matrix_takes(out.planes.dist, args.height);
        out.with_reference = pair.dist == 0;
        if (s + 1 < kVifScales) {
          if (out.with_reference) out.half_ref = samples(memory, pair, 0, s + 1);
          out.half_dist = samples(memory, pair, 1 + pair.dist, s + 1);
        }
        for (int l = 0; l < limits; l++)
          out.sums[l] = address_cast<VifScaleSums>(
              at(memory.results,
                 pair.number * result_bytes() + result_offset(pair.plane, pair.dist, first + l, s)));
      }
      const bool statistics = s > 0 || pairs[0].plane > 0 || !skip_scale0_;
      const unsigned count = static_cast<unsigned>(pairs.size());
      if (!statistics)
        launch_filter(stream, halve_, args, s, count);
      else if (matrix)
        launch_matrix(stream, *matrix_[limits - 1], args, count);
      else if (limits > 1)
        launch_filter(stream, kernels_of_limits_[s], args, s, count);
      else if (args.pictures > 1 && kernels_of_several_[s])
        launch_filter(stream, *kernels_of_several_[s], args, s, count / static_cast<unsigned>(args.pictures));
      else
        launch_filter(stream, kernels_[s], args, s, count);
    }
  }

  static void launch_filter(const Stream &stream, const Function &kernel, const VifArgs &args, int scale,
                            unsigned count) {
    stream.launch(
        kernel,
        {blocks_for(args.width, vif_tile_columns(scale)), blocks_for(args.height, kVifTileRows), count},
        kVifThreads, args);
  }

  void launch_matrix(const Stream &stream, const Function &kernel, VifArgs &args, unsigned count) const {
    // A warp begins with a step that gives nothing, so it should take many, but there should be warps enough to fill the
    // GPU several times over: 2400 fill an H200 one and a half times.
    const int steps = vif_matrix_steps(args.width);
    const unsigned strips = blocks_for(args.height, kVifMatrixRows);
    args.steps = std::clamp(static_cast<int>(int64_t{steps} * strips * count / 2400), 4, 16);
    static_assert(16 <= kVifMostMatrixSteps);
    stream.launch(kernel, {blocks_for(steps, args.steps * kVifMatrixWarps), strips, count},
                  kVifMatrixWarps * warp_, args);
  }

  const GainLimits limits_;
  const bool skip_scale0_;
  const int depth_, planes_, distorted_;
  const std::array<Function, kVifScales> kernels_;
  const std::array<std::optional<Function>, kVifScales> kernels_of_several_;
  const std::array<Function, kVifScales> kernels_of_limits_;
  const Function halve_;
  const int warp_;
  const std::array<std::optional<Function>, kVifMostLimits> matrix_;  // by the number of limits
  const Buffer<uint16_t> log_table_;
  Size sizes_[3];
  size_t offsets_[3][kVifScales] = {};
  size_t frame_bytes_ = 0;
};

}  // namespace

std::unique_ptr<HipMetric> make_hip_vif(const Device &device, const std::vector<VifParams> &sets,
                                        const PictureFormat &format, int distorted) {
  return std::make_unique<HipVif>(device, sets, format, distorted);
}

}  // namespace vmafhip::hip
