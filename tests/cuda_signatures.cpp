// Proves against CUDA's own header that engine/hip's prototypes, struct and numbers are libcuda's, where that header is
// installed. Compiling it is the test; nothing is linked.
#include <cuda.h>

#include <cstddef>
#include <string_view>

#include "engine/hip/cuda_abi.h"
#include "engine/hip/runtime.h"
#include "tests/parity/cuda_vmm.h"
#include "tests/plain_prototype.h"

namespace vmafhip::hip {
namespace {

// Macros of the header turn a plain name into the one with the suffix of its newest version.
#define TEXT(name) #name
#define EXPANDED(name) TEXT(name)
#define SAME(name, plain)                                                               \
  static_assert(test::kSamePrototype<decltype(Cuda::name), decltype(&::plain)>, #name); \
  static_assert(std::string_view(EXPANDED(plain)) == #name, #name " is what " TEXT(plain) " is now");
// Newer headers have a further version, which need not be in the driver.
#define SAME_OLDER(name) static_assert(test::kSamePrototype<decltype(Cuda::name), decltype(&::name)>, #name);
SAME(cuInit, cuInit)
SAME(cuGetErrorName, cuGetErrorName)
SAME(cuDeviceGetCount, cuDeviceGetCount)
SAME(cuDeviceGet, cuDeviceGet)
SAME(cuDeviceGetName, cuDeviceGetName)
SAME(cuDeviceGetAttribute, cuDeviceGetAttribute)
SAME(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain)
SAME(cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease)
SAME(cuCtxGetCurrent, cuCtxGetCurrent)
SAME(cuCtxSetCurrent, cuCtxSetCurrent)
SAME(cuMemGetInfo_v2, cuMemGetInfo)
SAME(cuMemAlloc_v2, cuMemAlloc)
SAME(cuMemFree_v2, cuMemFree)
SAME(cuMemHostAlloc, cuMemHostAlloc)
SAME(cuMemFreeHost, cuMemFreeHost)
SAME(cuMemHostRegister_v2, cuMemHostRegister)
SAME(cuMemHostUnregister, cuMemHostUnregister)
SAME(cuPointerGetAttribute, cuPointerGetAttribute)
SAME(cuStreamCreate, cuStreamCreate)
SAME(cuStreamDestroy_v2, cuStreamDestroy)
SAME(cuStreamSynchronize, cuStreamSynchronize)
SAME(cuStreamWaitEvent, cuStreamWaitEvent)
SAME(cuEventCreate, cuEventCreate)
SAME(cuEventDestroy_v2, cuEventDestroy)
SAME(cuEventRecord, cuEventRecord)
SAME(cuEventQuery, cuEventQuery)
SAME(cuEventSynchronize, cuEventSynchronize)
SAME_OLDER(cuEventElapsedTime)
SAME(cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync)
SAME(cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync)
SAME(cuMemcpyDtoDAsync_v2, cuMemcpyDtoDAsync)
SAME(cuMemcpy2DAsync_v2, cuMemcpy2DAsync)
SAME(cuMemsetD8Async, cuMemsetD8Async)
SAME(cuModuleLoadData, cuModuleLoadData)
SAME(cuModuleUnload, cuModuleUnload)
SAME(cuModuleGetFunction, cuModuleGetFunction)
SAME(cuLaunchKernel, cuLaunchKernel)
#if CUDA_VERSION >= 13000
SAME(cuMemcpyBatchAsync_v2, cuMemcpyBatchAsync)
SAME(cuMemcpy3DBatchAsync_v2, cuMemcpy3DBatchAsync)
#elif CUDA_VERSION >= 12080
static_assert(test::kSamePrototype<decltype(Cuda::cuMemcpyBatchAsync_v1), decltype(&::cuMemcpyBatchAsync)>);
static_assert(
    test::kSamePrototype<decltype(Cuda::cuMemcpy3DBatchAsync_v1), decltype(&::cuMemcpy3DBatchAsync)>);
#endif
SAME(cuImportExternalMemory, cuImportExternalMemory)
SAME(cuExternalMemoryGetMappedBuffer, cuExternalMemoryGetMappedBuffer)
SAME(cuDestroyExternalMemory, cuDestroyExternalMemory)

// What gpu_dmabuf uses beyond the engine's.
#define SAME_VMM(name) \
  static_assert(test::kSamePrototype<decltype(parity::CudaVmm::name), decltype(&::name)>, #name);
SAME_VMM(cuMemGetAllocationGranularity)
SAME_VMM(cuMemCreate)
SAME_VMM(cuMemRelease)
SAME_VMM(cuMemExportToShareableHandle)
SAME_VMM(cuMemAddressReserve)
SAME_VMM(cuMemAddressFree)
SAME_VMM(cuMemMap)
SAME_VMM(cuMemUnmap)
SAME_VMM(cuMemSetAccess)
static_assert(sizeof(parity::CudaMemoryKind) == sizeof(CUmemAllocationProp) &&
              sizeof(parity::CudaMemoryAccess) == sizeof(CUmemAccessDesc));
static_assert(offsetof(parity::CudaMemoryKind, handles) ==
                  offsetof(CUmemAllocationProp, requestedHandleTypes) &&
              offsetof(parity::CudaMemoryKind, place) == offsetof(CUmemAllocationProp, location) &&
              offsetof(parity::CudaMemoryAccess, flags) == offsetof(CUmemAccessDesc, flags) &&
              offsetof(parity::CudaMemoryPlace, device) == offsetof(CUmemLocation, id));
static_assert(CU_MEM_ALLOCATION_TYPE_PINNED == 1 && CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR == 1 &&
              CU_MEM_LOCATION_TYPE_DEVICE == 1 && CU_MEM_ACCESS_FLAGS_PROT_READWRITE == 3);
static_assert(parity::kCudaFileDescriptor == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR &&
              parity::kCudaLeastGranularity == CU_MEM_ALLOC_GRANULARITY_MINIMUM);

#define SAME_FIELD_OF(type, ours, vendors, theirs)                                                        \
  static_assert(                                                                                          \
      offsetof(type, ours) == offsetof(vendors, theirs) && sizeof(type::ours) == sizeof(vendors::theirs), \
      #ours);
#define SAME_FIELD(ours, theirs) SAME_FIELD_OF(CudaCopy2D, ours, CUDA_MEMCPY2D, theirs)
SAME_FIELD(from_x, srcXInBytes)
SAME_FIELD(from_y, srcY)
SAME_FIELD(from_type, srcMemoryType)
SAME_FIELD(from_host, srcHost)
SAME_FIELD(from_device, srcDevice)
SAME_FIELD(from_array, srcArray)
SAME_FIELD(from_pitch, srcPitch)
SAME_FIELD(to_x, dstXInBytes)
SAME_FIELD(to_y, dstY)
SAME_FIELD(to_type, dstMemoryType)
SAME_FIELD(to_host, dstHost)
SAME_FIELD(to_device, dstDevice)
SAME_FIELD(to_array, dstArray)
SAME_FIELD(to_pitch, dstPitch)
SAME_FIELD(width, WidthInBytes)
SAME_FIELD(height, Height)
static_assert(sizeof(CudaCopy2D) == sizeof(CUDA_MEMCPY2D));

#if CUDA_VERSION >= 12080
SAME_FIELD_OF(CudaCopyAttributes, source_access_order, CUmemcpyAttributes, srcAccessOrder)
SAME_FIELD_OF(CudaCopyAttributes, source_hint, CUmemcpyAttributes, srcLocHint)
SAME_FIELD_OF(CudaCopyAttributes, to_hint, CUmemcpyAttributes, dstLocHint)
SAME_FIELD_OF(CudaCopyAttributes, flags, CUmemcpyAttributes, flags)
static_assert(sizeof(CudaCopyAttributes) == sizeof(CUmemcpyAttributes));
static_assert(kCudaSourceInStreamOrder == CU_MEMCPY_SRC_ACCESS_ORDER_STREAM);

SAME_FIELD_OF(CudaCopyOperand, type, CUmemcpy3DOperand, type)
SAME_FIELD_OF(CudaCopyOperand, address, CUmemcpy3DOperand, op.ptr.ptr)
SAME_FIELD_OF(CudaCopyOperand, pitch, CUmemcpy3DOperand, op.ptr.rowLength)
SAME_FIELD_OF(CudaCopyOperand, layer_height, CUmemcpy3DOperand, op.ptr.layerHeight)
SAME_FIELD_OF(CudaCopyOperand, hint, CUmemcpy3DOperand, op.ptr.locHint)
static_assert(sizeof(CudaCopyOperand) == sizeof(CUmemcpy3DOperand));
SAME_FIELD_OF(CudaCopy3D, from, CUDA_MEMCPY3D_BATCH_OP, src)
SAME_FIELD_OF(CudaCopy3D, to, CUDA_MEMCPY3D_BATCH_OP, dst)
SAME_FIELD_OF(CudaCopy3D, width, CUDA_MEMCPY3D_BATCH_OP, extent.width)
SAME_FIELD_OF(CudaCopy3D, height, CUDA_MEMCPY3D_BATCH_OP, extent.height)
SAME_FIELD_OF(CudaCopy3D, depth, CUDA_MEMCPY3D_BATCH_OP, extent.depth)
SAME_FIELD_OF(CudaCopy3D, source_access_order, CUDA_MEMCPY3D_BATCH_OP, srcAccessOrder)
SAME_FIELD_OF(CudaCopy3D, flags, CUDA_MEMCPY3D_BATCH_OP, flags)
static_assert(sizeof(CudaCopy3D) == sizeof(CUDA_MEMCPY3D_BATCH_OP));
static_assert(kCudaOperandPointer == CU_MEMCPY_OPERAND_TYPE_POINTER);
static_assert(kErrorNotSupported == CUDA_ERROR_NOT_SUPPORTED);
#endif

SAME_FIELD_OF(ExternalMemoryHandle, type, CUDA_EXTERNAL_MEMORY_HANDLE_DESC, type)
SAME_FIELD_OF(ExternalMemoryHandle, bytes, CUDA_EXTERNAL_MEMORY_HANDLE_DESC, size)
SAME_FIELD_OF(ExternalMemoryHandle, flags, CUDA_EXTERNAL_MEMORY_HANDLE_DESC, flags)
static_assert(offsetof(ExternalMemoryHandle, fd) == offsetof(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, handle.fd));
static_assert(sizeof(ExternalMemoryHandle) >= sizeof(CUDA_EXTERNAL_MEMORY_HANDLE_DESC));
SAME_FIELD_OF(ExternalMemoryBuffer, offset, CUDA_EXTERNAL_MEMORY_BUFFER_DESC, offset)
SAME_FIELD_OF(ExternalMemoryBuffer, bytes, CUDA_EXTERNAL_MEMORY_BUFFER_DESC, size)
SAME_FIELD_OF(ExternalMemoryBuffer, flags, CUDA_EXTERNAL_MEMORY_BUFFER_DESC, flags)
static_assert(sizeof(ExternalMemoryBuffer) >= sizeof(CUDA_EXTERNAL_MEMORY_BUFFER_DESC));
static_assert(kExternalOpaqueFd == CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD);

static_assert(kCudaMemoryHost == CU_MEMORYTYPE_HOST && kCudaMemoryDevice == CU_MEMORYTYPE_DEVICE);
static_assert(kCudaAttributeWarpSize == CU_DEVICE_ATTRIBUTE_WARP_SIZE);
static_assert(kCudaAttributeMultiprocessors == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(kCudaAttributeComputeMajor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(kCudaAttributeComputeMinor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(kCudaErrorInvalidValue == CUDA_ERROR_INVALID_VALUE);

// What is passed on under HIP's name and number.
static_assert(CUDA_SUCCESS == 0 && kErrorOutOfMemory == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(kErrorNoDevice == CUDA_ERROR_NO_DEVICE && kErrorInvalidDevice == CUDA_ERROR_INVALID_DEVICE);
static_assert(kErrorNoBinaryForGpu == CUDA_ERROR_NO_BINARY_FOR_GPU && kErrorNotReady == CUDA_ERROR_NOT_READY);
static_assert(kStreamNonBlocking == CU_STREAM_NON_BLOCKING);
static_assert(kEventBlockingSync == CU_EVENT_BLOCKING_SYNC && kEventDisableTiming == CU_EVENT_DISABLE_TIMING);
static_assert(kPointerDeviceOrdinal == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
static_assert(kCudaPointerContext == CU_POINTER_ATTRIBUTE_CONTEXT);
static_assert(kCudaPointerAccess == CU_POINTER_ATTRIBUTE_ACCESS_FLAGS);
static_assert(kCudaAccessRead == CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ);
// Pointers made of numbers are no constants; these are the numbers.
static_assert(CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT == 1 && CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT == 2);

}  // namespace
}  // namespace vmafhip::hip

int main() {
  return vmafhip::hip::kCudaLaunchEnd == CU_LAUNCH_PARAM_END &&
                 vmafhip::hip::kLaunchBufferPointer == CU_LAUNCH_PARAM_BUFFER_POINTER &&
                 vmafhip::hip::kLaunchBufferSize == CU_LAUNCH_PARAM_BUFFER_SIZE
             ? 0
             : 1;
}
