// How buffers become the engine's pictures: which part of them is compared, and where its samples lie.
#pragma once
#include <memory>
#include <span>

#include "engine/picture.h"
#include "engine/status.h"
#include "gst/vmafhip/crop.h"
#include "gst/vmafhip/handles.h"
#include "gst/vmafhip/stream.h"

namespace vmafhip {

// The part of the buffer's frame that is compared: what its GstVideoCropMeta leaves (without one, the size of the
// caps, from the top left), less the pad's crop. The error says what does not fit into what.
Result<Rect> picture_part(const GstBuffer *buffer, const Stream &stream);

// Format of the picture that is `part` of a frame.
PictureFormat picture_format(const GstVideoInfo &info, const Rect &part);

// A plane as GStreamer counts them (interleaved chroma is one): where its first row is, and in what memory.
struct RawPlane {
  const void *data = nullptr;  // for the processor, or null
  uint64_t device = 0;         // for the GPU, or 0
  ptrdiff_t stride = 0;
  gsize offset = 0, size = 0;  // the row begins so many bytes into a memory of that size
};

// The part of a picture, of planes in the order of the format. It has no owner yet. The error names a plane that does
// not lie within its memory.
Result<Picture> make_picture(const GstVideoInfo &info, const Rect &part, std::span<const RawPlane> planes);

// Maps the part of the buffer that picture_part() names, for reading; it stays mapped and referenced as long as the
// picture lives. Nothing is copied, unless a plane lies in several memories. The error says how the buffer differs from
// its caps or metas.
Result<Picture> map_picture(const BufferPtr &buffer, const std::shared_ptr<const Stream> &stream);

// For elements that do not know GstVideoCropMeta, as few do: if the caps' size is that of the meta's part, a buffer whose
// GstVideoMeta describes that part and which has no crop meta. It shares the memory. Otherwise the buffer itself.
GstBuffer *without_crop_meta(GstBuffer *buffer, const GstVideoInfo &info);  // takes and gives a reference

}  // namespace vmafhip
