// What host sides of metrics have in common: filling the arguments of launches, sizes of memory.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernels/args.h"

namespace vmafhip::hip {

constexpr size_t rounded_to_256(size_t bytes) { return (bytes + 255) / 256 * 256; }

// `bytes` further.
inline DeviceAddress<std::byte> at(DeviceAddress<std::byte> memory, size_t bytes) {
  return memory + static_cast<int64_t>(bytes);
}

// Blocks of `size` that `count` of something make.
constexpr unsigned blocks_for(int count, int size) {
  return static_cast<unsigned>((count + size - 1) / size);
}

// Fills `items`, an array among a launch's arguments, and launches when it is full or nothing more comes:
// launch(count) for the first `count` items. Launched arguments are copied at once.
template <class Item, int kMost, class Launch>
class Batch {
 public:
  Batch(Item (&items)[kMost], Launch launch) : items_(items), launch_(launch) {}

  void add(const Item &item) {
    items_[count_++] = item;
    if (count_ == kMost) flush();
  }
  void flush() {
    if (count_ > 0) launch_(count_);
    count_ = 0;
  }

 private:
  Item *const items_;
  const Launch launch_;
  unsigned count_ = 0;
};

}  // namespace vmafhip::hip
