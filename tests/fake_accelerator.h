// An accelerator without a device: a thread of its own that measures with CPU metrics, keeps copies of earlier planes as a
// device would, and fails when it is told to.
#pragma once
#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/accelerator.h"
#include "engine/memory.h"

namespace vmafhip::test {

class FakeAccelerator final : public Accelerator {
 public:
  struct Item {
    std::unique_ptr<Metric> metric;
    uint64_t sums_bytes = 0, sums_at = 0;
    void (*add_sums)(std::byte *total, const std::byte *partial) = nullptr;
    bool every_frame = true;
  };
  struct Script {
    int places = 4;
    uint64_t subsample = 1;
    std::function<void(const FrameView &)> on_start;  // in start(), at its beginning,
    std::function<void(uint64_t frame)> on_started;   // and at its end
    std::function<void(const FrameView &)>
        on_measure;  // on the device's thread; the view as it was handed over
    std::function<void(uint64_t frame)> on_measured;  // the scheduler has been told
    std::function<void(int place)> on_memory;         // of a place, each time that somebody asks for it
    int no_memory = -1;                               // the place that there is none for
    uint64_t fail_at = ~uint64_t(0);                  // this frame is not measured
    bool fail_in_start = false;                       // rather than on the device's thread
  };

  FakeAccelerator(std::vector<Item> items, int distorted, uint64_t upload_bytes, Script script)
      : items_(std::move(items)), distorted_(distorted), script_(std::move(script)) {
    for (int i = 0; i < script_.places; ++i) upload_.push_back(allocate(upload_bytes));
    for (const Item &item : items_) every_frame_ |= item.every_frame;
    thread_ = std::thread(&FakeAccelerator::run, this);
  }
  ~FakeAccelerator() override {
    clear();
    {
      std::lock_guard lock(mutex_);
      quit_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  int places() const override { return script_.places; }
  std::byte *upload_memory(int place) override {
    if (script_.on_memory) script_.on_memory(place);
    if (place != script_.no_memory) return upload_[size_t(place)].get();
    fail();
    return nullptr;
  }
  uint64_t device_bytes() const override { return 0; }
  uint64_t pinned_bytes() const override { return 0; }
  void on_events(std::function<void(std::span<const int>)> measured,
                 std::function<void(const Status &)> failed) override {
    measured_ = std::move(measured);
    failed_ = std::move(failed);
  }
  void start(int place, const FrameView &view, std::byte *sums) override {
    if (script_.on_start) script_.on_start(view);
    if (view.index == script_.fail_at && script_.fail_in_start) return fail();
    const uint64_t frame = view.index;
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(started_.emplace(view.index, Started{place, &view, sums}).second) << "started twice";
    EXPECT_LE(started_.size(), size_t(places()));
    changed_.notify_all();
    lock.unlock();
    if (script_.on_started) script_.on_started(frame);
  }
  void clear() override {
    std::unique_lock lock(mutex_);
    clearing_ = true;
    changed_.wait(lock, [&] { return !busy_; });
    started_.clear();
    kept_.clear();
    next_ = 0;
    clearing_ = false;
  }

 private:
  struct Started {
    int place;
    const FrameView *view;
    std::byte *sums;
  };
  // A plane as the device has it.
  struct Kept {
    std::vector<std::byte> bytes;
    PlaneView view;
  };

  void fail() {
    {
      std::lock_guard lock(mutex_);
      if (std::exchange(broken_, true)) return;
    }
    failed_(Status(Code::resource, "the fake is lost"));
  }

  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return quit_ || (!clearing_ && !broken_ && started_.count(next_)); });
      if (quit_) return;
      busy_ = true;
      const Started frame = started_.at(next_);
      lock.unlock();
      if (script_.on_measure) script_.on_measure(*frame.view);
      const bool fails = frame.view->index == script_.fail_at;
      if (!fails) measure(*frame.view, frame.sums);
      lock.lock();
      next_ += every_frame_ ? 1 : script_.subsample;
      const uint64_t index = frame.view->index;
      started_.erase(index);
      const bool wanted = !clearing_ && !broken_;
      lock.unlock();
      if (fails)
        fail();
      else if (wanted)
        measured_({&frame.place, 1});
      if (wanted && !fails && script_.on_measured) script_.on_measured(index);
      lock.lock();
      busy_ = false;
      changed_.notify_all();
    }
  }

  // Planes of the current pictures come to the device here; those of earlier ones are there unless the view has them.
  PlaneView on_device(const PlaneView &plane, uint64_t frame, int picture, size_t number) {
    if (!plane.data) {
      const auto kept = kept_.find({frame, picture, number});
      return kept == kept_.end() ? PlaneView{} : kept->second.view;
    }
    EXPECT_NE(plane.memory, MemoryKind::host);
    if (plane.memory == MemoryKind::device) return plane;
    Kept &kept = kept_[{frame, picture, number}];
    const size_t row = size_t(plane.width) * (plane.depth > 8 ? 2 : 1);
    kept.bytes.resize(row * size_t(plane.height));
    for (int y = 0; y < plane.height; ++y)
      std::memcpy(kept.bytes.data() + size_t(y) * row, plane.row<std::byte>(y), row);
    kept.view = plane;
    kept.view.data = kept.bytes.data();
    kept.view.stride = ptrdiff_t(row);
    return kept.view;
  }
  Views on_device(const Views &views, uint64_t frame, int picture) {
    return {on_device(views[0], frame, picture, 0), on_device(views[1], frame, picture, 1),
            on_device(views[2], frame, picture, 2)};
  }

  void measure(const FrameView &given, std::byte *sums) {
    std::vector<Views> dist, earlier_dist;
    FrameView view;
    view.index = given.index;
    view.ref = on_device(given.ref, given.index, -1);
    for (uint64_t back = 1; back <= 2 && back <= given.index; ++back)
      view.earlier[back - 1] = on_device(given.earlier[back - 1], given.index - back, -1);
    for (int d = 0; d < distorted_; ++d) {
      dist.push_back(on_device(given.dist[size_t(d)], given.index, d));
      earlier_dist.push_back(given.index == 0 ? Views{}
                                              : on_device(given.earlier_dist[size_t(d)], given.index - 1, d));
    }
    view.dist = dist;
    view.earlier_dist = earlier_dist;
    std::erase_if(kept_, [&](const auto &entry) { return std::get<0>(entry.first) + 2 < given.index; });
    for (const Item &item : items_) {
      if (!item.every_frame && given.index % script_.subsample != 0) continue;
      const Metric &metric = *item.metric;
      const auto bytes = uint64_t(distorted_) * item.sums_bytes;
      const Memory memory = allocate(metric.frame_bytes()), scratch = allocate(metric.scratch_bytes()),
                   partial = allocate(bytes);
      std::memset(sums + item.sums_at, 0, bytes);
      for (int stage = 0; stage < metric.stages(); ++stage)
        for (int strip = 0; strip < metric.strips(stage); ++strip) {
          metric.measure(view, stage, strip, memory.get(), scratch.get(), partial.get());
          for (uint64_t at = 0; at < bytes; at += item.sums_bytes)
            item.add_sums(sums + item.sums_at + at, partial.get() + at);
        }
    }
  }

  const std::vector<Item> items_;
  const int distorted_;
  const Script script_;
  bool every_frame_ = false;
  std::vector<Memory> upload_;
  std::function<void(std::span<const int>)> measured_;
  std::function<void(const Status &)> failed_;
  std::map<std::tuple<uint64_t, int, size_t>, Kept> kept_;  // the device's thread, or clear()

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint64_t, Started> started_;
  uint64_t next_ = 0;
  bool busy_ = false, clearing_ = false, broken_ = false, quit_ = false;
  std::thread thread_;
};

}  // namespace vmafhip::test
