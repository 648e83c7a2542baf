#include <algorithm>
#include <cstring>

#include "tests/hipsim/api.h"
#include "tests/hipsim/control.h"

namespace hipsim {

constinit thread_local Caller caller;

int remember(int error) {
  if (error) caller.last_error = error;
  return error;
}

int finish(Lock &lock, Runtime &r, WorkPointer work) {
  r.queue.finish(lock, work);
  return r.device_error;
}

int bad_handle(const char *function, const char *what) {
  return report(kErrorInvalidHandle, std::string(function) + "(): not a live " + what);
}

Stream *stream_of(Runtime &r, void *handle, const char *function, int *error) {
  Stream *stream = find(r.streams, handle);
  if (!stream)
    *error = bad_handle(function,
                        handle ? "stream" : "stream (the null stream waits for all others; nothing uses it)");
  else if (stream->device != caller.device) {
    *error = report(kErrorInvalidContext, std::string(function) + "(): the stream is of device " +
                                              std::to_string(stream->device) + ", the thread's is " +
                                              std::to_string(caller.device));
    stream = nullptr;
  }
  return stream;
}

}  // namespace hipsim

using namespace hipsim;

EXPORT const char *hipGetErrorName(int error) {
#define NAME(name) \
  case k##name:    \
    return "hip" #name;
  switch (error) {
    NAME(Success)
    NAME(ErrorInvalidValue)
    NAME(ErrorOutOfMemory)
    NAME(ErrorInvalidConfiguration)
    NAME(ErrorInvalidPitchValue)
    NAME(ErrorInvalidMemcpyDirection)
    NAME(ErrorNoDevice)
    NAME(ErrorInvalidDevice)
    NAME(ErrorInvalidImage)
    NAME(ErrorInvalidContext)
    NAME(ErrorNoBinaryForGpu)
    NAME(ErrorInvalidHandle)
    NAME(ErrorNotFound)
    NAME(ErrorNotReady)
    NAME(ErrorIllegalAddress)
    NAME(ErrorLaunchOutOfResources)
    NAME(ErrorHostMemoryAlreadyRegistered)
    NAME(ErrorHostMemoryNotRegistered)
    NAME(ErrorLaunchFailure)
    NAME(ErrorNotSupported)
    default:
      return "hipErrorUnknown";
  }
#undef NAME
}

EXPORT int hipGetLastError() {
  const int error = caller.last_error;
  caller.last_error = 0;
  return error;
}

EXPORT int hipInit(unsigned) {
  return enter(Call::other, [](Lock &, Runtime &) { return settings().devices ? kSuccess : kErrorNoDevice; });
}

EXPORT int hipGetDeviceCount(int *count) {
  return enter(Call::other, [&](Lock &, Runtime &) {
    *count = settings().devices;
    return *count ? kSuccess : kErrorNoDevice;
  });
}

EXPORT int hipGetDevice(int *device) {
  return enter(Call::other, [&](Lock &, Runtime &) {
    *device = caller.device;
    return settings().devices ? kSuccess : kErrorNoDevice;
  });
}

EXPORT int hipSetDevice(int device) {
  return enter(Call::other, [&](Lock &, Runtime &) {
    if (device < 0 || device >= settings().devices) return kErrorInvalidDevice;
    caller.device = device;
    caller.device_was_set = true;
    return kSuccess;
  });
}

EXPORT int hipDeviceGetName(char *name, int length, int device) {
  return enter(Call::other, [&](Lock &, Runtime &) {
    if (device < 0 || device >= settings().devices) return kErrorInvalidDevice;
    if (length < 1) return kErrorInvalidValue;
    const std::string text = "simulated GPU " + std::to_string(device);
    const size_t bytes = std::min(text.size(), static_cast<size_t>(length) - 1);
    std::memcpy(name, text.data(), bytes);
    name[bytes] = 0;
    return kSuccess;
  });
}

EXPORT int hipDeviceGetAttribute(int *value, int attribute, int device) {
  return enter(Call::other, [&](Lock &, Runtime &) -> int {
    if (device < 0 || device >= settings().devices) return kErrorInvalidDevice;
    switch (attribute) {
      // As gfx900 and gfx1100 have them.
      case kAttributeComputeCapabilityMajor:
        *value = settings().warp_size == 64 ? 9 : 11;
        return kSuccess;
      case kAttributeComputeCapabilityMinor:
        *value = 0;
        return kSuccess;
      case kAttributeMultiprocessorCount:  // few, so that small pictures are work enough for all
        *value = 2;
        return kSuccess;
      case kAttributeWarpSize:
        *value = static_cast<int>(settings().warp_size);
        return kSuccess;
      default:
        return report(kErrorInvalidValue, "hipDeviceGetAttribute(): the attribute " +
                                              std::to_string(attribute) + " is not simulated");
    }
  });
}

EXPORT bool hipsim_configure(const char *text) {
  const Lock lock(runtime().mutex);
  return configure(text);
}

EXPORT unsigned hipsim_reports() { return runtime().reports; }
EXPORT const char *hipsim_last_report() { return runtime().last_report.c_str(); }

EXPORT hipsim_traffic hipsim_get_traffic() {
  const auto &t = runtime().traffic;
  return {t.uploads, t.upload_bytes, t.downloads, t.download_bytes, t.waits, t.batches};
}

EXPORT hipsim_imports hipsim_get_imports() {
  const auto &i = runtime().imports;
  return {i.imported, i.destroyed, i.refused};
}

EXPORT unsigned hipsim_leaks() {
  const Lock lock(runtime().mutex);
  unsigned count = 0;
  leaks(&count);
  return count;
}

EXPORT void hipsim_reset() {
  const Lock lock(runtime().mutex);
  runtime().device_error = 0;
  runtime().reports = 0;
  runtime().last_report.clear();
  configure("fail=");
}

AS_CALLED(hipGetErrorName)
AS_CALLED(hipGetLastError)
AS_CALLED(hipInit)
AS_CALLED(hipGetDeviceCount)
AS_CALLED(hipDeviceGetName)
AS_CALLED(hipDeviceGetAttribute)
