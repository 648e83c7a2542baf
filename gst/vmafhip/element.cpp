// Threads: chain and sink events run in the upstream threads and fill the inbox; the src pad's task runs
// the comparer; properties come from anywhere (object lock). No lock of ours is held while pushing,
// posting or querying.
#include "gst/vmafhip/element.h"

#include "gst/vmafhip/body.h"
#include "gst/vmafhip/pad.h"
#include "gst/vmafhip/properties.h"

GST_DEBUG_CATEGORY(vmafhip_debug);
#define GST_CAT_DEFAULT vmafhip_debug

using namespace vmafhip;

static void child_proxy_init(gpointer iface, gpointer);
G_DEFINE_TYPE_WITH_CODE(Vmafhip, vmafhip, GST_TYPE_ELEMENT,
                        G_IMPLEMENT_INTERFACE(GST_TYPE_CHILD_PROXY, child_proxy_init)
                            GST_DEBUG_CATEGORY_INIT(vmafhip_debug, "vmafhip", 0, "video quality measurement"))

static GstStaticPadTemplate ref_template = GST_STATIC_PAD_TEMPLATE(
    "ref_sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE(VMAFHIP_FORMATS)));
static GstStaticPadTemplate dist_template = GST_STATIC_PAD_TEMPLATE(
    "dist_sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE(VMAFHIP_FORMATS)));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE(
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE(VMAFHIP_FORMATS)));

// ---- frames ------------------------------------------------------------------------------------

// A pool with a limit must not wait for what waits here: it gets its buffer back, and a copy waits.
static BufferPtr adopt_unbound(GstBuffer *buffer) {
  if (!buffer->pool) return adopt(buffer);
  GstStructure *config = gst_buffer_pool_get_config(buffer->pool);
  guint most = 0;
  gst_buffer_pool_config_get_params(config, nullptr, nullptr, nullptr, &most);
  gst_structure_free(config);
  GstBuffer *copy = most > 0 ? gst_buffer_copy_deep(buffer) : nullptr;
  if (!copy) return adopt(buffer);
  gst_buffer_unref(buffer);
  return adopt(copy);
}

// A buffer without memory stands for a gap: there is no picture.
static GstFlowReturn put_gap(Vmafhip *self, Side side, GstBuffer *buffer) {
  if (side != output_side(self) || !GST_BUFFER_PTS_IS_VALID(buffer)) return GST_FLOW_OK;
  Item item;
  item.event.reset(gst_event_new_gap(GST_BUFFER_PTS(buffer), GST_BUFFER_DURATION(buffer)));
  item.stream = state_of(self, side).stream;
  return self->body->comparer.inbox().put(side, std::move(item));
}

static GstFlowReturn sink_chain(GstPad *pad, GstObject *parent, GstBuffer *raw) {
  Vmafhip *self = VMAFHIP(parent);
  const Side side = side_of(self, pad);
  const auto &stream = state_of(self, side).stream;
  BufferPtr buffer = adopt(raw);
  if (!stream) {
    GST_ELEMENT_ERROR(self, STREAM, FORMAT,
                      ("A frame came on %s before caps and a segment", GST_PAD_NAME(pad)), (nullptr));
    return GST_FLOW_NOT_NEGOTIATED;
  }
  if (gst_buffer_n_memory(raw) == 0) return put_gap(self, side, raw);
  Item item;
  const GstClockTime pts = GST_BUFFER_PTS(raw);
  if (GST_CLOCK_TIME_IS_VALID(pts) && stream->segment.format == GST_FORMAT_TIME) {
    const GstClockTime stop =
        GST_BUFFER_DURATION_IS_VALID(raw) ? pts + GST_BUFFER_DURATION(raw) : GST_CLOCK_TIME_NONE;
    if (!gst_segment_clip(&stream->segment, GST_FORMAT_TIME, pts, stop, nullptr, nullptr)) return GST_FLOW_OK;
    item.time = running_time(*stream, pts, gst_pad_get_offset(pad));
    item.timed = true;
  }
  item.bytes = gst_buffer_get_size(raw);
  item.stream = stream;
  item.buffer = adopt_unbound(gst_buffer_ref(raw));
  buffer.reset();
  return self->body->comparer.inbox().put(side, std::move(item));
}

// ---- events ------------------------------------------------------------------------------------

static void compare_loop(gpointer data) { VMAFHIP(GST_PAD_PARENT(data))->body->comparer.iterate(); }

static void renew_stream(Vmafhip *self, Side side) {
  PadState &state = state_of(self, side);
  if (!state.caps || !state.has_segment) return;
  auto stream = std::make_shared<Stream>();
  stream->caps.reset(gst_caps_ref(state.caps.get()));
  stream->info = state.info;
  stream->segment = state.segment;
  stream->segment_seqnum = state.segment_seqnum;
  stream->pad_offset = state.segment_offset;
  state.stream = std::move(stream);
}

