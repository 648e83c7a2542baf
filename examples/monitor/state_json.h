// What the page and other readers of the HTTP interface get: records as JSON. Values that are not known are null.
#pragma once
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "examples/monitor/record.h"
#include "examples/monitor/settings.h"

namespace monitor {

// The channel of the settings that a record belongs to; those of main() always have one.
const ChannelSettings *find_channel(const Settings &settings, const Record &record);

// [[milliseconds since 1970, mean, worst], …] of the seconds that are over, those after `since` (seconds since 1970). More
// than `limit` of them are joined to means of 2, 3, … seconds, which begin at multiples of that.
nlohmann::json points_json(const Record &record, Time now, int64_t since, size_t limit);

nlohmann::json event_json(const Event &event);

// All of a rendition but its points and events, which grow. `time` is the server's, for readers whose clocks are others.
nlohmann::json rendition_json(const Record &record, const Settings &settings, Time time);

// All renditions of all channels, with their events and at most kPoints points each.
inline constexpr size_t kPoints = 2000;
nlohmann::json state_json(std::span<const Record *const> records, const Settings &settings, Time started,
                          Time now);

// As text. Names may come from anywhere: what is not UTF-8 is replaced rather than refused.
std::string json_text(const nlohmann::json &json);

}  // namespace monitor
