// The element's class, life and properties; sinks.cpp has what arrives on its pads, queries.cpp what they answer.
//
// Threads: chain and sink events run in the upstream threads and fill the inbox; the src pad's task runs the comparer;
// properties come from anywhere (object lock). No lock of ours is held while pushing, posting or querying.
#include "gst/vmafhip/element.h"

#include "gst/vmafhip/body.h"
#include "gst/vmafhip/caps.h"
#include "gst/vmafhip/log.h"
#include "gst/vmafhip/pad.h"
#include "gst/vmafhip/properties.h"

#define GST_CAT_DEFAULT vmafhip_debug

using namespace vmafhip;

static void child_proxy_init(gpointer iface, gpointer);
G_DEFINE_TYPE_WITH_CODE(Vmafhip, vmafhip, GST_TYPE_ELEMENT, register_log_categories();
                        G_IMPLEMENT_INTERFACE(GST_TYPE_CHILD_PROXY, child_proxy_init))

static constexpr const char *kSinkNames[] = {"ref_sink", "dist_sink"};

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
  return active ? comparer.start_task() : gst_pad_stop_task(pad);
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
  if (transition == GST_STATE_CHANGE_PAUSED_TO_PLAYING) comparer.set_playing(true);
  if (transition == GST_STATE_CHANGE_PLAYING_TO_PAUSED) comparer.set_playing(false);
  const GstStateChangeReturn result =
      GST_ELEMENT_CLASS(vmafhip_parent_class)->change_state(element, transition);
  // Upwards a failure ends it as well. Downwards a failure means that pads are still active: a handler of our own
  // message tried to stop us, say, in the thread that the pads would have to wait for.
  const bool failed = result == GST_STATE_CHANGE_FAILURE;
  if (failed ? transition == GST_STATE_CHANGE_READY_TO_PAUSED
             : transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    comparer.stop();
    for (PadState &state : self->body->pads) state = PadState();
  }
  if (transition == GST_STATE_CHANGE_READY_TO_NULL) comparer.sharing().release();
  return result;
}

static void set_context(GstElement *element, GstContext *context) {
  VMAFHIP(element)->body->comparer.sharing().hear(context);
  GST_ELEMENT_CLASS(vmafhip_parent_class)->set_context(element, context);
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

// Object lock held.
static bool running(Vmafhip *self) {
  return GST_STATE(self) > GST_STATE_READY || GST_STATE_NEXT(self) > GST_STATE_READY;
}

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
  Body &body = *VMAFHIP(object)->body;
  GST_OBJECT_LOCK(object);
  // The flag is a hint to readers; the core does not enforce it.
  const bool refused = running(VMAFHIP(object)) && !(spec->flags & GST_PARAM_MUTABLE_PLAYING);
  if (!refused) {
    set_setting(body.settings, id, value);
    body.output = body.settings.output;
    body.sync_window = body.settings.sync_window;
    body.comparer.measurement().update(body.settings);
  }
  GST_OBJECT_UNLOCK(object);
  if (refused) GST_WARNING_OBJECT(object, "%s cannot change now: set the element to READY first", spec->name);
}

static GstStructure *stats(Vmafhip *self) {
  Comparer &comparer = self->body->comparer;
  const auto ref = comparer.inbox().level(Side::ref), dist = comparer.inbox().level(Side::dist);
  GstStructure *s = comparer.measurement().report().stats(ref.newest).release();
  gst_structure_set(s, "ref-queue-frames", G_TYPE_UINT64, ref.frames, "ref-queue-bytes", G_TYPE_UINT64,
                    ref.bytes, "dist-queue-frames", G_TYPE_UINT64, dist.frames, "dist-queue-bytes",
                    G_TYPE_UINT64, dist.bytes, nullptr);
  return s;
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *) {
  Vmafhip *self = VMAFHIP(object);
  if (id == PROP_STATS) return g_value_take_boxed(value, stats(self));
  if (id == PROP_LAST_SCORE)
    return g_value_set_double(value, self->body->comparer.measurement().report().last_score());
  GST_OBJECT_LOCK(object);
  get_setting(self->body->settings, id, value);
  GST_OBJECT_UNLOCK(object);
}

// ---- action signals ----------------------------------------------------------------------------

static void request(Vmafhip *self, Comparer::Request what, const char *name) {
  GST_OBJECT_LOCK(self);
  const bool runs = running(self);
  GST_OBJECT_UNLOCK(self);
  if (runs)
    self->body->comparer.request(what);
  else
    GST_WARNING_OBJECT(self, "%s does nothing below PAUSED: nothing has been compared", name);
}

static void reset(Vmafhip *self) { request(self, Comparer::kReset, "reset"); }
static void post_pooled(Vmafhip *self) { request(self, Comparer::kPostPooled, "post-pooled"); }

