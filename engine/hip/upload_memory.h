// Host memory from which frames go to the device, a block for each place. It is made when places are first used, as much
// as there was before: a session with few frames at a time pins little, and of many they lie in a few large pieces, which
// the system and the device handle better than small ones.
#pragma once
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>
#include <mutex>

#include "engine/hip/device.h"
#include "engine/memory.h"

namespace vmafhip::hip {

class UploadMemory {
 public:
  // `block_bytes`: a multiple of kAlign. The first block is made now. Throws DeviceError.
  UploadMemory(const Device &device, size_t block_bytes, int places);

  // Any thread. Where no more can be pinned it is other memory: copies from there are slower. Null if there is none at all,
  // or blocks are of 0 bytes.
  std::byte *of(int place);
  // Whether all of it lies in memory that was made at once. Any thread.
  bool in_one_piece(const void *from, size_t bytes) const;
  uint64_t pinned_bytes() const { return pinned_bytes_; }  // now; any thread

 private:
  // Places 0; 1; 2 and 3; 4 to 7; and so on.
  struct Piece {
    std::once_flag once;
    PinnedBuffer pinned;
    Memory other;
    std::atomic<const std::byte *> first = nullptr;  // once there is memory
  };
  static size_t piece_of(size_t place) { return size_t(std::bit_width(place)); }
  static size_t first_of(size_t piece) { return piece == 0 ? 0 : size_t{1} << (piece - 1); }
  size_t bytes_of(size_t piece) const {
    return times(block_bytes_, std::min(first_of(piece + 1), places_) - first_of(piece));
  }
  void pin(Piece &piece, size_t bytes);  // throws DeviceError
  void make(size_t piece);

  const Device &device_;
  const size_t block_bytes_;
  const size_t places_;
  const std::unique_ptr<Piece[]> pieces_;
  std::atomic<uint64_t> pinned_bytes_ = 0;
};

}  // namespace vmafhip::hip
