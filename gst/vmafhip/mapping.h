// How buffers become the engine's pictures: which part of them is compared, and where its samples lie.
#pragma once
#include <memory>

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

// Maps the part of the buffer that picture_part() names, for reading; it stays mapped and referenced as long as the
// picture lives. Nothing is copied. The error says how the buffer differs from its caps or metas.
Result<Picture> map_picture(const BufferPtr &buffer, const std::shared_ptr<const Stream> &stream);

// For elements that do not know GstVideoCropMeta, as few do: if the caps' size is that of the meta's part, a buffer whose
// GstVideoMeta describes that part and which has no crop meta. It shares the memory. Otherwise the buffer itself.
GstBuffer *without_crop_meta(GstBuffer *buffer, const GstVideoInfo &info);  // takes and gives a reference

}  // namespace vmafhip
