// What the buffers of a pad mean.
#pragma once
#include <gst/video/video.h>

#include <memory>

#include "gst/vmafhip/crop.h"
#include "gst/vmafhip/handles.h"

namespace vmafhip {

// Caps, segment and crop of a pad at one time; immutable. Every frame carries the one it came with, since the
// pad may have moved on when the frame leaves.
struct Stream {
  CapsPtr caps;
  GstVideoInfo info;
  bool in_dmabufs = false;  // by the caps; under others, too, buffers may be
  GstSegment segment;
  guint32 segment_seqnum = GST_SEQNUM_INVALID;
  gint64 pad_offset = 0;  // the part of the segment's times that is the pad's `offset`
  Crop crop;              // the pad's crop-… properties
};

// Formats the element takes, for pad templates.
#define VMAFHIP_FORMATS                                                                             \
  "{ I420, YV12, NV12, NV21, Y42B, NV16, Y444, GRAY8, I420_10LE, I422_10LE, Y444_10LE, P010_10LE, " \
  "I420_12LE, I422_12LE, Y444_12LE, P012_LE, P016_LE, Y444_16LE, GRAY16_LE }"

// Signed running time of a position in the stream, with the pad's present offset; ns. Within 73 years of 0, so that
// differences of two never overflow.
gint64 running_time(const Stream &stream, GstClockTime position, gint64 pad_offset);

// `time` + `by`, both valid; at the end of the scale the last valid time, where a sum would begin again at 0.
inline GstClockTime later(GstClockTime time, GstClockTime by) {
  static constexpr GstClockTime kLast = GST_CLOCK_TIME_NONE - 1;
  return by > kLast - time ? kLast : time + by;
}

}  // namespace vmafhip
