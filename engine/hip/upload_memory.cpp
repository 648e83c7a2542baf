#include "engine/hip/upload_memory.h"

namespace vmafhip::hip {

UploadMemory::UploadMemory(const Device &device, size_t block_bytes, int places)
    : device_(device), block_bytes_(block_bytes), blocks_(std::make_unique<Block[]>(size_t(places))) {
  if (block_bytes == 0) return;
  std::call_once(blocks_[0].once, [&] {
    blocks_[0].pinned = PinnedBuffer(device, block_bytes);
    ++made_;
  });
}

std::byte *UploadMemory::of(int place) {
  Block &block = blocks_[size_t(place)];
  std::call_once(block.once, [&] { make(block); });
  if (block.pinned.data()) return block.pinned.data();
  if (block.other) return block.other.get();
  lost_ = block_bytes_ > 0;
  return blocks_[0].pinned.data();
}

void UploadMemory::make(Block &block) {
  if (block_bytes_ == 0) return;
  const CurrentDevice current(device_);
  try {
    current.check();
    block.pinned = PinnedBuffer(device_, block_bytes_);
  } catch (const DeviceError &) {  // if the device has gone, what follows will say so
    block.other = allocate(block_bytes_);
  }
  ++made_;
}

}  // namespace vmafhip::hip
