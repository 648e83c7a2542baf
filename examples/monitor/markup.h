// Text, numbers and times as report, terminal and events write them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "examples/monitor/record.h"

namespace monitor {

// Text that HTML and XML read as text, in elements and in quoted attributes; what is not UTF-8 is replaced.
std::string escaped(std::string_view text);

// Decimals that page and report give a measure, whatever its value, so that columns line up: two, and four where all lies
// between 0 and 1. `name` is a model's label or a feature's name.
int decimals_of(std::string_view name);

// As short as it can be: "80", "0.95".
std::string plain(double value);

// With a decimal point whatever the locale; a dash if it is unknown or not finite.
std::string decimal(std::optional<double> value, int digits);

// "2026-11-30 12:08:06", local time; only the time of day if `short_form`.
std::string wall_time(Time time, bool short_form);

// Frames that are scored each second, and of how many, if a clock says that: "5.4 of 29.97".
std::string rate_text(const Now &now);

// What to know and do where scoring is slower than the stream; empty where it is not.
std::string slow_text(const Now &now);

// A stream's nanoseconds as "0:01:02.480"; a dash if unknown.
std::string stream_time(uint64_t ns);

}  // namespace monitor
