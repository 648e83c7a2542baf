// What is called of GStreamer's libraries of GPU memory, gstcuda and gsthip, found by name: their prototypes with handles
// as void * and GObjects as GstObject. tests/gpu_library_signatures.cpp compares with their headers where there are any.
#pragma once
#include <gst/gst.h>

namespace vmafhip {

struct CudaLibrary {
  static constexpr const char *kName = "libgstcuda-1.0.so.0";
  gboolean (*gst_cuda_load_library)() = nullptr;
  // Of a CUcontext and a CUdevice, which must outlive it.
  GstObject *(*gst_cuda_context_new_wrapped)(void *context, int device) = nullptr;
  GstContext *(*gst_context_new_cuda_context)(GstObject *context) = nullptr;
  // Waits for the stream that writes; from 1.24 on. Before, elements wait themselves before they push.
  void (*gst_cuda_memory_sync)(GstMemory *memory) = nullptr;
};

struct HipLibrary {
  static constexpr const char *kName = "libgsthip-1.0.so.0";
  static constexpr int kAmd = 1, kNvidia = 2;  // GstHipVendor
  GstObject *(*gst_hip_device_new)(int vendor, guint device) = nullptr;
  GstContext *(*gst_context_new_hip_device)(GstObject *device) = nullptr;
  // Waits for what writes.
  void (*gst_hip_memory_sync)(GstMemory *memory) = nullptr;
};

// Null without the library, or without a function that it must have. `load`: not only if somebody has loaded it already.
// It stays loaded.
const CudaLibrary *cuda_library(bool load);
const HipLibrary *hip_library(bool load);

}  // namespace vmafhip
