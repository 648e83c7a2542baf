#include "gst/vmafhip/log.h"

GST_DEBUG_CATEGORY(vmafhip_debug);
GST_DEBUG_CATEGORY(vmafhip_pairing_debug);
GST_DEBUG_CATEGORY(vmafhip_score_debug);

void vmafhip::register_log_categories() {
  GST_DEBUG_CATEGORY_INIT(vmafhip_debug, "vmafhip", 0, "video quality measurement");
  GST_DEBUG_CATEGORY_INIT(vmafhip_pairing_debug, "vmafhip-pairing", 0, "vmafhip: which frames are partners");
  GST_DEBUG_CATEGORY_INIT(vmafhip_score_debug, "vmafhip-score", 0, "vmafhip: what frames score");
}
