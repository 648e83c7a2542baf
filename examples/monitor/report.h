// The report: one HTML page that holds all it shows, its pictures too. It needs no network and runs no script.
#pragma once
#include <span>
#include <string>

#include "examples/monitor/record.h"
#include "examples/monitor/settings.h"

namespace monitor {

std::string report_html(std::span<const Record *const> records, const Settings &settings);

}  // namespace monitor
