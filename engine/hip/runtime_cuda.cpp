// libcuda's driver API under HIP's names. Numbers that HIP took over from CUDA (flags of streams and events, errors) are
// passed on as they are; tests/cuda_signatures.cpp compares them with both vendors' headers.
#include <algorithm>
#include <array>
#include <cstdint>

#include "engine/hip/cuda_abi.h"
#include "engine/hip/loader.h"

namespace vmafhip::hip {
namespace {

Cuda cuda;  // written once, before any other function here is called

Status fill(Cuda &table, Library &library) {
#define NEED(function) library.need(#function, table.function)
  NEED(cuInit);
  NEED(cuGetErrorName);
  NEED(cuDeviceGetCount);
  NEED(cuDeviceGet);
  NEED(cuDeviceGetName);
  NEED(cuDeviceGetAttribute);
  NEED(cuDevicePrimaryCtxRetain);
  NEED(cuDevicePrimaryCtxRelease_v2);
  NEED(cuCtxGetCurrent);
  NEED(cuCtxSetCurrent);
  NEED(cuMemGetInfo_v2);
  NEED(cuMemAlloc_v2);
  NEED(cuMemFree_v2);
  NEED(cuMemHostAlloc);
  NEED(cuMemFreeHost);
  NEED(cuMemHostRegister_v2);
  NEED(cuMemHostUnregister);
  NEED(cuPointerGetAttribute);
  NEED(cuStreamCreate);
  NEED(cuStreamDestroy_v2);
  NEED(cuStreamSynchronize);
  NEED(cuStreamWaitEvent);
  NEED(cuEventCreate);
  NEED(cuEventDestroy_v2);
  NEED(cuEventRecord);
  NEED(cuEventQuery);
  NEED(cuEventSynchronize);
  NEED(cuEventElapsedTime);
  NEED(cuMemcpyHtoDAsync_v2);
  NEED(cuMemcpyDtoHAsync_v2);
  NEED(cuMemcpyDtoDAsync_v2);
  NEED(cuMemcpy2DAsync_v2);
  NEED(cuMemsetD8Async);
  NEED(cuModuleLoadData);
  NEED(cuModuleUnload);
  NEED(cuModuleGetFunction);
  NEED(cuLaunchKernel);
#undef NEED
  if (!library.find("cuMemcpyBatchAsync_v2", table.cuMemcpyBatchAsync_v2))
    library.find("cuMemcpyBatchAsync", table.cuMemcpyBatchAsync_v1);
  if (!library.find("cuMemcpy3DBatchAsync_v2", table.cuMemcpy3DBatchAsync_v2))
    library.find("cuMemcpy3DBatchAsync", table.cuMemcpy3DBatchAsync_v1);
  library.find("cuImportExternalMemory", table.cuImportExternalMemory);
  library.find("cuExternalMemoryGetMappedBuffer", table.cuExternalMemoryGetMappedBuffer);
  library.find("cuDestroyExternalMemory", table.cuDestroyExternalMemory);
  return library.complete();
}

uint64_t address(const void *data) { return reinterpret_cast<uint64_t>(data); }

// From a device's number to the driver's handle of it.
template <class Function>
int with_device(int number, Function function) {
  int device = 0;
  const int error = cuda.cuDeviceGet(&device, number);
  return error != 0 ? error : function(device);
}

int get_attribute(int *value, int attribute, int number) {
  int wanted = 0;
  switch (attribute) {
    case kAttributeWarpSize:
      wanted = kCudaAttributeWarpSize;
      break;
    case kAttributeMultiprocessors:
      wanted = kCudaAttributeMultiprocessors;
      break;
    case kAttributeComputeMajor:
      wanted = kCudaAttributeComputeMajor;
      break;
    case kAttributeComputeMinor:
      wanted = kCudaAttributeComputeMinor;
      break;
    default:
      return kCudaErrorInvalidValue;
  }
  return with_device(number, [&](int device) { return cuda.cuDeviceGetAttribute(value, wanted, device); });
}

int allocate(void **data, size_t bytes) {
  uint64_t at = 0;
  const int error = cuda.cuMemAlloc_v2(&at, bytes);
  *data = error == 0 ? reinterpret_cast<void *>(at) : nullptr;
  return error;
}

int copy(void *to, const void *from, size_t bytes, int kind, void *stream) {
  switch (kind) {
    case kCopyHostToDevice:
      return cuda.cuMemcpyHtoDAsync_v2(address(to), from, bytes, stream);
    case kCopyDeviceToHost:
      return cuda.cuMemcpyDtoHAsync_v2(to, address(from), bytes, stream);
    case kCopyDeviceToDevice:
      return cuda.cuMemcpyDtoDAsync_v2(address(to), address(from), bytes, stream);
    default:
      return kCudaErrorInvalidValue;
  }
}

int copy_rows(void *to, size_t to_stride, const void *from, size_t from_stride, size_t width, size_t rows,
              int kind, void *stream) {
  CudaCopy2D copy;
  copy.from_pitch = from_stride;
  copy.to_pitch = to_stride;
  copy.width = width;
  copy.height = rows;
  if (kind == kCopyHostToDevice) {
    copy.from_type = kCudaMemoryHost;
    copy.from_host = from;
  } else {
    copy.from_type = kCudaMemoryDevice;
    copy.from_device = address(from);
  }
  if (kind == kCopyDeviceToHost) {
    copy.to_type = kCudaMemoryHost;
    copy.to_host = to;
  } else {
    copy.to_type = kCudaMemoryDevice;
    copy.to_device = address(to);
  }
  return cuda.cuMemcpy2DAsync_v2(&copy, stream);
}

// Calls send() with the copies of one row, or with the others, some at a time.
constexpr size_t kMostTogether = 64;
template <class Send>
int send_those(std::span<const Upload> copies, bool of_one_row, const Send &send) {
  std::array<const Upload *, kMostTogether> some;
  size_t count = 0;
  for (const Upload &copy : copies) {
    if ((copy.rows == 1) == of_one_row) some[count++] = &copy;
    if (count == kMostTogether || (count > 0 && &copy == &copies.back())) {
      if (const int error = send(std::span(some).first(count))) return error;
      count = 0;
    }
  }
  return 0;
}

int copy_bytes_together(std::span<const Upload *const> copies, void *stream) {
  std::array<uint64_t, kMostTogether> to, from;
  std::array<size_t, kMostTogether> bytes;
  for (size_t i = 0; i < copies.size(); ++i) {
    to[i] = address(copies[i]->to);
    from[i] = address(copies[i]->from);
    bytes[i] = copies[i]->width;
  }
  CudaCopyAttributes attributes;
  attributes.source_access_order = kCudaSourceInStreamOrder;
  size_t first = 0, failed = 0;
  return cuda.cuMemcpyBatchAsync_v2
             ? cuda.cuMemcpyBatchAsync_v2(to.data(), from.data(), bytes.data(), copies.size(), &attributes,
                                          &first, 1, stream)
             : cuda.cuMemcpyBatchAsync_v1(to.data(), from.data(), bytes.data(), copies.size(), &attributes,
                                          &first, 1, &failed, stream);
}

int copy_rows_together(std::span<const Upload *const> copies, void *stream) {
  std::array<CudaCopy3D, kMostTogether> each;
  for (size_t i = 0; i < copies.size(); ++i) {
    const Upload &copy = *copies[i];
    each[i].from.address = address(copy.from);
    each[i].from.pitch = copy.from_stride;
    each[i].to.address = address(copy.to);
    each[i].to.pitch = copy.to_stride;
    each[i].width = copy.width;
    each[i].height = copy.rows;
  }
  size_t failed = 0;
  return cuda.cuMemcpy3DBatchAsync_v2
             ? cuda.cuMemcpy3DBatchAsync_v2(copies.size(), each.data(), 0, stream)
             : cuda.cuMemcpy3DBatchAsync_v1(copies.size(), each.data(), &failed, 0, stream);
}

int together(const Upload *copies, size_t count, void *stream) {
  const std::span all(copies, count);
  if (const int error =
          send_those(all, false, [&](const auto &some) { return copy_rows_together(some, stream); }))
    return error;
  return send_those(all, true, [&](const auto &some) { return copy_bytes_together(some, stream); });
}

int map_external(void **data, void *memory, const ExternalMemoryBuffer *buffer) {
  uint64_t at = 0;
  const int error = cuda.cuExternalMemoryGetMappedBuffer(&at, memory, buffer);
  *data = error == 0 ? reinterpret_cast<void *>(at) : nullptr;
  return error;
}

const char *error_name(int error) {
  const char *name = nullptr;
  return cuda.cuGetErrorName(error, &name) == 0 && name ? name : "an error that this driver has no name for";
}

class CudaApi final : public Api {
 public:
  explicit CudaApi(std::string name) {
    vendor = Vendor::nvidia;
    library = std::move(name);
    launch_end = kCudaLaunchEnd;

    hipGetErrorName = error_name;
    hipGetLastError = [] { return 0; };  // the driver API keeps none
    hipInit = cuda.cuInit;
    hipGetDeviceCount = cuda.cuDeviceGetCount;
    hipDeviceGetName = [](char *text, int length, int number) {
      return with_device(number, [&](int device) { return cuda.cuDeviceGetName(text, length, device); });
    };
    hipDeviceGetAttribute = get_attribute;

    hipMemGetInfo = cuda.cuMemGetInfo_v2;
    hipMalloc = allocate;
    hipFree = [](void *data) { return cuda.cuMemFree_v2(address(data)); };
    hipHostMalloc = cuda.cuMemHostAlloc;
    hipHostFree = cuda.cuMemFreeHost;
    hipHostRegister = cuda.cuMemHostRegister_v2;
    hipHostUnregister = cuda.cuMemHostUnregister;
    hipPointerGetAttribute = [](void *value, int attribute, void *data) {
      return cuda.cuPointerGetAttribute(value, attribute, address(data));
    };

    hipStreamCreateWithFlags = cuda.cuStreamCreate;
    hipStreamDestroy = cuda.cuStreamDestroy_v2;
    hipStreamSynchronize = cuda.cuStreamSynchronize;
    hipStreamWaitEvent = cuda.cuStreamWaitEvent;
    hipEventCreateWithFlags = cuda.cuEventCreate;
    hipEventDestroy = cuda.cuEventDestroy_v2;
    hipEventRecord = cuda.cuEventRecord;
    hipEventQuery = cuda.cuEventQuery;
    hipEventSynchronize = cuda.cuEventSynchronize;
    hipEventElapsedTime = cuda.cuEventElapsedTime;

    if ((cuda.cuMemcpyBatchAsync_v2 && cuda.cuMemcpy3DBatchAsync_v2) ||
        (cuda.cuMemcpyBatchAsync_v1 && cuda.cuMemcpy3DBatchAsync_v1))
      copy_together = together;
    hipMemcpyAsync = copy;
    hipMemcpy2DAsync = copy_rows;
    hipMemsetAsync = [](void *to, int value, size_t bytes, void *stream) {
      return cuda.cuMemsetD8Async(address(to), static_cast<unsigned char>(value), bytes, stream);
    };

    hipModuleLoadData = cuda.cuModuleLoadData;
    hipModuleUnload = cuda.cuModuleUnload;
    hipModuleGetFunction = cuda.cuModuleGetFunction;
    hipModuleLaunchKernel = cuda.cuLaunchKernel;

    hipImportExternalMemory = cuda.cuImportExternalMemory;
    if (cuda.cuExternalMemoryGetMappedBuffer) hipExternalMemoryGetMappedBuffer = map_external;
    hipDestroyExternalMemory = cuda.cuDestroyExternalMemory;
  }

