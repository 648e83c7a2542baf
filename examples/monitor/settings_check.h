// What settings.cpp asks of settings_check.cpp.
#pragma once
#include <string>

#include "examples/monitor/settings.h"

namespace monitor {

// Both give the text of the error or nothing. check() also completes what was left out: names, URIs of files.
std::string check(Settings &settings);
std::string check_name(const std::string &name);

}  // namespace monitor
