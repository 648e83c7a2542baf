#include "engine/hip/capacity.h"

#include <algorithm>

#include "engine/hip/lanes.h"
#include "engine/hip/metric.h"
#include "engine/hip/ring.h"
#include "engine/memory.h"

namespace vmafhip::hip {
namespace {

// A batch has about as many samples as four 2160p pictures: with fewer, parts of a large GPU idle at the end of each
// kernel (with a quarter, one in eight frames is lost at 1080p).
constexpr int64_t kBatchSamples = 4 * 3840 * 2160;
// With four batches on the device, copies and the ends of kernels hide behind the kernels of others.
constexpr int kLanes = 4;
constexpr int kFramesInLanes = 64;

// Page-locked memory is taken from everybody else, and metrics that need much memory do as well with smaller batches: beyond
// this there is less in progress. A session has its share, by how many there are when it begins: one of many that use a GPU
// does not keep it busy alone. The shares of 32 are 1, 1/2, ... 1/32 of it, 4.1 times as much together, if each has many frames
// in progress at some time.
constexpr uint64_t kMostPinned = uint64_t(2) << 30, kMostInLanes = uint64_t(4) << 30;

// Frames in lanes, a batch that waits for one, and those that workers fill.
int places_for(int lanes, int batch, int threads) {
  return lanes * batch + batch + std::clamp(threads, 2, 8);
}

// Of the device, for batches in progress.
uint64_t lane_bytes(const HipBackend::Work &work, const Capacity &capacity) {
  uint64_t frame = 0;
  for (const HipBackend::Item &item : work.items)
    frame = plus(frame, plus(item.metric->frame_bytes(), item.metric->result_bytes()));
  return times(Lanes::most_frames(capacity.lanes, capacity.batch), frame);
}

}  // namespace

Capacity Capacity::of(const PictureFormat &format, int distorted, int threads, int asked) {
  const int64_t samples = int64_t{format.width} * format.height * distorted;
  const auto most = int64_t{std::max(1, kMostPairs / distorted)};  // one launch takes so many
  const int64_t batch = asked > 0 ? asked : kBatchSamples / samples;
  Capacity c;
  c.batch = int(std::clamp<int64_t>(batch, 1, most));
  c.lanes = std::clamp(kFramesInLanes / c.batch, 2, kLanes);
  c.places = places_for(c.lanes, c.batch, threads);
  return c;
}

bool Capacity::reduce(int threads) {
  if (lanes == 1 && batch == 1) {
    if (places == 2) return false;
    places = 2;
    return true;
  }
  if (lanes > 2 || batch == 1)
    --lanes;
  else
    batch /= 2;
  places = places_for(lanes, batch, threads);
  return true;
}

AcceleratorBytes bytes_of(const HipBackend::Work &work, const Capacity &capacity) {
  uint64_t results = 0;
  for (const HipBackend::Item &item : work.items) results = plus(results, item.metric->result_bytes());
  return {plus(Ring::most_bytes(work, capacity.places), lane_bytes(work, capacity)),
          plus(times(aligned(work.upload_bytes), uint64_t(capacity.places)),
               times(Lanes::most_frames(capacity.lanes, capacity.batch), results))};
}

bool is_beyond_share(const HipBackend::Work &work, const Capacity &capacity, int users) {
  const auto sharers = uint64_t(users);
  return bytes_of(work, capacity).pinned > std::min(kMostPinned, physical_memory() / 8) / sharers ||
         lane_bytes(work, capacity) > kMostInLanes / sharers;
}

}  // namespace vmafhip::hip
