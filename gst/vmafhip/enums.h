// The element's enumerations as GObject types: nicks and texts stand here once.
#pragma once
#include <gst/gst.h>

#include "engine/pool.h"
#include "engine/scaler.h"
#include "gst/vmafhip/aligner.h"

namespace vmafhip {

GType backend_type();
GType sync_type();
GType output_type();
GType on_missing_type();
GType pool_method_type();
GType results_format_type();
GType alert_direction_type();
GType log_level_type();
GType scale_method_type();

// Nick of a property's value, as messages carry it.
const char *nick_of(PoolMethod method);
const char *nick_of(SyncMode mode);
const char *nick_of(ScaleMethod method);

}  // namespace vmafhip
