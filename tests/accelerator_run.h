// Frames that workers and an accelerator measure together, with metrics whose sums show which samples they read: for the
// tests of schedulers and accelerators.
#pragma once
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "engine/scheduler.h"
#include "engine/view.h"

namespace vmafhip::test {

// What a metric sees of a frame: sums over the samples of each plane, weighted by their place.
struct Sums {
  uint64_t strips, ref, dist, earlier[2], earlier_dist;
};

inline uint64_t sum_of(const Views &views, PlaneSet planes) {
  uint64_t sum = 0;
  for (size_t n = 0; n < 3; ++n) {
    const PlaneView &view = views[n];
    if (!(planes >> n & 1) || !view.data) continue;
    for (int y = 0; y < view.height; ++y)
      for (int x = 0; x < view.width; ++x)
        sum += uint64_t(view.depth > 8 ? view.row<uint16_t>(y)[x] : view.row<uint8_t>(y)[x]) *
               uint64_t(1 + x + 31 * y + 1009 * int(n));
  }
  return sum;
}

class SumMetric final : public Metric {
 public:
  SumMetric(int strips, const Reads &reads, std::function<void(const FrameView &)> watch = nullptr)
      : strips_(strips), reads_(reads), watch_(std::move(watch)) {}
  int strips(int) const override { return strips_; }
  size_t scratch_bytes() const override { return 64; }
  void measure(const FrameView &frame, int, int strip, std::byte *, std::byte *,
               std::byte *partial) const override {
    if (watch_) watch_(frame);
    for (size_t d = 0; d < frame.dist.size(); ++d) {
      Sums sums = {};
      sums.strips = 1;
      if (strip == 0)
        sums = {1,
                sum_of(frame.ref, reads_.ref),
                sum_of(frame.dist[d], reads_.dist),
                {sum_of(frame.earlier[0], reads_.earlier[0]), sum_of(frame.earlier[1], reads_.earlier[1])},
                sum_of(frame.earlier_dist[d], reads_.earlier_dist)};
      std::memcpy(partial + d * sizeof sums, &sums, sizeof sums);
    }
  }

 private:
  const int strips_;
  const Reads reads_;
  const std::function<void(const FrameView &)> watch_;
};

// Twice as large each way, so that scaled and unscaled pictures differ in all sums.
class Halver final : public PlaneScaler {
 public:
  Halver(int width, int depth) : width_(width), depth_(depth) {}
  size_t scratch_bytes() const override { return 64; }
  void scale(const Picture &picture, int plane, std::byte *out, int first, int last,
             std::byte *) const override {
    const Plane &p = picture.planes[size_t(plane)];
    for (int y = first; y < last; ++y)
      for (int x = 0; x < width_; ++x) {
        const auto *row = static_cast<const std::byte *>(p.data) + 2 * y * p.stride;
        if (depth_ > 8)
          reinterpret_cast<uint16_t *>(out)[y * width_ + x] =
              uint16_t(reinterpret_cast<const uint16_t *>(row)[2 * x] >> picture.shift);
        else
          reinterpret_cast<uint8_t *>(out)[y * width_ + x] = uint8_t(row[2 * x]);
      }
  }