static bool upstream_is_live(GstPad *pad) {
  GstQuery *query = gst_query_new_latency();
  gboolean live = FALSE;
  if (gst_pad_peer_query(pad, query)) gst_query_parse_latency(query, &live, nullptr, nullptr);
  gst_query_unref(query);
  return live;
}

static gboolean handle_caps(Vmafhip *self, GstPad *pad, Side side, GstEvent *event) {
  PadState &state = state_of(self, side);
  GstCaps *caps;
  gst_event_parse_caps(event, &caps);
  if (!gst_video_info_from_caps(&state.info, caps)) {
    gchar *text = gst_caps_to_string(caps);
    GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s cannot take these caps", GST_PAD_NAME(pad)), ("%s", text));
    g_free(text);
    return FALSE;
  }
  state.caps.reset(gst_caps_ref(caps));
  renew_stream(self, side);
  const int fps_n = GST_VIDEO_INFO_FPS_N(&state.info), fps_d = GST_VIDEO_INFO_FPS_D(&state.info);
  if (side == output_side(self) && fps_n > 0 && fps_d > 0) {
    self->body->comparer.set_frame_duration(gst_util_uint64_scale_int(GST_SECOND, fps_d, fps_n));
    // The latency we report depends on it.
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
    if (GST_PAD_IS_ACTIVE(self->src)) gst_pad_start_task(self->src, compare_loop, self->src, nullptr);
  }
}

static gboolean sink_event(GstPad *pad, GstObject *parent, GstEvent *event) {
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
      renew_stream(self, side);
      self->body->live[size_t(side)] = upstream_is_live(pad);
      inbox.set_live(self->body->live[0] || self->body->live[1]);
      break;
    case GST_EVENT_STREAM_START:
      inbox.reopen(side);
      break;
    case GST_EVENT_EOS:
      inbox.end(side);
      break;
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

static gboolean src_event(GstPad *pad, GstObject *parent, GstEvent *event) {
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

// ---- life --------------------------------------------------------------------------------------

static gboolean sink_activate(GstPad *pad, GstObject *parent, GstPadMode mode, gboolean active) {
  if (mode != GST_PAD_MODE_PUSH) return FALSE;
  Vmafhip *self = VMAFHIP(parent);
  self->body->comparer.inbox().refuse(side_of(self, pad), !active);
  return TRUE;
}

static gboolean src_activate(GstPad *pad, GstObject *parent, GstPadMode mode, gboolean active) {
  if (mode != GST_PAD_MODE_PUSH) return FALSE;
  Comparer &comparer = VMAFHIP(parent)->body->comparer;
  comparer.interrupt(!active);
  return active ? gst_pad_start_task(pad, compare_loop, pad, nullptr) : gst_pad_stop_task(pad);
}

static GstStateChangeReturn change_state(GstElement *element, GstStateChange transition) {
  Vmafhip *self = VMAFHIP(element);
  Comparer &comparer = self->body->comparer;
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    GST_OBJECT_LOCK(self);
    const Settings settings = self->body->settings;
    GST_OBJECT_UNLOCK(self);
    if (!comparer.start(settings)) return GST_STATE_CHANGE_FAILURE;
  }
  const GstStateChangeReturn result =
      GST_ELEMENT_CLASS(vmafhip_parent_class)->change_state(element, transition);
  // Upwards a failure ends it as well. Downwards a failure means that pads are still active: a handler of our own
  // message tried to stop us, say, in the thread that the pads would have to wait for.
  const bool failed = result == GST_STATE_CHANGE_FAILURE;
  if (failed ? transition == GST_STATE_CHANGE_READY_TO_PAUSED
             : transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    comparer.stop();
    for (PadState &state : self->body->pads) state = PadState();
    for (auto &live : self->body->live) live = false;
  }
  return result;
}

// EOS sent to the element itself ends both streams where they are.
static gboolean send_event(GstElement *element, GstEvent *event) {
  if (GST_EVENT_TYPE(event) != GST_EVENT_EOS)
    return GST_ELEMENT_CLASS(vmafhip_parent_class)->send_event(element, event);
  gst_event_unref(event);
  for (const Side side : {Side::ref, Side::dist}) VMAFHIP(element)->body->comparer.inbox().end(side);
  return TRUE;
}

// ---- properties --------------------------------------------------------------------------------

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
  Body &body = *VMAFHIP(object)->body;
  GST_OBJECT_LOCK(object);
  // The flag is a hint to readers; the core does not enforce it.
  const bool running = GST_STATE(object) > GST_STATE_READY || GST_STATE_NEXT(object) > GST_STATE_READY;
  const bool refused = running && !(spec->flags & GST_PARAM_MUTABLE_PLAYING);
  if (!refused) set_setting(body.settings, id, value);
  const Settings settings = body.settings;
  GST_OBJECT_UNLOCK(object);
  if (refused) {
    GST_WARNING_OBJECT(object, "%s cannot change now: set the element to READY first", spec->name);
    return;
  }
  body.output = settings.output;
  body.sync_window = settings.sync_window;
  body.comparer.set_frame_message(settings.frame_message);
  body.comparer.set_pool_method(settings.pool_method);
}

