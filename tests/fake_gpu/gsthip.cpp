// GStreamer's libgsthip that does nothing but count: what an element asks of it to share a GPU and to wait for memory.
// Its prototypes, by gst/vmafhip/gpu_library.h.
#include "tests/fake_gpu/gsthip.h"

namespace {

struct Device {
  GstObject object;
  int vendor;
  guint number;
};
struct DeviceClass {
  GstObjectClass parent;
};

FakeGstHip fake;
gpointer parent_class = nullptr;

void finalize(GObject *object) {
  --fake.devices;
  G_OBJECT_CLASS(parent_class)->finalize(object);
}
void init_class(gpointer klass, gpointer) {
  parent_class = g_type_class_peek_parent(klass);
  G_OBJECT_CLASS(klass)->finalize = finalize;
}
GType device_type() {
  static const GType type =
      g_type_register_static_simple(GST_TYPE_OBJECT, "FakeHipDevice", sizeof(DeviceClass), init_class,
                                    sizeof(Device), nullptr, GTypeFlags(0));
  return type;
}

}  // namespace

extern "C" {
#define API __attribute__((visibility("default")))

API FakeGstHip *fake_gst_hip() { return &fake; }

API GstObject *gst_hip_device_new(int vendor, guint number) {
  auto *device = reinterpret_cast<Device *>(g_object_new(device_type(), nullptr));
  device->vendor = vendor;
  device->number = number;
  ++fake.devices;
  return GST_OBJECT(gst_object_ref_sink(device));
}

API GstContext *gst_context_new_hip_device(GstObject *object) {
  const auto *device = reinterpret_cast<Device *>(object);
  GstContext *context = gst_context_new("gst.hip.device", TRUE);
  gst_structure_set(gst_context_writable_structure(context), "device", device_type(), object, "vendor",
                    G_TYPE_INT, device->vendor, "device-id", G_TYPE_UINT, device->number, nullptr);
  return context;
}

API void gst_hip_memory_sync(GstMemory *) { ++fake.waits; }
}
