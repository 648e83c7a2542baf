// What the hosts of float metrics have in common: planes of floats in the frame's memory, and the sums of rows that lie
// there, added up.
#pragma once
#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "engine/hip/frame_layout.h"
#include "engine/hip/metric.h"
#include "kernels/float_tile_args.h"
#include "kernels/serial_sums_args.h"

namespace vmafhip::hip {

constexpr unsigned parts_of(int whole, int part) { return static_cast<unsigned>((whole + part - 1) / part); }

// Frames of a batch, in their memory.
struct FrameBatch {
  std::span<const DeviceFrame> frames;
  const BatchMemory &memory;
  size_t frame_bytes, result_bytes;

  size_t size() const { return frames.size(); }
  DeviceAddress<std::byte> frame_memory(size_t frame) const {
    return memory.frames + static_cast<int64_t>(frame * frame_bytes);
  }
  DeviceAddress<std::byte> results(size_t frame) const {
    return memory.results + static_cast<int64_t>(frame * result_bytes);
  }
  // Luma; picture 0 is the reference.
  const DevicePlane &luma(size_t frame, int picture) const {
    return picture == 0 ? frames[frame].ref[0] : frames[frame].dist[static_cast<size_t>(picture - 1)][0];
  }
};

// Planes of one size, of a reference and distorted pictures.
class FloatPlanes {
 public:
  FloatPlanes() = default;
  FloatPlanes(FrameLayout &layout, int width, int height, int pictures)
      : stride_(float_plane_stride(width)),
        bytes_(static_cast<size_t>(stride_) * static_cast<size_t>(height) * sizeof(float)),
        at_(layout.take<std::byte>(bytes_ * static_cast<size_t>(pictures))) {}

  explicit operator bool() const { return bytes_ > 0; }
  int stride() const { return stride_; }  // floats
  DeviceAddress<float> address(DeviceAddress<std::byte> frame_memory, int picture) const {
    return at<float>(frame_memory, at_ + bytes_ * static_cast<size_t>(picture));
  }
  DevicePlane plane(DeviceAddress<std::byte> frame_memory, int picture) const {
    return {address_cast<const uint8_t>(address(frame_memory, picture)),
            stride_ * static_cast<int64_t>(sizeof(float))};
  }

 private:
  int stride_ = 0;
  size_t bytes_ = 0, at_ = 0;
};

// Calls launch(first frame, frames, first distorted picture, distorted pictures) for all of a batch: a launch takes
// `planes` planes at most, and `most` distorted pictures of a frame.
template <class Launch>
void for_each_launch(size_t frames, int distorted, int planes, int most, const Launch &launch) {
  for (int first = 0; first < distorted; first += most) {
    const int pictures = std::min(distorted - first, most);
    const auto step = static_cast<size_t>(planes / (1 + pictures));
    for (size_t frame = 0; frame < frames; frame += step)
      launch(frame, std::min(frames - frame, step), first, pictures);
  }
}

// Sums of sums of rows, by a kernel that is serial_sum().
template <class Number>
class SerialSums {
 public:
  // `sums` sums of `count` numbers each, which lie at `first_byte` of the frame's memory. Results are in the order of calls.
  void add(size_t first_byte, int count, int sums) {
    parts_[static_cast<size_t>(parts_in_use_++)] = {static_cast<int32_t>(first_byte / sizeof(Number)), count,
                                                    sums};
    sums_ += sums;
  }
  size_t size() const { return static_cast<size_t>(sums_); }

  void launch(const Stream &stream, const Function &kernel, const FrameBatch &batch) const {
    SerialSumArgs<Number> args = {};
    std::copy(parts_.begin(), parts_.end(), args.parts);
    for (size_t frame = 0; frame < batch.size(); frame += kSerialSumFrames) {
      const size_t count = std::min<size_t>(batch.size() - frame, kSerialSumFrames);
      for (size_t i = 0; i < count; ++i)
        args.frames[i] = {at<const Number>(batch.frame_memory(frame + i), 0),
                          at<Number>(batch.results(frame + i), 0)};
      stream.launch(kernel, {static_cast<unsigned>(sums_), 1, static_cast<unsigned>(count)},
                    kSerialSumThreads, args);
    }
  }

 private:
  std::array<typename SerialSumArgs<Number>::Part, kSerialSumParts> parts_ = {};
  int parts_in_use_ = 0, sums_ = 0;
};

// Number `i` of a frame's results.
template <class Number>
Number result(const std::byte *results, size_t i) {
  Number v;
  std::memcpy(&v, results + i * sizeof v, sizeof v);
  return v;
}

}  // namespace vmafhip::hip
