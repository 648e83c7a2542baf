// How the element and its neighbours come to use the same GPU, so that pictures in its memory need not be moved: by
// GstContexts, in queries between neighbours and in messages to the application.
//
// CUDA's are offered the GPU's primary context, which sessions work in: kernels of several contexts take turns.
#pragma once
#include <gst/gst.h>

#include <array>
#include <memory>
#include <mutex>
#include <optional>

#include "engine/gpu.h"
#include "engine/session.h"
#include "gst/vmafhip/gpu_memory.h"
#include "gst/vmafhip/handles.h"

namespace vmafhip {

// From any thread. Calls nobody back but by announce().
class GpuSharing {
 public:
  explicit GpuSharing(GstElement *element) : element_(element) {}

  // A neighbour asks for a context. False: it is none of GPU memory, or there is no such GPU for these settings. The GPU is
  // opened now if it is not yet; the session will take that one.
  bool answer(GstQuery *query, Backend backend, int device);
  // Somebody else has a context: a session that may choose takes the same GPU.
  void hear(GstContext *context);
  // SessionOptions::device for the setting.
  int device_for(int setting);

  // A session works on the GPU, or on none (null): the bins around are told, unless it is what was heard of.
  void announce(std::shared_ptr<const Gpu> gpu);
  // No session runs any more.
  void conclude();
  // Neighbours may still have the GPU.
  void release();

  // Whether caps may offer memory of the kind.
  bool offers(const GpuMemoryKind &kind, Backend backend) const;

 private:
  using Kind = size_t;             // number among gpu_memory_kinds()
  GstContext *context(Kind kind);  // borrowed; null without the library; mutex held

  GstElement *element_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Gpu> gpu_;
  bool settled_ = false;  // a session runs: gpu_ is what it works on
  std::optional<int> heard_;
  std::array<ContextPtr, 2> contexts_;
};

}  // namespace vmafhip
