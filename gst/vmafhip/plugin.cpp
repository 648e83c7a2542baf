// The file libgstvmafhip.so must define the plugin "vmafhip", or the registry refuses it.
#include <gst/gst.h>

#include "gst/vmafhip/element.h"
#include "gst/vmafhip/output.h"

static gboolean plugin_init(GstPlugin *plugin) {
  // Registered here so that applications find it by name before the element exists. No tags: the scores
  // stay with the buffer whatever is done to the picture.
  static const gchar *tags[] = {nullptr};
  if (!gst_meta_get_info(vmafhip::kScoreMeta))
    gst_meta_register_custom(vmafhip::kScoreMeta, tags, nullptr, nullptr, nullptr);
  return gst_element_register(plugin, "vmafhip", GST_RANK_NONE, vmafhip_get_type());
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, vmafhip, "Video quality (VMAF) inside the pipeline",
                  plugin_init, PACKAGE_VERSION, "MIT/X11", "vmafhip", "vmafhip")
