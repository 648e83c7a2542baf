// libcuda that does nothing: fake_gpu.h. Device n has the handle 10 + n and the context 1000 + n.
#include <unistd.h>

#include <cstring>
#include <sstream>
#include <string>

#include "engine/hip/cuda_abi.h"
#include "tests/fake_gpu/fake_gpu.h"

namespace {
using vmafhip::hip::CudaCopy2D;
using vmafhip::hip::CudaCopy3D;
using vmafhip::hip::CudaCopyAttributes;
using vmafhip::hip::ExternalMemoryBuffer;
using vmafhip::hip::ExternalMemoryHandle;
FakeGpu gpu;

void *handle(const char *kind, int error) { return error == 0 ? gpu.make(kind) : nullptr; }
int destroy(const char *function, const char *kind, void *object) {
  const int error = gpu.call(function, object);
  if (error == 0) gpu.destroy(kind, object);
  return error;
}
// Addresses of the device are written as pointers are.
const void *at(uint64_t address) { return reinterpret_cast<const void *>(address); }
#if !defined(FAKE_CUDA_9)
std::string copies(const uint64_t *to, const uint64_t *from, const size_t *bytes, size_t count) {
  std::ostringstream text;
  for (size_t i = 0; i < count; ++i)
    text << (i ? "; " : "") << at(to[i]) << " " << at(from[i]) << " " << bytes[i];
  return text.str();
}
std::string copies(const CudaCopy3D *copies, size_t count) {
  std::ostringstream text;
  for (size_t i = 0; i < count; ++i) {
    const CudaCopy3D &c = copies[i];
    text << (i ? "; " : "") << at(c.to.address) << " " << c.to.pitch << " " << at(c.from.address) << " "
         << c.from.pitch << " " << c.width << "x" << c.height;
    if (c.to.type != 1 || c.from.type != 1 || c.to.layer_height != 0 || c.from.layer_height != 0 ||
        c.depth != 1 || c.source_access_order != 1 || c.flags != 0)
      text << " is of another kind";
  }
  return text.str();
}
#endif
}  // namespace

FAKE_GPU_API FakeGpu *fake_gpu() { return &gpu; }

FAKE_GPU_API int cuInit(unsigned flags) { return gpu.call("cuInit", flags); }
FAKE_GPU_API int cuGetErrorName(int error, const char **name) {
  *name = error == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
          : error == 3   ? "CUDA_ERROR_NOT_INITIALIZED"
          : error == 100 ? "CUDA_ERROR_NO_DEVICE"
          : error == 209 ? "CUDA_ERROR_NO_BINARY_FOR_GPU"
          : error == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                         : nullptr;
  return *name ? 0 : 1;
}
FAKE_GPU_API int cuDeviceGetCount(int *count) {
  *count = gpu.devices;
  return gpu.call("cuDeviceGetCount");
}
FAKE_GPU_API int cuDeviceGet(int *device, int number) {
  *device = 10 + number;
  return gpu.lost;
}
FAKE_GPU_API int cuDeviceGetName(char *name, int length, int device) {
  std::strncpy(name, gpu.device_name.c_str(), size_t(length));
  return gpu.call("cuDeviceGetName", device);
}
FAKE_GPU_API int cuDeviceGetAttribute(int *value, int attribute, int device) {
  *value = attribute == 10 ? gpu.warp_size : attribute == 16 ? 100 : attribute == 75 ? gpu.major : gpu.minor;
  return gpu.call("cuDeviceGetAttribute", attribute, device);
}
FAKE_GPU_API int cuDevicePrimaryCtxRetain(void **context, int device) {
  *context = reinterpret_cast<void *>(uint64_t(990 + device));
  const int error = gpu.call("cuDevicePrimaryCtxRetain", device);
  if (error == 0) ++gpu.contexts[device];
  return error;
}
FAKE_GPU_API int cuDevicePrimaryCtxRelease_v2(int device) {
  --gpu.contexts[device];
  return gpu.call("cuDevicePrimaryCtxRelease_v2", device);
}
FAKE_GPU_API int cuCtxGetCurrent(void **context) {
  *context = reinterpret_cast<void *>(gpu.current());
  return gpu.lost;
}
FAKE_GPU_API int cuCtxSetCurrent(void *context) {
  const int error = gpu.call("cuCtxSetCurrent", reinterpret_cast<uint64_t>(context));
  if (error == 0) gpu.current() = reinterpret_cast<uint64_t>(context);
  return error;
}

