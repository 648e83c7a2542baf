#include "tools/gpu_pictures.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace vmafhip {
namespace {

std::shared_ptr<hip::Device> open(int number) {
  auto device = hip::Device::open(number);
  if (!device.ok()) throw std::runtime_error(device.status().message());
  return std::move(*device);
}

// Memory of one picture, and the device, which has to outlive it.
template <class Memory>
struct Owner {
  std::shared_ptr<hip::Device> device;
  Memory memory;
};

}  // namespace

GpuPictures::GpuPictures(int number) : device_(open(number)), stream_(*device_) {}

Picture GpuPictures::copy(const Picture &picture, MemoryKind memory, size_t alignment) const {
  const hip::CurrentDevice current(*device_);
  current.check();
  const size_t sample = picture.format.depth > 8 ? 2 : 1;
  const auto stride = [&](const Plane &plane) {
    return (size_t(plane.width) * sample + alignment - 1) / alignment * alignment;
  };
  size_t bytes = 0;
  for (const Plane &plane : picture.planes)
    if (plane.data) bytes += stride(plane) * size_t(plane.height);

  Picture copy = picture;
  copy.format.memory = memory;
  std::byte *pinned = nullptr;
  DeviceAddress<std::byte> address;
  if (memory == MemoryKind::device) {
    auto owner = std::make_shared<Owner<hip::Buffer<std::byte>>>(
        Owner<hip::Buffer<std::byte>>{device_, hip::Buffer<std::byte>(*device_, bytes)});
    address = owner->memory.address();
    copy.owner = owner;
  } else {
    auto owner = std::make_shared<Owner<hip::PinnedBuffer>>(
        Owner<hip::PinnedBuffer>{device_, hip::PinnedBuffer(*device_, bytes)});
    pinned = owner->memory.data();
    copy.owner = owner;
  }
  size_t at = 0;
  for (Plane &plane : copy.planes) {
    if (!plane.data) continue;
    const size_t to_stride = stride(plane), width = size_t(plane.width) * sample;
    if (pinned) {
      for (int y = 0; y < plane.height; ++y)
        std::memcpy(pinned + at + to_stride * size_t(y),
                    static_cast<const std::byte *>(plane.data) + plane.stride * y, width);
      plane.data = pinned + at;
    } else {
      const DeviceAddress<std::byte> to = address + int64_t(at);
      stream_.upload(to, to_stride, plane.data, plane.stride, width, size_t(plane.height));
      plane.data = reinterpret_cast<const void *>(to.value);
    }
    plane.stride = ptrdiff_t(to_stride);
    at += to_stride * size_t(plane.height);
  }
  stream_.synchronize();
  return copy;
}

Picture GpuPictures::mirror(const Picture &picture, size_t offset) const {
  const hip::CurrentDevice current(*device_);
  current.check();
  struct Both {
    std::shared_ptr<hip::Device> device;
    std::shared_ptr<const void> host;
    std::vector<hip::Buffer<std::byte>> planes;
  };
  const auto owner = std::make_shared<Both>(Both{device_, picture.owner, {}});
  Picture mirror = picture;
  mirror.owner = owner;
  const size_t sample = picture.format.depth > 8 ? 2 : 1;
  for (Plane &plane : mirror.planes) {
    if (!plane.data) continue;
    const size_t row = (size_t(plane.width - 1) * size_t(plane.step) + 1) * sample;
    const ptrdiff_t last = plane.stride * (plane.height - 1), lowest = std::min<ptrdiff_t>(last, 0);
    const size_t bytes = size_t(std::max<ptrdiff_t>(last, 0) - lowest) + row;
    const auto &memory = owner->planes.emplace_back(*device_, offset + bytes);
    stream_.upload(memory.address() + int64_t(offset), bytes,
                   static_cast<const std::byte *>(plane.data) + lowest, ptrdiff_t(bytes), bytes, 1);
    plane.device = memory.address().value + offset + uint64_t(-lowest);
  }
  stream_.synchronize();
  return mirror;
}

}  // namespace vmafhip
