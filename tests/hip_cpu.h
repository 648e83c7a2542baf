// For the tests of metrics on the GPU whose sums are numbers of one kind: those of a batch against the plain CPU's.
#pragma once
#include <cstdio>
#include <string>

#include "tests/hip_run.h"
#include "tests/isa_run.h"

namespace vmafhip::test {

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

// More frames than one launch takes, with several distorted pictures each; and more of these than it takes.
struct WaveFrames {
  std::list<StoredFrame> stored;
  std::vector<const FrameView *> views;

  WaveFrames(int count, int distorted, int width, int height) {
    for (int i = 0; i < count; ++i) {
      const Luma ref = waves(width, height, 8, i);
      std::vector<Luma> dists;
      for (int d = 0; d < distorted; ++d)
        dists.push_back(distorted_from(ref, static_cast<uint32_t>(100 * i + d)));
      views.push_back(&stored.emplace_back(std::vector{ref}, dists).view);
    }
  }
};

}  // namespace vmafhip::test
