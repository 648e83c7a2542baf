// Copies of pictures where a GPU reaches them: in its own memory, or pinned in the host's.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/hip/device.h"
#include "engine/picture.h"

namespace vmafhip {

class GpuPictures {
 public:
  // `number` as SessionOptions::device has it. Throws std::runtime_error that says why there is no GPU.
  explicit GpuPictures(int number);

  // For the options of a session that is to read the copies.
  int number() const { return device_->number(); }
  const std::string &description() const { return device_->description(); }

  // Of a picture in host memory whose planes have step 1. Rows begin at multiples of `alignment` bytes, which is a
  // multiple of a sample's. Throws hip::DeviceError.
  Picture copy(const Picture &picture, MemoryKind memory, size_t alignment = 256) const;
  // Of a picture in host memory, of any layout: the same, with its rows in device memory, too (Plane::device), as far apart
  // as they are. Planes begin `offset` bytes behind a multiple of 256 there, and have no byte more than they need.
  Picture mirror(const Picture &picture, size_t offset = 0) const;

 private:
  std::shared_ptr<hip::Device> device_;
  hip::Stream stream_;
};

}  // namespace vmafhip
