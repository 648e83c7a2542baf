#include "engine/hip/upload_memory.h"

namespace vmafhip::hip {

UploadMemory::UploadMemory(const Device &device, size_t block_bytes, int places)
    : device_(device),
      block_bytes_(block_bytes),
      places_(size_t(places)),
      pieces_(std::make_unique<Piece[]>(piece_of(places_ - 1) + 1)) {
  if (block_bytes == 0) return;
  std::call_once(pieces_[0].once, [&] { pin(pieces_[0], block_bytes); });
}

std::byte *UploadMemory::of(int place) {
  const size_t number = piece_of(size_t(place)), at = size_t(place) - first_of(number);
  Piece &piece = pieces_[number];
  std::call_once(piece.once, [&] { make(number); });
  std::byte *const first = piece.pinned.data() ? piece.pinned.data() : piece.other.get();
  return first ? first + at * block_bytes_ : nullptr;
}

bool UploadMemory::in_one_piece(const void *from, size_t bytes) const {
  const auto begin = reinterpret_cast<uintptr_t>(from);
  for (size_t i = 0; i <= piece_of(places_ - 1); ++i) {
    const auto first = reinterpret_cast<uintptr_t>(pieces_[i].first.load());
    if (first != 0 && begin >= first && begin - first + bytes <= bytes_of(i)) return true;
  }
  return false;
}

void UploadMemory::pin(Piece &piece, size_t bytes) {
  piece.pinned = PinnedBuffer(device_, bytes);
  pinned_bytes_ += piece.pinned.pinned();
  piece.first = piece.pinned.data();
}

void UploadMemory::make(size_t number) {
  if (block_bytes_ == 0) return;
  const size_t bytes = bytes_of(number);
  Piece &piece = pieces_[number];
  try {
    pin(piece, bytes);
  } catch (const DeviceError &) {  // if the device has gone, what follows will say so
    piece.other = allocate(bytes);
    piece.first = piece.other.get();
  }
}

}  // namespace vmafhip::hip
