// What the element posts when something is wrong: one message each, with what to do about it.
#pragma once
#include <gst/gst.h>

#include "engine/status.h"

namespace vmafhip {

void post_error(GstElement *element, const Status &status);

}  // namespace vmafhip
