// What settings.cpp asks of settings_check.cpp.
#pragma once
#include <string>

#include "examples/monitor/settings.h"

namespace monitor {

// All give the text of the error or nothing. check() also completes what was left out: names, URIs of files. It speaks of
// a file's groups and keys or of the command line's options.
std::string check(Settings &settings, bool from_file);
// Of one place, as what is given on the command line outranks the file.
std::string check_once(const Settings &settings, bool from_file);
std::string check_name(const std::string &name);

}  // namespace monitor
