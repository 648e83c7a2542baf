// Where the parts of a metric's frame memory and of its results lie.
#pragma once
#include <cstddef>

#include "kernels/args.h"

namespace vmafhip::hip {

// Parts one after the other, each at a multiple of 256 bytes.
class FrameLayout {
 public:
  // Returns where `count` numbers begin, in bytes.
  template <class T>
  size_t take(size_t count) {
    const size_t at = bytes_;
    bytes_ = (bytes_ + count * sizeof(T) + 255) / 256 * 256;
    return at;
  }
  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_ = 0;
};

// Numbers that begin `bytes` behind an address.
template <class T>
DeviceAddress<T> at(DeviceAddress<std::byte> memory, size_t bytes) {
  return address_cast<T>(memory + static_cast<int64_t>(bytes));
}

}  // namespace vmafhip::hip
