// The functions of libamdhip64 that engine/hip/runtime.h asks for, with enumerations as int and handles as void *, and
// those of control.h. Nothing else is exported.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "engine/hip/runtime.h"
#include "tests/hipsim/control.h"
#include "tests/hipsim/runtime.h"

#define EXPORT extern "C" [[gnu::visibility("default")]]

namespace hipsim {
namespace {

constinit thread_local int current_device = 0;
constinit thread_local bool device_was_set = false;
constinit thread_local int last_error = 0;
constinit thread_local int captures_here = 0;  // that this thread began

int remember(int error) {
  if (error) last_error = error;
  return error;
}

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
  if (!device_was_set) {
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
int enter_release(const char *name, const Body &body) {
  const int failure = injected_failure(Call::other);
  Lock lock(runtime().mutex);
  const int error = body(lock, runtime());
  (void)name;
  return remember(failure ? failure : error);
}

// Waiting: what has gone wrong comes out here.
int finish(Lock &lock, Runtime &r, WorkPointer work) {
  r.queue.finish(lock, work);
  return r.device_error;
}

int bad_handle(const char *function, const char *what) {
  return report(kErrorInvalidHandle, std::string(function) + "(): not a live " + what);
}

// Not while this thread records a graph.
int refuse_in_capture(const char *function) {
  if (!captures_here) return kSuccess;
  return report(kErrorStreamCaptureUnsupported, std::string(function) + "() while a stream is captured");
}

Stream *stream_of(Runtime &r, void *handle, const char *function, int *error) {
  Stream *stream = find(r.streams, handle);
  if (!stream)
    *error = bad_handle(function,
                        handle ? "stream" : "stream (the null stream waits for all others; nothing uses it)");
  else if (stream->device != current_device) {
    *error = report(kErrorInvalidContext, std::string(function) + "(): the stream is of device " +
                                              std::to_string(stream->device) + ", the thread's is " +
                                              std::to_string(current_device));
    stream = nullptr;
  }
  return stream;
}

// One side of a copy.
struct Rows {
  const void *data;
  size_t stride, width, rows;
  uint64_t extent() const { return rows ? (rows - 1) * stride + width : 0; }
  uint64_t begin() const { return reinterpret_cast<uint64_t>(data); }
};

// Empty: as it should be.
std::string check_device_side(const Rows &side, const char *name) {
  const Found found = find(side.data);
  if (!found.live || found.kind != MemoryKind::device)
    return std::string(name) + ": " + describe_access(side.begin(), side.extent());
  if (side.extent() > found.bytes - (side.begin() - found.begin))
    return std::string(name) + ": " + describe_access(side.begin(), side.extent());
  return "";
}

std::string check_host_side(const Rows &side, const char *name, bool *pinned) {
  const Found found = find(side.data);
  *pinned = found.live && found.kind != MemoryKind::device;
  if (found.live && found.kind == MemoryKind::device)
    return std::string(name) + " lies in device memory, but is to be the host's";
  if (*pinned && side.extent() > found.bytes - (side.begin() - found.begin))
    return std::string(name) + ": " + describe_access(side.begin(), side.extent());
  if (!found.live && is_ours(side.begin()))
    return std::string(name) + ": " + describe_access(side.begin(), side.extent());
  return "";
}

std::string check_copy(const Rows &to, const Rows &from, int kind, bool *pinned) {
  *pinned = true;
  std::string wrong = kind == kHostToDevice || kind == kDeviceToDevice
                          ? check_device_side(to, "the destination")
                          : check_host_side(to, "the destination", pinned);
  if (wrong.empty())
    wrong = kind == kHostToDevice ? check_host_side(from, "the source", pinned)
                                  : check_device_side(from, "the source");
  return wrong;
}

bool overlaps_pending_read(const Runtime &r, const Rows &side) {
  return std::any_of(r.pending_reads.begin(), r.pending_reads.end(), [&](const auto &read) {
    return side.begin() < read.second.second && read.second.first < side.begin() + side.extent();
  });
}

int copy(const char *function, const Rows &to, const Rows &from, int kind, void *stream_handle) {
  return enter_device(Call::copy, function, [&](Lock &lock, Runtime &r) {
    int error = 0;
    Stream *stream = stream_of(r, stream_handle, function, &error);
    if (!stream) return error;
    if (kind != kHostToDevice && kind != kDeviceToHost && kind != kDeviceToDevice)
      return report(kErrorInvalidMemcpyDirection,
                    std::string(function) + "(): the kind of copy must be told");
    if (to.rows > 1 && (to.stride < to.width || from.stride < from.width))
      return report(kErrorInvalidPitchValue, std::string(function) + "(): a stride is less than the width");
    if (!to.width || !to.rows) return int{kSuccess};
    bool pinned = false;
    if (const std::string wrong = check_copy(to, from, kind, &pinned); !wrong.empty())
      return report(kErrorInvalidValue, std::string(function) + "(): " + wrong);
    if (stream->capture && !pinned)
      return report(kErrorStreamCaptureUnsupported, std::string(function) +
                                                        "() from or to host memory that is not "
                                                        "pinned, while the stream is captured");
    if (!stream->capture && kind == kDeviceToHost && pinned && !overlaps_pending_read(r, to))
      for (size_t y = 0; y < to.rows; ++y)
        // Who reads too early finds no result of earlier.
        fill_with_garbage(static_cast<char *>(const_cast<void *>(to.data)) + y * to.stride, to.width);
    const std::shared_ptr<int> key = std::make_shared<int>();
    if (!stream->capture && kind == kHostToDevice)
      r.pending_reads[key.get()] = {from.begin(), from.begin() + from.extent()};
    r.queue.put(lock, *stream, [=, name = std::string(function)] {
      {
        const std::lock_guard again(runtime().mutex);
        runtime().pending_reads.erase(key.get());
      }
      if (runtime().device_error) return;
      bool still_pinned = false;
      if (const std::string wrong = check_copy(to, from, kind, &still_pinned); !wrong.empty())
        return report_in_work(kErrorIllegalAddress, name + "(), when it was done: " + wrong);
      for (size_t y = 0; y < to.rows; ++y)
        std::memcpy(static_cast<char *>(const_cast<void *>(to.data)) + y * to.stride,
                    static_cast<const char *>(from.data) + y * from.stride, to.width);
    });
    // As the drivers do it: the host waits for what it could change or read at once.
    return pinned ? int{kSuccess} : finish(lock, r, stream->last);
  });
}

}  // namespace
}  // namespace hipsim

using namespace hipsim;

EXPORT const void *vmafhip_kernel_image(const char *stem) { return stem ? find_image(stem) : nullptr; }

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
    NAME(ErrorStreamCaptureUnsupported)
    NAME(ErrorStreamCaptureInvalidated)
    NAME(ErrorStreamCaptureMerge)
    NAME(ErrorStreamCaptureUnmatched)
    NAME(ErrorStreamCaptureUnjoined)
    NAME(ErrorStreamCaptureIsolation)
    NAME(ErrorCapturedEvent)
    default:
      return "hipErrorUnknown";
  }
