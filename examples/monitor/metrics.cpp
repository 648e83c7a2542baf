// Records as Prometheus' metrics. Families are filled at each scrape rather than kept: records are the only state.
#include "examples/monitor/metrics.h"

#include <glib.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <cmath>
#include <deque>
#include <sstream>

#include "examples/monitor/process.h"
#include "examples/monitor/state_json.h"
#include "examples/monitor/taking.h"

namespace monitor {

using prometheus::MetricType;

namespace {

using Labels = std::vector<prometheus::ClientMetric::Label>;

class Families {
 public:
  // What is not a number is not known: absent.
  void add(MetricType type, const char *name, const char *help, Labels labels, double value) {
    if (!std::isfinite(value)) return;
    prometheus::ClientMetric metric;
    metric.label = std::move(labels);
    (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
    for (prometheus::MetricFamily &family : families_) {
      if (family.name == name) {
        family.metric.push_back(std::move(metric));
        return;
      }
    }
    families_.push_back({name, help, type, {std::move(metric)}});
  }
  void gauge(const char *name, const char *help, Labels labels, double value) {
    add(MetricType::Gauge, name, help, std::move(labels), value);
  }
  void counter(const char *name, const char *help, Labels labels, uint64_t value) {
    add(MetricType::Counter, name, help, std::move(labels), static_cast<double>(value));
  }

  std::string text(MetricsFormat format) const {
    std::ostringstream out;
    out.imbue(std::locale::classic());
    for (const prometheus::MetricFamily &family : families_) {
      std::ostringstream one;
      prometheus::TextSerializer().Serialize(one, {family});
      out << (format == MetricsFormat::openmetrics ? as_openmetrics(family, one.str()) : one.str());
    }
    if (format == MetricsFormat::openmetrics) out << "# EOF\n";
    return out.str();
  }

 private:
  // OpenMetrics names a family of counters without the "_total" of its samples, and one of facts without the "_info", which
  // is a type there; gauges and labels are written alike in both formats, and no help text of ours has anything to escape.
  static std::string as_openmetrics(const prometheus::MetricFamily &family, std::string text) {
    const bool info = family.name.ends_with("_info");
    if (!info && family.type != MetricType::Counter) return text;
    const std::string base = family.name.substr(0, family.name.rfind('_'));
    const auto replace = [&](const std::string &what, const std::string &with) {
      if (const size_t at = text.find(what); at != std::string::npos) text.replace(at, what.size(), with);
    };
    replace("# HELP " + family.name + " ", "# HELP " + base + " ");
    replace("# TYPE " + family.name + (info ? " gauge" : " "), "# TYPE " + base + (info ? " info" : " "));
    return text;
  }

  std::deque<prometheus::MetricFamily> families_;
};

// A label's value; names may come from anywhere, and one that is not UTF-8 would spoil the whole scrape.
std::string valid_utf8(const std::string &text) {
  return take_text(g_utf8_make_valid(text.data(), static_cast<gssize>(text.size())));
}

// One label more.
Labels with(Labels labels, const char *name, std::string value) {
  labels.push_back({name, std::move(value)});
  return labels;
}

void add_scores(Families &families, const Labels &of, const Now &now) {
  if (now.score) families.gauge("vmafhip_score", "Score of the frame scored last.", of, *now.score);
  if (now.window) {
    const Pooled &score = now.window->score;
    families.gauge("vmafhip_window_score_mean", "Mean score of the last whole window.", of, score.mean);
    families.gauge("vmafhip_window_score_min", "Lowest score of the last whole window.", of, score.min);
    families.gauge("vmafhip_window_score_max", "Highest score of the last whole window.", of, score.max);
    families.gauge("vmafhip_window_score_p5", "5th percentile of the scores of the last whole window.", of,
                   score.p5);
  }
  for (const auto &[name, value] : now.features) {
    families.gauge("vmafhip_feature", "Each feature and model of the frame scored last.",
                   with(of, "feature", valid_utf8(name)), value);
  }
}

void add_counters(Families &families, const Labels &of, const Record &record) {
  const Counters &counters = record.now().counters;
  families.counter("vmafhip_frames_compared_total", "Pairs of frames compared, scored or not.", of,
                   counters.compared);
  families.counter("vmafhip_frames_scored_total", "Pairs of frames scored.", of, counters.scored);
  families.counter("vmafhip_frames_repeated_total",
                   "Reference frames without partner compared with the distorted frame then on screen.", of,
                   counters.repeated);
  families.counter("vmafhip_frames_dropped_total",
                   "Pairs of frames left out: skipped, as scoring is slower than they come.",
                   with(of, "reason", "skipped"), counters.skipped);
  constexpr const char *kUnmatched = "Frames without partner in the other stream.";
  families.counter("vmafhip_frames_unmatched_total", kUnmatched, with(of, "pad", "reference"),
                   counters.ref_unmatched);
  families.counter("vmafhip_frames_unmatched_total", kUnmatched, with(of, "pad", "distorted"),
                   counters.dist_unmatched);
  families.counter("vmafhip_alerts_total", "Times the alert has been raised.", of, counters.alerts);
  families.counter("vmafhip_restarts_total",
                   "Times the rendition has been started again, after its sources were lost or had ended.",
                   of, counters.restarts);
}

void add_state(Families &families, const Labels &of, const Now &now) {
  families.gauge("vmafhip_up", "1 while frames are being scored.", of, now.state == State::running);
  for (size_t n = 0; n < kStates; ++n) {
    const State state = static_cast<State>(n);
    families.gauge("vmafhip_state", "1 for the state that the rendition is in, 0 for others.",
                   with(of, "state", state_name(state)), now.state == state);
  }
  families.gauge("vmafhip_alert", "1 while the alert is raised.", of, now.alert);
  const bool under_way = now.state == State::connecting || now.state == State::running;
  if (under_way && !now.sync_state.empty()) {
    families.gauge("vmafhip_sync_offset_seconds",
                   "Offset that is added to the distorted stream's time stamps.", of, now.offset_seconds);
    families.gauge("vmafhip_sync_confidence",
                   "Confidence in the time offset of the streams, 0 (not found) to 1.", of, now.confidence);
  }
  families.gauge("vmafhip_score_lag_seconds",
                 "Time from the frame scored last to the newest one that has come.", of, now.lag_seconds);
  families.gauge("vmafhip_frames_per_second", "Frames scored per second, at present.", of, now.fps);
  if (!now.backend.empty()) {
    families.gauge("vmafhip_backend_info", "What computes the scores, and where its models come from.",
                   with(with(of, "backend", now.backend), "model_source", now.model_source), 1);
  }
}

void add_process(Families &families, Time started) {
  const Process process = read_process();
  families.gauge("vmafhip_monitor_info", "Version of vmafhip-monitor.", {{"version", VMAFHIP_VERSION}}, 1);
  families.gauge("process_start_time_seconds", "Start time of the process since unix epoch in seconds.", {},
                 static_cast<double>(started) / 1e6);
  families.add(MetricType::Counter, "process_cpu_seconds_total",
               "Total user and system CPU time spent in seconds.", {}, process.cpu_seconds);
  if (process.resident_bytes) {
    families.gauge("process_resident_memory_bytes", "Resident memory size in bytes.", {},
                   static_cast<double>(*process.resident_bytes));
  }
  if (process.open_fds) {
    families.gauge("process_open_fds", "Number of open file descriptors.", {},
                   static_cast<double>(*process.open_fds));
  }
}

}  // namespace

const char *content_type(MetricsFormat format) {
  return format == MetricsFormat::openmetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                              : "text/plain; version=0.0.4; charset=utf-8";
}

std::string metrics_text(std::span<const Record *const> records, Time started, MetricsFormat format) {
  Families families;
  for (const Record *record : records) {
    const Labels of{{"channel", valid_utf8(record->channel)}, {"rendition", valid_utf8(record->name)}};
    add_state(families, of, record->now());
    add_scores(families, of, record->now());
    add_counters(families, of, *record);
    for (size_t kind = 0; kind < kEventKinds; ++kind) {
      families.counter("vmafhip_events_total", "Events by kind, as the page lists them.",
                       with(of, "kind", event_name(static_cast<EventKind>(kind))),
                       record->events_of(static_cast<EventKind>(kind)));
    }
  }
  add_process(families, started);
  return families.text(format);
}

}  // namespace monitor
