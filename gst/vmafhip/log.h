// The element's log categories. A file names the one that its lines go to: #define GST_CAT_DEFAULT.
#pragma once
#include <gst/gst.h>

GST_DEBUG_CATEGORY_EXTERN(vmafhip_debug);
GST_DEBUG_CATEGORY_EXTERN(vmafhip_pairing_debug);
GST_DEBUG_CATEGORY_EXTERN(vmafhip_score_debug);

namespace vmafhip {

// Before anything is logged.
void register_log_categories();

}  // namespace vmafhip
