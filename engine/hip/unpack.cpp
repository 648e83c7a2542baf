#include "engine/hip/unpack.h"

#include <algorithm>

#include "engine/hip/batch.h"

namespace vmafhip::hip {

Unpacker::Unpacker(const Device &device, int depth)
    : kernel_(device.function("unpack", depth > 8 ? "unpack_16" : "unpack_8")), depth_(depth) {}

void Unpacker::Launch::add(const PlaneView &from, const Target &to) {
  UnpackArgs::Item &item = args_.items[count_++];
  item.from = {{reinterpret_cast<uintptr_t>(from.data)}, int64_t{from.stride}};
  item.to = address_cast<uint8_t>(to.data);
  item.to_stride = to.stride;
  item.width = to.width;
  item.height = to.height;
  item.step = from.step;
  item.sample_bytes = from.depth > 8 ? 2 : 1;
  item.down = static_cast<uint8_t>(from.shift);
  item.up = static_cast<uint8_t>(unpacker_.depth_ - from.depth);
  width_ = std::max(width_, to.width);
  height_ = std::max(height_, to.height);
  if (count_ == kUnpackMostPlanes) flush();
}

void Unpacker::Launch::flush() {
  if (count_ == 0) return;
  const Grid grid = {blocks_for(width_, kUnpackColumns), blocks_for(height_, kUnpackRows), count_};
  stream_.launch(unpacker_.kernel_, grid, kUnpackThreads, args_);
  count_ = 0;
  width_ = height_ = 0;
}

}  // namespace vmafhip::hip
