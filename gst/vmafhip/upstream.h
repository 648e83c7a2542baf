// How pads hang together upstream.
#pragma once
#include <gst/gst.h>

namespace vmafhip {

// Whether some element feeds both sink pads, as a tee or a demuxer: one of them may then block the other. Links that
// are none of pads (appsink to appsrc) are not seen.
bool have_common_source(GstPad *a, GstPad *b);

}  // namespace vmafhip
