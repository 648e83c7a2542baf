// Host memory from which frames go to the device, a block for each place; made when a place is first used, so that a
// session with few frames at a time pins little.
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>

#include "engine/hip/device.h"
#include "engine/memory.h"

namespace vmafhip::hip {

class UploadMemory {
 public:
  // The first block is made now. Throws DeviceError.
  UploadMemory(const Device &device, size_t block_bytes, int places);

  // Any thread. Where no more can be pinned it is other memory: copies from there are slower. With none at all, it is the
  // first block, and lost() says so from then on: nothing that was written anywhere counts.
  std::byte *of(int place);
  bool lost() const { return lost_; }
  // That have a block.
  uint64_t places() const { return uint64_t(made_.load()); }

 private:
  struct Block {
    std::once_flag once;
    PinnedBuffer pinned;
    Memory other;
  };
  void make(Block &block);

  const Device &device_;
  const size_t block_bytes_;
  const std::unique_ptr<Block[]> blocks_;
  std::atomic<int> made_ = 0;
  std::atomic<bool> lost_ = false;
};

}  // namespace vmafhip::hip
