// For the tests of metrics on the GPU that look at nothing but the frame: pictures in colour in device memory, measured
// in batches there, against the plain metric on the CPU.
#pragma once
#include <cstdlib>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "engine/hip/hip.h"
#include "tests/colour_run.h"
#include "tests/hip_run.h"

namespace vmafhip::test {

// Frames in device memory: each plane has exactly its own, laid out as on the host, so that the simulator sees every
// access outside of it but for the padding between rows.
class DeviceFrames {
 public:
  explicit DeviceFrames(const hip::Stream &stream) : stream_(stream) {}

  void add(const FrameView &frame, const Layout &layout) {
    hip::DeviceFrame to;
    to.index = frame.index;
    to.ref = upload(frame.ref, layout);
    std::vector<hip::DeviceViews> &dist = dist_.emplace_back();
    for (const Views &views : frame.dist) dist.push_back(upload(views, layout));
    to.dist = dist;
    frames_.push_back(to);
  }

  const std::vector<hip::DeviceFrame> &frames() const { return frames_; }

 private:
  hip::DeviceViews upload(const Views &views, const Layout &layout) {
    hip::DeviceViews out;
    for (size_t p = 0; p < views.size(); ++p)
      if (views[p].data) out[p] = upload(views[p], layout);
    return out;
  }
  DevicePlane upload(const PlaneView &view, const Layout &layout) {
    const size_t row = static_cast<size_t>(view.width) * (view.depth > 8 ? 2 : 1),
                 rows = static_cast<size_t>(view.height);
    const ptrdiff_t stride = std::abs(view.stride), last = stride * (view.height - 1);
    const hip::Buffer<std::byte> &memory = memory_.emplace_back(
        stream_.device(), static_cast<size_t>(layout.offset) + static_cast<size_t>(last) + row);
    const DeviceAddress<std::byte> lowest = memory.address() + layout.offset;
    // Rows lie in the memory in the order of their addresses.
    const void *from = view.stride < 0 ? view.row<std::byte>(view.height - 1) : view.data;
    stream_.upload(lowest, static_cast<size_t>(stride), from, stride, row, rows);
    stream_.synchronize();
    return {address_cast<const uint8_t>(lowest + (view.stride < 0 ? last : 0)), view.stride};
  }

  const hip::Stream &stream_;
  std::list<hip::Buffer<std::byte>> memory_;
  std::list<std::vector<hip::DeviceViews>> dist_;  // frames point to them
  std::vector<hip::DeviceFrame> frames_;
};

class HipColours : public testing::Test {
 protected:
  using MakeHipMetric = std::function<std::unique_ptr<hip::HipMetric>(const hip::Device &,
                                                                      const PictureFormat &, int distorted)>;
  struct Frame {
    Colours ref;
    std::vector<Colours> dists;
  };

  // A batch of frames of one format, the first of which has as many distorted pictures as any.
  void expect_equal(const char *name, const MakeHipMetric &make_hip, const MakeMetric &make_cpu,
                    const std::vector<Frame> &batch, const Layout &layout = {}) {
    const Extractor &e = extractor(name);
    const PictureFormat &format = batch[0].ref.format;
    const int distorted = static_cast<int>(batch[0].dists.size());
    const auto gpu = make_hip(*device_, format, distorted);
    const auto cpu = make_cpu(plain_kernels(), format, distorted);
    DeviceFrames frames(stream_);
    std::list<StoredColours> stored;
    for (const Frame &frame : batch)
      frames.add(stored.emplace_back(frame.ref, frame.dists, layout).view, layout);
    const auto got = measure_bytes_on(stream_, *gpu, frames.frames(), e.sums_bytes);
    size_t number = 0;
    for (const StoredColours &frame : stored) {
      const auto want = measure_colours(e, *cpu, frame.view);
      EXPECT_EQ(got[number], want) << name << ", frame " << number << ", " << format.width << "x"
                                   << format.height << ", depth " << format.depth << ", chroma "
                                   << static_cast<int>(format.chroma);
      ++number;
    }
  }

  std::shared_ptr<hip::Device> device_ = open_device();
  hip::Stream stream_{*device_};
};

}  // namespace vmafhip::test
