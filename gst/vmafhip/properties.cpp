#include "gst/vmafhip/properties.h"

#include <functional>
#include <vector>

#include "gst/vmafhip/enums.h"

namespace vmafhip {
namespace {

struct Row {
  GParamSpec *spec;
  void (*set)(Settings &, const GValue *);
  void (*get)(const Settings &, GValue *);
};

// The flag of a setting: the element refuses others while it runs.
constexpr auto kFixed = GParamFlags(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
constexpr auto kLive = GParamFlags(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);

void read(const GValue *from, std::string &to) {
  const char *text = g_value_get_string(from);
  to = text ? text : "";
}
void read(const GValue *from, bool &to) { to = g_value_get_boolean(from); }
void read(const GValue *from, gint &to) { to = g_value_get_int(from); }
void read(const GValue *from, guint &to) { to = g_value_get_uint(from); }
void read(const GValue *from, gint64 &to) { to = g_value_get_int64(from); }
void read(const GValue *from, guint64 &to) { to = g_value_get_uint64(from); }
void read(const GValue *from, double &to) { to = g_value_get_double(from); }
template <class Enum>
void read(const GValue *from, Enum &to) {
  to = Enum(g_value_get_enum(from));
}

void write(const std::string &from, GValue *to) { g_value_set_string(to, from.c_str()); }
void write(bool from, GValue *to) { g_value_set_boolean(to, from); }
void write(gint from, GValue *to) { g_value_set_int(to, from); }
void write(guint from, GValue *to) { g_value_set_uint(to, from); }
void write(gint64 from, GValue *to) { g_value_set_int64(to, from); }
void write(guint64 from, GValue *to) { g_value_set_uint64(to, from); }
void write(double from, GValue *to) { g_value_set_double(to, from); }
template <class Enum>
void write(Enum from, GValue *to) {
  g_value_set_enum(to, int(from));
}

// `Member`: a pointer to a member of Settings, or a function that gives a reference to a part of one.
template <auto Member>
Row row(GParamSpec *spec) {
  return {spec, [](Settings &s, const GValue *value) { read(value, std::invoke(Member, s)); },
          [](const Settings &s, GValue *value) { write(std::invoke(Member, s), value); }};
}

const Settings kDefault;

template <auto Member>
Row text(const char *name, const char *nick, const char *blurb, GParamFlags flags) {
  return row<Member>(g_param_spec_string(name, nick, blurb, std::invoke(Member, kDefault).c_str(), flags));
}
template <auto Member>
Row toggle(const char *name, const char *nick, const char *blurb, GParamFlags flags) {
  return row<Member>(g_param_spec_boolean(name, nick, blurb, std::invoke(Member, kDefault), flags));
}
template <auto Member>
Row choice(GType type, const char *name, const char *nick, const char *blurb, GParamFlags flags) {
  return row<Member>(g_param_spec_enum(name, nick, blurb, type, int(std::invoke(Member, kDefault)), flags));
}
template <auto Member>
Row count(guint least, guint most, const char *name, const char *nick, const char *blurb, GParamFlags flags) {
  return row<Member>(g_param_spec_uint(name, nick, blurb, least, most, std::invoke(Member, kDefault), flags));
}
template <auto Member>
Row number(gint least, const char *name, const char *nick, const char *blurb, GParamFlags flags) {
  return row<Member>(
      g_param_spec_int(name, nick, blurb, least, G_MAXINT, std::invoke(Member, kDefault), flags));
}
template <auto Member>
Row signed64(gint64 least, const char *name, const char *nick, const char *blurb, GParamFlags flags) {
  return row<Member>(
      g_param_spec_int64(name, nick, blurb, least, G_MAXINT64, std::invoke(Member, kDefault), flags));
}
template <auto Member>
Row unsigned64(guint64 least, guint64 most, const char *name, const char *nick, const char *blurb,
               GParamFlags flags) {
  return row<Member>(
      g_param_spec_uint64(name, nick, blurb, least, most, std::invoke(Member, kDefault), flags));
}

template <auto Member>
Row real(const char *name, const char *nick, const char *blurb, GParamFlags flags) {
  // Or NaN would be refused, as a value and as a default, because it is not equal to itself.
  flags = GParamFlags(flags | G_PARAM_LAX_VALIDATION);
  GParamSpec *spec = g_param_spec_double(name, nick, blurb, -G_MAXDOUBLE, G_MAXDOUBLE, 0, flags);
  G_PARAM_SPEC_DOUBLE(spec)->default_value = std::invoke(Member, kDefault);
  return row<Member>(spec);
}

constexpr auto kAlertThreshold = [](auto &s) -> auto & { return s.alert.threshold; };
constexpr auto kAlertClear = [](auto &s) -> auto & { return s.alert.clear; };
constexpr auto kAlertDuration = [](auto &s) -> auto & { return s.alert.duration; };
constexpr auto kAlertDirection = [](auto &s) -> auto & { return s.alert.direction; };

const std::vector<Row> &settings_table() {
  using S = Settings;
  static const std::vector<Row> rows = {
      text<&S::model>("model", "Model",
                      "Models separated by '|': NAME, version=NAME or path=FILE, each followed by "
                      ":name=LABEL, :enable_transform=true, :disable_clip=true, :EXTRACTOR.OPTION=VALUE "
                      "as wanted; '\\' escapes ':' and '|'",
                      kFixed),
      text<&S::features>("features", "Features",
                         "Further feature extractors separated by '|', each NAME or "
                         "NAME=OPTION=VALUE:OPTION=VALUE",
                         kFixed),
      choice<&S::backend>(backend_type(), "backend", "Back end", "What computes the metrics", kFixed),
      number<&S::device>(
          -1, "device", "Device",
          "Number of the GPU, from 0 on, as its driver counts; -1 = the one that is used least", kFixed),
      count<&S::threads>(0, 1024, "threads", "Threads", "CPU worker threads, 0 = number of processors",
                         kFixed),
      count<&S::subsample>(1, G_MAXINT, "subsample", "Subsample",
                           "Score every Nth compared frame; temporal features still see every frame", kFixed),
      choice<&S::sync>(sync_type(), "sync", "Synchronisation", "How frames find their partners", kFixed),
      signed64<&S::tolerance>(-1, "tolerance", "Tolerance",
                              "Largest distance in running time of two partners in ns, -1 = half the "
                              "shorter frame interval, measured from time stamps",
                              kFixed),
      unsigned64<&S::sync_window>(
          0, G_MAXINT64, "sync-window", "Synchronisation window",
          "How far apart in ns the streams may run: what may wait on one pad for the other, and "
          "the offsets that sync=content searches, in either direction (60 s at most)",
          kFixed),
      unsigned64<&S::max_queue_bytes>(1, G_MAXUINT64, "max-queue-bytes", "Most queued bytes",
                                      "Bytes that the waiting frames of both pads may take together", kFixed),
      choice<&S::scale_method>(scale_method_type(), "scale-method", "Scale method",
                               "How a distorted picture of another size is brought to the reference's",
                               kFixed),
      choice<&S::output>(output_type(), "output", "Output", "Which stream leaves on src", kFixed),
      toggle<&S::attach_meta>(
          "attach-meta", "Attach meta",
          "Attach scores to output buffers as VmafHipScore meta; a buffer waits for its score, "
          "which adds latency",
          kFixed),
      signed64<&S::max_score_delay>(-1, "max-score-delay", "Longest wait for a score",
                                    "Live: how long in ns an output buffer waits for its score before it "
                                    "goes without; reported as latency "
                                    "(if attach-meta is set). -1 = two frames + 40 ms",
                                    kFixed),
      choice<&S::on_missing>(on_missing_type(), "on-missing", "On missing frames",
                             "What becomes of a reference frame without a distorted partner", kFixed),
      text<&S::results_filename>("results-filename", "Result file",
                                 "File in one of libvmaf's layouts, written frame by frame; also a FIFO. "
                                 "Empty: none",
                                 kFixed),
      choice<&S::results_format>(results_format_type(), "results-format", "Result format",
                                 "Layout of the result file", kFixed),
      toggle<&S::frame_message>("frame-message", "Frame message",
                                "Post an element message for every scored frame", kLive),
      choice<&S::pool_method>(pool_method_type(), "pool-method", "Pool method",
                              "Which pooled value is `score` of pooled and window messages, and "
                              "pooled-score of stats",
                              kLive),
      unsigned64<&S::window>(0, G_MAXINT64, "window", "Window",
                             "Period in ns of running time of the window messages, which pool its frames; "
                             "0 = none. Windows begin at multiples of it",
                             kFixed),
      text<&S::score_source>("score-source", "Score source",
                             "Model label or feature name that `score` of messages, last-score and alerts "
                             "speak of; empty = first model, without models the first feature",
                             kFixed),
      text<&S::message_name>(
          "message-name", "Message name",
          "Name of the element messages' structures; VMAF = frame and pooled messages with "
          "the name and the fields that gst-plugins-bad's vmaf gives them",
          kFixed),
      real<kAlertThreshold>("alert-threshold", "Alert threshold",
                            "An alert message is posted once the score stays beyond this; NaN = no alerts",
                            kLive),
      real<kAlertClear>("alert-clear", "Alert clear level",
                        "Score at which a raised alert is cleared; NaN, or beyond the threshold, = "
                        "alert-threshold",
                        kLive),
      unsigned64<kAlertDuration>(0, G_MAXINT64, "alert-duration", "Alert duration",
                                 "How long in ns of running time the score must stay beyond alert-threshold "
                                 "to raise an alert; 0 = one frame is enough",
                                 kLive),
      choice<kAlertDirection>(alert_direction_type(), "alert-direction", "Alert direction",
                              "On which side of alert-threshold scores are bad", kLive),
      // As gst-plugins-bad's vmaf has them.
      text<&S::model_filename>(
          "model-filename", "Model file",
          "As vmaf of gst-plugins-bad has it: a model's name or its file (JSON), instead "
          "of the property model; empty = not used",
          kFixed),
      toggle<&S::psnr>("psnr", "PSNR", "The same as float_psnr in features", kFixed),
      toggle<&S::ssim>("ssim", "SSIM", "The same as float_ssim in features", kFixed),
      toggle<&S::ms_ssim>("ms-ssim", "MS-SSIM", "The same as float_ms_ssim in features", kFixed),
      toggle<&S::disable_clip>("disable-clip", "Disable clipping",
                               "The same as :disable_clip=true with every model", kFixed),
      toggle<&S::enable_transform>("enable-transform", "Enable the transform",
                                   "The same as :enable_transform=true with every model", kFixed),
      toggle<&S::phone_model>("phone-model", "Phone model", "The same as enable-transform", kFixed),
      toggle<&S::conf_interval>(
          "conf-interval", "Confidence interval",
          "Warn if no model gives confidence intervals: they come with bootstrap models", kFixed),
      choice<&S::log_level>(log_level_type(), "log-level", "Log level",
                            "How much of this element GStreamer's log shows at least", kFixed),
  };
  return rows;
}

}  // namespace

void install_properties(GObjectClass *klass) {
  guint id = PROP_FIRST_SETTING;
  for (const Row &row : settings_table()) g_object_class_install_property(klass, id++, row.spec);
  const auto reading = GParamFlags(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_property(
      klass, PROP_STATS,
      g_param_spec_boxed(
          "stats", "Statistics",
          "Counters, how pictures were read, back end, model sources, scores; while running queue levels, "
          "frames a second and how far scores lag behind; after a stop those of the last run",
          GST_TYPE_STRUCTURE, reading));
  g_object_class_install_property(
      klass, PROP_LAST_SCORE,
      g_param_spec_double("last-score", "Last score",
                          "Score of the frame scored last, NaN before the first; notified per frame",
                          -G_MAXDOUBLE, G_MAXDOUBLE, 0, reading));
}

void set_setting(Settings &settings, guint property, const GValue *value) {
  settings_table()[property - PROP_FIRST_SETTING].set(settings, value);
}

void get_setting(const Settings &settings, guint property, GValue *value) {
  settings_table()[property - PROP_FIRST_SETTING].get(settings, value);
}

}  // namespace vmafhip
