#include "examples/monitor/report.h"

namespace monitor {

std::string report_html(std::span<const Record *const>, const Settings &) { return ""; }

}  // namespace monitor
