// Buffers in the simulated GPU's memory that look as those of GStreamer's own libraries do: they map to the GPU's address
// if asked to, and to a copy in host memory otherwise.
#pragma once
#include <gst/gst.h>
#include <gst/video/video.h>

#include <cstddef>
#include <memory>

#include "engine/hip/device.h"

namespace vmafhip::test {

struct GpuMemoryCounts {
  int alive = 0, downloads = 0;
};

// Of the type "HIPMemory", or another, on a device of the simulated runtime.
class GpuBuffers {
 public:
  explicit GpuBuffers(int device, const char *memory_type = "HIPMemory");
  ~GpuBuffers();
  GpuBuffers(const GpuBuffers &) = delete;

  // The same picture there; takes the buffer. With its metas and time stamps.
  GstBuffer *upload(GstBuffer *buffer) const;
  GpuMemoryCounts counts() const;

 private:
  GstAllocator *allocator_;
};

}  // namespace vmafhip::test
