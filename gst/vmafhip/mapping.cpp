#include "gst/vmafhip/mapping.h"

#include <algorithm>
#include <array>
#include <string>

namespace vmafhip {

namespace {

struct Mapping {
  GstVideoFrame frame = {};
  std::shared_ptr<const Stream> stream;
  BufferPtr buffer;
  bool mapped = false;
  ~Mapping() {
    if (mapped) gst_video_frame_unmap(&frame);
  }
};

// Whether all samples of the plane, which is part of `raw`, lie in the memory: mapping looks at the first byte of planes
// that a video meta describes, and at no stride.
bool in_memory(const Plane &plane, const RawPlane &raw, int bytes) {
  const auto address = [](const void *data, uint64_t device) {
    return data ? uint64_t(reinterpret_cast<guintptr>(data)) : device;
  };
  const auto first = gint64(raw.offset + address(plane.data, plane.device) - address(raw.data, raw.device));
  const gint64 down = gint64(plane.height - 1) * plane.stride;
  const gint64 across = (gint64(plane.width - 1) * plane.step + 1) * bytes;
  const gint64 begin = first + std::min<gint64>(down, 0), end = first + std::max<gint64>(down, 0) + across;
  return begin >= 0 && end <= gint64(raw.size);
}

bool lies_within(const GstVideoCropMeta &crop, guint64 width, guint64 height) {
  return crop.x + guint64(crop.width) <= width && crop.y + guint64(crop.height) <= height;
}

// What newer producers call the format of dma-bufs whose caps name it in another field.
bool is_drm(GstVideoFormat format) { return g_strcmp0(gst_video_format_to_string(format), "DMA_DRM") == 0; }

std::string size_text(guint width, guint height) {
  return std::to_string(width) + "x" + std::to_string(height);
}

}  // namespace

Result<Rect> picture_part(const GstBuffer *buffer, const Stream &stream) {
  auto *raw = const_cast<GstBuffer *>(buffer);
  const GstVideoInfo &info = stream.info;
  guint width = guint(GST_VIDEO_INFO_WIDTH(&info)), height = guint(GST_VIDEO_INFO_HEIGHT(&info));
  Rect part{0, 0, int(width), int(height)};
  // A video meta may describe larger planes (padding); smaller ones, or another format, are a producer's mistake.
  if (const GstVideoMeta *meta = gst_buffer_get_video_meta(raw)) {
    if (!(meta->format == GST_VIDEO_INFO_FORMAT(&info) || is_drm(meta->format)) || meta->width < width ||
        meta->height < height)
      return Status(Code::io, "a buffer's video meta says " + size_text(meta->width, meta->height) + " " +
                                  gst_video_format_to_string(meta->format) + ", its caps say " +
                                  size_text(width, height) + " " +
                                  gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info)));
    if (meta->n_planes < GST_VIDEO_INFO_N_PLANES(&info))
      return Status(Code::io, "a buffer's video meta tells of " + std::to_string(meta->n_planes) +
                                  " planes, but its caps say that it has " +
                                  std::to_string(GST_VIDEO_INFO_N_PLANES(&info)));
    width = meta->width, height = meta->height;
  }
  const GstVideoCropMeta *meta = gst_buffer_get_video_crop_meta(raw);
  if (meta) {
    if (!lies_within(*meta, std::min<guint>(width, G_MAXINT), std::min<guint>(height, G_MAXINT)))
      return Status(Code::io, "a buffer's crop meta says " + size_text(meta->width, meta->height) + " at " +
                                  std::to_string(meta->x) + "," + std::to_string(meta->y) +
                                  ", which is not within its " + size_text(width, height));
    if (meta->width == 0 || meta->height == 0)
      return Status(Code::io, "a buffer's crop meta says " + size_text(meta->width, meta->height) +
                                  ", which leaves no picture");
    part = {int(meta->x), int(meta->y), int(meta->width), int(meta->height)};
  }
  const Rect rest = inside(part, stream.crop);
  if (rest.width > 0) return rest;
  const Crop &crop = stream.crop;
  return Status(Code::invalid_argument,
                "nothing is left of " + size_text(guint(part.width), guint(part.height)) +
                    (meta ? " (by crop meta)" : "") + " after crop-left=" + std::to_string(crop.left) +
                    " crop-right=" + std::to_string(crop.right) + " crop-top=" + std::to_string(crop.top) +
                    " crop-bottom=" + std::to_string(crop.bottom) + ": crop less");
}

PictureFormat picture_format(const GstVideoInfo &info, const Rect &part) {
  const GstVideoFormatInfo *f = info.finfo;
  Chroma chroma = Chroma::c400;
  if (GST_VIDEO_FORMAT_INFO_N_COMPONENTS(f) > 1) {
    const bool half_width = GST_VIDEO_FORMAT_INFO_W_SUB(f, 1) > 0,
               half_height = GST_VIDEO_FORMAT_INFO_H_SUB(f, 1) > 0;
    chroma = half_height ? Chroma::c420 : half_width ? Chroma::c422 : Chroma::c444;
  }
  const bool pq = info.colorimetry.transfer == GST_VIDEO_TRANSFER_SMPTE2084;
  return {part.width, part.height, int(GST_VIDEO_FORMAT_INFO_DEPTH(f, 0)), chroma,
          pq ? Transfer::pq : Transfer::sdr};
}

