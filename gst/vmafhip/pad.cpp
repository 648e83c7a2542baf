#include "gst/vmafhip/pad.h"

struct VmafhipPad {
  GstPad parent;
};
struct VmafhipPadClass {
  GstPadClass parent_class;
};

G_DEFINE_TYPE(VmafhipPad, vmafhip_pad, GST_TYPE_PAD)

enum { PROP_OFFSET = 1 };

static void vmafhip_pad_set_property(GObject *object, guint, const GValue *value, GParamSpec *) {
  gst_pad_set_offset(GST_PAD(object), g_value_get_int64(value));
}

static void vmafhip_pad_get_property(GObject *object, guint, GValue *value, GParamSpec *) {
  g_value_set_int64(value, gst_pad_get_offset(GST_PAD(object)));
}

static void vmafhip_pad_class_init(VmafhipPadClass *klass) {
  auto *object = G_OBJECT_CLASS(klass);
  object->set_property = vmafhip_pad_set_property;
  object->get_property = vmafhip_pad_get_property;
  // GstPad's own property of this name refuses negative values (up to 1.28).
  g_object_class_install_property(
      object, PROP_OFFSET,
      g_param_spec_int64(
          "offset", "Offset", "Nanoseconds added to the running time of this pad's frames; may be negative",
          G_MININT64, G_MAXINT64, 0,
          GParamFlags(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)));
}

static void vmafhip_pad_init(VmafhipPad *) {}
