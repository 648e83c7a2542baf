// What makes up an element, for the files that implement it.
#pragma once
#include <gst/gst.h>

#include <array>
#include <atomic>

#include "gst/vmafhip/comparer.h"

namespace vmafhip {

// What a sink pad has been told so far; its streaming thread owns it.
struct PadState {
  std::shared_ptr<const Stream> stream;  // once there are caps and a segment
  CapsPtr caps;
  GstVideoInfo info;
  GstSegment segment;
  gint64 segment_offset = 0;
  guint32 segment_seqnum = GST_SEQNUM_INVALID;
  bool has_segment = false;
};

struct Body {
  Body(GstElement *element, GstPad *ref, GstPad *dist, GstPad *src) : comparer(element, ref, dist, src) {}
  Settings settings;  // object lock
  // Of the settings, for any thread. They change below PAUSED only.
  std::atomic<Side> output{Side::ref};
  std::atomic<GstClockTime> sync_window{Settings().sync_window};
  Comparer comparer;
  std::array<PadState, 2> pads;
};

}  // namespace vmafhip

struct Vmafhip {
  GstElement parent;
  GstPad *sink[2];
  GstPad *src;
  vmafhip::Body *body;
};
struct VmafhipClass {
  GstElementClass parent_class;
};

#define VMAFHIP(o) (reinterpret_cast<Vmafhip *>(o))

namespace vmafhip {

inline Side side_of(Vmafhip *self, GstPad *pad) { return pad == self->sink[0] ? Side::ref : Side::dist; }
inline PadState &state_of(Vmafhip *self, Side side) { return self->body->pads[size_t(side)]; }
inline Side output_side(Vmafhip *self) { return self->body->output; }
inline GstPad *output_pad(Vmafhip *self) { return self->sink[size_t(output_side(self))]; }

// Functions of the pads (sinks.cpp).
GstFlowReturn sink_chain(GstPad *pad, GstObject *parent, GstBuffer *buffer);
gboolean sink_event(GstPad *pad, GstObject *parent, GstEvent *event);
GstPadProbeReturn sink_caps_probe(GstPad *pad, GstPadProbeInfo *info, gpointer self);
gboolean src_event(GstPad *pad, GstObject *parent, GstEvent *event);
// (queries.cpp)
gboolean sink_query(GstPad *pad, GstObject *parent, GstQuery *query);
gboolean src_query(GstPad *pad, GstObject *parent, GstQuery *query);

}  // namespace vmafhip