#undef NAME
}

EXPORT int hipGetLastError() {
  const int error = last_error;
  last_error = 0;
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
    *device = current_device;
    return settings().devices ? kSuccess : kErrorNoDevice;
  });
}

EXPORT int hipSetDevice(int device) {
  return enter(Call::other, [&](Lock &, Runtime &) {
    if (device < 0 || device >= settings().devices) return kErrorInvalidDevice;
    current_device = device;
    device_was_set = true;
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
      case kAttributeWarpSize:
        *value = static_cast<int>(settings().warp_size);
        return kSuccess;
      default:
        return report(kErrorInvalidValue, "hipDeviceGetAttribute(): the attribute " +
                                              std::to_string(attribute) + " is not simulated");
    }
  });
}

EXPORT int hipMemGetInfo(size_t *free, size_t *total) {
  return enter_device(Call::other, "hipMemGetInfo", [&](Lock &, Runtime &) {
    *total = settings().memory;
    *free = *total - std::min(*total, allocated_bytes(MemoryKind::device));
    return kSuccess;
  });
}

EXPORT int hipMalloc(void **data, size_t bytes) {
  return enter_device(Call::malloc, "hipMalloc", [&](Lock &, Runtime &) -> int {
    if (const int error = refuse_in_capture("hipMalloc")) return error;
    *data = nullptr;
    if (!bytes) return kSuccess;
    *data = allocate(MemoryKind::device, current_device, bytes, settings().memory);
    return *data ? kSuccess : kErrorOutOfMemory;
  });
}

