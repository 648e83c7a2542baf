// What a metric on the GPU is made of: it launches kernels on frames whose planes lie in device memory, and turns what
// these leave into the sums that its scorer takes. As with the CPU's (engine/metric.h), all temporal state is elsewhere.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/hip/device.h"
#include "kernels/args.h"

namespace vmafhip::hip {

using DeviceViews = std::array<DevicePlane, 3>;  // Y, U, V

// As FrameView, in device memory. Addresses are null where a FrameView has no data.
struct DeviceFrame {
  uint64_t index = 0;
  DeviceViews ref;
  std::span<const DeviceViews> dist;
  std::array<DeviceViews, 2> earlier;         // references 1 and 2 frames earlier
  std::span<const DeviceViews> earlier_dist;  // distorted pictures 1 frame earlier
};

// Where one batch of frames works. Blocks of frames of one batch lie one after the other.
struct BatchMemory {
  DeviceAddress<std::byte> frames;   // frame_bytes() each, 256-byte aligned, not cleared
  DeviceAddress<std::byte> results;  // result_bytes() each, 256-byte aligned, zeroed before
};

// Functions may be called from several threads at once. Failures of the device are thrown as DeviceError.
class HipMetric {
 public:
  virtual ~HipMetric() = default;
  // Device memory that the kernels of one frame hand on to each other. A multiple of 256.
  virtual size_t frame_bytes() const = 0;
  // What the kernels leave of one frame, all distorted pictures; copied to the host. A multiple of 256.
  virtual size_t result_bytes() const = 0;
  // How long it takes, in any unit that all metrics share: those that take long begin first.
  virtual double cost() const { return static_cast<double>(frame_bytes()); }
  // Launches everything for 1 or more frames; what is launched on `stream` runs in order.
  virtual void enqueue(const Stream &stream, std::span<const DeviceFrame> frames,
                       const BatchMemory &memory) const = 0;
  // Results of one frame, on the host, to the sums of all its distorted pictures, one after the other.
  virtual void collect(const DeviceFrame &frame, const std::byte *results, std::byte *sums) const = 0;
};

}  // namespace vmafhip::hip
