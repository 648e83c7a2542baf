// Records as JSON: see the header.
#include "examples/monitor/state_json.h"

#include <algorithm>
#include <cmath>

#include "examples/monitor/markup.h"
#include "examples/monitor/process.h"
#include "examples/monitor/thumbnails.h"

namespace monitor {

using nlohmann::json;

namespace {

// One digit more than tables show: all doubles of a long history would be twice as large.
double rounded(double value, int decimals) {
  const double scale = decimals > 2 ? 100000 : 1000;
  return std::round(value * scale) / scale;
}

// nlohmann/json writes numbers that are not finite as null.
json number(const std::optional<double> &value) { return value ? json(*value) : json(nullptr); }

json pooled_json(const Pooled &pooled) {
  return {{"mean", pooled.mean},     {"min", pooled.min},
          {"max", pooled.max},       {"harmonic_mean", pooled.harmonic_mean},
          {"stddev", pooled.stddev}, {"p1", pooled.p1},
          {"p5", pooled.p5},         {"p50", pooled.p50}};
}

json window_json(const std::optional<Window> &window) {
  if (!window) return nullptr;
  return {{"time_ms", window->time / 1000},
          {"mean", window->score.mean},
          {"min", window->score.min},
          {"max", window->score.max},
          {"p5", window->score.p5}};
}

json counters_json(const Counters &counters) {
  return {{"compared", counters.compared},
          {"scored", counters.scored},
          {"ref_unmatched", counters.ref_unmatched},
          {"dist_unmatched", counters.dist_unmatched},
          {"skipped", counters.skipped},
          {"repeated", counters.repeated},
          {"restarts", counters.restarts},
          {"alerts", counters.alerts}};
}

json worst_json(const WorstFrame &frame) {
  const auto address = [&](const Image &image, const char *name) {
    return image ? json("/thumbnails/" + std::to_string(frame.id) + "/" + name + ".png") : json(nullptr);
  };
  return {{"id", frame.id},
          {"time_ms", frame.time / 1000},
          {"stream_time_ns", frame.stream_time == UINT64_MAX ? json(nullptr) : json(frame.stream_time)},
          {"score", frame.score},
          {"reference", address(frame.reference, "reference")},
          {"distorted", address(frame.distorted, "distorted")},
          {"difference", address(frame.difference, "difference")}};
}

// As it was asked for. An encoder in place keeps time stamps, so nothing is searched there.
json sync_of(const ChannelSettings *channel, const Record &record) {
  if (!channel) return nullptr;
  const auto rendition = std::ranges::find(channel->renditions, record.name, &RenditionSettings::name);
  const bool encodes = rendition != channel->renditions.end() && !rendition->encode.empty();
  return encodes ? json("timestamp") : json(channel->sync);
}

template <typename Items, typename Convert>
json list(const Items &items, Convert &&convert) {
  json result = json::array();
  for (const auto &item : items) result.push_back(convert(item));
  return result;
}

}  // namespace

const ChannelSettings *find_channel(const Settings &settings, const Record &record) {
  const auto found =
      std::ranges::find(settings.channels, record.channel, [](const auto &channel) { return channel.name; });
  return found == settings.channels.end() ? nullptr : &*found;
}

json points_json(const Record &record, Time now, int64_t since, size_t limit) {
  const std::deque<Second> &seconds = record.seconds();
  auto begin = std::ranges::upper_bound(seconds, since, {}, &Second::second);
  const auto end = std::ranges::lower_bound(begin, seconds.end(), now / 1'000'000, {}, &Second::second);
  json result = json::array();
  if (begin >= end) return result;
  // Groups begin at multiples of their length, so one more than the quotient may be touched.
  const int64_t span = (end - 1)->second - begin->second + 1;
  const int64_t most = static_cast<int64_t>(limit);
  const int64_t length = std::min<int64_t>(end - begin, span) <= most ? 1 : (span + most - 2) / (most - 1);
  const int decimals = decimals_of(record.now().score_name);
  while (begin != end) {
    const int64_t group = begin->second / length;
    double sum = 0, worst = begin->worst;
    uint64_t frames = 0;
    for (; begin != end && begin->second / length == group; ++begin) {
      sum += begin->mean * begin->frames;
      if (record.worse(begin->worst, worst)) worst = begin->worst;
      frames += begin->frames;
    }
    result.push_back({group * length * 1000, rounded(sum / static_cast<double>(frames), decimals),
                      rounded(worst, decimals)});
  }
  return result;
}

json event_json(const Event &event) {
  return {{"id", event.id},
          {"time_ms", event.time / 1000},
          {"kind", event_name(event.kind)},
          {"text", event.text}};
}

json rendition_json(const Record &record, const Settings &settings, Time time) {
  const Now &now = record.now();
  const ChannelSettings *channel = find_channel(settings, record);
  const auto threshold = channel ? channel->alert_threshold : std::nullopt;
  const auto clear = channel && channel->alert_clear ? channel->alert_clear : threshold;
  json pooled = json::object();
  json decimals = json::object();
  for (const auto &[name, values] : now.pooled) {
    pooled[name] = pooled_json(values);
    decimals[name] = decimals_of(name);
  }
  for (const auto &[name, value] : now.features) decimals[name] = decimals_of(name);
  return {{"channel", record.channel},
          {"name", record.name},
          {"reference", record.reference},
          {"source", record.source},
          {"now_ms", time / 1000},
          {"state", state_name(now.state)},
          {"state_text", state_text(now.state)},
          {"score", number(now.score)},
          {"score_name", now.score_name.empty() ? json(nullptr) : json(now.score_name)},
          {"score_decimals", decimals_of(now.score_name)},
          {"higher_is_worse", record.higher_is_worse},
          {"window", window_json(now.window)},
          {"window_seconds", channel ? json(channel->window_seconds) : json(nullptr)},
          {"features", now.features},
          {"pooled", pooled},
          {"decimals", decimals},
          {"counters", counters_json(now.counters)},
          {"offset_seconds", now.offset_seconds},
          {"confidence", now.confidence},
          {"sync", sync_of(channel, record)},
          {"sync_state", now.sync_state.empty() ? json(nullptr) : json(now.sync_state)},
          {"alert", now.alert},
          {"alert_threshold", number(threshold)},
          {"alert_clear", number(clear)},
          {"lag_seconds", now.lag_seconds},
          {"fps", now.fps},
          {"stream_fps", now.stream_fps > 0 ? json(now.stream_fps) : json(nullptr)},
          {"rate_text", rate_text(now)},
          {"slow_text", now.slow ? json(slow_text(now)) : json(nullptr)},
          {"backend", now.backend},
          {"backend_reason", now.backend_reason},
          {"model", channel ? channel->model : ""},
          {"model_source", now.model_source},
          {"caps", now.caps},
          {"worst", list(record.worst_frames(), worst_json)},
          {"difference_gain", kDifferenceGain}};
}

json state_json(std::span<const Record *const> records, const Settings &settings, Time started, Time now) {
  const Process process = read_process();
  json channels = json::array();
  for (const Record *record : records) {
    const auto channel =
        std::ranges::find_if(channels, [&](const json &c) { return c["name"] == record->channel; });
    json rendition = rendition_json(*record, settings, now);
    rendition["events"] = list(record->events(), event_json);
    rendition["points"] = points_json(*record, now, INT64_MIN, kPoints);
    if (channel == channels.end()) {
      channels.push_back({{"name", record->channel}, {"renditions", json::array({std::move(rendition)})}});
    } else {
      (*channel)["renditions"].push_back(std::move(rendition));
    }
  }
  return {{"version", VMAFHIP_VERSION},
          {"started_ms", started / 1000},
          {"now_ms", now / 1000},
          {"memory_bytes", process.resident_bytes ? json(*process.resident_bytes) : json(nullptr)},
          {"channels", std::move(channels)}};
}

std::string json_text(const json &value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace monitor