EXPORT int hipHostMalloc(void **data, size_t bytes, unsigned) {
  return enter_device(Call::host, "hipHostMalloc", [&](Lock &, Runtime &) -> int {
    if (const int error = refuse_in_capture("hipHostMalloc")) return error;
    *data = nullptr;
    if (!bytes) return kSuccess;
    *data = allocate(MemoryKind::pinned, 0, bytes, settings().memory);
    return *data ? kSuccess : kErrorOutOfMemory;
  });
}

static int release_memory(const char *function, MemoryKind kind, void *data) {
  return enter_release(function, [&](Lock &lock, Runtime &r) -> int {
    if (!data) return kSuccess;
    if (const int error = refuse_in_capture(function)) return error;
    r.drain(lock);  // as the drivers do
    std::string damage;
    if (!release(kind, data, &damage))
      return report(kind == MemoryKind::registered ? kErrorHostMemoryNotRegistered : kErrorInvalidValue,
                    std::string(function) + "(): " + hex(reinterpret_cast<uint64_t>(data)) +
                        " is no live allocation of " + name_of(kind) + " memory; freed twice?");
    if (!damage.empty()) return report(kErrorIllegalAddress, std::string(function) + "(): " + damage);
    return kSuccess;
  });
}

EXPORT int hipFree(void *data) { return release_memory("hipFree", MemoryKind::device, data); }
EXPORT int hipHostFree(void *data) { return release_memory("hipHostFree", MemoryKind::pinned, data); }
EXPORT int hipHostUnregister(void *data) {
  return release_memory("hipHostUnregister", MemoryKind::registered, data);
}

EXPORT int hipHostRegister(void *data, size_t bytes, unsigned) {
  return enter_device(Call::host, "hipHostRegister", [&](Lock &, Runtime &) -> int {
    if (!data || !bytes) return report(kErrorInvalidValue, "hipHostRegister() of nothing");
    return register_memory(data, bytes) ? kSuccess : kErrorHostMemoryAlreadyRegistered;
  });
}

EXPORT int hipStreamCreateWithFlags(void **stream, unsigned) {
  return enter_device(Call::stream, "hipStreamCreateWithFlags", [&](Lock &, Runtime &r) -> int {
    Stream *created = add(r.streams);
    created->device = current_device;
    *stream = created;
    return kSuccess;
  });
}

EXPORT int hipStreamDestroy(void *handle) {
  return enter_release("hipStreamDestroy", [&](Lock &lock, Runtime &r) -> int {
    Stream *stream = find(r.streams, handle);
    if (!stream) return bad_handle("hipStreamDestroy", "stream");
    r.queue.forget(*stream);
    r.queue.finish(lock, stream->last);  // what was put on it is done all the same
    r.streams.erase(handle);
    return kSuccess;
  });
}

EXPORT int hipStreamSynchronize(void *handle) {
  return enter_device(Call::sync, "hipStreamSynchronize", [&](Lock &lock, Runtime &r) -> int {
    int error = 0;
    Stream *stream = stream_of(r, handle, "hipStreamSynchronize", &error);
    if (!stream) return error;
    if (stream->capture) {
      stream->capture->invalid = true;
      return report(kErrorStreamCaptureUnsupported, "hipStreamSynchronize() of a stream that is captured");
    }
    return finish(lock, r, stream->last);
  });
}

