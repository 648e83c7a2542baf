#include "gst/vmafhip/pad.h"

using vmafhip::Crop;

struct VmafhipPad {
  GstPad parent;
  // Object lock. Properties change `next`; it counts from the notification on, which comes once for all that were
  // set together.
  Crop next, crop;
};
struct VmafhipPadClass {
  GstPadClass parent_class;
};
#define VMAFHIP_PAD(o) (reinterpret_cast<VmafhipPad *>(o))

G_DEFINE_TYPE(VmafhipPad, vmafhip_pad, GST_TYPE_PAD)

enum { PROP_OFFSET = 1, PROP_CROP_LEFT, PROP_CROP_RIGHT, PROP_CROP_TOP, PROP_CROP_BOTTOM };

static int &edge(Crop &crop, guint id) {
  switch (id) {
    case PROP_CROP_LEFT:
      return crop.left;
    case PROP_CROP_RIGHT:
      return crop.right;
    case PROP_CROP_TOP:
      return crop.top;
    default:
      return crop.bottom;
  }
}

static void vmafhip_pad_set_property(GObject *object, guint id, const GValue *value, GParamSpec *) {
  if (id == PROP_OFFSET) return gst_pad_set_offset(GST_PAD(object), g_value_get_int64(value));
  GST_OBJECT_LOCK(object);
  edge(VMAFHIP_PAD(object)->next, id) = int(g_value_get_uint(value));
  GST_OBJECT_UNLOCK(object);
}

static void vmafhip_pad_get_property(GObject *object, guint id, GValue *value, GParamSpec *) {
  if (id == PROP_OFFSET) return g_value_set_int64(value, gst_pad_get_offset(GST_PAD(object)));
  GST_OBJECT_LOCK(object);
  g_value_set_uint(value, guint(edge(VMAFHIP_PAD(object)->next, id)));
  GST_OBJECT_UNLOCK(object);
}

static void vmafhip_pad_notify(GObject *object, guint n, GParamSpec **specs) {
  GST_OBJECT_LOCK(object);
  VMAFHIP_PAD(object)->crop = VMAFHIP_PAD(object)->next;
  GST_OBJECT_UNLOCK(object);
  G_OBJECT_CLASS(vmafhip_pad_parent_class)->dispatch_properties_changed(object, n, specs);
}

static void vmafhip_pad_class_init(VmafhipPadClass *klass) {
  auto *object = G_OBJECT_CLASS(klass);
  object->set_property = vmafhip_pad_set_property;
  object->get_property = vmafhip_pad_get_property;
  object->dispatch_properties_changed = vmafhip_pad_notify;
  const auto flags = GParamFlags(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
  // GstPad's own property of this name refuses negative values (up to 1.28).
  g_object_class_install_property(
      object, PROP_OFFSET,
      g_param_spec_int64(
          "offset", "Offset",
          "Nanoseconds added to the running time of this pad's frames, to pair a stream that is "
          "early or late; may be negative",
          G_MININT64, G_MAXINT64, 0, flags));
  struct {
    guint id;
    const char *name, *nick, *blurb;
  } constexpr edges[] = {
      {PROP_CROP_LEFT, "crop-left", "Crop left",
       "Luma columns at the left of this pad's pictures (of the part that a GstVideoCropMeta leaves) that "
       "are not "
       "compared, from the next frame on; frames leave whole"},
      {PROP_CROP_RIGHT, "crop-right", "Crop right", "Luma columns at the right that are not compared"},
      {PROP_CROP_TOP, "crop-top", "Crop top",
       "Luma rows at the top that are not compared, such as a black bar"},
      {PROP_CROP_BOTTOM, "crop-bottom", "Crop bottom", "Luma rows at the bottom that are not compared"},
  };
  for (const auto &e : edges)
    g_object_class_install_property(object, e.id,
                                    g_param_spec_uint(e.name, e.nick, e.blurb, 0, G_MAXINT, 0, flags));
}

static void vmafhip_pad_init(VmafhipPad *) {}

namespace vmafhip {

Crop pad_crop(GstPad *pad) {
  GST_OBJECT_LOCK(pad);
  const Crop crop = VMAFHIP_PAD(pad)->crop;
  GST_OBJECT_UNLOCK(pad);
  return crop;
}

}  // namespace vmafhip
