// Sink pad of vmafhip: GstPad with an `offset` property that also goes below zero, as gst_pad_set_offset() does, and
// with the edges that are cut off its pictures.
#pragma once
#include <gst/gst.h>

#include "gst/vmafhip/crop.h"

G_BEGIN_DECLS
#define VMAFHIP_TYPE_PAD (vmafhip_pad_get_type())
GType vmafhip_pad_get_type();
G_END_DECLS

namespace vmafhip {

// The crop-… properties. Any thread. Those that one g_object_set() changes are seen together or not at all.
Crop pad_crop(GstPad *pad);

}  // namespace vmafhip
