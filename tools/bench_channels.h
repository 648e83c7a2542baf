// Several sessions at a time, each with a thread that feeds it, as in a process that watches several streams.
#pragma once
#include <nlohmann/json.hpp>

#include "tools/bench_arguments.h"
#include "tools/bench_pictures.h"

namespace vmafhip::bench {

// Adds the figures to `out`. Throws std::runtime_error if a session fails.
void measure_channels(const Arguments &arguments, const Pictures &pictures, nlohmann::ordered_json &out);

}  // namespace vmafhip::bench
