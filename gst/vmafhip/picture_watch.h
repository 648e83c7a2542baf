// Samples are compared as they are, so scores mean something only if both streams mean the same by them. Watches
// what caps and buffers say of that, and has each difference said once.
#pragma once
#include <gst/video/video.h>

#include <set>
#include <string>
#include <vector>

#include "engine/status.h"
#include "gst/vmafhip/crop.h"
#include "gst/vmafhip/stream.h"

namespace vmafhip {

// Order of the fields of one frame, by time.
enum class Scan { progressive, top_first, bottom_first };

// What is known of a picture beside its samples. What the caps do not state is unknown (0): GStreamer's defaults for
// it say nothing of the stream.
struct Look {
  Rect part;          // that is compared
  int depth = 8;      // bits
  bool gray = false;  // no chroma
  Scan scan = Scan::progressive;
  int par_n = 0, par_d = 0;  // pixel aspect ratio
  GstVideoColorRange range = GST_VIDEO_COLOR_RANGE_UNKNOWN;
  GstVideoColorMatrix matrix = GST_VIDEO_COLOR_MATRIX_UNKNOWN;
  GstVideoTransferFunction transfer = GST_VIDEO_TRANSFER_UNKNOWN;
  GstVideoColorPrimaries primaries = GST_VIDEO_COLOR_PRIMARIES_UNKNOWN;
  bool operator==(const Look &) const = default;
};
Look look_at(const GstBuffer *buffer, const Stream &stream, const Rect &part);

// A warning to be posted: what is so, and what it does to scores and what to do about it.
struct Remark {
  std::string text, detail;
};

class PictureWatch {
 public:
  // `models`: scores come from models, all of which were made for SDR video.
  explicit PictureWatch(bool models = false) : models_(models) {}

  // Before each pair. An error forbids comparing it: one picture is progressive, the other is not. Adds to `remarks`
  // what has not been said yet; a difference of other values is another one. No more than 32 in all, so that streams
  // that keep changing do not flood the bus.
  Status check(const Look &ref, const Look &dist, std::vector<Remark> &remarks);

 private:
  bool models_;
  Look ref_, dist_;       // the last ones
  bool checked_ = false;  // there were some
  std::set<std::string> said_;
};

}  // namespace vmafhip
