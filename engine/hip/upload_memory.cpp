#include "engine/hip/upload_memory.h"

#include <algorithm>

namespace vmafhip::hip {

UploadMemory::UploadMemory(const Device &device, size_t block_bytes, int places)
    : device_(device),
      block_bytes_(block_bytes),
      places_(size_t(places)),
      pieces_(std::make_unique<Piece[]>(piece_of(places_ - 1) + 1)) {
  if (block_bytes == 0) return;
  std::call_once(pieces_[0].once, [&] {
    pieces_[0].pinned = PinnedBuffer(device, block_bytes);
    ++made_;
  });
}

std::byte *UploadMemory::of(int place) {
  const size_t number = piece_of(size_t(place)), at = size_t(place) - first_of(number);
  Piece &piece = pieces_[number];
  std::call_once(piece.once, [&] { make(number); });
  std::byte *const first = piece.pinned.data() ? piece.pinned.data() : piece.other.get();
  return first ? first + at * block_bytes_ : nullptr;
}

void UploadMemory::make(size_t number) {
  if (block_bytes_ == 0) return;
  const size_t places = std::min(first_of(number + 1), places_) - first_of(number);
  Piece &piece = pieces_[number];
  try {
    piece.pinned = PinnedBuffer(device_, times(block_bytes_, places));
    made_ += places;
  } catch (const DeviceError &) {  // if the device has gone, what follows will say so
    piece.other = allocate(times(block_bytes_, places));
  }
}

}  // namespace vmafhip::hip
