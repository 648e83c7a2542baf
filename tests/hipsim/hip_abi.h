// The numbers of HIP's ABI that the simulated runtime uses; tests/hipsim/abi_check.cpp holds them against
// the vendor's header where that is installed.
#pragma once

namespace hipsim {

enum Error {
  kSuccess = 0,
  kErrorInvalidValue = 1,
  kErrorOutOfMemory = 2,
  kErrorInvalidConfiguration = 9,
  kErrorInvalidPitchValue = 12,
  kErrorInvalidMemcpyDirection = 21,
  kErrorNoDevice = 100,
  kErrorInvalidDevice = 101,
  kErrorInvalidImage = 200,
  kErrorInvalidContext = 201,
  kErrorNoBinaryForGpu = 209,
  kErrorInvalidHandle = 400,
  kErrorNotFound = 500,
  kErrorNotReady = 600,
  kErrorIllegalAddress = 700,
  kErrorLaunchOutOfResources = 701,
  kErrorHostMemoryAlreadyRegistered = 712,
  kErrorHostMemoryNotRegistered = 713,
  kErrorLaunchFailure = 719,
  kErrorNotSupported = 801,
  kErrorUnknown = 999,
};

enum CopyKind { kHostToHost, kHostToDevice, kDeviceToHost, kDeviceToDevice, kCopyDefault };

enum EventFlags { kEventDisableTiming = 2 };
enum StreamFlags { kStreamNonBlocking = 1 };

enum Attribute {
  kAttributeComputeCapabilityMajor = 23,
  kAttributeComputeCapabilityMinor = 61,
  kAttributeMultiprocessorCount = 63,
  kAttributeWarpSize = 87,
};

}  // namespace hipsim
