#include "gst/vmafhip/gpu_library.h"

#include <dlfcn.h>

#include <mutex>

namespace vmafhip {
namespace {

template <class Function>
bool find(void *library, const char *name, Function *&function) {
  function = reinterpret_cast<Function *>(::dlsym(library, name));
  return function != nullptr;
}

bool fill(CudaLibrary &table, void *library) {
  find(library, "gst_cuda_memory_sync", table.gst_cuda_memory_sync);
  return find(library, "gst_cuda_load_library", table.gst_cuda_load_library) &&
         find(library, "gst_cuda_context_new_wrapped", table.gst_cuda_context_new_wrapped) &&
         find(library, "gst_context_new_cuda_context", table.gst_context_new_cuda_context);
}

bool fill(HipLibrary &table, void *library) {
  return find(library, "gst_hip_memory_sync", table.gst_hip_memory_sync) &&
         find(library, "gst_hip_device_new", table.gst_hip_device_new) &&
         find(library, "gst_context_new_hip_device", table.gst_context_new_hip_device);
}

template <class Table>
const Table *open(bool load) {
  static std::mutex mutex;
  static Table table;
  static bool filled = false;
  const std::lock_guard lock(mutex);
  if (filled) return &table;
  // Its types stay registered: it must not go again.
  void *library = ::dlopen(Table::kName, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | (load ? 0 : RTLD_NOLOAD));
  if (!library) return nullptr;
  filled = fill(table, library);
  return filled ? &table : nullptr;
}

}  // namespace

const CudaLibrary *cuda_library(bool load) { return open<CudaLibrary>(load); }
const HipLibrary *hip_library(bool load) { return open<HipLibrary>(load); }

}  // namespace vmafhip
