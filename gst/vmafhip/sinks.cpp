// What arrives on the pads: frames and events of the sink pads, in the upstream threads, and what comes back from
// behind the src pad.
#include "gst/vmafhip/body.h"
#include "gst/vmafhip/caps.h"
#include "gst/vmafhip/errors.h"
#include "gst/vmafhip/log.h"
#include "gst/vmafhip/pad.h"

#define GST_CAT_DEFAULT vmafhip_debug

using namespace vmafhip;

static void renew_stream(Vmafhip *self, GstPad *pad) {
  PadState &state = state_of(self, side_of(self, pad));
  if (!state.caps || !state.has_segment) return;
  auto stream = std::make_shared<Stream>();
  stream->caps.reset(gst_caps_ref(state.caps.get()));
  stream->info = state.info;
  stream->in_dmabufs = in_dmabufs(state.caps.get());
  stream->segment = state.segment;
  stream->segment_seqnum = state.segment_seqnum;
  stream->pad_offset = state.segment_offset;
  stream->crop = pad_crop(pad);
  state.stream = std::move(stream);
}

// ---- frames ------------------------------------------------------------------------------------

// A pool without a limit, of plain memory, makes a further buffer when one is kept. Of all others it must be
// feared that the source has to wait for it.
static void note_source(const GstBuffer *buffer, Item &item) {
  item.scarce = true;
  if (!buffer->pool) return;
  GstStructure *config = gst_buffer_pool_get_config(buffer->pool);
  gst_buffer_pool_config_get_params(config, nullptr, nullptr, nullptr, &item.most_buffers);
  gst_structure_free(config);
  const GstMemory *memory = gst_buffer_peek_memory(const_cast<GstBuffer *>(buffer), 0);
  item.scarce =
      item.most_buffers > 0 || !gst_memory_is_type(const_cast<GstMemory *>(memory), GST_ALLOCATOR_SYSMEM);
}

// Time moves on without a frame.
static GstFlowReturn put_gap(Vmafhip *self, Side side, GstEvent *event) {
  const auto &stream = state_of(self, side).stream;
  Item item;
  item.event.reset(event);
  item.stream = stream;
  GstClockTime start, duration;
  gst_event_parse_gap(event, &start, &duration);
  if (stream && stream->segment.format == GST_FORMAT_TIME && GST_CLOCK_TIME_IS_VALID(start)) {
    const GstClockTime end =
        GST_CLOCK_TIME_IS_VALID(duration) && stream->segment.rate > 0 ? later(start, duration) : start;
    item.reached = running_time(*stream, end, gst_pad_get_offset(self->sink[size_t(side)]));
  }
  if (side != output_side(self)) {
    item.event.reset();
    if (!item.reached) return GST_FLOW_OK;
  }
  return self->body->comparer.inbox().put(side, std::move(item));
}

GstFlowReturn vmafhip::sink_chain(GstPad *pad, GstObject *parent, GstBuffer *raw) {
  Vmafhip *self = VMAFHIP(parent);
  const Side side = side_of(self, pad);
  const auto &stream = state_of(self, side).stream;  // the present one, also when it is renewed
  BufferPtr buffer = adopt(raw);
  if (!stream) {
    GST_ELEMENT_ERROR(
        self, STREAM, FORMAT, ("A frame came on %s before caps and a segment", GST_PAD_NAME(pad)),
        ("Give appsrc its caps, and format=time; put rawvideoparse behind a filesrc of raw frames."));
    return GST_FLOW_NOT_NEGOTIATED;
  }
  if (gst_buffer_n_memory(raw) == 0) {  // stands for a gap: there is no picture
    if (!GST_BUFFER_PTS_IS_VALID(raw)) return GST_FLOW_OK;
    return put_gap(self, side, gst_event_new_gap(GST_BUFFER_PTS(raw), GST_BUFFER_DURATION(raw)));
  }
  if (stream->crop != pad_crop(pad)) renew_stream(self, pad);
  Item item;
  const GstClockTime pts = GST_BUFFER_PTS(raw);
  if (GST_CLOCK_TIME_IS_VALID(pts) && stream->segment.format == GST_FORMAT_TIME) {
    const GstClockTime stop =
        GST_BUFFER_DURATION_IS_VALID(raw) ? later(pts, GST_BUFFER_DURATION(raw)) : GST_CLOCK_TIME_NONE;
    if (!gst_segment_clip(&stream->segment, GST_FORMAT_TIME, pts, stop, nullptr, nullptr)) return GST_FLOW_OK;
    item.time = running_time(*stream, pts, gst_pad_get_offset(pad));
    item.timed = true;
  }
  item.bytes = gst_buffer_get_size(raw);
  item.stream = stream;
  note_source(raw, item);
  item.leaves_itself = stream->in_dmabufs && side == output_side(self);
  item.buffer = std::move(buffer);
  return self->body->comparer.inbox().put(side, std::move(item));
}

// ---- events ------------------------------------------------------------------------------------

// Whether the source is live, before anybody has asked for our latency.
static void ask_upstream(Vmafhip *self, GstPad *pad, Side side) {
  Comparer &comparer = self->body->comparer;
  GstQuery *query = gst_query_new_latency();
  gboolean live = FALSE;
  GstClockTime least = 0;
  if (gst_pad_peer_query(pad, query)) gst_query_parse_latency(query, &live, &least, nullptr);
  gst_query_unref(query);
  comparer.deadlines().set_upstream(side, live, least);
  comparer.inbox().set_live(comparer.deadlines().live());
}

