#include "gst/vmafhip/stream.h"

#include <algorithm>

namespace vmafhip {

PictureFormat picture_format(const GstVideoInfo &info) {
  const GstVideoFormatInfo *f = info.finfo;
  Chroma chroma = Chroma::c400;
  if (GST_VIDEO_FORMAT_INFO_N_COMPONENTS(f) > 1) {
    const bool half_width = GST_VIDEO_FORMAT_INFO_W_SUB(f, 1) > 0,
               half_height = GST_VIDEO_FORMAT_INFO_H_SUB(f, 1) > 0;
    chroma = half_height ? Chroma::c420 : half_width ? Chroma::c422 : Chroma::c444;
  }
  return {GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info), int(GST_VIDEO_FORMAT_INFO_DEPTH(f, 0)),
          chroma};
}

gint64 running_time(const Stream &stream, GstClockTime position, gint64 pad_offset) {
  guint64 time = 0;
  const int sign = gst_segment_to_running_time_full(&stream.segment, GST_FORMAT_TIME, position, &time);
  // A pad's offset reaches us with segments only; a later change is added here.
  static constexpr gint64 kMost = G_MAXINT64 / 4;
  const auto bounded = [](gint64 t) { return std::clamp(t, -kMost, kMost); };
  const gint64 position_time = gint64(std::min(time, guint64(kMost)));
  return bounded((sign < 0 ? -position_time : position_time) + bounded(pad_offset) -
                 bounded(stream.pad_offset));
}

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

// Whether all samples of component c lie in the mapped memory: the mapping itself looks at the first byte of planes
// that a video meta describes, and at no stride.
bool in_memory(const GstVideoFrame &frame, guint c, const Plane &plane, int bytes) {
  const guint p = guint(GST_VIDEO_FORMAT_INFO_PLANE(frame.info.finfo, c));
  const GstMapInfo &map = frame.map[p].memory || frame.map[p].data ? frame.map[p] : frame.map[0];
  const auto first = reinterpret_cast<guintptr>(plane.data) - reinterpret_cast<guintptr>(map.data);
  const gint64 down = gint64(plane.height - 1) * plane.stride;
  const gint64 across = (gint64(plane.width - 1) * plane.step + 1) * bytes;
  const gint64 begin = gint64(first) + std::min<gint64>(down, 0);
  const gint64 end = gint64(first) + std::max<gint64>(down, 0) + across;
  return begin >= 0 && end <= gint64(map.size);
}

}  // namespace

Result<Picture> map_picture(const BufferPtr &buffer, const std::shared_ptr<const Stream> &stream) {
  auto mapping = std::make_shared<Mapping>();
  mapping->stream = stream;
  mapping->buffer = buffer;
  // Our own reference keeps the buffer, so the mapping need not take one.
  const auto flags = GstMapFlags(GST_MAP_READ | guint(GST_VIDEO_FRAME_MAP_FLAG_NO_REF));
  GstVideoFrame &frame = mapping->frame;
  const GstVideoInfo &info = stream->info;
  // A video meta may describe larger planes (padding); smaller ones, or another format, are a producer's mistake.
  if (const GstVideoMeta *meta = gst_buffer_get_video_meta(buffer.get());
      meta &&
      (meta->format != GST_VIDEO_INFO_FORMAT(&info) || meta->width < guint(GST_VIDEO_INFO_WIDTH(&info)) ||
       meta->height < guint(GST_VIDEO_INFO_HEIGHT(&info))))
    return Status(Code::io, "a buffer's video meta says " + std::to_string(meta->width) + "x" +
                                std::to_string(meta->height) + " " +
                                gst_video_format_to_string(meta->format) + ", its caps say " +
                                std::to_string(GST_VIDEO_INFO_WIDTH(&info)) + "x" +
                                std::to_string(GST_VIDEO_INFO_HEIGHT(&info)) + " " +
                                gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info)));
  mapping->mapped = gst_video_frame_map(&frame, const_cast<GstVideoInfo *>(&info), buffer.get(), flags);
  if (!mapping->mapped)
    return Status(Code::io, "cannot map a buffer of " + std::to_string(gst_buffer_get_size(buffer.get())) +
                                " bytes as a picture of " + std::to_string(GST_VIDEO_INFO_SIZE(&info)) +
                                " bytes: buffers must hold what their caps say");
  Picture picture;
  picture.format = picture_format(info);
  picture.shift = int(GST_VIDEO_FORMAT_INFO_SHIFT(info.finfo, 0));
  const int bytes = picture.format.depth > 8 ? 2 : 1;
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS(&info); ++c) {
    // Interleaved chroma: the second sample of a pair lies one word behind the first. GStreamer's own offset
    // (GST_VIDEO_FORMAT_INFO_POFFSET, and so GST_VIDEO_FRAME_COMP_DATA) is one byte also for P010, P012 and P016.
    const int second = GST_VIDEO_FORMAT_INFO_POFFSET(info.finfo, c) > 0 ? bytes : 0;
    const guint plane = guint(GST_VIDEO_FORMAT_INFO_PLANE(info.finfo, c));
    picture.planes[c] = {static_cast<const guint8 *>(GST_VIDEO_FRAME_PLANE_DATA(&frame, plane)) + second,
                         GST_VIDEO_FRAME_PLANE_STRIDE(&frame, plane), GST_VIDEO_INFO_COMP_WIDTH(&info, c),
                         GST_VIDEO_INFO_COMP_HEIGHT(&info, c),
                         GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, c) / bytes};
    if (!in_memory(frame, c, picture.planes[c], bytes))
      return Status(Code::io, "plane " + std::to_string(plane) + " of a buffer, at stride " +
                                  std::to_string(picture.planes[c].stride) +
                                  ", lies beyond its memory: its video meta must describe what it holds");
  }
  picture.owner = std::move(mapping);
  return picture;
}

}  // namespace vmafhip