 private:
  const int width_, depth_;
};

// Noise that is different in every picture; `shift` > 0: words that have to be unpacked.
inline Picture noise(const PictureFormat &format, uint32_t seed, int shift = 0,
                     MemoryKind memory = MemoryKind::host) {
  Picture picture;
  picture.format = format;
  picture.format.memory = memory;
  picture.shift = shift;
  auto bytes = std::make_shared<std::vector<std::vector<uint16_t>>>();
  for (int n = 0; n < (format.chroma == Chroma::c400 ? 1 : 3); ++n) {
    const auto [width, height] = plane_size(format, n);
    const int pitch = width + 5;
    auto &plane = bytes->emplace_back(size_t(pitch) * size_t(height));
    for (uint16_t &word : plane) {
      seed = seed * 1664525 + 1013904223;
      word = uint16_t((seed >> 8 & ((1u << format.depth) - 1)) << shift);
    }
    if (format.depth == 8) {
      auto *narrow = reinterpret_cast<uint8_t *>(plane.data());
      for (size_t i = 0; i < plane.size(); ++i) narrow[i] = uint8_t(plane[i]);
    }
    picture.planes[size_t(n)] = {plane.data(), pitch * (format.depth > 8 ? 2 : 1), width, height, 1};
  }
  picture.owner = bytes;
  return picture;
}

struct Planned {
  Reads reads;
  bool on_device = false, every_frame = true;
};
constexpr Reads kTemporal = {kLuma, kLuma, {kLuma, kLuma}, kLuma};
const Status kLost(Code::resource, "pictures are lost with the accelerator");

struct Case {
  std::vector<Planned> items = {{Reads::both(kAllPlanes), true}, {kTemporal, false}, {kTemporal, true}};
  PictureFormat format = {18, 11, 8, Chroma::c420};
  int distorted = 1, threads = 2;
  uint64_t subsample = 1;
  int shift = 0;
  bool flip = false;    // the last row comes first in memory
  bool scaled = false;  // the last distorted picture is of twice the size
  bool keeps = true;
  MemoryKind memory = MemoryKind::host;
};

// A scheduler with some items on an accelerator, and its sums frame by frame.
class AcceleratorRun : public testing::Test {
 protected:
  // Null: workers measure all.
  using Make = std::function<std::unique_ptr<Accelerator>(const FrameLayout &)>;

  void start(const Case &given, const Make &make) {
    case_ = given;
    scheduler_ = std::make_unique<Scheduler>(given.threads, given.threads + 4);
    ASSERT_TRUE(scheduler_->start());
    configure(make);
  }
  void configure(const Make &make) {
    scheduler_->close();
    auto layout = make_layout(make != nullptr);
    std::unique_ptr<Accelerator> accelerator;
    if (make) accelerator = make(*layout);
    ASSERT_TRUE(scheduler_->configure(std::move(layout), true, std::move(accelerator)));
  }
  std::unique_ptr<Metric> metric(size_t item) {
    return std::make_unique<SumMetric>(1 + int(item), case_.items[item].reads, watch_);
  }
  std::unique_ptr<FrameLayout> make_layout(bool accelerate) {
    std::vector<FrameLayout::Item> items;
    for (size_t i = 0; i < case_.items.size(); ++i) {
      const Planned &planned = case_.items[i];
      items.push_back({accelerate && planned.on_device ? nullptr : metric(i), sizeof(Sums),
                       add_integer_sums<Sums>, planned.reads, planned.every_frame});
    }
    DeviceUse use;
    use.keeps = accelerate && case_.keeps;
    use.ref = case_.memory == MemoryKind::device;
    use.dist.assign(size_t(case_.distorted), use.ref);
    return std::make_unique<FrameLayout>(std::move(items), case_.format, case_.distorted, case_.subsample,
                                         scalers(), use);
  }
  std::vector<FrameLayout::Scalers> scalers() const {
    std::vector<FrameLayout::Scalers> scalers(size_t(case_.distorted));
    for (int n = 0; case_.scaled && n < 3; ++n)
      scalers.back()[size_t(n)] =
          std::make_unique<Halver>(plane_size(case_.format, n).width, case_.format.depth);
    return scalers;
  }
  virtual Picture picture(const PictureFormat &format, uint32_t seed) {
    Picture picture = noise(format, seed, case_.shift, case_.memory);
    for (Plane &plane : picture.planes) {
      if (!case_.flip || !plane.data) continue;
      plane.data = static_cast<const std::byte *>(plane.data) + plane.stride * (plane.height - 1);
      plane.stride = -plane.stride;
    }
    return picture;
  }
  bool submit(uint64_t n) {
    std::vector<Picture> dist;
    for (int d = 0; d < case_.distorted; ++d) {
      PictureFormat format = case_.format;
      if (case_.scaled && d + 1 == case_.distorted) {
        format.width *= 2;
        format.height *= 2;
      }
      dist.push_back(picture(format, uint32_t(1000 * (d + 1) + int(n))));
    }
    return scheduler_->submit(picture(case_.format, uint32_t(n)), dist);
  }
  // Sums of frames one after the other, as a session takes them; those that fail end it.
  using All = std::vector<std::vector<std::byte>>;
  All run(uint64_t frames, bool resume = true) {
    All all;
    uint64_t submitted = 0;
    while (all.size() < frames) {
      while (submitted < frames && submit(submitted)) ++submitted;
      if (scheduler_->can_resume() && resume) take_over();
      if (scheduler_->has_lost_frames()) return all;
      if (!scheduler_->measured(all.size())) {
        EXPECT_TRUE(scheduler_->wait(all.size()));
        continue;
      }
      const std::byte *sums = scheduler_->measured(all.size());
      all.emplace_back(sums, sums + scheduler_->layout()->sums_bytes());
      scheduler_->release(all.size());
    }
    return all;
  }
  void take_over() {
    ++takeovers_;
    auto items = scheduler_->withdraw()->take_items();
    for (size_t i = 0; i < items.size(); ++i)
      if (!items[i].metric) items[i].metric = metric(i);
    EXPECT_TRUE(scheduler_->resume(std::make_unique<FrameLayout>(std::move(items), case_.format,
                                                                 case_.distorted, case_.subsample, scalers()),
                                   kLost));
  }
  // Padding between sums is nobody's, nor is a frame that no item measures.
  void expect_same(const All &a, const All &b) const {
    ASSERT_EQ(a.size(), b.size());
    for (size_t n = 0; n < a.size(); ++n)
      for (size_t i = 0; i < case_.items.size(); ++i)
        for (int d = 0; d < case_.distorted; ++d) {
          if (!scheduler_->layout()->measures(n)) continue;
          const uint64_t at = scheduler_->layout()->sums_at(i, d);
          ASSERT_EQ(std::memcmp(a[n].data() + at, b[n].data() + at, sizeof(Sums)), 0)
              << "frame " << n << ", item " << i << ", distorted picture " << d;
        }
  }

