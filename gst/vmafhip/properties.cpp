#include "gst/vmafhip/properties.h"

namespace vmafhip {
namespace {

GType enum_type(const char *name, const GEnumValue *values) {
  const GType type = g_enum_register_static(name, values);
  gst_type_mark_as_plugin_api(type, GstPluginAPIFlags(0));
  return type;
}

GType backend_type() {
  static const GEnumValue values[] = {{int(Backend::automatic), "GPU if there is one, else CPU", "auto"},
                                      {int(Backend::cpu), "CPU", "cpu"},
                                      {int(Backend::hip), "GPU; an error if it cannot be had", "hip"},
                                      {0, nullptr, nullptr}};
  static const GType type = enum_type("GstVmafhipBackend", values);
  return type;
}

GType sync_type() {
  static const GEnumValue values[] = {
      {int(SyncMode::timestamp), "Nearest running time within the tolerance", "timestamp"},
      {int(SyncMode::order), "n-th frame with n-th frame; times are not looked at", "order"},
      {0, nullptr, nullptr}};
  static const GType type = enum_type("GstVmafhipSync", values);
  return type;
}

GType output_type() {
  static const GEnumValue values[] = {{int(Side::ref), "Frames of ref_sink", "reference"},
                                      {int(Side::dist), "Frames of dist_sink", "distorted"},
                                      {0, nullptr, nullptr}};
  static const GType type = enum_type("GstVmafhipOutput", values);
  return type;
}

GType pool_method_type() {
  static const GEnumValue values[] = {
      {int(PoolMethod::mean), "Arithmetic mean", "mean"},
      {int(PoolMethod::min), "Smallest score", "min"},
      {int(PoolMethod::max), "Largest score", "max"},
      {int(PoolMethod::harmonic_mean), "Harmonic mean of score + 1, less 1", "harmonic-mean"},
      {0, nullptr, nullptr}};
  static const GType type = enum_type("GstVmafhipPoolMethod", values);
  return type;
}

}  // namespace

void install_properties(GObjectClass *klass) {
  const Settings d;
  const auto fixed = GParamFlags(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
  const auto live = GParamFlags(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
  const auto reading = GParamFlags(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  auto add = [klass](guint id, GParamSpec *spec) { g_object_class_install_property(klass, id, spec); };
  add(PROP_MODEL,
      g_param_spec_string("model", "Model",
                          "Models separated by '|': NAME, version=NAME or path=FILE, each followed by "
                          ":name=LABEL, :enable_transform=true, :disable_clip=true, :EXTRACTOR.OPTION=VALUE "
                          "as wanted; '\\' escapes ':' and '|'",
                          d.model.c_str(),
                          GParamFlags(G_PARAM_READWRITE | GST_PARAM_MUTABLE_READY | G_PARAM_STATIC_NAME |
                                      G_PARAM_STATIC_NICK | G_PARAM_STATIC_BLURB)));
  add(PROP_BACKEND, g_param_spec_enum("backend", "Back end", "What computes the metrics", backend_type(),
                                      int(d.backend), fixed));
  add(PROP_THREADS, g_param_spec_uint("threads", "Threads", "CPU worker threads, 0 = number of processors", 0,
                                      1024, d.threads, fixed));
  add(PROP_SYNC, g_param_spec_enum("sync", "Synchronisation", "How frames find their partners", sync_type(),
                                   int(d.sync), fixed));
  add(PROP_TOLERANCE,
      g_param_spec_int64(
          "tolerance", "Tolerance",
          "Largest distance in running time of two partners in ns, -1 = half the shorter frame "
          "interval, measured from time stamps",
          -1, G_MAXINT64, d.tolerance, fixed));
  add(PROP_SYNC_WINDOW,
      g_param_spec_uint64("sync-window", "Synchronisation window",
                          "How far apart in ns the streams may run: what may wait on one pad for the other",
                          0, G_MAXINT64, d.sync_window, fixed));
  add(PROP_MAX_QUEUE_BYTES,
      g_param_spec_uint64("max-queue-bytes", "Most queued bytes",
                          "Memory that the waiting frames of both pads may take together", 1, G_MAXUINT64,
                          d.max_queue_bytes, fixed));
  add(PROP_OUTPUT, g_param_spec_enum("output", "Output", "Which stream leaves on src", output_type(),
                                     int(d.output), fixed));
  add(PROP_ATTACH_META,
      g_param_spec_boolean(
          "attach-meta", "Attach meta",
          "Attach scores to output buffers as VmafHipScore meta; a buffer waits for its score", d.attach_meta,
          fixed));
  add(PROP_FRAME_MESSAGE,
      g_param_spec_boolean("frame-message", "Frame message", "Post an element message for every scored frame",
                           d.frame_message, live));
  add(PROP_POOL_METHOD,
      g_param_spec_enum("pool-method", "Pool method", "Which pooled value is `score` of pooled messages",
                        pool_method_type(), int(d.pool_method), live));
  add(PROP_STATS, g_param_spec_boxed("stats", "Statistics",
                                     "Counters, back end, model sources, queue levels, pooled score",
                                     GST_TYPE_STRUCTURE, reading));
  add(PROP_LAST_SCORE,
      g_param_spec_double("last-score", "Last score",
                          "Score of the frame scored last, NaN before the first; notified per frame",
                          -G_MAXDOUBLE, G_MAXDOUBLE, 0, reading));
}

void set_setting(Settings &s, guint property, const GValue *value) {
  switch (property) {
    case PROP_MODEL:
      s.model = g_value_get_string(value) ? g_value_get_string(value) : "";
      break;
    case PROP_BACKEND:
      s.backend = Backend(g_value_get_enum(value));
      break;
    case PROP_THREADS:
      s.threads = g_value_get_uint(value);
      break;
    case PROP_SYNC:
      s.sync = SyncMode(g_value_get_enum(value));
      break;
    case PROP_TOLERANCE:
      s.tolerance = g_value_get_int64(value);
      break;
    case PROP_SYNC_WINDOW:
      s.sync_window = g_value_get_uint64(value);
      break;
    case PROP_MAX_QUEUE_BYTES:
      s.max_queue_bytes = g_value_get_uint64(value);
      break;
    case PROP_OUTPUT:
      s.output = Side(g_value_get_enum(value));
      break;
    case PROP_FRAME_MESSAGE:
      s.frame_message = g_value_get_boolean(value);
      break;
    case PROP_ATTACH_META:
      s.attach_meta = g_value_get_boolean(value);
      break;
    case PROP_POOL_METHOD:
      s.pool_method = PoolMethod(g_value_get_enum(value));
      break;
  }
}

bool get_setting(const Settings &s, guint property, GValue *value) {
  switch (property) {
    case PROP_MODEL:
      g_value_set_string(value, s.model.c_str());
      return true;
    case PROP_BACKEND:
      g_value_set_enum(value, int(s.backend));
      return true;
    case PROP_THREADS:
      g_value_set_uint(value, s.threads);
      return true;
    case PROP_SYNC:
      g_value_set_enum(value, int(s.sync));
      return true;
    case PROP_TOLERANCE:
      g_value_set_int64(value, s.tolerance);
      return true;
    case PROP_SYNC_WINDOW:
      g_value_set_uint64(value, s.sync_window);
      return true;
    case PROP_MAX_QUEUE_BYTES:
      g_value_set_uint64(value, s.max_queue_bytes);
      return true;
    case PROP_OUTPUT:
      g_value_set_enum(value, int(s.output));
      return true;
    case PROP_FRAME_MESSAGE:
      g_value_set_boolean(value, s.frame_message);
      return true;
    case PROP_ATTACH_META:
      g_value_set_boolean(value, s.attach_meta);
      return true;
    case PROP_POOL_METHOD:
      g_value_set_enum(value, int(s.pool_method));
      return true;
  }
  return false;
}

}  // namespace vmafhip