static void install_signals(GType type) {
  const struct {
    const char *name;
    void (*action)(Vmafhip *);
  } signals[] = {{"reset", reset}, {"post-pooled", post_pooled}};
  for (const auto &signal : signals)
    g_signal_new_class_handler(signal.name, type, GSignalFlags(G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION),
                               G_CALLBACK(signal.action), nullptr, nullptr, nullptr, G_TYPE_NONE, 0);
}

// ---- class -------------------------------------------------------------------------------------

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

// gst-inspect prints all of it. README.md lists the fields of each message.
static void describe(GstElementClass *element) {
  gst_element_class_set_static_metadata(element, "Video quality (VMAF)", "Filter/Analyzer/Video",
                                        "Compares the video on dist_sink with its reference on ref_sink, "
                                        "frame by frame, and reports VMAF while the "
                                        "stream runs; src passes one of the two on and must be linked",
                                        "The vmafhip authors");
  const struct {
    const char *key, *text;
  } more[] = {
      {"Messages",
       "Element messages, structures named vmafhip; their field type says which: frame (each scored frame: "
       "score, models, features, times), pooled (at the end, at a stop, before a reset and on post-pooled: "
       "mean, min, max, harmonic-mean, stddev and percentiles of every score, counters), window (the same "
       "of each window), alert (raised, cleared), sync (with sync=content: what is "
       "known of the offset), reset (pools begin anew)"},
      {"Meta",
       "Scored buffers leave with a GstCustomMeta VmafHipScore, whose structure has the fields of the frame "
       "message"},
      {"Memory",
       "Pictures in dma-bufs, whether or not the caps say memory:DMABuf, are read where they are: by a GPU "
       "that can import them, else through a mapping; those in a GPU's memory by that GPU. stats and pooled "
       "count them by the way they went (imported, registered, mapped, copied); GST_DEBUG=vmafhip:4 says "
       "why. Only linear layouts are taken"},
      {"Signals",
       "reset: scores what can be scored, posts pooled and reset, begins anew; post-pooled: posts pooled of "
       "what has been scored so far; both from any thread, at any time from PAUSED on, and act a moment "
       "later"},
      {"Example",
       "gst-launch-1.0 -m vmafhip name=v ! fakesink filesrc location=ref.mp4 ! decodebin ! videoconvert ! "
       "v.ref_sink filesrc location=dist.mp4 ! decodebin ! videoconvert ! v.dist_sink"}};
  for (const auto &m : more) gst_element_class_add_static_metadata(element, m.key, m.text);
}

static void vmafhip_class_init(VmafhipClass *klass) {
  auto *object = G_OBJECT_CLASS(klass);
  object->set_property = set_property;
  object->get_property = get_property;
  object->finalize = finalize;
  install_properties(object);
  install_signals(G_TYPE_FROM_CLASS(klass));
  auto *element = GST_ELEMENT_CLASS(klass);
  element->change_state = change_state;
  element->send_event = send_event;
  element->set_context = set_context;
  const CapsPtr caps(pad_caps());
  for (const char *name : kSinkNames)
    gst_element_class_add_pad_template(
        element,
        gst_pad_template_new_with_gtype(name, GST_PAD_SINK, GST_PAD_ALWAYS, caps.get(), VMAFHIP_TYPE_PAD));
  gst_element_class_add_pad_template(element,
                                     gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps.get()));
  describe(element);
  gst_type_mark_as_plugin_api(VMAFHIP_TYPE_PAD, GstPluginAPIFlags(0));
}

static void vmafhip_init(Vmafhip *self) {
  const auto pad_template = [&](const char *name) {
    return gst_element_class_get_pad_template(GST_ELEMENT_GET_CLASS(self), name);
  };
  for (int i = 0; i < 2; ++i) {
    const char *name = kSinkNames[i];
    GstPad *pad = GST_PAD(g_object_new(VMAFHIP_TYPE_PAD, "name", name, "direction", GST_PAD_SINK, "template",
                                       pad_template(name), nullptr));
    gst_pad_set_chain_function(pad, sink_chain);
    gst_pad_set_event_function(pad, sink_event);
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, sink_caps_probe, self, nullptr);
    gst_pad_set_query_function(pad, sink_query);
    gst_pad_set_activatemode_function(pad, sink_activate);
    // By the template: the default would ask downstream, and refuse before we can say why.
    GST_PAD_SET_ACCEPT_TEMPLATE(pad);
    gst_element_add_pad(GST_ELEMENT(self), pad);
    self->sink[i] = pad;
  }
  self->src = gst_pad_new_from_template(pad_template("src"), "src");
  gst_pad_set_event_function(self->src, src_event);
  gst_pad_set_query_function(self->src, src_query);
  gst_pad_set_activatemode_function(self->src, src_activate);
  gst_element_add_pad(GST_ELEMENT(self), self->src);
  self->body = new Body(GST_ELEMENT(self), self->sink[0], self->sink[1], self->src);
}
