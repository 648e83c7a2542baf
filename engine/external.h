// Memory that others have allocated, made readable for the GPU of a session: nothing is copied.
#pragma once
#include <cstdint>
#include <memory>

#include "engine/picture.h"
#include "engine/status.h"

namespace vmafhip {

// A block of memory as a GPU sees it, for as long as `owner` lives.
struct ExternalMemory {
  MemoryKind memory =
      MemoryKind::device;  // device: `address` is the GPU's; pinned: it copies from the host's address
  uint64_t address = 0;
  std::shared_ptr<const void> owner;
};

// What a session's GPU takes. From any thread; it may outlive the session.
class Importer {
 public:
  virtual ~Importer() = default;
  // The object behind a file descriptor that devices share (dma-buf, or what CUDA exports), all `bytes` of it. The
  // descriptor stays the caller's. The error says what refused it; AMD takes objects of amdgpu alone, NVIDIA those of
  // CUDA and Vulkan.
  virtual Result<ExternalMemory> import(int fd, uint64_t bytes) const = 0;
  // Host memory, page-aligned, pinned where it is. It stays mapped until the owner is let go.
  virtual Result<ExternalMemory> pin(void *data, uint64_t bytes) const = 0;
};

}  // namespace vmafhip