  Case case_;
  std::function<void(const FrameView &)> watch_;  // of all CPU metrics
  int takeovers_ = 0;
  std::unique_ptr<Scheduler> scheduler_;
};

inline std::vector<Case> cases() {
  std::vector<Case> all;
  for (const int threads : {1, 2, 8}) all.push_back({.threads = threads});
  all.push_back({.format = {17, 9, 10, Chroma::c422}, .shift = 6});
  all.push_back({.format = {17, 9, 10, Chroma::c444}, .distorted = 3, .scaled = true});
  all.push_back({.format = {16, 8, 8, Chroma::c420}, .distorted = 2, .scaled = true, .keeps = false});
  all.push_back({.format = {16, 8, 8, Chroma::c400}});
  all.push_back({.flip = true});
  all.push_back({.memory = MemoryKind::pinned});
  all.push_back({.flip = true, .memory = MemoryKind::pinned});
  all.push_back({.distorted = 2, .keeps = false, .memory = MemoryKind::pinned});
  for (const uint64_t subsample : {2, 3}) {
    const Reads both = Reads::both(kAllPlanes);
    all.push_back(
        {.items = {{both, true, false}, {kTemporal, false}, {kTemporal, true}}, .subsample = subsample});
    all.push_back({.items = {{both, true, false}, {kTemporal, false}}, .subsample = subsample});
    all.push_back(
        {.items = {{both, false, false}, {kTemporal, true}}, .distorted = 2, .subsample = subsample});
    all.push_back({.items = {{both, true, false}, {both, false, false}}, .subsample = subsample, .shift = 0});
  }
  return all;
}

}  // namespace vmafhip::test
