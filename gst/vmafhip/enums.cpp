#include "gst/vmafhip/enums.h"

#include "engine/session.h"
#include "gst/vmafhip/settings.h"

namespace vmafhip {
namespace {

GType enum_type(const char *name, const GEnumValue *values) {
  const GType type = g_enum_register_static(name, values);
  gst_type_mark_as_plugin_api(type, GstPluginAPIFlags(0));
  return type;
}

constexpr GEnumValue kPoolMethods[] = {
    {int(PoolMethod::min), "Smallest score", "min"},
    {int(PoolMethod::max), "Largest score", "max"},
    {int(PoolMethod::mean), "Arithmetic mean", "mean"},
    {int(PoolMethod::harmonic_mean), "Harmonic mean of score + 1, less 1", "harmonic-mean"},
    // As gst-plugins-bad's vmaf spells it.
    {int(PoolMethod::harmonic_mean), "The same", "harmonic_mean"},
    {0, nullptr, nullptr}};

constexpr GEnumValue kScaleMethods[] = {{int(ScaleMethod::bicubic), "Catmull-Rom", "bicubic"},
                                        {int(ScaleMethod::bilinear), "Triangle", "bilinear"},
                                        {int(ScaleMethod::lanczos), "Lanczos, three lobes", "lanczos"},
                                        {int(ScaleMethod::none), "Another size is an error", "none"},
                                        {0, nullptr, nullptr}};

const char *nick_in(const GEnumValue *values, int value) {
  while (values->value != value) ++values;
  return values->value_nick;
}

constexpr GEnumValue kSyncModes[] = {
    {int(SyncMode::timestamp), "Nearest running time within the tolerance", "timestamp"},
    {int(SyncMode::order), "n-th frame with n-th frame; times are not looked at", "order"},
    {int(SyncMode::content), "Running time, corrected with an offset that is found in the pictures",
     "content"},
    {0, nullptr, nullptr}};

}  // namespace

GType backend_type() {
  static const GEnumValue values[] = {{int(Backend::automatic), "GPU if there is one, else CPU", "auto"},
                                      {int(Backend::cpu), "CPU", "cpu"},
                                      {int(Backend::hip), "GPU; an error if it cannot be had", "hip"},
                                      {0, nullptr, nullptr}};
  static const GType type = enum_type("GstVmafhipBackend", values);
  return type;
}

GType sync_type() {
  static const GType type = enum_type("GstVmafhipSync", kSyncModes);
  return type;
}

GType output_type() {
  static const GEnumValue values[] = {{int(Side::ref), "Frames of ref_sink", "reference"},
                                      {int(Side::dist), "Frames of dist_sink", "distorted"},
                                      {0, nullptr, nullptr}};
  static const GType type = enum_type("GstVmafhipOutput", values);
  return type;
}

GType on_missing_type() {
  static const GEnumValue values[] = {
      {int(OnMissing::skip), "It is left out and counted", "skip"},
      {int(OnMissing::repeat), "It is compared with the distorted frame then on screen", "repeat"},
      {0, nullptr, nullptr}};
  static const GType type = enum_type("GstVmafhipOnMissing", values);
  return type;
}

GType pool_method_type() {
  static const GType type = enum_type("GstVmafhipPoolMethod", kPoolMethods);
  return type;
}

GType alert_direction_type() {
  static const GEnumValue values[] = {
      {int(AlertDirection::below), "Scores below the threshold are bad", "below"},
      {int(AlertDirection::above), "Scores above the threshold are bad", "above"},
      {0, nullptr, nullptr}};
  static const GType type = enum_type("GstVmafhipAlertDirection", values);
  return type;
}

GType log_level_type() {
  static const GEnumValue values[] = {
      {int(LogLevel::none), "As GST_DEBUG says", "none"},
      {int(LogLevel::error), "Errors", "error"},
      {int(LogLevel::warning), "Warnings too", "warning"},
      {int(LogLevel::info), "Models and back end too", "info"},
      {int(LogLevel::debug), "Everything that does not come with each frame", "debug"},
      {0, nullptr, nullptr}};
  static const GType type = enum_type("GstVmafhipLogLevel", values);
  return type;
}

GType results_format_type() {
  static const GEnumValue values[] = {
      {int(ResultsChoice::automatic), "By the extension of results-filename", "auto"},
      {int(ResultsChoice::json), "JSON", "json"},
      {int(ResultsChoice::xml), "XML", "xml"},
      {int(ResultsChoice::csv), "Comma-separated values", "csv"},
      {int(ResultsChoice::sub), "Subtitles (MicroDVD)", "sub"},
      {int(ResultsChoice::none), "No file", "none"},
      {0, nullptr, nullptr}};
  static const GType type = enum_type("GstVmafhipResultsFormat", values);
  return type;
}

GType scale_method_type() {
  static const GType type = enum_type("GstVmafhipScaleMethod", kScaleMethods);
  return type;
}

const char *nick_of(PoolMethod method) { return nick_in(kPoolMethods, int(method)); }
const char *nick_of(SyncMode mode) { return nick_in(kSyncModes, int(mode)); }
const char *nick_of(ScaleMethod method) { return nick_in(kScaleMethods, int(method)); }

}  // namespace vmafhip
