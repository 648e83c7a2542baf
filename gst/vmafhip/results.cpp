#include "gst/vmafhip/results.h"

#include <string>
#include <utility>

#include "gst/vmafhip/errors.h"
#include "gst/vmafhip/log.h"

#define GST_CAT_DEFAULT vmafhip_debug

namespace vmafhip {
namespace {

using std::chrono::milliseconds;

// How long a reader may take nothing: while the stream could go on, and when the element is to stop.
constexpr milliseconds kPatience{10'000}, kLastPatience{1000};

Result<ResultsFormat> format_of(const Settings &settings) {
  switch (settings.results_format) {
    case ResultsChoice::json:
      return ResultsFormat::json;
    case ResultsChoice::xml:
      return ResultsFormat::xml;
    case ResultsChoice::csv:
      return ResultsFormat::csv;
    case ResultsChoice::sub:
      return ResultsFormat::sub;
    case ResultsChoice::automatic:
    case ResultsChoice::none:
      break;
  }
  return results_format_of(settings.results_filename);
}

NamedCounters numbers_of(const GstStructure *s) {
  NamedCounters counters;
  for (int i = 0; i < gst_structure_n_fields(s); ++i) {
    const char *name = gst_structure_nth_field_name(s, guint(i));
    guint64 value;
    if (gst_structure_get_uint64(s, name, &value)) counters.emplace_back(name, value);
  }
  return counters;
}

}  // namespace

bool Results::start(const Settings &settings, const Session &session) {
  file_.reset();
  if (settings.results_filename.empty() || settings.results_format == ResultsChoice::none) return true;
  const auto format = format_of(settings);
  if (!format.ok()) {
    post_error(element_, format.status());
    return false;
  }
  ResultsFile::Options options;
  options.path = settings.results_filename;
  options.format = *format;
  options.header.version = "vmafhip " PACKAGE_VERSION;
  options.header.metrics = session.feature_names();
  for (const ModelInfo &m : session.models()) {
    options.header.metrics.push_back(m.label);
    const std::string source(to_string(m.source));
    options.header.model_sources.emplace_back(m.label, m.origin.empty() ? source : source + " " + m.origin);
  }
  options.on_change = [this] { inbox_.wake(); };
  options.outlet.patience = kPatience;
  auto file = ResultsFile::create(std::move(options));
  if (!file.ok()) {
    GST_ELEMENT_ERROR(element_, RESOURCE, OPEN_WRITE,
                      ("results-filename: %s", file.status().message().c_str()), (nullptr));
    return false;
  }
  file_ = std::move(*file);
  session_ = &session;
  return true;
}

void Results::configure(const PictureFormat &format) {
  if (!file_) return;
  const size_t features = session_->feature_names().size();
  file_->pictures(format.width, format.height, [&](size_t column) {
    return column >= features || session_->has_feature(column);  // models have all they need
  });
}

void Results::frame(guint64 frame_number, const FrameScores &scores) {
  if (!file_) return;
  const PictureScores &of = scores.dist.front();
  file_->frame(frame_number, of.features, of.models, !inbox_.live());
}

ResultsFile::Ending Results::ending(const GstStructure *counters) const {
  ResultsFile::Ending ending;
  const auto &names = session_->aggregate_names();
  for (size_t i = 0; i < names.size(); ++i)
    ending.aggregates.emplace_back(names[i], session_->aggregates()[i]);
  ending.counters = numbers_of(counters);
  return ending;
}

void Results::finish(const GstStructure *counters) {
  if (!file_) return;
  file_->finish(ending(counters), kPatience, [this] { return inbox_.interrupted(); });
  check();
}

void Results::stop(const GstStructure *counters) {
  if (!file_) return;
  file_->finish(ending(counters), kLastPatience, [] { return false; });
  check();
  file_.reset();
}

void Results::check() {
  if (!file_) return;
  const auto failure = file_->take_failure();
  if (!failure) return;
  GST_ELEMENT_WARNING(element_, RESOURCE, WRITE, ("%s", failure->message().c_str()),
                      ("The stream goes on being measured; the result file is not complete."));
}

}  // namespace vmafhip
