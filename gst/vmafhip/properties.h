// The element's properties: one table of names, ranges, defaults, texts and the member of Settings that each is.
#pragma once
#include <gst/gst.h>

#include "gst/vmafhip/settings.h"

namespace vmafhip {

// Ids of the properties that are not settings; the settings follow, in the order of the table.
enum Property : guint { PROP_STATS = 1, PROP_LAST_SCORE, PROP_FIRST_SETTING };

void install_properties(GObjectClass *klass);
// Stores the value of a setting; the caller holds the element's object lock.
void set_setting(Settings &settings, guint property, const GValue *value);
void get_setting(const Settings &settings, guint property, GValue *value);

}  // namespace vmafhip
