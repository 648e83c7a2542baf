// The element's enumerations as GObject types: nicks and texts stand here once.
#pragma once
#include <gst/gst.h>

#include "engine/pool.h"

namespace vmafhip {

GType backend_type();
GType sync_type();
GType output_type();
GType pool_method_type();
GType results_format_type();
GType alert_direction_type();
GType log_level_type();

// Nick of the pool-method property, as messages carry it.
const char *nick_of(PoolMethod method);

}  // namespace vmafhip