EXPORT int hipStreamWaitEvent(void *handle, void *event_handle, unsigned) {
  return enter_device(Call::other, "hipStreamWaitEvent", [&](Lock &, Runtime &r) -> int {
    int error = 0;
    Stream *stream = stream_of(r, handle, "hipStreamWaitEvent", &error);
    if (!stream) return error;
    const Event *event = find(r.events, event_handle);
    if (!event) return bad_handle("hipStreamWaitEvent", "event");
    if ((error = r.queue.wait(*stream, *event)))
      return report(error, "hipStreamWaitEvent(): the event was not recorded in the capture that goes on");
    return kSuccess;
  });
}

EXPORT int hipEventCreateWithFlags(void **event, unsigned flags) {
  return enter_device(Call::event, "hipEventCreateWithFlags", [&](Lock &, Runtime &r) -> int {
    Event *created = add(r.events);
    created->device = current_device;
    created->timing = !(flags & kEventDisableTiming);
    *event = created;
    return kSuccess;
  });
}

EXPORT int hipEventDestroy(void *handle) {
  return enter_release("hipEventDestroy", [&](Lock &, Runtime &r) -> int {
    return r.events.erase(handle) ? kSuccess : bad_handle("hipEventDestroy", "event");
  });
}

EXPORT int hipEventRecord(void *handle, void *stream_handle) {
  return enter_device(Call::other, "hipEventRecord", [&](Lock &, Runtime &r) -> int {
    int error = 0;
    Stream *stream = stream_of(r, stream_handle, "hipEventRecord", &error);
    if (!stream) return error;
    Event *event = find(r.events, handle);
    if (!event) return bad_handle("hipEventRecord", "event");
    if (event->device != stream->device)
      return report(kErrorInvalidHandle, "hipEventRecord(): the event is of another device than the stream");
    r.queue.record(*event, *stream);
    return kSuccess;
  });
}

static int use_event(Call call, const char *function, void *handle, int (*use)(Lock &, Runtime &, Event &)) {
  return enter_device(call, function, [&](Lock &lock, Runtime &r) -> int {
    Event *event = find(r.events, handle);
    if (!event) return bad_handle(function, "event");
    if (event->capture)
      return report(kErrorCapturedEvent, std::string(function) + "(): recorded in a capture");
    return use(lock, r, *event);
  });
}

EXPORT int hipEventQuery(void *handle) {
  return use_event(Call::other, "hipEventQuery", handle, [](Lock &lock, Runtime &r, Event &event) -> int {
    if (!r.queue.advance(lock, event.work)) return kErrorNotReady;
    return r.device_error;
  });
}

EXPORT int hipEventSynchronize(void *handle) {
  return use_event(Call::sync, "hipEventSynchronize", handle,
                   [](Lock &lock, Runtime &r, Event &event) { return finish(lock, r, event.work); });
}

EXPORT int hipEventElapsedTime(float *milliseconds, void *start, void *stop) {
  return enter_device(Call::other, "hipEventElapsedTime", [&](Lock &, Runtime &r) -> int {
    const Event *events[2] = {find(r.events, start), find(r.events, stop)};
    for (const Event *event : events) {
      if (!event) return bad_handle("hipEventElapsedTime", "event");
      if (!event->timing || !event->work)
        return report(kErrorInvalidHandle,
                      "hipEventElapsedTime(): an event without timing, or never recorded");
      if (!event->work->done) return kErrorNotReady;
    }
    *milliseconds =
        std::chrono::duration<float, std::milli>(events[1]->work->when - events[0]->work->when).count();
    return r.device_error;
  });
}

EXPORT int hipMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream) {
  return copy("hipMemcpyAsync", {to, bytes, bytes, 1}, {from, bytes, bytes, 1}, kind, stream);
}