FAKE_GPU_API int cuMemGetInfo_v2(size_t *free, size_t *total) {
  *free = 1 << 20;
  *total = 1 << 21;
  return gpu.call("cuMemGetInfo_v2");
}
FAKE_GPU_API int cuMemAlloc_v2(uint64_t *address, size_t bytes) {
  const int error = gpu.call("cuMemAlloc_v2", bytes);
  *address = reinterpret_cast<uint64_t>(handle("memory", error));
  return error;
}
FAKE_GPU_API int cuMemFree_v2(uint64_t address) {
  return destroy("cuMemFree_v2", "memory", reinterpret_cast<void *>(address));
}
FAKE_GPU_API int cuMemHostAlloc(void **data, size_t bytes, unsigned flags) {
  const int error = gpu.call("cuMemHostAlloc", bytes, flags);
  *data = handle("host memory", error);
  return error;
}
FAKE_GPU_API int cuMemFreeHost(void *data) { return destroy("cuMemFreeHost", "host memory", data); }
FAKE_GPU_API int cuMemHostRegister_v2(void *, size_t bytes, unsigned flags) {
  return gpu.call("cuMemHostRegister_v2", bytes, flags);
}
FAKE_GPU_API int cuMemHostUnregister(void *) { return gpu.call("cuMemHostUnregister"); }

FAKE_GPU_API int cuPointerGetAttribute(void *value, int attribute, uint64_t address) {
  const auto known = gpu.pointers.find(address);
  if (known == gpu.pointers.end() || (attribute == 16 && known->second.access < 0)) return 1;
  if (attribute == 1)
    *static_cast<uint64_t *>(value) = known->second.context;
  else
    *static_cast<int *>(value) = attribute == 9 ? known->second.device : known->second.access;
  return gpu.lost;
}

FAKE_GPU_API int cuStreamCreate(void **stream, unsigned flags) {
  const int error = gpu.call("cuStreamCreate", flags);
  *stream = handle("stream", error);
  return error;
}
FAKE_GPU_API int cuStreamDestroy_v2(void *stream) { return destroy("cuStreamDestroy_v2", "stream", stream); }
FAKE_GPU_API int cuStreamSynchronize(void *stream) { return gpu.call("cuStreamSynchronize", stream); }
FAKE_GPU_API int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
  return gpu.call("cuStreamWaitEvent", stream, event, flags);
}
FAKE_GPU_API int cuEventCreate(void **event, unsigned flags) {
  const int error = gpu.call("cuEventCreate", flags);
  *event = handle("event", error);
  return error;
}
FAKE_GPU_API int cuEventDestroy_v2(void *event) { return destroy("cuEventDestroy_v2", "event", event); }
FAKE_GPU_API int cuEventRecord(void *event, void *stream) { return gpu.call("cuEventRecord", event, stream); }
FAKE_GPU_API int cuEventQuery(void *event) { return gpu.call("cuEventQuery", event); }
FAKE_GPU_API int cuEventSynchronize(void *event) { return gpu.call("cuEventSynchronize", event); }
FAKE_GPU_API int cuEventElapsedTime(float *milliseconds, void *start, void *stop) {
  *milliseconds = 2.5f;
  return gpu.call("cuEventElapsedTime", start, stop);
}

FAKE_GPU_API int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream) {
  return gpu.call("cuMemcpyHtoDAsync_v2", at(to), from, bytes, stream);
}
FAKE_GPU_API int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) {
  return gpu.call("cuMemcpyDtoHAsync_v2", to, at(from), bytes, stream);
}
FAKE_GPU_API int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream) {
  return gpu.call("cuMemcpyDtoDAsync_v2", at(to), at(from), bytes, stream);
}
FAKE_GPU_API int cuMemcpy2DAsync_v2(const CudaCopy2D *copy, void *stream) {
  const CudaCopy2D &c = *copy;
  return gpu.call("cuMemcpy2DAsync_v2", c.to_type, c.to_host, at(c.to_device), c.to_pitch, c.from_type,
                  c.from_host, at(c.from_device), c.from_pitch, c.width, c.height, stream);
}
FAKE_GPU_API int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void *stream) {
  return gpu.call("cuMemsetD8Async", at(to), int(value), bytes, stream);
}

