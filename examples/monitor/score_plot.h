// The score over time as a picture that a page can hold: inline SVG.
#pragma once
#include <optional>
#include <string>

#include "examples/monitor/record.h"

namespace monitor {

// Mean as a line, a band to the worst frame, the alert's zone, marks where something happened. Colours come from
// the page's style by the classes line, band, zone, level, clear, mark, bad, grid. Empty without scores.
std::string score_plot(const Record &record, std::optional<double> threshold, std::optional<double> clear);

}  // namespace monitor
