// Proves against AMD's own header that engine/hip's prototypes and numbers are libamdhip64's, and against its library,
// which this program is linked with, that all functions are there. Then runs: without a GPU there is a reason, and
// nothing is printed by anybody.
#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "engine/hip/device.h"
#include "engine/hip/loader.h"
#include "tests/plain_prototype.h"

namespace vmafhip::hip {
namespace {

#define EACH_FUNCTION(_)              \
  _(hipGetErrorName)                  \
  _(hipGetLastError)                  \
  _(hipInit)                          \
  _(hipGetDeviceCount)                \
  _(hipDeviceGetName)                 \
  _(hipDeviceGetAttribute)            \
  _(hipMemGetInfo)                    \
  _(hipFree)                          \
  _(hipHostFree)                      \
  _(hipHostRegister)                  \
  _(hipHostUnregister)                \
  _(hipPointerGetAttribute)           \
  _(hipStreamCreateWithFlags)         \
  _(hipStreamDestroy)                 \
  _(hipStreamSynchronize)             \
  _(hipStreamWaitEvent)               \
  _(hipEventCreateWithFlags)          \
  _(hipEventDestroy)                  \
  _(hipEventRecord)                   \
  _(hipEventQuery)                    \
  _(hipEventSynchronize)              \
  _(hipEventElapsedTime)              \
  _(hipMemcpyAsync)                   \
  _(hipMemcpy2DAsync)                 \
  _(hipMemsetAsync)                   \
  _(hipModuleLoadData)                \
  _(hipModuleUnload)                  \
  _(hipModuleGetFunction)             \
  _(hipModuleLaunchKernel)            \
  _(hipImportExternalMemory)          \
  _(hipExternalMemoryGetMappedBuffer) \
  _(hipDestroyExternalMemory)

// These have templates of the same name beside them in C++.
hipError_t (*const kMalloc)(void **, size_t) = &::hipMalloc;
hipError_t (*const kHostMalloc)(void **, size_t, unsigned) = &::hipHostMalloc;

#define SAME(name) static_assert(test::kSamePrototype<decltype(Functions::name), decltype(&::name)>, #name);
EACH_FUNCTION(SAME)
static_assert(test::kSamePrototype<decltype(Functions::hipMalloc), std::remove_const_t<decltype(kMalloc)>>);
static_assert(
    test::kSamePrototype<decltype(Functions::hipHostMalloc), std::remove_const_t<decltype(kHostMalloc)>>);
static_assert(
    test::kSamePrototype<decltype(CurrentDeviceFunctions::hipGetDevice), decltype(&::hipGetDevice)>);
static_assert(
    test::kSamePrototype<decltype(CurrentDeviceFunctions::hipSetDevice), decltype(&::hipSetDevice)>);

#define ADDRESS(name) reinterpret_cast<const void *>(&::name),
const void *const kLinked[] = {EACH_FUNCTION(ADDRESS) reinterpret_cast<const void *>(kMalloc),
                               reinterpret_cast<const void *>(kHostMalloc)};
static_assert(sizeof kLinked == sizeof(Functions), "a function of the table is not compared");

static_assert(hipSuccess == 0);
static_assert(kErrorOutOfMemory == hipErrorOutOfMemory && kErrorNoDevice == hipErrorNoDevice);
static_assert(kErrorInvalidDevice == hipErrorInvalidDevice && kErrorNotReady == hipErrorNotReady);
static_assert(kErrorNoBinaryForGpu == hipErrorNoBinaryForGpu && kErrorNotSupported == hipErrorNotSupported);
static_assert(kCopyHostToDevice == hipMemcpyHostToDevice && kCopyDeviceToHost == hipMemcpyDeviceToHost);
static_assert(kCopyDeviceToDevice == hipMemcpyDeviceToDevice);
static_assert(kAttributeComputeMajor == hipDeviceAttributeComputeCapabilityMajor);
static_assert(kAttributeComputeMinor == hipDeviceAttributeComputeCapabilityMinor);
static_assert(kAttributeWarpSize == hipDeviceAttributeWarpSize);
static_assert(kAttributeMultiprocessors == hipDeviceAttributeMultiprocessorCount);
static_assert(kStreamNonBlocking == hipStreamNonBlocking);
static_assert(kEventBlockingSync == hipEventBlockingSync && kEventDisableTiming == hipEventDisableTiming);
static_assert(kPointerDeviceOrdinal == HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
static_assert(hipHostMallocDefault == 0 && hipHostRegisterDefault == 0);

// Descriptors may be longer than the header's, but not shorter.
#define SAME_FIELD(type, ours, vendors, theirs)                                                         \
  static_assert(offsetof(type, ours) == offsetof(vendors, theirs) && sizeof(type) >= sizeof(vendors) && \
                    sizeof(type::ours) == sizeof(vendors::theirs),                                      \
                #ours);
SAME_FIELD(ExternalMemoryHandle, type, hipExternalMemoryHandleDesc, type)
SAME_FIELD(ExternalMemoryHandle, bytes, hipExternalMemoryHandleDesc, size)
SAME_FIELD(ExternalMemoryHandle, flags, hipExternalMemoryHandleDesc, flags)
static_assert(offsetof(ExternalMemoryHandle, fd) == offsetof(hipExternalMemoryHandleDesc, handle.fd));
SAME_FIELD(ExternalMemoryBuffer, offset, hipExternalMemoryBufferDesc, offset)
SAME_FIELD(ExternalMemoryBuffer, bytes, hipExternalMemoryBufferDesc, size)
SAME_FIELD(ExternalMemoryBuffer, flags, hipExternalMemoryBufferDesc, flags)
static_assert(kExternalOpaqueFd == hipExternalMemoryHandleTypeOpaqueFd);

int run() {
  if (kLaunchBufferPointer != HIP_LAUNCH_PARAM_BUFFER_POINTER ||
      kLaunchBufferSize != HIP_LAUNCH_PARAM_BUFFER_SIZE || kAmdLaunchEnd != HIP_LAUNCH_PARAM_END) {
    std::puts("the keys of `extra` are not HIP's");
    return 1;
  }
  for (const void *function : kLinked)
    if (!function) return 1;

  // What libraries print goes to standard error.
  std::FILE *printed = std::tmpfile();
  const int before = ::dup(STDERR_FILENO);
  if (!printed || before < 0 || ::dup2(::fileno(printed), STDERR_FILENO) < 0) return 1;
  ::unsetenv("VMAFHIP_HIP_LIBRARY");
  const Result<const Api *> api = open_runtime({Vendor::amd, {}});
  const Result<std::shared_ptr<Device>> device = Device::open(-1);
  ::dup2(before, STDERR_FILENO);
  const std::string reason = api.ok() ? (*api)->library : api.status().message();
  std::puts(reason.c_str());
  std::puts(device.ok() ? (*device)->description().c_str() : device.status().message().c_str());
  if (std::fseek(printed, 0, SEEK_END) != 0 || std::ftell(printed) != 0) {
    std::puts("something was printed to standard error");
    return 1;
  }
  if (api.ok()) {  // there is a GPU: the table is what was linked
    if ((*api)->hipModuleLaunchKernel !=
        reinterpret_cast<decltype((*api)->hipModuleLaunchKernel)>(&::hipModuleLaunchKernel))
      return 1;
  } else if (reason.find("finds no GPU") == reason.npos) {
    std::puts("the reason should be that there is no GPU");
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace vmafhip::hip

int main() { return vmafhip::hip::run(); }
