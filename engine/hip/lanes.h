// Where batches of frames are measured: a pair of streams each, memory for what kernels hand on and for their results.
// Lanes are made when frames first wait for one, so that a live stream, whose frames come one by one, takes little.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/hip/device.h"
#include "engine/hip/metric.h"
#include "engine/metric.h"

namespace vmafhip::hip {

// A frame that was handed over.
struct Started {
  bool there = false;
  int place = 0;
  const FrameView *view = nullptr;
  std::byte *sums = nullptr;
};

// Frames that some metrics measure, with what their spans point to.
struct LaneFrames {
  std::vector<DeviceFrame> frames;
  std::vector<size_t> numbers;  // of the frames in the batch
  std::vector<DeviceViews> dist, earlier_dist;
  size_t count = 0;
  LaneFrames(size_t batch, size_t distorted)
      : frames(batch), numbers(batch), dist(batch * distorted), earlier_dist(batch * distorted) {}
};

struct Lane {
  size_t most;  // frames
  Buffer<std::byte> memory, results;
  PinnedBuffer host_results;
  Event uploaded, cleared, joined, done;
  std::vector<Started> batch;
  LaneFrames all, scored;         // `scored`: of a batch in which some are not
  std::array<Stream, 2> streams;  // last, so that they end before memory goes
  Lane(const Device &device, size_t memory_bytes, size_t results_bytes, size_t frames, size_t distorted);
};

class Lanes {
 public:
  // Bytes of a frame, and distorted pictures of each.
  struct Sizes {
    uint64_t memory = 0, results = 0;
    int distorted = 1;
  };
  // `most` lanes of `batch` frames, and if a batch is more than one, kSingle lanes of one. Throws DeviceError if there is
  // no memory for the first.
  Lanes(const Device &device, const Sizes &sizes, int most, int batch);

  // A lane for frames that wait, the smallest that has room for all of them if there is one; null if none is free. Where
  // memory is short, no further ones are made.
  Lane *take(uint64_t waiting);
  void give_back(Lane &lane) { free_.push_back(&lane); }
  void give_back_all();
  template <class Do>
  void for_each(const Do &what) const {
    for (const auto &lane : lanes_) what(*lane);
  }

  // What they take now; any thread. And what they may take in the end.
  uint64_t frames() const { return frames_; }
  static uint64_t most_frames(int most, int batch) {
    return uint64_t(most) * uint64_t(batch) + (batch > 1 ? kSingle : 0);
  }

 private:
  static constexpr size_t kSingle = 2;
  Lane *make(size_t frames);

  const Device &device_;
  const Sizes sizes_;
  const size_t most_, batch_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<Lane *> free_;
  size_t single_ = 0, full_ = 0;  // made so far
  bool short_of_memory_ = false;
  std::atomic<uint64_t> frames_ = 0;
};

}  // namespace vmafhip::hip
