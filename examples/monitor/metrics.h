// What Prometheus reads: records in its text format. Values that are not known are absent, counters never fall.
#pragma once
#include <span>
#include <string>

#include "examples/monitor/record.h"

namespace monitor {

enum class MetricsFormat {
  text,         // text/plain; version=0.0.4
  openmetrics,  // application/openmetrics-text; version=1.0.0
};
const char *content_type(MetricsFormat format);

std::string metrics_text(std::span<const Record *const> records, Time started, MetricsFormat format);

}  // namespace monitor
