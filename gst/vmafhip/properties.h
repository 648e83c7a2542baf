// The element's properties: one table of names, ranges, defaults and texts, and their way to and from
// Settings.
#pragma once
#include <gst/gst.h>

#include "gst/vmafhip/settings.h"

namespace vmafhip {

enum Property : guint {
  PROP_MODEL = 1,
  PROP_BACKEND,
  PROP_THREADS,
  PROP_SYNC,
  PROP_TOLERANCE,
  PROP_SYNC_WINDOW,
  PROP_MAX_QUEUE_BYTES,
  PROP_OUTPUT,
  PROP_FRAME_MESSAGE,
  PROP_ATTACH_META,
  PROP_POOL_METHOD,
  PROP_STATS,
  PROP_LAST_SCORE,
};

void install_properties(GObjectClass *klass);
// Stores the value of a writable property; the caller holds the element's object lock.
void set_setting(Settings &settings, guint property, const GValue *value);
// The same for reading; false for properties that are not settings.
bool get_setting(const Settings &settings, guint property, GValue *value);

}  // namespace vmafhip
