// Memory of GPUs as GStreamer's own libraries hand it on: memory:CUDAMemory (gstcuda, from 1.22 on) and memory:HIPMemory
// (gsthip, from 1.28 on). Pictures there are read where they are if the session's GPU can.
//
// Neither library is linked, and no header of theirs needed: whoever hands us such memory has loaded it already. What is
// called is found by name (gpu_library.h).
#pragma once
#include <gst/gst.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "engine/gpu.h"
#include "engine/picture.h"
#include "engine/status.h"
#include "gst/vmafhip/handles.h"
#include "gst/vmafhip/stream.h"

namespace vmafhip {

struct GpuMemoryKind {
  const char *feature;       // of caps
  const char *memory_type;   // GstAllocator::mem_type
  const char *context_type;  // of the GstContext by which elements share a GPU
  bool nvidia_alone;         // else any vendor's
};
inline constexpr GpuMemoryKind kCudaMemory{"memory:CUDAMemory", "gst.cuda.memory", "gst.cuda.context", true};
inline constexpr GpuMemoryKind kHipMemory{"memory:HIPMemory", "HIPMemory", "gst.hip.device", false};
// Those that this build takes.
std::span<const GpuMemoryKind> gpu_memory_kinds();
// Of which all of the buffer is; null: not of one.
const GpuMemoryKind *gpu_memory_kind(GstBuffer *buffer);

// Whether sessions on such a GPU may be given memory of the kind.
inline bool fits(const GpuMemoryKind &kind, Gpu::Vendor vendor) {
  return !kind.nvidia_alone || vendor == Gpu::Vendor::nvidia;
}

// The part of a buffer in GPU memory that picture_part() names, for the GPU to read; what wrote it is waited for. Of
// planes in `host` (bit n is plane n) the processor gets a copy besides, that GStreamer makes. The buffer stays mapped and
// referenced as long as the picture lives. Without a picture and without an error, `gpu` does not see the memory, and `why`
// says so. The error says how the buffer differs from its caps or metas.
Result<std::optional<Picture>> gpu_picture(const BufferPtr &buffer,
                                           const std::shared_ptr<const Stream> &stream, const Gpu &gpu,
                                           uint8_t host, std::string &why);

}  // namespace vmafhip
