// The GPU runtime as one table of functions with HIP's names and meaning, filled when first asked for from a library
// that is there: no vendor's library is linked, no vendor's header needed.
//
// AMD: libamdhip64. NVIDIA: libcuda's driver API under the same names (engine/hip/runtime_cuda.cpp). Any library with
// libamdhip64's functions can be named by the environment variable VMAFHIP_HIP_LIBRARY; no other is tried then.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/status.h"

namespace vmafhip::hip {

enum class Vendor { amd, nvidia };
const char *name_of(Vendor vendor);

// HIP's numbers, of which these are CUDA's too. All other results are looked at for their name alone.
constexpr int kErrorOutOfMemory = 2, kErrorNoDevice = 100, kErrorInvalidDevice = 101;
constexpr int kErrorNoBinaryForGpu = 209, kErrorNotReady = 600, kErrorNotSupported = 801;
constexpr int kCopyHostToDevice = 1, kCopyDeviceToHost = 2, kCopyDeviceToDevice = 3;
constexpr int kAttributeComputeMajor = 23, kAttributeComputeMinor = 61, kAttributeMultiprocessors = 63,
              kAttributeWarpSize = 87;
constexpr unsigned kStreamNonBlocking = 1;
constexpr unsigned kEventBlockingSync = 1, kEventDisableTiming = 2;
constexpr int kPointerDeviceOrdinal = 9;  // whose memory it is
// Keys of hipModuleLaunchKernel's `extra`. What ends it differs: Api::launch_end.
inline void *const kLaunchBufferPointer = reinterpret_cast<void *>(1);
inline void *const kLaunchBufferSize = reinterpret_cast<void *>(2);

// Descriptors of memory that comes from elsewhere, as large as both vendors' newest; zeroed, for AMD's were shorter once.
constexpr int kExternalOpaqueFd = 1;
struct ExternalMemoryHandle {
  int type = kExternalOpaqueFd;
  int unused = 0;
  int fd = -1;
  int fd_unused[3] = {};  // other handles are longer
  uint64_t bytes = 0;
  unsigned flags = 0;
  unsigned reserved[17] = {};
};
struct ExternalMemoryBuffer {
  uint64_t offset = 0, bytes = 0;
  unsigned flags = 0;
  unsigned reserved[17] = {};
};

// HIP's prototypes with enumerations as int and handles as void *; tests/hip_signatures.cpp compares. Not used:
// hipGetDeviceProperties, whose struct is not the same in ROCm 5 and 6.
struct Functions {
  const char *(*hipGetErrorName)(int error) = nullptr;
  int (*hipGetLastError)() = nullptr;  // and forgets it
  int (*hipInit)(unsigned flags) = nullptr;
  int (*hipGetDeviceCount)(int *count) = nullptr;
  int (*hipDeviceGetName)(char *name, int length, int device) = nullptr;
  int (*hipDeviceGetAttribute)(int *value, int attribute, int device) = nullptr;

  int (*hipMemGetInfo)(size_t *free, size_t *total) = nullptr;
  int (*hipMalloc)(void **data, size_t bytes) = nullptr;
  int (*hipFree)(void *data) = nullptr;
  int (*hipHostMalloc)(void **data, size_t bytes, unsigned flags) = nullptr;
  int (*hipHostFree)(void *data) = nullptr;
  int (*hipHostRegister)(void *data, size_t bytes, unsigned flags) = nullptr;
  int (*hipHostUnregister)(void *data) = nullptr;
  int (*hipPointerGetAttribute)(void *value, int attribute, void *data) = nullptr;  // null in old libraries

  int (*hipStreamCreateWithFlags)(void **stream, unsigned flags) = nullptr;
  int (*hipStreamDestroy)(void *stream) = nullptr;
  int (*hipStreamSynchronize)(void *stream) = nullptr;
  int (*hipStreamWaitEvent)(void *stream, void *event, unsigned flags) = nullptr;
  int (*hipEventCreateWithFlags)(void **event, unsigned flags) = nullptr;
  int (*hipEventDestroy)(void *event) = nullptr;
  int (*hipEventRecord)(void *event, void *stream) = nullptr;
  int (*hipEventQuery)(void *event) = nullptr;
  int (*hipEventSynchronize)(void *event) = nullptr;
  int (*hipEventElapsedTime)(float *milliseconds, void *start, void *stop) = nullptr;

