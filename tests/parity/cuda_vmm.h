// What is needed of CUDA's virtual memory management, without its header; tests/cuda_signatures.cpp compares.
#pragma once
#include <cstddef>
#include <cstdint>

namespace vmafhip::parity {

struct CudaMemoryPlace {
  int type = 1;  // a device's
  int device = 0;
};
struct CudaMemoryKind {
  int type = 1;     // pinned
  int handles = 1;  // it can be exported as a file descriptor
  CudaMemoryPlace place;
  void *unused = nullptr;
  unsigned char flags[8] = {};
};
struct CudaMemoryAccess {
  CudaMemoryPlace place;
  int flags = 3;  // reading and writing
};
constexpr int kCudaFileDescriptor = 1, kCudaLeastGranularity = 0;

struct CudaVmm {
  int (*cuMemGetAllocationGranularity)(size_t *bytes, const CudaMemoryKind *kind, int option) = nullptr;
  int (*cuMemCreate)(uint64_t *handle, size_t bytes, const CudaMemoryKind *kind,
                     unsigned long long flags) = nullptr;
  int (*cuMemRelease)(uint64_t handle) = nullptr;
  int (*cuMemExportToShareableHandle)(void *exported, uint64_t handle, int type,
                                      unsigned long long flags) = nullptr;
  int (*cuMemAddressReserve)(uint64_t *address, size_t bytes, size_t alignment, uint64_t wanted,
                             unsigned long long flags) = nullptr;
  int (*cuMemAddressFree)(uint64_t address, size_t bytes) = nullptr;
  int (*cuMemMap)(uint64_t address, size_t bytes, size_t offset, uint64_t handle,
                  unsigned long long flags) = nullptr;
  int (*cuMemUnmap)(uint64_t address, size_t bytes) = nullptr;
  int (*cuMemSetAccess)(uint64_t address, size_t bytes, const CudaMemoryAccess *access,
                        size_t count) = nullptr;
};

}  // namespace vmafhip::parity
