#include "tests/hipsim/api.h"

using namespace hipsim;

EXPORT int hipStreamCreateWithFlags(void **stream, unsigned) {
  return enter_device(Call::stream, "hipStreamCreateWithFlags", [&](Lock &, Runtime &r) -> int {
    Stream *created = add(r.streams);
    created->device = caller.device;
    *stream = created;
    return kSuccess;
  });
}

EXPORT int hipStreamDestroy(void *handle) {
  return enter_release([&](Lock &lock, Runtime &r) -> int {
    Stream *stream = find(r.streams, handle);
    if (!stream) return bad_handle("hipStreamDestroy", "stream");
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
    ++r.traffic.waits;
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
    r.queue.wait(*stream, *event);
    return kSuccess;
  });
}

EXPORT int hipEventCreateWithFlags(void **event, unsigned flags) {
  return enter_device(Call::event, "hipEventCreateWithFlags", [&](Lock &, Runtime &r) -> int {
    Event *created = add(r.events);
    created->device = caller.device;
    created->timing = !(flags & kEventDisableTiming);
    *event = created;
    return kSuccess;
  });
}

EXPORT int hipEventDestroy(void *handle) {
  return enter_release([&](Lock &, Runtime &r) -> int {
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
  return use_event(Call::sync, "hipEventSynchronize", handle, [](Lock &lock, Runtime &r, Event &event) {
    ++r.traffic.waits;
    return finish(lock, r, event.work);
  });
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
