// libamdhip64 that does nothing: fake_gpu.h.
#include <cstring>

#include "engine/hip/runtime.h"
#include "tests/fake_gpu/fake_gpu.h"

namespace {
using vmafhip::hip::ExternalMemoryBuffer;
using vmafhip::hip::ExternalMemoryHandle;
FakeGpu gpu;

void *handle(const char *kind, int error) { return error == 0 ? gpu.make(kind) : nullptr; }
int destroy(const char *function, const char *kind, void *object) {
  const int error = gpu.call(function, object);
  if (error == 0) gpu.destroy(kind, object);
  return error;
}
}  // namespace

FAKE_GPU_API FakeGpu *fake_gpu() { return &gpu; }

#if defined(FAKE_GPU_IMAGES)
FAKE_GPU_API const void *vmafhip_kernel_image(const char *stem) { return gpu.brings_images ? stem : nullptr; }
#endif

FAKE_GPU_API const char *hipGetErrorName(int error) {
  switch (error) {
    case 1:
      return "hipErrorInvalidValue";
    case 2:
      return "hipErrorOutOfMemory";
    case 3:
      return "hipErrorNotInitialized";
    case 100:
      return "hipErrorNoDevice";
    case 101:
      return "hipErrorInvalidDevice";
    case 209:
      return "hipErrorNoBinaryForGpu";
    case 500:
      return "hipErrorNotFound";
    case 700:
      return "hipErrorIllegalAddress";
    default:
      return nullptr;
  }
}
FAKE_GPU_API int hipGetLastError() { return std::exchange(gpu.last_error(), 0); }

FAKE_GPU_API int hipInit(unsigned flags) { return gpu.call("hipInit", flags); }
FAKE_GPU_API int hipGetDeviceCount(int *count) {
  *count = gpu.devices;
  return gpu.call("hipGetDeviceCount");
}
FAKE_GPU_API int hipDeviceGetName(char *name, int length, int device) {
  std::strncpy(name, gpu.device_name.c_str(), size_t(length));
  return gpu.call("hipDeviceGetName", device);
}
FAKE_GPU_API int hipDeviceGetAttribute(int *value, int attribute, int device) {
  *value = attribute == 87 ? gpu.warp_size : attribute == 63 ? 100 : attribute == 23 ? gpu.major : gpu.minor;
  return gpu.call("hipDeviceGetAttribute", attribute, device);
}
FAKE_GPU_API int hipGetDevice(int *device) {
  *device = int(gpu.current());
  return gpu.lost;
}
FAKE_GPU_API int hipSetDevice(int device) {
  const int error = gpu.call("hipSetDevice", device);
  if (error == 0) gpu.current() = uint64_t(device);
  return error;
}

FAKE_GPU_API int hipMemGetInfo(size_t *free, size_t *total) {
  *free = 1 << 20;
  *total = 1 << 21;
  return gpu.call("hipMemGetInfo");
}
FAKE_GPU_API int hipMalloc(void **data, size_t bytes) {
  const int error = gpu.call("hipMalloc", bytes);
  *data = handle("memory", error);
  return error;
}
FAKE_GPU_API int hipFree(void *data) { return destroy("hipFree", "memory", data); }
FAKE_GPU_API int hipHostMalloc(void **data, size_t bytes, unsigned flags) {
  const int error = gpu.call("hipHostMalloc", bytes, flags);
  *data = handle("host memory", error);
  return error;
}
FAKE_GPU_API int hipHostFree(void *data) { return destroy("hipHostFree", "host memory", data); }
FAKE_GPU_API int hipHostRegister(void *data, size_t bytes, unsigned flags) {
  const int error = gpu.call("hipHostRegister", data, bytes, flags);
  if (error == 0) ++gpu.live["registration"];
  return error;
}
FAKE_GPU_API int hipHostUnregister(void *data) {
  --gpu.live["registration"];
  return gpu.call("hipHostUnregister", data);
}

FAKE_GPU_API int hipPointerGetAttribute(void *value, int attribute, void *data) {
  const auto known = gpu.pointers.find(reinterpret_cast<uint64_t>(data));
  if (attribute != 9 || known == gpu.pointers.end()) return gpu.last_error() = 1;
  *static_cast<int *>(value) = known->second.device;
  return gpu.lost;
}

