#include "engine/hip/lanes.h"

#include <algorithm>

namespace vmafhip::hip {

Lane::Lane(const Device &device, size_t memory_bytes, size_t results_bytes, size_t frames, size_t distorted)
    : most(frames),
      memory(device, memory_bytes),
      results(device, results_bytes),
      host_results(device, results_bytes),
      uploaded(device),
      cleared(device),
      joined(device),
      done(device),
      all(frames, distorted),
      scored(frames, distorted),
      streams{Stream(device), Stream(device)} {
  batch.reserve(frames);
}

Lanes::Lanes(const Device &device, const Sizes &sizes, int most, int batch)
    : device_(device), sizes_(sizes), most_(size_t(most)), batch_(size_t(batch)) {
  lanes_.reserve(most_ + kSingle);
  free_.reserve(most_ + kSingle);
  give_back(*make(1));
}

Lane *Lanes::make(size_t frames) {
  lanes_.push_back(std::make_unique<Lane>(device_, sizes_.memory * frames, sizes_.results * frames, frames,
                                          size_t(sizes_.distorted)));
  ++(frames == batch_ ? full_ : single_);
  frames_ += frames;
  return lanes_.back().get();
}

Lane *Lanes::take(uint64_t waiting) {
  if (waiting == 0) return nullptr;
  const size_t wanted = waiting > 1 ? batch_ : 1;
  const auto suits = [&](const Lane *lane) { return lane->most == wanted; };
  const bool may_make = !short_of_memory_ && (wanted == batch_ ? full_ < most_ : single_ < kSingle);
  auto found = std::find_if(free_.rbegin(), free_.rend(), suits);
  if (found == free_.rend() && may_make) {
    try {
      return make(wanted);
    } catch (const DeviceError &error) {
      if (!error.out_of_memory()) throw;
      short_of_memory_ = true;
    }
  }
  if (found == free_.rend()) found = free_.rbegin();
  if (found == free_.rend()) return nullptr;
  Lane *lane = *found;
  free_.erase(std::next(found).base());
  return lane;
}

void Lanes::give_back_all() {
  free_.clear();
  for (const auto &lane : lanes_) free_.push_back(lane.get());
}

}  // namespace vmafhip::hip
