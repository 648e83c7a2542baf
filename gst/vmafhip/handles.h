// Owners of GStreamer's reference-counted things.
#pragma once
#include <gst/gst.h>

#include <memory>

namespace vmafhip {

// Shared because frames in flight, the output queue and the engine hold one buffer at the same time.
using BufferPtr = std::shared_ptr<GstBuffer>;
inline BufferPtr adopt(GstBuffer *buffer) { return BufferPtr(buffer, gst_buffer_unref); }

template <class T>
struct Unref {
  void operator()(T *object) const { gst_mini_object_unref(GST_MINI_OBJECT_CAST(object)); }
};
using CapsPtr = std::unique_ptr<GstCaps, Unref<GstCaps>>;
using EventPtr = std::unique_ptr<GstEvent, Unref<GstEvent>>;
using ContextPtr = std::unique_ptr<GstContext, Unref<GstContext>>;

struct UnrefObject {
  template <class T>
  void operator()(T *object) const {
    gst_object_unref(object);
  }
};
using ClockPtr = std::unique_ptr<GstClock, UnrefObject>;

struct FreeStructure {
  void operator()(GstStructure *s) const { gst_structure_free(s); }
};
using StructurePtr = std::unique_ptr<GstStructure, FreeStructure>;

}  // namespace vmafhip
