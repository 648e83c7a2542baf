#include "gst/vmafhip/gpu_sharing.h"

#include <utility>
#include <vector>

#include "gst/vmafhip/gpu_library.h"
#include "gst/vmafhip/log.h"

#define GST_CAT_DEFAULT vmafhip_debug

namespace vmafhip {
namespace {

std::optional<size_t> kind_of(const gchar *context_type) {
  const auto kinds = gpu_memory_kinds();
  for (size_t i = 0; i < kinds.size(); ++i)
    if (g_strcmp0(context_type, kinds[i].context_type) == 0) return i;
  return {};
}

// What GStreamer's library has in place of a GPU. It keeps `gpu` for as long as anybody has it.
GstObject *make_cuda_context(const CudaLibrary &library, const std::shared_ptr<const Gpu> &gpu) {
  if (!library.gst_cuda_load_library()) return nullptr;
  return library.gst_cuda_context_new_wrapped(gpu->context(), gpu->number());
}
GstObject *make_hip_device(const HipLibrary &library, const std::shared_ptr<const Gpu> &gpu) {
  const int vendor = gpu->vendor() == Gpu::Vendor::amd ? HipLibrary::kAmd : HipLibrary::kNvidia;
  return library.gst_hip_device_new(vendor, guint(gpu->number()));
}

template <class Library>
GstContext *wrap(const Library *library, const std::shared_ptr<const Gpu> &gpu,
                 GstObject *(*make)(const Library &, const std::shared_ptr<const Gpu> &),
                 GstContext *(*Library::*describe)(GstObject *)) {
  GstObject *object = library ? make(*library, gpu) : nullptr;
  if (!object) return nullptr;
  g_object_set_data_full(G_OBJECT(object), "vmafhip-gpu", new std::shared_ptr<const Gpu>(gpu),
                         [](gpointer kept) { delete static_cast<std::shared_ptr<const Gpu> *>(kept); });
  GstContext *context = (library->*describe)(object);
  gst_object_unref(object);
  return context;
}

}  // namespace

GstContext *GpuSharing::context(Kind kind) {
  ContextPtr &context = contexts_[kind];
  if (context || !gpu_ || !fits(gpu_memory_kinds()[kind], gpu_->vendor())) return context.get();
  context.reset(
      gpu_memory_kinds()[kind].nvidia_alone
          ? wrap(cuda_library(true), gpu_, make_cuda_context, &CudaLibrary::gst_context_new_cuda_context)
          : wrap(hip_library(true), gpu_, make_hip_device, &HipLibrary::gst_context_new_hip_device));
  return context.get();
}

bool GpuSharing::answer(GstQuery *query, Backend backend, int device) {
  const gchar *type;
  gst_query_parse_context_type(query, &type);
  const auto kind = kind_of(type);
  if (!kind || backend == Backend::cpu) return false;
  const int chosen = device_for(device);
  std::unique_lock lock(mutex_);
  if (!gpu_ && !settled_) {
    auto opened = Gpu::open(chosen);
    if (opened.ok())
      gpu_ = std::move(*opened);
    else
      GST_INFO_OBJECT(element_, "no GPU to share: %s", opened.status().message().c_str());
  }
  GstContext *ours = context(*kind);
  if (!ours) return false;
  gst_query_set_context(query, ours);
  lock.unlock();
  GST_INFO_OBJECT(element_, "a neighbour is given the %s that pictures are compared with", type);
  return true;
}

void GpuSharing::hear(GstContext *context) {
  if (!context) return;
  const auto kind = kind_of(gst_context_get_context_type(context));
  if (!kind) return;
  guint number;
  const GstStructure *s = gst_context_get_structure(context);
  if (!gst_structure_get_uint(s, gpu_memory_kinds()[*kind].nvidia_alone ? "cuda-device-id" : "device-id",
                              &number))
    return;
  const std::lock_guard lock(mutex_);
  heard_ = int(number);
}

int GpuSharing::device_for(int setting) {
  const std::lock_guard lock(mutex_);
  if (setting >= 0) return setting;
  if (gpu_) return gpu_->number();
  // A hint, from a library that may count otherwise.
  if (heard_ && Gpu::open(*heard_).ok()) return *heard_;
  return setting;
}

void GpuSharing::announce(std::shared_ptr<const Gpu> gpu) {
  std::vector<GstContext *> news;
  {
    const std::lock_guard lock(mutex_);
    settled_ = true;
    const bool same = gpu && gpu_ && gpu->number() == gpu_->number() && gpu->vendor() == gpu_->vendor();
    if (!same) {
      gpu_ = std::move(gpu);
      for (ContextPtr &context : contexts_) context.reset();
    }
    const bool known = gpu_ && heard_ == gpu_->number();
    for (Kind kind = 0; !known && kind < gpu_memory_kinds().size(); ++kind)
      if (GstContext *ours = context(kind)) news.push_back(gst_context_ref(ours));
  }
  for (GstContext *context : news)
    gst_element_post_message(element_, gst_message_new_have_context(GST_OBJECT(element_), context));
}

void GpuSharing::conclude() {
  const std::lock_guard lock(mutex_);
  settled_ = false;
}

void GpuSharing::release() {
  const std::lock_guard lock(mutex_);
  for (ContextPtr &context : contexts_) context.reset();
  gpu_.reset();
  settled_ = false;
}

bool GpuSharing::offers(const GpuMemoryKind &kind, Backend backend) const {
  if (backend == Backend::cpu) return false;
  const std::lock_guard lock(mutex_);
  if (!gpu_) return !settled_;
  return fits(kind, gpu_->vendor());
}

}  // namespace vmafhip