EXPORT int hipMemcpy2DAsync(void *to, size_t to_stride, const void *from, size_t from_stride, size_t width,
                            size_t rows, int kind, void *stream) {
  return copy("hipMemcpy2DAsync", {to, to_stride, width, rows}, {from, from_stride, width, rows}, kind,
              stream);
}

EXPORT int hipMemsetAsync(void *to, int value, size_t bytes, void *handle) {
  return enter_device(Call::copy, "hipMemsetAsync", [&](Lock &lock, Runtime &r) -> int {
    int error = 0;
    Stream *stream = stream_of(r, handle, "hipMemsetAsync", &error);
    if (!stream) return error;
    if (!bytes) return kSuccess;
    const Rows rows{to, bytes, bytes, 1};
    if (const std::string wrong = check_device_side(rows, "the destination"); !wrong.empty())
      return report(kErrorInvalidValue, "hipMemsetAsync(): " + wrong);
    r.queue.put(lock, *stream, [=] {
      if (runtime().device_error) return;
      if (const std::string wrong = check_device_side(rows, "the destination"); !wrong.empty())
        return report_in_work(kErrorIllegalAddress, "hipMemsetAsync(), when it was done: " + wrong);
      std::memset(to, value, bytes);
    });
    return kSuccess;
  });
}

EXPORT int hipModuleLoadData(void **module, const void *image) {
  return enter_device(Call::module, "hipModuleLoadData", [&](Lock &, Runtime &r) -> int {
    if (const int error = refuse_in_capture("hipModuleLoadData")) return error;
    if (!is_image(image)) return kErrorInvalidImage;
    Module *loaded = add(r.modules);
    loaded->image = static_cast<const Image *>(image);
    *module = loaded;
    return kSuccess;
  });
}

EXPORT int hipModuleUnload(void *module) {
  return enter_release("hipModuleUnload", [&](Lock &lock, Runtime &r) -> int {
    r.drain(lock);
    return r.modules.erase(module) ? kSuccess : bad_handle("hipModuleUnload", "module");
  });
}

EXPORT int hipModuleGetFunction(void **function, void *handle, const char *name) {
  return enter_device(Call::other, "hipModuleGetFunction", [&](Lock &, Runtime &r) -> int {
    Module *module = find(r.modules, handle);
    if (!module) return bad_handle("hipModuleGetFunction", "module");
    for (size_t i = 0; i < module->image->count; ++i) {
      const Kernel &kernel = module->image->kernels[i];
      if (std::strcmp(kernel.name, name) != 0) continue;
      auto &known = module->functions[&kernel];
      if (!known) known = std::make_unique<Function>(Function{module, &kernel});
      *function = known.get();
      return kSuccess;
    }
    return report(kErrorNotFound, std::string("module ") + module->image->stem + " has no kernel " + name +
                                      " (tests/hipsim lists them)");
  });
}

// The argument of the kernel, from `extra`; null with the reason in `wrong`.
static const void *packed_arguments(void **extra, size_t *bytes, std::string *wrong) {
  const void *data = nullptr;
  const size_t *size = nullptr;
  for (int i = 0; extra && i < 6; i += 2) {
    const auto key = reinterpret_cast<uintptr_t>(extra[i]);
    if (key == 3) break;
    if (key == 1)
      data = extra[i + 1];
    else if (key == 2)
      size = static_cast<const size_t *>(extra[i + 1]);
    else {
      *wrong = "an unknown key in `extra`, or no end to it";
      return nullptr;
    }
  }
  if (!data || !size) *wrong = "the argument goes by `extra`, with pointer and size";
  if (data && size) *bytes = *size;
  return size ? data : nullptr;
}

