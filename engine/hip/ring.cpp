#include "engine/hip/ring.h"

#include "engine/memory.h"
#include "engine/view.h"

namespace vmafhip::hip {
namespace {

constexpr size_t kRowAlign = 256;  // what copies and kernels are quickest with

}  // namespace

Ring::Layout Ring::layout(const HipBackend::Work &work, uint64_t &block_bytes) {
  Layout pictures(1 + size_t(work.distorted));
  block_bytes = 0;
  for (size_t picture = 0; picture < pictures.size(); ++picture)
    for (int n = 0; n < 3; ++n) {
      const PlaneSize size = plane_size(work.format, n);
      if (!((picture == 0 ? work.ref : work.dist) >> n & 1) || size.width == 0) continue;
      RingPlane &plane = pictures[picture][size_t(n)];
      plane.used = true;
      plane.at = block_bytes;
      plane.row = size_t(size.width) * (work.format.depth > 8 ? 2 : 1);
      plane.stride = int64_t((plane.row + kRowAlign - 1) / kRowAlign * kRowAlign);
      plane.rows = size_t(size.height);
      block_bytes = plus(block_bytes, times(uint64_t(plane.stride), plane.rows));
    }
  return pictures;
}

uint64_t Ring::bytes(const HipBackend::Work &work, int frames) {
  uint64_t block_bytes = 0;
  layout(work, block_bytes);
  return times(block_bytes, uint64_t(frames + kLookback));
}

Ring::Ring(const Device &device, const HipBackend::Work &work, int frames)
    : layout_(layout(work, block_bytes_)), stream_(device) {
  if (block_bytes_ > 0) memory_ = Buffer<std::byte>(device, bytes(work, frames));
  for (int i = 0; i < frames + kLookback; ++i) uploaded_.emplace_back(device);
}

void Ring::upload(uint64_t number, const FrameView &view) const {
  const DeviceAddress<std::byte> to = memory_.address() + int64_t(block(number) * block_bytes_);
  const auto copy = [&](const Views &views, size_t picture) {
    for (size_t n = 0; n < 3; ++n) {
      const PlaneView &from = views[n];
      const RingPlane &plane = layout_[picture][n];
      if (from.data && from.memory != MemoryKind::device)
        stream_.upload(to + int64_t(plane.at), size_t(plane.stride), from.data, from.stride, plane.row,
                       plane.rows);
    }
  };
  copy(view.ref, 0);
  for (size_t d = 0; d < view.dist.size(); ++d) copy(view.dist[d], 1 + d);
  stream_.record(uploaded_[block(number)]);
}

DevicePlane Ring::plane(const PlaneView &given, uint64_t number, int picture, int plane) const {
  if (given.memory == MemoryKind::device)
    return {{uint64_t(reinterpret_cast<uintptr_t>(given.data))}, int64_t{given.stride}};
  const RingPlane &here = layout_[size_t(picture)][size_t(plane)];
  if (!here.used) return {};
  const auto memory = address_cast<const uint8_t>(memory_.address());
  return {memory + int64_t(block(number) * block_bytes_ + here.at), here.stride};
}

DeviceViews Ring::views(const Views &given, uint64_t number, int picture) const {
  return {plane(given[0], number, picture, 0), plane(given[1], number, picture, 1),
          plane(given[2], number, picture, 2)};
}

}  // namespace vmafhip::hip
