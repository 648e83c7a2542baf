// Memory as others make it and share it by a file descriptor.
#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "engine/hip/device.h"

namespace vmafhip::parity {

class SharedMemory {
 public:
  virtual ~SharedMemory() = default;
  virtual int fd() const = 0;
  // As large as the object is, or more than was asked for.
  virtual uint64_t bytes() const = 0;
};

// All throw std::runtime_error. They hold `content`.
std::unique_ptr<SharedMemory> make_memfd(std::span<const uint8_t> content);
// An NVIDIA GPU's memory, exported by CUDA.
std::unique_ptr<SharedMemory> make_exported(const std::shared_ptr<hip::Device> &device,
                                            std::span<const uint8_t> content);

}  // namespace vmafhip::parity
