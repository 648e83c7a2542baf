// The simulated runtime's numbers are the vendor's, where the vendor's header is installed.
#if __has_include(<hip/hip_runtime_api.h>)
#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>

#include "tests/hipsim/hip_abi.h"

#define SAME(ours, theirs) static_assert(static_cast<int>(hipsim::ours) == static_cast<int>(theirs));
SAME(kSuccess, hipSuccess)
SAME(kErrorInvalidValue, hipErrorInvalidValue)
SAME(kErrorOutOfMemory, hipErrorOutOfMemory)
SAME(kErrorInvalidConfiguration, hipErrorInvalidConfiguration)
SAME(kErrorInvalidPitchValue, hipErrorInvalidPitchValue)
SAME(kErrorInvalidMemcpyDirection, hipErrorInvalidMemcpyDirection)
SAME(kErrorNoDevice, hipErrorNoDevice)
SAME(kErrorInvalidDevice, hipErrorInvalidDevice)
SAME(kErrorInvalidImage, hipErrorInvalidImage)
SAME(kErrorInvalidContext, hipErrorInvalidContext)
SAME(kErrorNoBinaryForGpu, hipErrorNoBinaryForGpu)
SAME(kErrorInvalidHandle, hipErrorInvalidHandle)
SAME(kErrorNotFound, hipErrorNotFound)
SAME(kErrorNotReady, hipErrorNotReady)
SAME(kErrorIllegalAddress, hipErrorIllegalAddress)
SAME(kErrorLaunchOutOfResources, hipErrorLaunchOutOfResources)
SAME(kErrorHostMemoryAlreadyRegistered, hipErrorHostMemoryAlreadyRegistered)
SAME(kErrorHostMemoryNotRegistered, hipErrorHostMemoryNotRegistered)
SAME(kErrorLaunchFailure, hipErrorLaunchFailure)
SAME(kErrorNotSupported, hipErrorNotSupported)
SAME(kErrorUnknown, hipErrorUnknown)
SAME(kAttributeComputeCapabilityMajor, hipDeviceAttributeComputeCapabilityMajor)
SAME(kAttributeComputeCapabilityMinor, hipDeviceAttributeComputeCapabilityMinor)
SAME(kAttributeMultiprocessorCount, hipDeviceAttributeMultiprocessorCount)
SAME(kAttributeWarpSize, hipDeviceAttributeWarpSize)
SAME(kHostToHost, hipMemcpyHostToHost)
SAME(kHostToDevice, hipMemcpyHostToDevice)
SAME(kDeviceToHost, hipMemcpyDeviceToHost)
SAME(kDeviceToDevice, hipMemcpyDeviceToDevice)
SAME(kCopyDefault, hipMemcpyDefault)
SAME(kEventDisableTiming, hipEventDisableTiming)
SAME(kStreamNonBlocking, hipStreamNonBlocking)
#endif