FAKE_GPU_API int hipStreamCreateWithFlags(void **stream, unsigned flags) {
  const int error = gpu.call("hipStreamCreateWithFlags", flags);
  *stream = handle("stream", error);
  return error;
}
FAKE_GPU_API int hipStreamDestroy(void *stream) { return destroy("hipStreamDestroy", "stream", stream); }
FAKE_GPU_API int hipStreamSynchronize(void *stream) { return gpu.call("hipStreamSynchronize", stream); }
FAKE_GPU_API int hipStreamWaitEvent(void *stream, void *event, unsigned flags) {
  return gpu.call("hipStreamWaitEvent", stream, event, flags);
}
FAKE_GPU_API int hipEventCreateWithFlags(void **event, unsigned flags) {
  const int error = gpu.call("hipEventCreateWithFlags", flags);
  *event = handle("event", error);
  return error;
}
FAKE_GPU_API int hipEventDestroy(void *event) { return destroy("hipEventDestroy", "event", event); }
FAKE_GPU_API int hipEventRecord(void *event, void *stream) {
  return gpu.call("hipEventRecord", event, stream);
}
FAKE_GPU_API int hipEventQuery(void *event) { return gpu.call("hipEventQuery", event); }
FAKE_GPU_API int hipEventSynchronize(void *event) { return gpu.call("hipEventSynchronize", event); }
FAKE_GPU_API int hipEventElapsedTime(float *milliseconds, void *start, void *stop) {
  *milliseconds = 2.5f;
  return gpu.call("hipEventElapsedTime", start, stop);
}

FAKE_GPU_API int hipMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream) {
  return gpu.call("hipMemcpyAsync", to, from, bytes, kind, stream);
}
FAKE_GPU_API int hipMemcpy2DAsync(void *to, size_t to_stride, const void *from, size_t from_stride,
                                  size_t width, size_t rows, int kind, void *stream) {
  return gpu.call("hipMemcpy2DAsync", to, to_stride, from, from_stride, width, rows, kind, stream);
}
FAKE_GPU_API int hipMemsetAsync(void *to, int value, size_t bytes, void *stream) {
  return gpu.call("hipMemsetAsync", to, value, bytes, stream);
}

FAKE_GPU_API int hipModuleLoadData(void **module, const void *image) {
  const int error = gpu.call("hipModuleLoadData", static_cast<const char *>(image));
  *module = handle("module", error);
  return error;
}
FAKE_GPU_API int hipModuleUnload(void *module) { return destroy("hipModuleUnload", "module", module); }
FAKE_GPU_API int hipModuleGetFunction(void **function, void *module, const char *name) {
  *function = reinterpret_cast<void *>(0x77);
  return gpu.call("hipModuleGetFunction", module, name);
}
FAKE_GPU_API int hipModuleLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                       unsigned block_x, unsigned block_y, unsigned block_z,
                                       unsigned shared_bytes, void *stream, void **parameters, void **extra) {
  const bool right = extra[0] == reinterpret_cast<void *>(1) && extra[2] == reinterpret_cast<void *>(2) &&
                     extra[4] == reinterpret_cast<void *>(3) && !parameters;
  if (gpu.keeps_log)
    gpu.arguments =
        right ? std::string(static_cast<const char *>(extra[1]), *static_cast<size_t *>(extra[3])) : "wrong";
  return gpu.call("hipModuleLaunchKernel", function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                  shared_bytes, stream);
}

#if defined(FAKE_GPU_IMAGES)  // others are as old as ROCm 4
FAKE_GPU_API int hipRuntimeGetVersion(int *version) {
  *version = gpu.version;
  return gpu.lost;
}
FAKE_GPU_API int hipImportExternalMemory(void **memory, const ExternalMemoryHandle *h) {
  gpu.imported = h->fd;
  const int error = gpu.call("hipImportExternalMemory", h->type, h->bytes, h->flags, odd_words(*h));
  *memory = handle("external memory", error);
  return error;
}
FAKE_GPU_API int hipExternalMemoryGetMappedBuffer(void **data, void *memory, const ExternalMemoryBuffer *b) {
  const int error =
      gpu.call("hipExternalMemoryGetMappedBuffer", memory, b->offset, b->bytes, b->flags, odd_words(*b));
  if (error == 0 && gpu.version < 60'000'000) *data = reinterpret_cast<void *>(0x770000);
  if (error == 0 && gpu.version >= 60'000'000) *data = handle("memory", error);
  return error;
}
FAKE_GPU_API int hipDestroyExternalMemory(void *memory) {
  return destroy("hipDestroyExternalMemory", "external memory", memory);
}
#endif