Result<Picture> make_picture(const GstVideoInfo &info, const Rect &part, std::span<const RawPlane> planes) {
  Picture picture;
  picture.format = picture_format(info, part);
  picture.shift = int(GST_VIDEO_FORMAT_INFO_SHIFT(info.finfo, 0));
  const int bytes = picture.format.depth > 8 ? 2 : 1;
  const guint count = GST_VIDEO_INFO_N_COMPONENTS(&info);
  const auto plane_of = [&](guint c) { return guint(GST_VIDEO_FORMAT_INFO_PLANE(info.finfo, c)); };
  for (guint c = 0; c < count; ++c) {
    // Interleaved chroma: the second sample of a pair lies one word behind the first. GStreamer's own offset
    // (GST_VIDEO_FORMAT_INFO_POFFSET, and so GST_VIDEO_FRAME_COMP_DATA) is one byte also for P010, P012 and P016.
    const int second = GST_VIDEO_FORMAT_INFO_POFFSET(info.finfo, c) > 0 ? bytes : 0;
    const RawPlane &raw = planes[plane_of(c)];
    Plane &plane = picture.planes[c];
    if (raw.data) plane.data = static_cast<const std::byte *>(raw.data) + second;
    if (raw.device) plane.device = raw.device + uint64_t(second);
    plane.stride = raw.stride;
    plane.step = GST_VIDEO_FORMAT_INFO_PSTRIDE(info.finfo, c) / bytes;
  }
  cut(picture, part);
  for (guint c = 0; c < count; ++c)
    if (!in_memory(picture.planes[c], planes[plane_of(c)], bytes))
      return Status(Code::io, "plane " + std::to_string(plane_of(c)) + " of a buffer, at stride " +
                                  std::to_string(picture.planes[c].stride) +
                                  ", lies beyond its memory: its video meta must describe what it holds");
  return picture;
}

Result<Picture> map_picture(const BufferPtr &buffer, const std::shared_ptr<const Stream> &stream) {
  const auto part = picture_part(buffer.get(), *stream);
  if (!part.ok()) return part.status();
  auto mapping = std::make_shared<Mapping>();
  mapping->stream = stream;
  mapping->buffer = buffer;
  // Our own reference keeps the buffer, so the mapping need not take one.
  const auto flags = GstMapFlags(GST_MAP_READ | guint(GST_VIDEO_FRAME_MAP_FLAG_NO_REF));
  GstVideoFrame &frame = mapping->frame;
  const GstVideoInfo &info = stream->info;
  mapping->mapped = gst_video_frame_map(&frame, const_cast<GstVideoInfo *>(&info), buffer.get(), flags);
  if (!mapping->mapped)
    return Status(Code::io, "cannot map a buffer of " + std::to_string(gst_buffer_get_size(buffer.get())) +
                                " bytes as a picture of " + std::to_string(GST_VIDEO_INFO_SIZE(&info)) +
                                " bytes: buffers must hold what their caps say");
  std::array<RawPlane, GST_VIDEO_MAX_PLANES> planes;
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(&info); ++p) {
    const GstMapInfo &map = frame.map[p].memory || frame.map[p].data ? frame.map[p] : frame.map[0];
    const auto *first = static_cast<const guint8 *>(GST_VIDEO_FRAME_PLANE_DATA(&frame, p));
    planes[p] = {first, 0, GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p), gsize(first - map.data), map.size};
  }
  auto picture = make_picture(info, *part, planes);
  if (picture.ok()) picture->owner = std::move(mapping);
  return picture;
}

GstBuffer *without_crop_meta(GstBuffer *buffer, const GstVideoInfo &info) {
  const GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta(buffer);
  const GstVideoMeta *whole = gst_buffer_get_video_meta(buffer);
  if (!crop || !whole || whole->format != GST_VIDEO_INFO_FORMAT(&info) ||
      crop->width != guint(GST_VIDEO_INFO_WIDTH(&info)) ||
      crop->height != guint(GST_VIDEO_INFO_HEIGHT(&info)) || !lies_within(*crop, whole->width, whole->height))
    return buffer;
  // Not in place even if nobody else holds the buffer: a pool may count on its metas.
  GstBuffer *cut = gst_buffer_copy(buffer);
  gst_buffer_add_parent_buffer_meta(cut, buffer);
  GstVideoMeta *part = gst_buffer_get_video_meta(cut);
  part->width = crop->width, part->height = crop->height;
  gst_video_alignment_reset(&part->alignment);
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS(&info); ++c) {
    const guint plane = guint(GST_VIDEO_FORMAT_INFO_PLANE(info.finfo, c));
    part->offset[plane] =
        whole->offset[plane] +
        gsize(crop->y >> GST_VIDEO_FORMAT_INFO_H_SUB(info.finfo, c)) * gsize(whole->stride[plane]) +
        gsize(crop->x >> GST_VIDEO_FORMAT_INFO_W_SUB(info.finfo, c)) *
            gsize(GST_VIDEO_FORMAT_INFO_PSTRIDE(info.finfo, c));
  }
  gst_buffer_remove_meta(cut, GST_META_CAST(gst_buffer_get_video_crop_meta(cut)));
  gst_buffer_unref(buffer);
  return cut;
}

}  // namespace vmafhip
