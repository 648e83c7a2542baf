// A frame on its way through the comparing thread.
#pragma once
#include <memory>

#include "gst/vmafhip/aligner.h"
#include "gst/vmafhip/handles.h"
#include "gst/vmafhip/stream.h"

namespace vmafhip {

struct QueuedFrame {
  BufferPtr buffer;
  std::shared_ptr<const Stream> stream;
  guint64 ticket = 0;  // of its place in the output, if it is of the selected stream
  gsize bytes = 0;
  bool timed = false;  // its running time is meaningful
};

using FrameAligner = Aligner<QueuedFrame>;

struct FramePair {
  FrameAligner::Frame ref, dist;
  bool by_time = false;   // sync=content, and the pictures do not tell the offset: partners by time stamps
  bool repeated = false;  // dist is not ref's own partner but what was on screen
};

}  // namespace vmafhip
