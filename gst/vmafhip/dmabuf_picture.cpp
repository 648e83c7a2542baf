#include "gst/vmafhip/dmabuf_picture.h"

#include <gst/allocators/gstdmabuf.h>

#include <array>
#include <string>
#include <utility>

#include "gst/vmafhip/mapping.h"

namespace vmafhip {
namespace {

using Object = std::shared_ptr<const DmaBuf>;

// Keeps the buffer of a picture, and ends what the processor's reading of its objects has begun.
struct Reading {
  BufferPtr buffer;
  std::array<Object, GST_VIDEO_MAX_PLANES> objects;  // of GStreamer's planes
  std::array<Object, GST_VIDEO_MAX_PLANES> begun;
  size_t count = 0;

  Status begin(const Object &object) {
    for (size_t i = 0; i < count; ++i)
      if (begun[i] == object) return {};
    if (Status s = object->begin_read(); !s.ok()) return s;
    begun[count++] = object;
    return {};
  }
  ~Reading() {
    while (count > 0) begun[--count]->end_read();
  }
};

// Where a plane is in the buffer.
struct Place {
  gsize offset;
  ptrdiff_t stride;
};
Place place_of(guint plane, const GstVideoInfo &info, const GstVideoMeta *meta) {
  if (meta) return {meta->offset[plane], meta->stride[plane]};
  return {GST_VIDEO_INFO_PLANE_OFFSET(&info, plane), GST_VIDEO_INFO_PLANE_STRIDE(&info, plane)};
}

}  // namespace

Result<std::optional<DmaBufPicture>> dmabuf_picture(const BufferPtr &buffer,
                                                    const std::shared_ptr<const Stream> &stream,
                                                    DmaBufs &objects, HostPlanes host) {
  const auto part = picture_part(buffer.get(), *stream);
  if (!part.ok()) return part.status();
  const GstVideoInfo &info = stream->info;
  const GstVideoMeta *meta = gst_buffer_get_video_meta(buffer.get());
  auto reading = std::make_shared<Reading>();
  reading->buffer = buffer;
  std::array<RawPlane, GST_VIDEO_MAX_PLANES> raw;
  const guint planes = GST_VIDEO_INFO_N_PLANES(&info);
  for (guint p = 0; p < planes; ++p) {
    const Place place = place_of(p, info, meta);
    guint index, length;
    gsize skip;
    if (!gst_buffer_find_memory(buffer.get(), place.offset, 1, &index, &length, &skip))
      return Status(Code::io, "plane " + std::to_string(p) + " of a buffer begins at byte " +
                                  std::to_string(place.offset) + " of " +
                                  std::to_string(gst_buffer_get_size(buffer.get())) +
                                  ": buffers must hold what their caps and video meta say");
    GstMemory *memory = gst_buffer_peek_memory(buffer.get(), index);
    gsize begin, whole;  // of what the descriptor stands for
    const gsize size = gst_memory_get_sizes(memory, &begin, &whole);
    auto object = objects.find(gst_dmabuf_memory_get_fd(memory), whole);
    if (!object.ok()) return object.status();
    const DmaBuf &at = **object;
    raw[p] = {at.data() ? at.data() + begin + skip : nullptr, at.device() ? at.device() + begin + skip : 0,
              place.stride, skip, size};
    reading->objects[p] = std::move(*object);
  }
  auto picture = make_picture(info, *part, raw);
  if (!picture.ok()) {
    // Without a meta planes follow each other, whatever memories there are: one may be in two of them.
    if (!meta && gst_buffer_n_memory(buffer.get()) > 1) return std::optional<DmaBufPicture>();
    return picture.status();
  }
  DmaBufPicture result{std::move(*picture)};
  const guint count = GST_VIDEO_INFO_N_COMPONENTS(&info);
  for (guint c = 0; c < count; ++c) {
    const Object &object = reading->objects[GST_VIDEO_FORMAT_INFO_PLANE(info.finfo, c)];
    const auto bit = uint8_t(1 << c);
    if (object->device())
      result.imported |= bit;
    else if (object->pinned())
      result.pinned |= bit;
    if (!((object->device() ? host.always : host.else_only) & bit)) continue;
    if (Status s = reading->begin(object); !s.ok()) return s;
  }
  const auto all = uint8_t((1 << count) - 1);
  if (result.pinned && (result.imported | result.pinned) == all)
    result.picture.format.memory = MemoryKind::pinned;
  result.picture.owner = std::move(reading);
  return std::optional(std::move(result));
}

}  // namespace vmafhip