FAKE_GPU_API int cuModuleLoadData(void **module, const void *image) {
  const int error = gpu.call("cuModuleLoadData", static_cast<const char *>(image));
  *module = handle("module", error);
  return error;
}
FAKE_GPU_API int cuModuleUnload(void *module) { return destroy("cuModuleUnload", "module", module); }
FAKE_GPU_API int cuModuleGetFunction(void **function, void *module, const char *name) {
  *function = reinterpret_cast<void *>(0x77);
  return gpu.call("cuModuleGetFunction", module, name);
}
FAKE_GPU_API int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                void *stream, void **parameters, void **extra) {
  const bool right = extra[0] == reinterpret_cast<void *>(1) && extra[2] == reinterpret_cast<void *>(2) &&
                     !extra[4] && !parameters;
  gpu.arguments =
      right ? std::string(static_cast<const char *>(extra[1]), *static_cast<size_t *>(extra[3])) : "wrong";
  return gpu.call("cuLaunchKernel", function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
                  stream);
}

#if defined(FAKE_CUDA_12_8)
FAKE_GPU_API int cuMemcpyBatchAsync(uint64_t *to, uint64_t *from, size_t *bytes, size_t count,
                                    CudaCopyAttributes *attributes, size_t *first, size_t attribute_count,
                                    size_t *failed, void *stream) {
  *failed = 0;
  return gpu.call("cuMemcpyBatchAsync", copies(to, from, bytes, count), attributes->source_access_order,
                  *first, attribute_count, stream);
}
FAKE_GPU_API int cuMemcpy3DBatchAsync(size_t count, CudaCopy3D *list, size_t *failed,
                                      unsigned long long flags, void *stream) {
  *failed = 0;
  return gpu.call("cuMemcpy3DBatchAsync", copies(list, count), flags, stream);
}
#elif !defined(FAKE_CUDA_9)
FAKE_GPU_API int cuMemcpyBatchAsync_v2(uint64_t *to, uint64_t *from, size_t *bytes, size_t count,
                                       CudaCopyAttributes *attributes, size_t *first, size_t attribute_count,
                                       void *stream) {
  return gpu.call("cuMemcpyBatchAsync_v2", copies(to, from, bytes, count), attributes->source_access_order,
                  *first, attribute_count, stream);
}
FAKE_GPU_API int cuMemcpy3DBatchAsync_v2(size_t count, CudaCopy3D *list, unsigned long long flags,
                                         void *stream) {
  return gpu.call("cuMemcpy3DBatchAsync_v2", copies(list, count), flags, stream);
}
#endif
#if !defined(FAKE_CUDA_9)
// Takes the descriptor if it succeeds.
FAKE_GPU_API int cuImportExternalMemory(void **memory, const ExternalMemoryHandle *h) {
  const int error = gpu.call("cuImportExternalMemory", h->type, h->bytes, h->flags, odd_words(*h));
  *memory = handle("external memory", error);
  if (error == 0) gpu.imported = h->fd;
  return error;
}
FAKE_GPU_API int cuExternalMemoryGetMappedBuffer(uint64_t *address, void *memory,
                                                 const ExternalMemoryBuffer *b) {
  const int error =
      gpu.call("cuExternalMemoryGetMappedBuffer", memory, b->offset, b->bytes, b->flags, odd_words(*b));
  *address = reinterpret_cast<uint64_t>(handle("memory", error));
  return error;
}
FAKE_GPU_API int cuDestroyExternalMemory(void *memory) {
  if (::close(gpu.imported) != 0) gpu.wrong.push_back("a descriptor was closed that the driver had taken");
  return destroy("cuDestroyExternalMemory", "external memory", memory);
}
#endif
