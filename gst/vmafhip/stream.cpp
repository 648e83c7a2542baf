#include "gst/vmafhip/stream.h"

#include <algorithm>

namespace vmafhip {

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

}  // namespace vmafhip