  // The primary context is the one that CUDA's own runtime uses, so that memory of others in this process can be
  // shared. It is made for the first who retains it, which takes a while, and goes with the last.
  int retain_context(int number, void **context) const override {
    return with_device(number, [&](int device) { return cuda.cuDevicePrimaryCtxRetain(context, device); });
  }
  int release_context(int number) const override {
    return with_device(number, [](int device) { return cuda.cuDevicePrimaryCtxRelease_v2(device); });
  }
  int get_current(void **context) const override { return cuda.cuCtxGetCurrent(context); }
  int set_current(void *context) const override { return cuda.cuCtxSetCurrent(context); }
  // Memory of other contexts of the GPU as well, if the driver says so: an H200's did, and kernels read what was there.
  // Drivers before CUDA 11.3 do not say.
  bool reads(int number, void *context, void *data) const override {
    int ordinal = -1, access = 0;
    void *of = nullptr;
    const auto get = [&](void *value, int attribute) {
      return cuda.cuPointerGetAttribute(value, attribute, address(data)) == 0;
    };
    if (!get(&ordinal, kPointerDeviceOrdinal) || ordinal != number) return false;
    if (get(&access, kCudaPointerAccess)) return (access & kCudaAccessRead) != 0;
    return get(&of, kCudaPointerContext) && of == context;
  }
  void await_default_stream(void *context, void *data) const override {
    void *of = nullptr, *before = nullptr;
    if (cuda.cuPointerGetAttribute(&of, kCudaPointerContext, address(data)) != 0 || !of) of = context;
    if (cuda.cuCtxGetCurrent(&before) != 0 || cuda.cuCtxSetCurrent(of) != 0) return;
    (void)cuda.cuStreamSynchronize(nullptr);  // who reads then is told as well that the device is lost
    (void)cuda.cuCtxSetCurrent(before);
  }
  bool import_takes_descriptor() const override { return true; }
  bool mapped_is_freed() const override { return true; }
};

}  // namespace

Result<const Api *> open_nvidia() {
  static constexpr const char *name = "libcuda.so.1";
  Result<Library> library = Library::open({&name, 1});
  if (!library.ok()) return library.status();
  Cuda table;
  if (Status status = fill(table, *library); !status.ok()) return status;
  cuda = table;
  const CudaApi api(library->name());
  if (const int error = api.hipInit(0); error != 0) return cannot_start(api, "cuInit()", error);
  return static_cast<const Api *>(new CudaApi(api));
}

}  // namespace vmafhip::hip
