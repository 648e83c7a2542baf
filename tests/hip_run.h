// For the tests of metrics on the GPU: luma pictures in device memory, and a metric run over a batch of frames.
//
// The device is the one that the environment names: for these tests the simulated one (tests/hipsim).
#pragma once
#include <cstdint>
#include <cstring>
#include <memory>
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

// Owns exactly the memory of a picture, so that the simulator sees every access outside of it, but for the padding between
// rows.
class DeviceLuma {
 public:
  DeviceLuma(const hip::Stream &stream, const Luma &luma, const Layout &layout = {}) {
    const StoredLuma stored(luma, layout);
    const int bytes = luma.depth > 8 ? 2 : 1;
    const ptrdiff_t row = ptrdiff_t{luma.width} * bytes, stride = row + layout.padding;
    const auto rows = static_cast<size_t>(luma.height);
    memory_ = hip::Buffer<std::byte>(stream.device(),
                                     static_cast<size_t>(stride * (luma.height - 1) + row + layout.offset));
    const DeviceAddress<std::byte> first = memory_.address() + layout.offset;
    const PlaneView &view = stored.view();
    // Rows lie in the memory in the order of their addresses.
    const void *lowest = layout.upside ? view.row<std::byte>(luma.height - 1) : view.data;
    stream.upload(first, static_cast<size_t>(stride), lowest, stride, static_cast<size_t>(row), rows);
    stream.synchronize();
    plane_ = {address_cast<const uint8_t>(first + (layout.upside ? stride * (luma.height - 1) : 0)),
              layout.upside ? -stride : stride};
  }
  const DevicePlane &plane() const { return plane_; }

 private:
  hip::Buffer<std::byte> memory_;
  DevicePlane plane_;
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
