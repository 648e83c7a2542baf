#include "gst/vmafhip/dropin.h"

#include <algorithm>
#include <string_view>

#include "gst/vmafhip/log.h"
#include "gst/vmafhip/structures.h"

namespace vmafhip {
namespace {

// Properties of `vmaf` that switch a metric on: the extractor, whose output has the same name, and the field of the
// messages.
struct Metric {
  bool Settings::*wanted;
  const char *feature, *field;
};
constexpr Metric kMetrics[] = {{&Settings::psnr, "float_psnr", "psnr-y"},
                               {&Settings::ssim, "float_ssim", "ssim"},
                               {&Settings::ms_ssim, "float_ms_ssim", "ms-ssim"}};

bool is_file(std::string_view model) {
  return model.find('/') != model.npos || model.ends_with(".json") || model.ends_with(".pkl");
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == ':' || c == '|' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

const GstStructure *nested(const GstStructure *s, const char *field) {
  const GValue *value = gst_structure_get_value(s, field);
  return value && GST_VALUE_HOLDS_STRUCTURE(value) ? gst_value_get_structure(value) : nullptr;
}

// Of a frame, or pooled.
double feature_of(const GstStructure *ours, const char *feature) {
  double value = NAN;
  const GstStructure *features = nested(ours, "features");
  if (!features) return value;
  if (const GstStructure *pools = nested(features, feature))
    gst_structure_get_double(pools, gst_structure_get_string(ours, "pool-method"), &value);
  else
    gst_structure_get_double(features, feature, &value);
  return value;
}

StructurePtr vmaf_message(const GstStructure *ours, bool frame, const PairInfo &last) {
  StructurePtr s(gst_structure_new(kVmafMessage, "timestamp", G_TYPE_UINT64, last.timestamp, "stream-time",
                                   G_TYPE_UINT64, last.stream_time, "running-time", G_TYPE_UINT64,
                                   clock_time(last.running_time), "duration", G_TYPE_UINT64, last.duration,
                                   "type", G_TYPE_STRING, frame ? "frame" : "pooled", nullptr));
  if (frame) gst_structure_set(s.get(), "index", G_TYPE_INT, gint(last.index), nullptr);
  double score;
  if (gst_structure_get_double(ours, "score", &score)) set_double(s.get(), "score", score);
  for (const Metric &metric : kMetrics) set_double(s.get(), metric.field, feature_of(ours, metric.feature));
  return s;
}

}  // namespace

std::string models_of(const Settings &settings) {
  std::string models = settings.model;
  if (const std::string &file = settings.model_filename; !file.empty())
    models = (is_file(file) ? "path=" : "version=") + escaped(file);

  std::string text, piece;
  auto finish = [&] {
    // Who gives the option with the model means that.
    if (settings.disable_clip && piece.find("disable_clip=") == piece.npos) piece += ":disable_clip=true";
    if ((settings.enable_transform || settings.phone_model) && piece.find("enable_transform=") == piece.npos)
      piece += ":enable_transform=true";
    text += piece;
    piece.clear();
  };
  for (size_t i = 0; i < models.size(); ++i) {
    if (models[i] == '|') {
      finish();
      text += '|';
    } else {
      piece += models[i];
      if (models[i] == '\\' && i + 1 < models.size()) piece += models[++i];
    }
  }
  if (!models.empty()) finish();
  return text;
}

std::string features_of(const Settings &settings) {
  std::string features = settings.features;
  for (const Metric &metric : kMetrics)
    if (settings.*metric.wanted) features += (features.empty() ? "" : "|") + std::string(metric.feature);
  return features;
}

Status check_message_name(const std::string &name) {
  bool good = !name.empty() && g_ascii_isalpha(name[0]);
  for (const char c : name)
    good = good && (g_ascii_isalnum(c) || std::string_view("/-_.:+").find(c) != std::string_view::npos);
  if (good) return Status();
  return Status(Code::invalid_argument,
                "message-name=\"" + name +
                    "\" cannot be a structure's name: a letter, then letters, digits and /-_.:+");
}

bool lacks_interval(const Settings &settings, const std::vector<ModelInfo> &models) {
  return settings.conf_interval && std::none_of(models.begin(), models.end(), [](const ModelInfo &m) {
           return m.label.ends_with("_ci_p95_lo");
         });
}

void apply_log_level(LogLevel level) {
  constexpr GstDebugLevel levels[] = {GST_LEVEL_NONE, GST_LEVEL_ERROR, GST_LEVEL_WARNING, GST_LEVEL_INFO,
                                      GST_LEVEL_DEBUG};
  const GstDebugLevel wanted = levels[int(level)];
  for (GstDebugCategory *category : {vmafhip_debug, vmafhip_pairing_debug, vmafhip_score_debug})
    if (gst_debug_category_get_threshold(category) < wanted)
      gst_debug_category_set_threshold(category, wanted);
}

StructurePtr named_message(StructurePtr ours, const std::string &name, const PairInfo &last) {
  if (name == kVmafMessage) {
    // What `vmaf` does not say keeps our name: who reads that element's messages expects these two.
    const std::string_view type = gst_structure_get_string(ours.get(), "type");
    if (type == "frame" || type == "pooled") return vmaf_message(ours.get(), type == "frame", last);
  } else if (!gst_structure_has_name(ours.get(), name.c_str())) {
    gst_structure_set_name(ours.get(), name.c_str());
  }
  return ours;
}

}  // namespace vmafhip