  int (*hipMemcpyAsync)(void *to, const void *from, size_t bytes, int kind, void *stream) = nullptr;
  int (*hipMemcpy2DAsync)(void *to, size_t to_stride, const void *from, size_t from_stride, size_t width,
                          size_t rows, int kind, void *stream) = nullptr;
  int (*hipMemsetAsync)(void *to, int value, size_t bytes, void *stream) = nullptr;

  int (*hipModuleLoadData)(void **module, const void *image) = nullptr;
  int (*hipModuleUnload)(void *module) = nullptr;
  int (*hipModuleGetFunction)(void **function, void *module, const char *name) = nullptr;
  int (*hipModuleLaunchKernel)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                               unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                               void *stream, void **parameters, void **extra) = nullptr;

  // All three null: the library is too old to have them.
  int (*hipImportExternalMemory)(void **memory, const ExternalMemoryHandle *handle) = nullptr;
  int (*hipExternalMemoryGetMappedBuffer)(void **data, void *memory,
                                          const ExternalMemoryBuffer *buffer) = nullptr;
  int (*hipDestroyExternalMemory)(void *memory) = nullptr;
};

// Rows of bytes on their way from host memory to the device's. Strides are of more than one row, and no less than the width.
struct Upload {
  void *to = nullptr;
  size_t to_stride = 0;
  const void *from = nullptr;
  size_t from_stride = 0;
  size_t width = 0, rows = 1;
};

// An opened library, for as long as the process lives. Results are HIP's error numbers or CUDA's; 0 is success.
struct Api : Functions {
  Vendor vendor = Vendor::amd;
  std::string library;         // as it was opened
  void *launch_end = nullptr;  // last element of `extra`
  // A library named by VMAFHIP_HIP_LIBRARY may bring its own kernels; null where it brings none for `stem`.
  const void *(*kernel_image)(const char *stem) = nullptr;
  // Many copies by one call, between which there is no gap: on an H200 two megabytes each go at 55 GB/s instead of 51. Null
  // where the library has none; kErrorNotSupported where a device has none, and some may have been copied then.
  int (*copy_together)(const Upload *copies, size_t count, void *stream) = nullptr;

  // What a thread works with is a context: with NVIDIA the driver's, with AMD the number of the device.
  virtual int retain_context(int device, void **context) const = 0;
  virtual int release_context(int device) const = 0;
  virtual int get_current(void **context) const = 0;
  virtual int set_current(void *context) const = 0;
  // Whether kernels of the current context, which is `context` of `device`, may read what lies at the address.
  virtual bool reads(int device, void *context, void *data) const = 0;
  // Copies in any order, all before what follows on the stream.
  int upload(std::span<const Upload> copies, void *stream) const;
  // Waits for the default stream of whatever context the address is of; `context` if it is of none. NVIDIA alone.
  virtual void await_default_stream(void *context, void *data) const = 0;

  bool has_external_memory() const {
    return hipImportExternalMemory && hipExternalMemoryGetMappedBuffer && hipDestroyExternalMemory;
  }
  // An import that succeeds takes the descriptor, and closes it; else it stays the caller's.
  virtual bool import_takes_descriptor() const = 0;
  // What hipExternalMemoryGetMappedBuffer() gives has to be freed by hipFree() before the external memory is destroyed.
  virtual bool mapped_is_freed() const = 0;

 protected:
  ~Api() = default;  // never deleted
};

// Where to look for a library.
struct Source {
  Vendor vendor = Vendor::amd;
  std::string path;  // of VMAFHIP_HIP_LIBRARY; empty: where the vendor installs it
};
// Those that can be tried, in this order; opens nothing.
std::vector<Source> sources();
// The library, opened and initialised once per process; what failed is tried again. The error says which names were
// tried, which function is missing, or which error the library reports. From any thread.
Result<const Api *> open_runtime(const Source &source);

// This process is a copy, by fork(), of one that had opened a library: GPUs do not work here, until exec().
bool forked();

}  // namespace vmafhip::hip
