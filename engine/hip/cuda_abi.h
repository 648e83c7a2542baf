// What is needed of CUDA's driver API, without its header: enumerations are int, handles void *, device pointers
// numbers. tests/cuda_signatures.cpp compares with the header where there is one.
#pragma once
#include <cstddef>
#include <cstdint>

#include "engine/hip/runtime.h"

namespace vmafhip::hip {

constexpr int kCudaMemoryHost = 1, kCudaMemoryDevice = 2;
constexpr int kCudaAttributeWarpSize = 10, kCudaAttributeMultiprocessors = 16,
              kCudaAttributeComputeMajor = 75, kCudaAttributeComputeMinor = 76;
constexpr int kCudaErrorInvalidValue = 1;
constexpr int kCudaPointerContext = 1, kCudaPointerAccess = 16, kCudaAccessRead = 1;
// CUDA's last element of `extra`; the others are HIP's.
inline void *const kCudaLaunchEnd = nullptr;

// CUDA_MEMCPY2D, version 2. A copy begins at (x, y) of an array or of rows of memory `pitch` bytes apart.
struct CudaCopy2D {
  size_t from_x = 0, from_y = 0;
  int from_type = 0;
  const void *from_host = nullptr;
  uint64_t from_device = 0;
  void *from_array = nullptr;
  size_t from_pitch = 0;
  size_t to_x = 0, to_y = 0;
  int to_type = 0;
  void *to_host = nullptr;
  uint64_t to_device = 0;
  void *to_array = nullptr;
  size_t to_pitch = 0;
  size_t width = 0, height = 0;  // bytes, rows
};
static_assert(sizeof(CudaCopy2D) == 128 && offsetof(CudaCopy2D, from_pitch) == 48 &&
              offsetof(CudaCopy2D, to_type) == 72 && offsetof(CudaCopy2D, to_pitch) == 104 &&
              offsetof(CudaCopy2D, height) == 120);

// CUmemcpyAttributes, for copies between host memory and the device's: the hints say where memory of both lies.
struct CudaCopyAttributes {
  int source_access_order = 0;
  int source_hint[2] = {}, to_hint[2] = {};
  unsigned flags = 0;
};
constexpr int kCudaSourceInStreamOrder = 1;
static_assert(sizeof(CudaCopyAttributes) == 24);

// CUDA_MEMCPY3D_BATCH_OP: layers of rows, from one pointer to another. Layers of no height lie one behind the other.
constexpr int kCudaOperandPointer = 1;
struct CudaCopyOperand {
  int type = kCudaOperandPointer;
  uint64_t address = 0;
  size_t pitch = 0, layer_height = 0;
  int hint[2] = {};
};
struct CudaCopy3D {
  CudaCopyOperand from, to;
  size_t width = 0, height = 0, depth = 1;  // bytes, rows, layers
  int source_access_order = kCudaSourceInStreamOrder;
  unsigned flags = 0;
};
static_assert(sizeof(CudaCopyOperand) == 40 && sizeof(CudaCopy3D) == 112);

// The driver's functions; those with a suffix are what its header turns the plain names into since CUDA 4 to 11, and
// the plain ones are older and have other parameters.
struct Cuda {
  int (*cuInit)(unsigned flags) = nullptr;
  int (*cuGetErrorName)(int error, const char **name) = nullptr;
  int (*cuDeviceGetCount)(int *count) = nullptr;
  int (*cuDeviceGet)(int *device, int number) = nullptr;
  int (*cuDeviceGetName)(char *name, int length, int device) = nullptr;
  int (*cuDeviceGetAttribute)(int *value, int attribute, int device) = nullptr;
  int (*cuDevicePrimaryCtxRetain)(void **context, int device) = nullptr;
  int (*cuDevicePrimaryCtxRelease_v2)(int device) = nullptr;
  int (*cuCtxGetCurrent)(void **context) = nullptr;
  int (*cuCtxSetCurrent)(void *context) = nullptr;
  int (*cuMemGetInfo_v2)(size_t *free, size_t *total) = nullptr;
  int (*cuMemAlloc_v2)(uint64_t *address, size_t bytes) = nullptr;
  int (*cuMemFree_v2)(uint64_t address) = nullptr;
  int (*cuMemHostAlloc)(void **data, size_t bytes, unsigned flags) = nullptr;
  int (*cuMemFreeHost)(void *data) = nullptr;
  int (*cuMemHostRegister_v2)(void *data, size_t bytes, unsigned flags) = nullptr;
  int (*cuMemHostUnregister)(void *data) = nullptr;
  int (*cuPointerGetAttribute)(void *value, int attribute, uint64_t address) = nullptr;
  int (*cuStreamCreate)(void **stream, unsigned flags) = nullptr;
  int (*cuStreamDestroy_v2)(void *stream) = nullptr;
  int (*cuStreamSynchronize)(void *stream) = nullptr;
  int (*cuStreamWaitEvent)(void *stream, void *event, unsigned flags) = nullptr;
  int (*cuEventCreate)(void **event, unsigned flags) = nullptr;
  int (*cuEventDestroy_v2)(void *event) = nullptr;
  int (*cuEventRecord)(void *event, void *stream) = nullptr;
  int (*cuEventQuery)(void *event) = nullptr;
  int (*cuEventSynchronize)(void *event) = nullptr;
  int (*cuEventElapsedTime)(float *milliseconds, void *start, void *stop) = nullptr;
  int (*cuMemcpyHtoDAsync_v2)(uint64_t to, const void *from, size_t bytes, void *stream) = nullptr;
  int (*cuMemcpyDtoHAsync_v2)(void *to, uint64_t from, size_t bytes, void *stream) = nullptr;
  int (*cuMemcpyDtoDAsync_v2)(uint64_t to, uint64_t from, size_t bytes, void *stream) = nullptr;
  int (*cuMemcpy2DAsync_v2)(const CudaCopy2D *copy, void *stream) = nullptr;
  int (*cuMemsetD8Async)(uint64_t to, unsigned char value, size_t bytes, void *stream) = nullptr;
  int (*cuModuleLoadData)(void **module, const void *image) = nullptr;
  int (*cuModuleUnload)(void *module) = nullptr;
  int (*cuModuleGetFunction)(void **function, void *module, const char *name) = nullptr;
  int (*cuLaunchKernel)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream,
                        void **parameters, void **extra) = nullptr;
  // Since CUDA 13, and 12.8.
  int (*cuMemcpyBatchAsync_v2)(uint64_t *to, uint64_t *from, size_t *bytes, size_t count,
                               CudaCopyAttributes *attributes, size_t *first_of_attributes,
                               size_t attribute_count, void *stream) = nullptr;
  int (*cuMemcpyBatchAsync_v1)(uint64_t *to, uint64_t *from, size_t *bytes, size_t count,
                               CudaCopyAttributes *attributes, size_t *first_of_attributes,
                               size_t attribute_count, size_t *failed, void *stream) = nullptr;
  int (*cuMemcpy3DBatchAsync_v2)(size_t count, CudaCopy3D *copies, unsigned long long flags,
                                 void *stream) = nullptr;
  int (*cuMemcpy3DBatchAsync_v1)(size_t count, CudaCopy3D *copies, size_t *failed, unsigned long long flags,
                                 void *stream) = nullptr;
  // Since CUDA 10.
  int (*cuImportExternalMemory)(void **memory, const ExternalMemoryHandle *handle) = nullptr;
  int (*cuExternalMemoryGetMappedBuffer)(uint64_t *address, void *memory,
                                         const ExternalMemoryBuffer *buffer) = nullptr;
  int (*cuDestroyExternalMemory)(void *memory) = nullptr;
};

}  // namespace vmafhip::hip
