// What GLib and GStreamer give away, owned.
#pragma once
#include <gst/gst.h>

#include <memory>
#include <string>

namespace monitor {

// Calls the function that frees a T.
template <auto free>
struct Free {
  template <typename T>
  void operator()(T *pointer) const {
    free(pointer);
  }
};

using ElementPtr = std::unique_ptr<GstElement, Free<gst_object_unref>>;
using PadPtr = std::unique_ptr<GstPad, Free<gst_object_unref>>;
using CapsPtr = std::unique_ptr<GstCaps, Free<gst_caps_unref>>;
using EventPtr = std::unique_ptr<GstEvent, Free<gst_event_unref>>;
using MessagePtr = std::unique_ptr<GstMessage, Free<gst_message_unref>>;
using StructurePtr = std::unique_ptr<GstStructure, Free<gst_structure_free>>;

// Empty for null.
inline std::string take_text(char *text) {
  const std::unique_ptr<char, Free<g_free>> owned(text);
  return text ? text : "";
}

inline std::string take_text(GError *error) {
  const std::unique_ptr<GError, Free<g_error_free>> owned(error);
  return error ? error->message : "";
}

}  // namespace monitor
