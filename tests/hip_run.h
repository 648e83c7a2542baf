// For the tests of metrics on the GPU: frames as the CPU's metrics see them, in device memory, and a metric run over a
// batch of them.
//
// The device is the one that the environment names: for these tests the simulated one (tests/hipsim).
#pragma once
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/hip/device.h"
#include "engine/hip/metric.h"
#include "tests/metric_run.h"

namespace vmafhip::test {

// For the calling thread; let go of with the last that holds it.
inline std::shared_ptr<hip::Device> open_device() {
  auto device = hip::Device::open(-1);
  if (!device.ok()) throw std::runtime_error(device.status().message());
  (*device)->make_current();
  return *device;
}

// Frames in device memory. Each plane has exactly its own, however many frames it is of, laid out as on the host and as
// far from an aligned address: the simulator sees every access outside of it but for the padding between rows.
class DeviceFrames {
 public:
  // What is added stays where it is until the last is.
  explicit DeviceFrames(const hip::Stream &stream, const std::vector<const FrameView *> &frames = {})
      : stream_(stream) {
    for (const FrameView *frame : frames) add(*frame);
  }

  void add(const FrameView &frame) {
    hip::DeviceFrame to;
    to.index = frame.index;
    to.ref = upload(frame.ref);
    to.dist = upload(frame.dist);
    for (size_t back = 0; back < to.earlier.size(); ++back) to.earlier[back] = upload(frame.earlier[back]);
    to.earlier_dist = upload(frame.earlier_dist);
    frames_.push_back(to);
  }

  const std::vector<hip::DeviceFrame> &frames() const { return frames_; }

 private:
  std::span<const hip::DeviceViews> upload(std::span<const Views> pictures) {
    std::vector<hip::DeviceViews> &to = views_.emplace_back();
    for (const Views &views : pictures) to.push_back(upload(views));
    return to;
  }
  hip::DeviceViews upload(const Views &views) {
    hip::DeviceViews to;
    for (size_t p = 0; p < views.size(); ++p)
      if (views[p].data) to[p] = upload(views[p]);
    return to;
  }
  DevicePlane upload(const PlaneView &view) {
    DevicePlane &plane = planes_[view.data];
    if (plane.data) return plane;
    const size_t row = static_cast<size_t>(view.width) * (view.depth > 8 ? 2 : 1),
                 rows = static_cast<size_t>(view.height);
    const ptrdiff_t stride = std::abs(view.stride), last = stride * (view.height - 1);
    // Rows lie in the memory in the order of their addresses.
    const void *lowest = view.stride < 0 ? view.row<std::byte>(view.height - 1) : view.data;
    const size_t offset = reinterpret_cast<uintptr_t>(lowest) % kNewAlign;
    const hip::Buffer<std::byte> &memory =
        memory_.emplace_back(stream_.device(), offset + static_cast<size_t>(last) + row);
    const DeviceAddress<std::byte> to = memory.address() + static_cast<int64_t>(offset);
    stream_.upload(to, static_cast<size_t>(stride), lowest, stride, row, rows);
    stream_.synchronize();
    return plane = {address_cast<const uint8_t>(to + (view.stride < 0 ? last : 0)), view.stride};
  }

  static constexpr size_t kNewAlign = __STDCPP_DEFAULT_NEW_ALIGNMENT__;  // of StoredLuma's memory

  const hip::Stream &stream_;
  std::list<hip::Buffer<std::byte>> memory_;
  std::map<const void *, DevicePlane> planes_;      // by where they are on the host
  std::list<std::vector<hip::DeviceViews>> views_;  // frames point to them
  std::vector<hip::DeviceFrame> frames_;
};

// Rows further apart, upside down, and where samples allow it out of line.
inline std::vector<Layout> odd_layouts(int depth) {
  std::vector<Layout> layouts = {{.padding = 26}, {.padding = 10, .upside = true}};
  if (depth == 8) layouts.push_back({.padding = 3, .offset = 1});
  return layouts;
}

class HipTest : public testing::Test {
 protected:
  std::shared_ptr<hip::Device> device_ = open_device();
  hip::Stream stream_{*device_};
};

// Sums of each frame's distorted pictures, `sums_bytes` long. The memory that a metric asked for, not a byte more, is full
// of rubbish before.
inline std::vector<std::vector<std::vector<std::byte>>> measure_bytes_on(
    const hip::Stream &stream, const hip::HipMetric &metric, const std::vector<hip::DeviceFrame> &frames,
    size_t sums_bytes) {
  const size_t count = frames.size();
  const hip::Buffer<std::byte> memory(stream.device(), count * metric.frame_bytes()),
      results(stream.device(), count * metric.result_bytes());
  const std::vector<std::byte> rubbish(memory.size(), std::byte{0xa5});
  if (memory.size() > 0)
    stream.upload(memory.address(), rubbish.size(), rubbish.data(), ptrdiff_t(rubbish.size()), rubbish.size(),
                  1);
  stream.clear(results.address(), results.size());
  metric.enqueue(stream, frames, {memory.address(), results.address()});
  std::vector<std::byte> host(results.size());
  stream.download(host.data(), address_cast<const std::byte>(results.address()), host.size());
  stream.synchronize();

  std::vector<std::vector<std::vector<std::byte>>> sums;
  for (size_t f = 0; f < count; ++f) {
    std::vector<std::byte> bytes(frames[f].dist.size() * sums_bytes, std::byte{0x5a});
    metric.collect(frames[f], host.data() + f * metric.result_bytes(), bytes.data());
    sums.emplace_back();
    for (auto from = bytes.begin(); from != bytes.end(); from += static_cast<ptrdiff_t>(sums_bytes))
      sums.back().emplace_back(from, from + static_cast<ptrdiff_t>(sums_bytes));
  }
  return sums;
}

template <class Sums>
std::vector<std::vector<Sums>> measure_on(const hip::Stream &stream, const hip::HipMetric &metric,
                                          const std::vector<hip::DeviceFrame> &frames) {
  std::vector<std::vector<Sums>> sums;
  for (const auto &pictures : measure_bytes_on(stream, metric, frames, sizeof(Sums))) {
    sums.emplace_back(pictures.size());
    for (size_t d = 0; d < pictures.size(); ++d)
      std::memcpy(static_cast<void *>(&sums.back()[d]), pictures[d].data(), sizeof(Sums));
  }
  return sums;
}

}  // namespace vmafhip::test
