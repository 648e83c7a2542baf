// The report's document: see the header.
#include "examples/monitor/report.h"

#include <gst/gst.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "examples/monitor/markup.h"
#include "examples/monitor/redact.h"
#include "examples/monitor/score_plot.h"
#include "examples/monitor/state_json.h"
#include "examples/monitor/thumbnails.h"

namespace monitor {

namespace {

constexpr const char *kStyle = R"(
:root { --back: #fff; --text: #1c2430; --muted: #576272; --border: #d9dfe7; --line: #0b57d0; --band: #0b57d033;
  --red: #c5221f; --zone: #c5221f14; --green: #17723a; --amber: #8a5a00; }
@media (prefers-color-scheme: dark) { :root { --back: #171e27; --text: #e6ebf2; --muted: #9ba8b8; --border: #2b3542;
  --line: #58a6ff; --band: #58a6ff40; --red: #ff8078; --zone: #ff5a501f; --green: #5fd38a; --amber: #e6b450; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1100px; padding: 20px; background: var(--back); color: var(--text);
  font: 15px/1.45 system-ui, sans-serif; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; margin: 0; }
h2 { font-size: 1.15rem; margin: 32px 0 4px; padding-top: 16px; border-top: 2px solid var(--border); }
h3, caption { font-size: .95rem; font-weight: 600; text-align: left; margin: 18px 0 6px; }
p { margin: 2px 0; }
.hint { color: var(--muted); font-size: .88rem; }
.wide { overflow-x: auto; }
caption span { display: block; max-width: calc(100vw - 40px); }
table { border-collapse: collapse; width: 100%; font-size: .88rem; margin-top: 12px; }
th, td { padding: 4px 8px; text-align: right; border-top: 1px solid var(--border); font-weight: 400; white-space: nowrap; }
th:first-child { padding-left: 0; }
th:first-child, table.text td, table.text th { text-align: left; vertical-align: top; }
table.text td:last-child { white-space: normal; width: 99%; min-width: 180px; }
thead th { color: var(--muted); border-top: 0; }
.alert { color: var(--red); font-weight: 600; }
.slow { color: var(--amber); font-weight: 600; }
.frames { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(480px, 100%), 1fr)); gap: 14px; margin: 0; padding: 0;
  list-style: none; }
.frames div { display: grid; grid-template-columns: repeat(3, 1fr); gap: 4px; }
.frames img { width: 100%; border-radius: 3px; }
svg { display: block; width: 100%; min-width: 700px; margin-top: 10px; font: 11px system-ui, sans-serif; }
svg text { fill: var(--muted); }
svg .line { fill: none; stroke: var(--line); stroke-width: 1.5; }
svg .band { fill: var(--band); }
svg .zone { fill: var(--zone); }
svg line { stroke-width: 1; stroke: var(--border); }
svg line.level { stroke: var(--red); stroke-dasharray: 5 4; }
svg line.clear { stroke: var(--green); stroke-dasharray: 5 4; }
svg line.mark { stroke: var(--muted); stroke-dasharray: 2 3; }
svg line.bad { stroke: var(--red); stroke-dasharray: none; }
svg text.level, svg text.bad { fill: var(--red); }
svg text.clear { fill: var(--green); }
@media print { body { max-width: none; } svg { min-width: 0; } h2 { break-before: page; } .frames li, svg, tr { break-inside: avoid; } }
)";

using Rows = std::vector<std::vector<std::string>>;

std::string table(const std::string &caption, const std::vector<std::string> &columns, const Rows &rows,
                  const char *name = "") {
  if (rows.empty()) return "";
  std::string html = "<div class=\"wide\"><table class=\"" + std::string(name) + "\"><caption><span>" +
                     escaped(caption) + "</span></caption><thead><tr>";
  for (const std::string &column : columns) html += "<th scope=\"col\">" + escaped(column) + "</th>";
  html += "</tr></thead><tbody>";
  for (const auto &row : rows) {
    html += "<tr><th scope=\"row\">" + escaped(row[0]) + "</th>";
    for (size_t n = 1; n < row.size(); ++n) html += "<td>" + escaped(row[n]) + "</td>";
    html += "</tr>";
  }
  return html + "</tbody></table></div>\n";
}

std::string count(uint64_t value) { return std::to_string(value); }

std::string paragraph(const char *name, const std::string &text) {
  return text.empty() ? "" : "<p class=\"" + std::string(name) + "\">" + escaped(text) + "</p>\n";
}

std::string versions() {
  std::string text = "vmafhip-monitor " VMAFHIP_VERSION;
  if (GstPlugin *plugin =
          gst_is_initialized() ? gst_registry_find_plugin(gst_registry_get(), "vmafhip") : nullptr) {
    text += std::string(", plugin vmafhip ") + gst_plugin_get_version(plugin);
    gst_object_unref(plugin);
  }
  guint major = 0, minor = 0, micro = 0, nano = 0;
  gst_version(&major, &minor, &micro, &nano);
  return text + ", GStreamer " + count(major) + "." + count(minor) + "." + count(micro);
}

std::string summary(std::span<const Record *const> records) {
  Rows rows;
  for (const Record *record : records) {
    const Now &now = record->now();
    const Counters &counters = now.counters;
    double sum = 0, frames = 0, worst = NAN;
    for (const Second &second : record->seconds()) {
      sum += second.mean * second.frames;
      frames += second.frames;
      if (std::isnan(worst) || record->worse(second.worst, worst)) worst = second.worst;
    }
    const int decimals = decimals_of(now.score_name);
    rows.push_back({record->channel + " / " + record->name,
                    std::string(now.alert ? "alert, " : "") + state_text(now.state) +
                        (now.slow ? ", slower than the stream" : ""),
                    decimal(sum / frames, decimals), decimal(worst, decimals), count(counters.compared),
                    count(counters.skipped), count(counters.ref_unmatched + counters.dist_unmatched),
                    count(counters.alerts), count(counters.restarts)});
  }
  return table(
      "Summary: scores of the last six hours, counts since the start",
      {"Rendition", "State", "Mean", "Worst", "Compared", "Dropped", "Unmatched", "Alerts", "Restarts"},
      rows);
}

std::string pooled_table(const Now &now) {
  Rows rows;
  for (const auto &[name, pooled] : now.pooled) {
    // What score and alerts speak of comes first.
    const auto place = name == now.score_name ? rows.begin() : rows.end();
    const auto measure = [digits = decimals_of(name) + 1](double value) { return decimal(value, digits); };
    rows.insert(place, {name, measure(pooled.mean), measure(pooled.min), measure(pooled.p1),
                        measure(pooled.p5), measure(pooled.p50), measure(pooled.max),
                        measure(pooled.harmonic_mean), measure(pooled.stddev)});
  }
  return table("Pooled scores and features of the present run",
               {"Name", "Mean", "Min", "P1", "P5", "Median", "Max", "Harmonic", "Std dev"}, rows);
}

std::string picture(const Image &image, const std::string &what) {
  if (!image) return "<span class=\"hint\">no picture</span>";
  char *base64 = g_base64_encode(reinterpret_cast<const guchar *>(image->data()), image->size());
  std::string html = std::string("<img src=\"data:image/png;base64,") + base64 + "\" alt=\"" + what + "\">";
  g_free(base64);
  return html;
}

std::string worst_frames(const Record &record) {
  if (record.worst_frames().empty()) return "";
  std::string html =
      "<h3>Worst frames of the last six hours, one of a moment: reference, distorted, difference ×" +
      count(kDifferenceGain) + "</h3>\n<ol class=\"frames\">";
  for (const WorstFrame &frame : record.worst_frames()) {
    html +=
        "<li><p><b>" + decimal(frame.score, decimals_of(record.now().score_name)) +
        "</b> <span class=\"hint\">at " + wall_time(frame.time, false) +
        (frame.stream_time == UINT64_MAX ? "" : ", " + stream_time(frame.stream_time) + " in the stream") +
        "</span></p><div>" + picture(frame.reference, "reference") + picture(frame.distorted, "distorted") +
        picture(frame.difference, "difference ×" + count(kDifferenceGain)) + "</div></li>\n";
  }
  return html + "</ol>\n";
}

std::string events_table(const Record &record) {
  Rows rows;
  for (const Event &event : record.events()) {
    std::string kind = event_name(event.kind);
    std::ranges::replace(kind, '_', ' ');
    rows.push_back({wall_time(event.time, false), kind, event.text});
  }
  return table("Events, the last " + count(Record::kEvents) + " at most", {"Time", "Kind", "What"}, rows,
               "text");
}

// What was asked for, and how it is computed.
std::string model(const Now &now, const ChannelSettings *channel) {
  if (now.model_source.empty()) return "";
  return ", model " + (channel ? channel->model + ", " : "") +
         (now.model_source == "fitted" ? "fitted (by the built-in surface, within 0.001 points of its file)"
                                       : "from its " + now.model_source);
}

std::string rendition(const Record &record, const Settings &settings) {
  const Now &now = record.now();
  const ChannelSettings *channel = find_channel(settings, record);
  std::string html = "<section>\n<h2>" + escaped(record.channel + " / " + record.name) + "</h2>\n";
  html += paragraph("hint", record.source);
  html += paragraph("hint", "Reference " + record.reference + (now.caps.empty() ? "" : ", " + now.caps));
  if (!now.backend.empty()) {
    html += paragraph("hint", "Computed by " + now.backend +
                                  (now.backend_reason.empty() ? "" : " (" + now.backend_reason + ")") +
                                  model(now, channel));
  }
  html += paragraph("slow", slow_text(now));
  if (!now.sync_state.empty()) {
    html += paragraph("hint", "Content synchronisation " + now.sync_state + ", offset " +
                                  decimal(now.offset_seconds, 3) + " s, confidence " +
                                  decimal(now.confidence * 100, 0) + " %");
  }
  if (now.alert) html += paragraph("alert", "The alert is raised");
  const auto threshold = channel ? channel->alert_threshold : std::nullopt;
  const std::string plot = score_plot(record, threshold, channel ? channel->alert_clear : std::nullopt);
  html += plot.empty() ? paragraph("hint", "No frame has been scored")
                       : "<div class=\"wide\">" + plot + "</div>\n";
  return html + pooled_table(now) + worst_frames(record) + events_table(record) + "</section>\n";
}

std::string settings_table(const Settings &settings) {
  Rows rows;
  for (const ChannelSettings &channel : settings.channels) {
    const auto add = [&](const char *name, const std::string &value) {
      if (!value.empty()) rows.push_back({channel.name, name, value});
    };
    add("reference", redact_uri(channel.reference));
    for (const RenditionSettings &one : channel.renditions) {
      add("rendition", one.name + ": " + (one.uri.empty() ? redact(one.encode) : redact_uri(one.uri)));
      for (const Change &change : one.changes) {
        add("change", one.name + ": after " + plain(change.seconds) + " s " + change.property + "=" +
                          (is_secret(change.property) ? "***" : redact(change.value)));
      }
    }
    add("model", channel.model);
    add("features", channel.features);
    add("backend", channel.backend);
    // An encoder in place keeps time stamps, so nothing is searched there.
    if (std::ranges::any_of(channel.renditions, [](const auto &one) { return one.encode.empty(); })) {
      add("sync", channel.sync);
    }
    add("window", plain(channel.window_seconds) + " s");
    if (channel.alert_threshold) {
      add("alert", (channel.alert_above ? "above " : "below ") + plain(*channel.alert_threshold) + " for " +
                       plain(channel.alert_seconds) + " s, cleared at " +
                       plain(channel.alert_clear.value_or(*channel.alert_threshold)));
    }
    add("results", channel.results);
  }
  return table("Settings of the channels", {"Channel", "Setting", "Value"}, rows, "text");
}

}  // namespace

std::string report_html(std::span<const Record *const> records, const Settings &settings) {
  std::string html =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "img-src "
      "data:\">\n<title>Video quality report</title>\n<style>";
  html += kStyle;
  html += "</style>\n</head>\n<body>\n<main>\n<h1>Video quality report</h1>\n";
  html += paragraph("hint", wall_time(g_get_real_time(), false) + ", " + versions());
  html += summary(records);
  for (const Record *record : records) html += rendition(*record, settings);
  html +=
      "<section>\n<h2>Settings</h2>\n" + settings_table(settings) + "</section>\n</main>\n</body>\n</html>\n";
  return html;
}

}  // namespace monitor