// Caps that the template does not allow are refused before the event function sees them, and upstream would say no
// more than "not negotiated".
GstPadProbeReturn vmafhip::sink_caps_probe(GstPad *pad, GstPadProbeInfo *info, gpointer self) {
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT(info);
  if (GST_EVENT_TYPE(event) != GST_EVENT_CAPS) return GST_PAD_PROBE_OK;
  GstCaps *caps;
  gst_event_parse_caps(event, &caps);
  if (!gst_pad_query_accept_caps(pad, caps)) post_unfit_caps(GST_ELEMENT(self), pad, caps);
  return GST_PAD_PROBE_OK;
}

static gboolean handle_caps(Vmafhip *self, GstPad *pad, Side side, GstEvent *event) {
  PadState &state = state_of(self, side);
  GstCaps *caps;
  gst_event_parse_caps(event, &caps);
  if (!video_info(caps, state.info) ||
      GST_VIDEO_INFO_INTERLACE_MODE(&state.info) == GST_VIDEO_INTERLACE_MODE_FIELDS) {
    post_unfit_caps(GST_ELEMENT(self), pad, caps);
    return FALSE;
  }
  state.caps.reset(gst_caps_ref(caps));
  renew_stream(self, pad);
  const int fps_n = GST_VIDEO_INFO_FPS_N(&state.info), fps_d = GST_VIDEO_INFO_FPS_D(&state.info);
  if (side == output_side(self) && fps_n > 0 && fps_d > 0) {
    const GstClockTime duration = gst_util_uint64_scale_int(GST_SECOND, fps_d, fps_n);
    if (self->body->comparer.deadlines().set_frame_duration(duration))
      gst_element_post_message(GST_ELEMENT(self), gst_message_new_latency(GST_OBJECT(self)));
  }
  return TRUE;
}

static void handle_flush(Vmafhip *self, Side side, GstEvent *event) {
  Comparer &comparer = self->body->comparer;
  const bool start = GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_START;
  if (!start) {
    state_of(self, side).stream.reset();
    state_of(self, side).has_segment = false;
  }
  if (side != output_side(self)) {  // the output goes on; the comparer drops this side's frames
    gst_event_unref(event);
    comparer.inbox().flush(side, start);
    return;
  }
  gst_pad_push_event(self->src, event);
  // Also at the stop, which may come without a start.
  comparer.interrupt(true);
  comparer.inbox().flush(side, start);
  gst_pad_pause_task(self->src);  // returns when the running turn has ended, unless this is its thread
  if (!start) {
    comparer.restart_output();
    comparer.interrupt(false);
    if (GST_PAD_IS_ACTIVE(self->src)) comparer.start_task();
  }
}

gboolean vmafhip::sink_event(GstPad *pad, GstObject *parent, GstEvent *event) {
  Vmafhip *self = VMAFHIP(parent);
  const Side side = side_of(self, pad);
  Inbox &inbox = self->body->comparer.inbox();
  PadState &state = state_of(self, side);
  gboolean done = TRUE;
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_FLUSH_START:
    case GST_EVENT_FLUSH_STOP:
      handle_flush(self, side, event);
      return TRUE;
    case GST_EVENT_CAPS:
      done = handle_caps(self, pad, side, event);
      break;
    case GST_EVENT_SEGMENT:
      gst_event_copy_segment(event, &state.segment);
      state.segment_offset = gst_pad_get_offset(pad);
      state.segment_seqnum = gst_event_get_seqnum(event);
      state.has_segment = true;
      renew_stream(self, pad);
      ask_upstream(self, pad, side);
      break;
    case GST_EVENT_STREAM_START:
      inbox.reopen(side);
      break;
    case GST_EVENT_EOS:
      inbox.end(side);
      break;
    case GST_EVENT_GAP:
      put_gap(self, side, event);
      return TRUE;
    case GST_EVENT_SEGMENT_DONE: {
      Item item;
      item.segment_done = true;
      if (side == output_side(self))
        item.event.reset(event);
      else
        gst_event_unref(event);
      item.stream = state.stream;
      inbox.put(side, std::move(item));
      return TRUE;
    }
    default:
      if (side != output_side(self)) break;
      if (!GST_EVENT_IS_SERIALIZED(event)) return gst_pad_push_event(self->src, event);
      Item item;
      item.event.reset(event);
      item.stream = state.stream;
      inbox.put(side, std::move(item));
      return TRUE;
  }
  gst_event_unref(event);
  return done;
}

gboolean vmafhip::src_event(GstPad *pad, GstObject *parent, GstEvent *event) {
  Vmafhip *self = VMAFHIP(parent);
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_SEEK: {  // both streams or none
      GstSeekFlags flags;
      gst_event_parse_seek(event, nullptr, nullptr, &flags, nullptr, nullptr, nullptr, nullptr);
      // Frames from after the seek on one pad have no partner among those from before it on the other.
      Inbox &inbox = self->body->comparer.inbox();
      if (flags & GST_SEEK_FLAG_FLUSH) inbox.hold(true);
      bool done = true;
      for (GstPad *sink : self->sink) done = gst_pad_push_event(sink, gst_event_ref(event)) && done;
      if (flags & GST_SEEK_FLAG_FLUSH) inbox.hold(false);
      gst_event_unref(event);
      return done;
    }
    case GST_EVENT_QOS:  // every frame counts: a decoder must not skip any because a sink is late
      gst_event_unref(event);
      return TRUE;
    case GST_EVENT_RECONFIGURE:
      return gst_pad_push_event(output_pad(self), event);
    default:
      return gst_pad_event_default(pad, parent, event);
  }
}
