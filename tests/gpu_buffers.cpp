#include "tests/gpu_buffers.h"

#include <atomic>
#include <mutex>
#include <vector>

#include "engine/hip/device.h"
#include "gst/vmafhip/handles.h"

namespace vmafhip::test {
namespace {

constexpr guint kMapGpu = guint(GST_MAP_FLAG_LAST) << 1;

struct Allocator {
  GstAllocator parent;
  std::shared_ptr<hip::Device> *device;
  std::atomic<int> alive, downloads;
};
struct AllocatorClass {
  GstAllocatorClass parent;
};

struct Block {
  GstMemory parent;
  hip::Buffer<std::byte> *data;
  std::vector<std::byte> *staging;  // once it is asked for
  std::mutex *mutex;
};

Allocator *allocator_of(GstMemory *memory) { return reinterpret_cast<Allocator *>(memory->allocator); }

gpointer map(GstMemory *memory, gsize, GstMapFlags flags) {
  auto *block = reinterpret_cast<Block *>(memory);
  if (guint(flags) & kMapGpu) return reinterpret_cast<gpointer>(block->data->address().value);
  const std::lock_guard lock(*block->mutex);
  if (block->staging->empty()) {
    ++allocator_of(memory)->downloads;
    block->staging->resize(memory->maxsize);
    const hip::Device &device = **allocator_of(memory)->device;
    const hip::CurrentDevice current(device);
    const hip::Stream stream(device);
    stream.download(block->staging->data(), {block->data->address().value}, memory->maxsize);
    stream.synchronize();
  }
  return block->staging->data();
}
void unmap(GstMemory *) {}

void release(GstAllocator *, GstMemory *memory) {
  auto *block = reinterpret_cast<Block *>(memory);
  --allocator_of(memory)->alive;
  delete block->data;
  delete block->staging;
  delete block->mutex;
  g_free(block);
}

void finalize(GObject *object) {
  delete reinterpret_cast<Allocator *>(object)->device;
  G_OBJECT_CLASS(g_type_class_peek(GST_TYPE_ALLOCATOR))->finalize(object);
}
void init_class(gpointer klass, gpointer) {
  static_cast<GstAllocatorClass *>(klass)->free = release;
  G_OBJECT_CLASS(klass)->finalize = finalize;
}

GType allocator_type() {
  static const GType type =
      g_type_register_static_simple(GST_TYPE_ALLOCATOR, "SimulatedGpuAllocator", sizeof(AllocatorClass),
                                    init_class, sizeof(Allocator), nullptr, GTypeFlags(0));
  return type;
}

}  // namespace

GpuBuffers::GpuBuffers(int device, const char *memory_type)
    : allocator_(GST_ALLOCATOR(gst_object_ref_sink(g_object_new(allocator_type(), nullptr)))) {
  reinterpret_cast<Allocator *>(allocator_)->device =
      new std::shared_ptr<hip::Device>(hip::Device::open(device).value());
  allocator_->mem_type = memory_type;
  allocator_->mem_map = map;
  allocator_->mem_unmap = unmap;
}

GpuBuffers::~GpuBuffers() { gst_object_unref(allocator_); }

GstBuffer *GpuBuffers::upload(GstBuffer *buffer) const {
  const BufferPtr from = adopt(buffer);
  const hip::Device &device = **reinterpret_cast<Allocator *>(allocator_)->device;
  const hip::CurrentDevice current(device);
  const gsize size = gst_buffer_get_size(buffer);
  auto *block = g_new0(Block, 1);
  gst_memory_init(GST_MEMORY_CAST(block), GstMemoryFlags(0), allocator_, nullptr, size, 0, 0, size);
  block->data = new hip::Buffer<std::byte>(device, size);
  block->staging = new std::vector<std::byte>;
  block->mutex = new std::mutex;
  ++reinterpret_cast<Allocator *>(allocator_)->alive;
  const hip::Stream stream(device);
  GstMapInfo mapped;
  gst_buffer_map(buffer, &mapped, GST_MAP_READ);
  stream.upload(block->data->address(), size, mapped.data, gssize(size), size, 1);
  stream.synchronize();
  gst_buffer_unmap(buffer, &mapped);

  GstBuffer *there = gst_buffer_new();
  gst_buffer_append_memory(there, GST_MEMORY_CAST(block));
  gst_buffer_copy_into(there, buffer, GstBufferCopyFlags(GST_BUFFER_COPY_METADATA), 0, gsize(-1));
  // Metas of memory are not copied without it.
  GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);
  if (meta && !gst_buffer_get_video_meta(there))
    gst_buffer_add_video_meta_full(there, meta->flags, meta->format, meta->width, meta->height,
                                   meta->n_planes, meta->offset, meta->stride);
  return there;
}

GpuMemoryCounts GpuBuffers::counts() const {
  const auto *allocator = reinterpret_cast<Allocator *>(allocator_);
  return {allocator->alive, allocator->downloads};
}

}  // namespace vmafhip::test