EXPORT int hipModuleLaunchKernel(void *handle, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                 unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                 void *stream_handle, void **parameters, void **extra) {
  return enter_device(Call::launch, "hipModuleLaunchKernel", [&](Lock &lock, Runtime &r) -> int {
    int error = 0;
    Stream *stream = stream_of(r, stream_handle, "hipModuleLaunchKernel", &error);
    if (!stream) return error;
    const Function *function = r.find_function(handle);
    if (!function) return bad_handle("hipModuleLaunchKernel", "kernel");
    const Kernel *kernel = function->kernel;
    const std::string name = std::string("kernel ") + kernel->name + ": ";
    const uint64_t threads = uint64_t{block_x} * block_y * block_z;
    if (!grid_x || !grid_y || !grid_z || grid_y > 65535 || grid_z > 65535)
      return report(kErrorInvalidConfiguration, name + "a grid of " + std::to_string(grid_x) + " x " +
                                                    std::to_string(grid_y) + " x " + std::to_string(grid_z) +
                                                    " blocks");
    if (!threads || block_x > kMostThreads || block_y > kMostThreads || threads > kMostThreads)
      return report(kErrorInvalidConfiguration, name + "a block of " + std::to_string(threads) + " threads");
    if (shared_bytes)
      return report(kErrorInvalidConfiguration,
                    name + "memory of the block is declared in the kernel, not at the launch");
    if (parameters) return report(kErrorInvalidValue, name + "the argument goes by `extra`");
    size_t bytes = 0;
    std::string wrong;
    const void *argument = packed_arguments(extra, &bytes, &wrong);
    if (!argument) return report(kErrorInvalidValue, name + wrong);
    if (bytes != kernel->argument_bytes)
      return report(kErrorInvalidValue, name + "launched with an argument of " + std::to_string(bytes) +
                                            " bytes, but takes " + std::to_string(kernel->argument_bytes));
    // Aligned for whatever it is made of.
    auto copy = std::make_shared<std::vector<Slot>>((bytes + sizeof(Slot) - 1) / sizeof(Slot));
    std::memcpy(copy->data(), argument, bytes);
    r.queue.put(lock, *stream,
                [=, grid = Index{grid_x, grid_y, grid_z}, block = Index{block_x, block_y, block_z}] {
                  if (runtime().device_error) return;
                  if (const auto fault = run({kernel, grid, block, copy->data()}))
                    report_in_work(fault->error, fault->text);
                });
    return kSuccess;
  });
}

EXPORT int hipStreamBeginCapture(void *handle, int) {
  return enter_device(Call::graph, "hipStreamBeginCapture", [&](Lock &, Runtime &r) -> int {
    int error = 0;
    Stream *stream = stream_of(r, handle, "hipStreamBeginCapture", &error);
    if (!stream) return error;
    if ((error = r.queue.begin_capture(*stream)))
      return report(error, "hipStreamBeginCapture(): already captured");
    ++captures_here;
    return kSuccess;
  });
}

EXPORT int hipStreamEndCapture(void *handle, void **graph) {
  const int failure = injected_failure(Call::graph);
  const auto end = [&](Lock &, Runtime &r) -> int {
    int error = 0;
    Stream *stream = stream_of(r, handle, "hipStreamEndCapture", &error);
    if (!stream) return error;
    *graph = nullptr;
    Graph recorded;
    error = r.queue.end_capture(*stream, &recorded);
    if (error != kErrorStreamCaptureUnmatched) captures_here -= captures_here > 0;
    if (error)
      return report(
          error,
          std::string("hipStreamEndCapture(): ") +
              (error == kErrorStreamCaptureUnjoined    ? "the work of another stream was not waited for"
               : error == kErrorStreamCaptureUnmatched ? "no capture began on this stream"
                                                       : "something was done that cannot be captured"));
    if (const int lost = failure ? failure : int{r.device_error}) return lost;
    Graph *made = add(r.graphs);
    *made = std::move(recorded);
    *graph = made;
    return kSuccess;
  };
  // The capture ends also where the call fails or the device is gone.
  Lock lock(runtime().mutex);
  return remember(end(lock, runtime()));
}

