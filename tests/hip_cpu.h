// For the tests of metrics on the GPU: frames as the CPU's metrics see them, in device memory, and a metric's sums of a
// batch of them against the plain CPU's.
#pragma once
#include <cstdio>
#include <string>

#include "tests/hip_run.h"
#include "tests/isa_run.h"

namespace vmafhip::test {

// Planes in memory of exactly their size, laid out as they are on the host.
class DeviceFrames {
 public:
  DeviceFrames(const hip::Stream &stream, const std::vector<const FrameView *> &frames) : stream_(stream) {
    size_t pictures = 0;
    for (const FrameView *frame : frames) pictures += frame->dist.size();
    dist_.reserve(pictures);  // spans point into it
    for (const FrameView *frame : frames) {
      hip::DeviceFrame to;
      to.index = frame->index;
      to.ref = upload(frame->ref);
      const size_t first = dist_.size();
      for (const Views &views : frame->dist) dist_.push_back(upload(views));
      to.dist = {dist_.data() + first, frame->dist.size()};
      for (size_t i = 0; i < to.earlier.size(); ++i) to.earlier[i] = upload(frame->earlier[i]);
      frames_.push_back(to);
    }
    stream_.synchronize();
  }
  const std::vector<hip::DeviceFrame> &frames() const { return frames_; }

 private:
  hip::DeviceViews upload(const Views &views) {
    hip::DeviceViews out;
    for (size_t p = 0; p < views.size(); ++p) out[p] = upload(views[p]);
    return out;
  }
  DevicePlane upload(const PlaneView &view) {
    if (!view.data) return {};
    const auto row = static_cast<size_t>(view.width) * (view.depth > 8 ? 2 : 1);
    const auto rows = static_cast<size_t>(view.height);
    const auto stride = static_cast<size_t>(std::abs(view.stride));
    memory_.emplace_back(stream_.device(), stride * (rows - 1) + row);
    const DeviceAddress<std::byte> to = memory_.back().address();
    // Rows lie in the memory in the order of their addresses.
    const void *lowest = view.stride < 0 ? view.row<std::byte>(view.height - 1) : view.data;
    stream_.upload(to, stride, lowest, static_cast<ptrdiff_t>(stride), row, rows);
    const int64_t first = view.stride < 0 ? static_cast<int64_t>(stride * (rows - 1)) : 0;
    return {address_cast<const uint8_t>(to + first), view.stride};
  }

  const hip::Stream &stream_;
  std::vector<hip::Buffer<std::byte>> memory_;
  std::vector<hip::DeviceViews> dist_;
  std::vector<hip::DeviceFrame> frames_;
};

// The first number that differs.
template <class Number, class Sums>
std::string difference(const Sums &got, const Sums &want) {
  for (size_t at = 0; at < sizeof(Sums) / sizeof(Number); ++at) {
    Number a, b;
    std::memcpy(&a, reinterpret_cast<const std::byte *>(&got) + at * sizeof a, sizeof a);
    std::memcpy(&b, reinterpret_cast<const std::byte *>(&want) + at * sizeof b, sizeof b);
    char text[100];
    std::snprintf(text, sizeof text, "number %zu is %a instead of %a", at, static_cast<double>(a),
                  static_cast<double>(b));
    if (std::memcmp(&a, &b, sizeof a) != 0) return text;
  }
  return "";
}

// All frames in one batch, bit for bit.
template <class Number, class Sums, class MakeHip>
void expect_cpu_sums(const MakeHip &make_hip, const Metric &cpu, const std::vector<const FrameView *> &frames,
                     const std::string &what) {
  const auto device = open_device();
  const hip::Stream stream(*device);
  const std::unique_ptr<hip::HipMetric> metric = make_hip(*device);
  ASSERT_NE(metric, nullptr) << what;
  EXPECT_EQ(metric->frame_bytes() % 256, 0u);
  EXPECT_EQ(metric->result_bytes() % 256, 0u);
  const DeviceFrames on_device(stream, frames);
  const auto got = measure_on<Sums>(stream, *metric, on_device.frames());
  for (size_t i = 0; i < frames.size(); ++i) {
    const std::vector<Sums> want = measure_sums<Sums>(cpu, *frames[i]);
    for (size_t d = 0; d < want.size(); ++d)
      EXPECT_TRUE(same_sums<Sums>({got[i][d]}, {want[d]}))
          << what << ", frame " << i << ", picture " << d << ": " << difference<Number>(got[i][d], want[d]);
  }
}

}  // namespace vmafhip::test