static GstStructure *stats(Vmafhip *self) {
  Comparer &comparer = self->body->comparer;
  GstStructure *s = comparer.report().stats().release();
  const auto ref = comparer.inbox().level(Side::ref), dist = comparer.inbox().level(Side::dist);
  gst_structure_set(s, "ref-queue-frames", G_TYPE_UINT64, ref.frames, "ref-queue-bytes", G_TYPE_UINT64,
                    ref.bytes, "dist-queue-frames", G_TYPE_UINT64, dist.frames, "dist-queue-bytes",
                    G_TYPE_UINT64, dist.bytes, nullptr);
  return s;
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *) {
  Vmafhip *self = VMAFHIP(object);
  if (id == PROP_STATS) return g_value_take_boxed(value, stats(self));
  if (id == PROP_LAST_SCORE) return g_value_set_double(value, self->body->comparer.report().last_score());
  GST_OBJECT_LOCK(object);
  get_setting(self->body->settings, id, value);
  GST_OBJECT_UNLOCK(object);
}

static void finalize(GObject *object) {
  delete VMAFHIP(object)->body;
  G_OBJECT_CLASS(vmafhip_parent_class)->finalize(object);
}

static GObject *child_by_index(GstChildProxy *proxy, guint index) {
  return index < 2 ? G_OBJECT(g_object_ref(VMAFHIP(proxy)->sink[index])) : nullptr;
}
static guint children_count(GstChildProxy *) { return 2; }
static void child_proxy_init(gpointer iface, gpointer) {
  auto *proxy = static_cast<GstChildProxyInterface *>(iface);
  proxy->get_child_by_index = child_by_index;
  proxy->get_children_count = children_count;
}

static void vmafhip_class_init(VmafhipClass *klass) {
  auto *object = G_OBJECT_CLASS(klass);
  object->set_property = set_property;
  object->get_property = get_property;
  object->finalize = finalize;
  install_properties(object);
  auto *element = GST_ELEMENT_CLASS(klass);
  element->change_state = change_state;
  element->send_event = send_event;
  gst_element_class_add_static_pad_template_with_gtype(element, &ref_template, VMAFHIP_TYPE_PAD);
  gst_element_class_add_static_pad_template_with_gtype(element, &dist_template, VMAFHIP_TYPE_PAD);
  gst_element_class_add_static_pad_template(element, &src_template);
  gst_element_class_set_static_metadata(
      element, "Video quality (VMAF)", "Filter/Analyzer/Video",
      "Compares a distorted video with its reference, frame by frame, and reports VMAF",
      "The vmafhip authors");
  gst_type_mark_as_plugin_api(VMAFHIP_TYPE_PAD, GstPluginAPIFlags(0));
}

static void vmafhip_init(Vmafhip *self) {
  GstStaticPadTemplate *templates[] = {&ref_template, &dist_template};
  for (int i = 0; i < 2; ++i) {
    GstPad *pad = GST_PAD(g_object_new(
        VMAFHIP_TYPE_PAD, "name", templates[i]->name_template, "direction", GST_PAD_SINK, "template",
        gst_element_class_get_pad_template(GST_ELEMENT_GET_CLASS(self), templates[i]->name_template),
        nullptr));
    gst_pad_set_chain_function(pad, sink_chain);
    gst_pad_set_event_function(pad, sink_event);
    gst_pad_set_query_function(pad, sink_query);
    gst_pad_set_activatemode_function(pad, sink_activate);
    // By the template: the default would ask downstream, and refuse before we can say why.
    GST_PAD_SET_ACCEPT_TEMPLATE(pad);
    gst_element_add_pad(GST_ELEMENT(self), pad);
    self->sink[i] = pad;
  }
  self->src = gst_pad_new_from_static_template(&src_template, "src");
  gst_pad_set_event_function(self->src, src_event);
  gst_pad_set_query_function(self->src, src_query);
  gst_pad_set_activatemode_function(self->src, src_activate);
  gst_element_add_pad(GST_ELEMENT(self), self->src);
  self->body = new Body(GST_ELEMENT(self), self->sink[0], self->sink[1], self->src);
}