EXPORT int hipGraphInstantiate(void **exec, void *handle, void **, char *, size_t) {
  return enter_device(Call::graph, "hipGraphInstantiate", [&](Lock &, Runtime &r) -> int {
    const Graph *graph = find(r.graphs, handle);
    if (!graph) return bad_handle("hipGraphInstantiate", "graph");
    Graph *made = add(r.launchable_graphs);
    *made = *graph;
    *exec = made;
    return kSuccess;
  });
}

EXPORT int hipGraphLaunch(void *exec, void *handle) {
  return enter_device(Call::launch, "hipGraphLaunch", [&](Lock &lock, Runtime &r) -> int {
    int error = 0;
    Stream *stream = stream_of(r, handle, "hipGraphLaunch", &error);
    if (!stream) return error;
    const Graph *graph = find(r.launchable_graphs, exec);
    if (!graph) return bad_handle("hipGraphLaunch", "launchable graph");
    if (stream->capture)
      return report(kErrorNotSupported, "hipGraphLaunch() on a stream that is captured is not simulated");
    r.queue.launch(lock, *stream, *graph);
    return kSuccess;
  });
}

EXPORT int hipGraphExecDestroy(void *exec) {
  return enter_release("hipGraphExecDestroy", [&](Lock &, Runtime &r) -> int {
    return r.launchable_graphs.erase(exec) ? kSuccess : bad_handle("hipGraphExecDestroy", "launchable graph");
  });
}

EXPORT int hipGraphDestroy(void *graph) {
  return enter_release("hipGraphDestroy", [&](Lock &, Runtime &r) -> int {
    return r.graphs.erase(graph) ? kSuccess : bad_handle("hipGraphDestroy", "graph");
  });
}

EXPORT bool hipsim_configure(const char *text) {
  const Lock lock(runtime().mutex);
  return configure(text);
}

EXPORT unsigned hipsim_reports() { return runtime().reports; }
EXPORT const char *hipsim_last_report() { return runtime().last_report.c_str(); }

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

// As the engine calls them, and so as libamdhip64 has them: tests/hip_signatures.cpp.
#define AS_CALLED(function) \
  static_assert(std::is_same_v<decltype(&function), decltype(vmafhip::hip::Functions::function)>);
AS_CALLED(hipGetErrorName)
AS_CALLED(hipGetLastError)
AS_CALLED(hipInit)
AS_CALLED(hipGetDeviceCount)
AS_CALLED(hipDeviceGetName)
AS_CALLED(hipDeviceGetAttribute)
AS_CALLED(hipMemGetInfo)
AS_CALLED(hipMalloc)
AS_CALLED(hipHostMalloc)
AS_CALLED(hipFree)
AS_CALLED(hipHostFree)
AS_CALLED(hipHostUnregister)
AS_CALLED(hipHostRegister)
AS_CALLED(hipStreamCreateWithFlags)
AS_CALLED(hipStreamDestroy)
AS_CALLED(hipStreamSynchronize)
AS_CALLED(hipStreamWaitEvent)
AS_CALLED(hipEventCreateWithFlags)
AS_CALLED(hipEventDestroy)
AS_CALLED(hipEventRecord)
AS_CALLED(hipEventQuery)
AS_CALLED(hipEventSynchronize)
AS_CALLED(hipEventElapsedTime)
AS_CALLED(hipMemcpyAsync)
AS_CALLED(hipMemcpy2DAsync)
AS_CALLED(hipMemsetAsync)
AS_CALLED(hipModuleLoadData)
AS_CALLED(hipModuleUnload)
AS_CALLED(hipModuleGetFunction)
AS_CALLED(hipModuleLaunchKernel)
AS_CALLED(hipStreamBeginCapture)
AS_CALLED(hipStreamEndCapture)
AS_CALLED(hipGraphInstantiate)
AS_CALLED(hipGraphLaunch)
AS_CALLED(hipGraphExecDestroy)
AS_CALLED(hipGraphDestroy)
#undef AS_CALLED
