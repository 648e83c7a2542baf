// The GObject face of the element: pads, properties, events and queries. The work is in comparer.h.
#pragma once
#include <gst/gst.h>

G_BEGIN_DECLS
#define VMAFHIP_TYPE_ELEMENT (vmafhip_get_type())
GType vmafhip_get_type();
G_END_DECLS
