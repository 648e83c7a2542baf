// libamdhip64, or a library with its functions: the table is filled as it stands.
#include <cstdint>

#include "engine/hip/loader.h"

namespace vmafhip::hip {
namespace {

class AmdApi final : public Api, public CurrentDeviceFunctions {
 public:
  int retain_context(int device, void **context) const override {
    *context = reinterpret_cast<void *>(static_cast<intptr_t>(device));
    return 0;
  }
  int release_context(int) const override { return 0; }
  int get_current(void **context) const override {
    int device = 0;
    const int error = hipGetDevice(&device);
    return error != 0 ? error : retain_context(device, context);
  }
  int set_current(void *context) const override {
    return hipSetDevice(static_cast<int>(reinterpret_cast<intptr_t>(context)));
  }
  // Memory of another copy of the library, such as of another version, is not known to this one.
  bool reads(int device, void *, void *data) const override {
    int of = -1;
    if (!hipPointerGetAttribute) return false;
    if (hipPointerGetAttribute(&of, kPointerDeviceOrdinal, data) == 0) return of == device;
    hipGetLastError();
    return false;
  }
  void await_default_stream(void *, void *) const override {}
  bool import_takes_descriptor() const override { return takes_descriptor && takes_descriptor(); }
  bool mapped_is_freed() const override {
    int version = 0;
    return hipRuntimeGetVersion && hipRuntimeGetVersion(&version) == 0 && version >= kVersion6;
  }

  // ROCm 5 keeps no count of mapped buffers: freeing one would free the memory itself.
  static constexpr int kVersion6 = 60'000'000;
  int (*hipRuntimeGetVersion)(int *version) = nullptr;
  // A library named by VMAFHIP_HIP_LIBRARY may take descriptors as CUDA does.
  bool (*takes_descriptor)() = nullptr;
};

void fill(AmdApi &api, Library &library) {
#define NEED(function) library.need(#function, api.function)
  NEED(hipGetErrorName);
  NEED(hipGetLastError);
  NEED(hipInit);
  NEED(hipGetDeviceCount);
  NEED(hipDeviceGetName);
  NEED(hipDeviceGetAttribute);
  NEED(hipGetDevice);
  NEED(hipSetDevice);
  NEED(hipMemGetInfo);
  NEED(hipMalloc);
  NEED(hipFree);
  NEED(hipHostMalloc);
  NEED(hipHostFree);
  NEED(hipHostRegister);
  NEED(hipHostUnregister);
  NEED(hipStreamCreateWithFlags);
  NEED(hipStreamDestroy);
  NEED(hipStreamSynchronize);
  NEED(hipStreamWaitEvent);
  NEED(hipEventCreateWithFlags);
  NEED(hipEventDestroy);
  NEED(hipEventRecord);
  NEED(hipEventQuery);
  NEED(hipEventSynchronize);
  NEED(hipEventElapsedTime);
  NEED(hipMemcpyAsync);
  NEED(hipMemcpy2DAsync);
  NEED(hipMemsetAsync);
  NEED(hipModuleLoadData);
  NEED(hipModuleUnload);
  NEED(hipModuleGetFunction);
  NEED(hipModuleLaunchKernel);
#undef NEED
  library.find("hipRuntimeGetVersion", api.hipRuntimeGetVersion);
  library.find("hipImportExternalMemory", api.hipImportExternalMemory);
  library.find("hipExternalMemoryGetMappedBuffer", api.hipExternalMemoryGetMappedBuffer);
  library.find("hipDestroyExternalMemory", api.hipDestroyExternalMemory);
}

}  // namespace

Result<const Api *> open_amd(std::span<const char *const> names) {
  Result<Library> library = Library::open(names);
  if (!library.ok()) return library.status();
  AmdApi api;
  fill(api, *library);
  if (Status status = library->complete(); !status.ok()) return status;
  api.vendor = Vendor::amd;
  api.library = library->name();
  api.launch_end = kAmdLaunchEnd;
  library->find("hipPointerGetAttribute", api.hipPointerGetAttribute);
  library->find("vmafhip_kernel_image", api.kernel_image);
  library->find("vmafhip_copy_together", api.copy_together);
  library->find("vmafhip_import_takes_descriptor", api.takes_descriptor);
  if (const int error = api.hipInit(0); error != 0) return cannot_start(api, "hipInit()", error);
  return static_cast<const Api *>(new AmdApi(api));
}

}  // namespace vmafhip::hip
