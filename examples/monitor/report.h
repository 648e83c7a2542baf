// The report: one page that holds all it shows.
#pragma once
#include <span>
#include <string>

#include "examples/monitor/record.h"
#include "examples/monitor/settings.h"

namespace monitor {

std::string report_html(std::span<const Record *const> records, const Settings &settings);

}  // namespace monitor
