// Proves against the headers of GStreamer's libraries of GPU memory, where they are installed, that what is called of them
// by name has these prototypes, names and numbers. gstcuda's need CUDA's. Compiling it is most of the test.
#define GST_USE_UNSTABLE_API
#include <gst/gst.h>

#include <cstdio>
#include <string_view>

#if HAVE_GSTCUDA
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>
#endif
#if HAVE_GSTHIP
#include <gst/hip/gsthip.h>
#endif

#include "gst/vmafhip/gpu_library.h"
#include "gst/vmafhip/gpu_memory.h"
#include "tests/plain_prototype.h"

namespace vmafhip {
namespace {

#define SAME(library, name) \
  static_assert(test::kSamePrototype<decltype(library::name), decltype(&::name)>, #name);
constexpr guint kMapGpu = guint(GST_MAP_FLAG_LAST) << 1;

[[maybe_unused]] bool is_kind(const GpuMemoryKind &kind, std::string_view feature,
                              std::string_view memory_type, std::string_view context_type) {
  return kind.feature == feature && kind.memory_type == memory_type && kind.context_type == context_type;
}

bool same() {
  bool good = true;
#if HAVE_GSTCUDA
  SAME(CudaLibrary, gst_cuda_load_library)
  SAME(CudaLibrary, gst_cuda_context_new_wrapped)
  SAME(CudaLibrary, gst_context_new_cuda_context)
#if GST_CHECK_VERSION(1, 24, 0)
  SAME(CudaLibrary, gst_cuda_memory_sync)
#endif
  static_assert(guint(GST_MAP_CUDA) == kMapGpu);
  good = good && is_kind(kCudaMemory, GST_CAPS_FEATURE_MEMORY_CUDA_MEMORY, GST_CUDA_MEMORY_TYPE_NAME,
                         GST_CUDA_CONTEXT_TYPE);
  std::puts("gstcuda: compared");
#endif
#if HAVE_GSTHIP
  SAME(HipLibrary, gst_hip_device_new)
  SAME(HipLibrary, gst_context_new_hip_device)
  SAME(HipLibrary, gst_hip_memory_sync)
  static_assert(guint(GST_MAP_HIP) == kMapGpu);
  static_assert(HipLibrary::kAmd == GST_HIP_VENDOR_AMD && HipLibrary::kNvidia == GST_HIP_VENDOR_NVIDIA);
  good = good && is_kind(kHipMemory, GST_CAPS_FEATURE_MEMORY_HIP_MEMORY, GST_HIP_MEMORY_NAME,
                         GST_HIP_DEVICE_CONTEXT_TYPE);
  std::puts("gsthip: compared");
#endif
  return good;
}

}  // namespace
}  // namespace vmafhip

int main() { return vmafhip::same() ? 0 : 1; }
