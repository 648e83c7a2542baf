// What makes the element stand in for `vmaf` of gst-plugins-bad: that element's properties as our settings, our
// messages as that element's.
#pragma once
#include <gst/gst.h>

#include <string>
#include <vector>

#include "engine/session.h"
#include "gst/vmafhip/handles.h"
#include "gst/vmafhip/report.h"
#include "gst/vmafhip/settings.h"

namespace vmafhip {

// The value of message-name that stands for messages with the fields of `vmaf`, which has this name for them.
inline constexpr const char *kVmafMessage = "VMAF";

// SessionOptions::models and ::features, with what the properties of `vmaf` ask for.
std::string models_of(const Settings &settings);
std::string features_of(const Settings &settings);

// Whether message-name can be one.
Status check_message_name(const std::string &name);
// conf-interval is set, but no model gives an interval.
bool lacks_interval(const Settings &settings, const std::vector<ModelInfo> &models);
// Lets GStreamer's log show as much of this element as log-level says, or more if it does already.
void apply_log_level(LogLevel level);

// A message as message-name wants it. `last`: the frame scored last.
StructurePtr named_message(StructurePtr ours, const std::string &name, const PairInfo &last);

}  // namespace vmafhip
