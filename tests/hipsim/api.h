// What all functions of the ABI have in common. They are in api_device.cpp (devices, errors, and what control.h offers),
// api_memory.cpp (memory and copies), api_external.cpp (memory of others), api_streams.cpp (streams, events) and api_modules.cpp (kernels): those of
// libamdhip64 that engine/hip/runtime.h asks for, with enumerations as int and handles as void *. Nothing else is exported.
#pragma once
#include <string>
#include <type_traits>

#include "engine/hip/runtime.h"
#include "tests/hipsim/runtime.h"

#define EXPORT extern "C" [[gnu::visibility("default")]]
// As the engine calls it, and so as libamdhip64 has it: tests/hip_signatures.cpp.
#define AS_CALLED(function) \
  static_assert(std::is_same_v<decltype(&function), decltype(vmafhip::hip::Functions::function)>);

namespace hipsim {

// Of the calling thread.
struct Caller {
  int device = 0;
  bool device_was_set = false;
  int last_error = 0;
};
extern constinit thread_local Caller caller;

int remember(int error);

// Each exported function runs its body within this: the call is counted, and fails if it is to.
template <class Body>
int enter(Call call, const Body &body) {
  if (const int error = injected_failure(call)) return remember(error);
  Lock lock(runtime().mutex);
  return remember(body(lock, runtime()));
}

// Calls that need a device. CUDA's functions fail in threads that have none; HIP's take the first.
template <class Body>
int enter_device(Call call, const char *name, const Body &body) {
  if (!caller.device_was_set) {
    // Who was not let choose one is not to blame for having none.
    if (const int error = injected_failure(call)) return remember(error);
    return remember(report(kErrorInvalidContext, std::string(name) +
                                                     "() in a thread that never called hipSetDevice(); "
                                                     "CUDA's driver would refuse"));
  }
  return enter(call, [&](Lock &lock, Runtime &r) -> int {
    if (const int error = r.device_error) return error;
    return body(lock, r);
  });
}

// Objects are released even where the call reports an error, as destructors call once.
template <class Body>
int enter_release(const Body &body) {
  const int failure = injected_failure(Call::other);
  Lock lock(runtime().mutex);
  const int error = body(lock, runtime());
  return remember(failure ? failure : error);
}

// Waiting: what has gone wrong comes out here.
int finish(Lock &lock, Runtime &r, WorkPointer work);
int bad_handle(const char *function, const char *what);
// Null with the error if there is no such stream, or it is not of this thread's device.
Stream *stream_of(Runtime &r, void *handle, const char *function, int *error);

}  // namespace hipsim
