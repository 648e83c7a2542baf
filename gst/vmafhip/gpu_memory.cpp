#include "gst/vmafhip/gpu_memory.h"

#include <array>
#include <utility>

#include "gst/vmafhip/gpu_library.h"
#include "gst/vmafhip/mapping.h"

namespace vmafhip {
namespace {

constexpr GpuMemoryKind kKinds[] = {kCudaMemory, kHipMemory};

// GST_MAP_CUDA and GST_MAP_HIP: not the host's copy of it, but the GPU's address.
constexpr guint kMapGpu = guint(GST_MAP_FLAG_LAST) << 1;

// gstcuda knows from 1.24 on what writes a memory. Before, its elements wait for their own streams before they push, but
// copies of a memory (gst_memory_copy) are left to the default one.
void wait_for_writers(const GpuMemoryKind &kind, GstBuffer *buffer, const Gpu &gpu, uint64_t address) {
  const CudaLibrary *cuda = kind.nvidia_alone ? cuda_library(false) : nullptr;
  const HipLibrary *hip = kind.nvidia_alone ? nullptr : hip_library(false);
  const auto sync = cuda ? cuda->gst_cuda_memory_sync : hip ? hip->gst_hip_memory_sync : nullptr;
  for (guint i = 0; sync && i < gst_buffer_n_memory(buffer); ++i) sync(gst_buffer_peek_memory(buffer, i));
  if (!sync) gpu.await_default_stream(address);
}

// A buffer of a picture, mapped for the GPU, and for the processor where that reads it as well.
struct Mappings {
  BufferPtr buffer;
  std::shared_ptr<const Stream> stream;
  struct Frame {
    GstVideoFrame frame = {};
    bool mapped = false;
    ~Frame() {
      if (mapped) gst_video_frame_unmap(&frame);
    }
  } gpu, host;

  bool map(Frame &frame, guint flags) {
    // Our own reference keeps the buffer, so the mapping need not take one.
    const auto all = GstMapFlags(GST_MAP_READ | guint(GST_VIDEO_FRAME_MAP_FLAG_NO_REF) | flags);
    return frame.mapped = gst_video_frame_map(&frame.frame, const_cast<GstVideoInfo *>(&stream->info),
                                              buffer.get(), all);
  }
};

const guint8 *first_of(const GstVideoFrame &frame, guint plane) {
  return static_cast<const guint8 *>(GST_VIDEO_FRAME_PLANE_DATA(&frame, plane));
}

}  // namespace

std::span<const GpuMemoryKind> gpu_memory_kinds() {
  return std::span(kKinds).subspan(VMAFHIP_CUDA_MEMORY ? 0 : 1, VMAFHIP_CUDA_MEMORY + VMAFHIP_HIP_MEMORY);
}

const GpuMemoryKind *gpu_memory_kind(GstBuffer *buffer) {
  const guint count = gst_buffer_n_memory(buffer);
  for (const GpuMemoryKind &kind : gpu_memory_kinds()) {
    guint of_kind = 0;
    while (of_kind < count && gst_memory_is_type(gst_buffer_peek_memory(buffer, of_kind), kind.memory_type))
      ++of_kind;
    if (count > 0 && of_kind == count) return &kind;
  }
  return nullptr;
}

Result<std::optional<Picture>> gpu_picture(const BufferPtr &buffer,
                                           const std::shared_ptr<const Stream> &stream, const Gpu &gpu,
                                           uint8_t host, std::string &why) {
  const auto part = picture_part(buffer.get(), *stream);
  if (!part.ok()) return part.status();
  const GpuMemoryKind &kind = *gpu_memory_kind(buffer.get());
  auto mappings = std::make_shared<Mappings>();
  mappings->buffer = buffer;
  mappings->stream = stream;
  if (!mappings->map(mappings->gpu, kMapGpu)) {
    why = "it cannot be mapped for a GPU";
    return std::optional<Picture>();
  }
  const GstVideoFrame &frame = mappings->gpu.frame;
  const guint count = GST_VIDEO_INFO_N_PLANES(&stream->info);
  for (guint p = 0; p < count; ++p)
    if (!gpu.reads(uint64_t(reinterpret_cast<guintptr>(first_of(frame, p))))) {
      why = "GPU " + std::to_string(gpu.number()) + " cannot read it";
      return std::optional<Picture>();
    }
  wait_for_writers(kind, buffer.get(), gpu, uint64_t(reinterpret_cast<guintptr>(first_of(frame, 0))));
  const bool for_host = (host & (GST_VIDEO_INFO_N_COMPONENTS(&stream->info) > 1 ? 7 : 1)) != 0;
  if (for_host && !mappings->map(mappings->host, 0))
    return Status(Code::io,
                  std::string("a buffer of ") + kind.feature + " cannot be mapped for the processor");

  std::array<RawPlane, GST_VIDEO_MAX_PLANES> planes;
  for (guint p = 0; p < count; ++p) {
    const GstMapInfo &map = frame.map[p].memory || frame.map[p].data ? frame.map[p] : frame.map[0];
    const guint8 *first = first_of(frame, p);
    planes[p] = {for_host ? first_of(mappings->host.frame, p) : nullptr,
                 uint64_t(reinterpret_cast<guintptr>(first)), GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p),
                 gsize(first - map.data), map.size};
  }
  auto picture = make_picture(stream->info, *part, planes);
  if (!picture.ok()) return picture.status();
  picture->owner = std::move(mappings);
  return std::optional(std::move(*picture));
}

}  // namespace vmafhip
