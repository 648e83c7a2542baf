// Elements of a bin, and their properties from text.
#pragma once
#include <string>
#include <vector>

#include "examples/monitor/taking.h"

namespace monitor {

// All of them, those in bins within it too.
std::vector<ElementPtr> elements_in(GstBin *bin);

// Sets a property, or with `only_try` says whether it could be: the text of the error or nothing.
std::string set_property(GstElement *element, const std::string &name, const std::string &text,
                         bool only_try = false);

}  // namespace monitor
