// How buffers of dma-bufs become the engine's pictures: read where they are, by the GPU or through a mapping that is made
// once for each kernel object.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>

#include "engine/dmabuf.h"
#include "engine/picture.h"
#include "gst/vmafhip/handles.h"
#include "gst/vmafhip/stream.h"

namespace vmafhip {

struct DmaBufPicture {
  Picture picture;
  // Planes, bit n is plane n, that the GPU reads where they are, and that it copies from there by itself.
  uint8_t imported = 0, pinned = 0;
};

// Planes that the processor reads: even if the GPU reads them where they are, and if it does not.
struct HostPlanes {
  uint8_t always = 0xff, else_only = 0xff;
};

// The part of the buffer that picture_part() names; all its memory must be dma-bufs, and written. Without a picture and
// without an error, a plane lies in several memories. The buffer stays referenced as long as the picture lives. The error
// says what is wrong with a descriptor, a size or a meta.
Result<std::optional<DmaBufPicture>> dmabuf_picture(const BufferPtr &buffer,
                                                    const std::shared_ptr<const Stream> &stream,
                                                    DmaBufs &objects, HostPlanes host);

}  // namespace vmafhip
