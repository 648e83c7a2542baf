// Sink pad of vmafhip: GstPad with an `offset` property that also goes below zero, as
// gst_pad_set_offset() does.
#pragma once
#include <gst/gst.h>

G_BEGIN_DECLS
#define VMAFHIP_TYPE_PAD (vmafhip_pad_get_type())
GType vmafhip_pad_get_type();
G_END_DECLS
