#include "tests/dmabufs.h"

#include <gst/allocators/gstdmabuf.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <stdexcept>

namespace vmafhip::test {

int memfd(gsize bytes) {
  const int fd = ::memfd_create("test", MFD_CLOEXEC);
  if (fd < 0 || ::ftruncate(fd, off_t(bytes)) != 0) throw std::runtime_error("no memfd");
  return fd;
}

GstMemory *dmabuf_memory(int fd, gsize size) {
  static GstAllocator *allocator = gst_dmabuf_allocator_new();
  GST_OBJECT_FLAG_SET(allocator, GST_OBJECT_FLAG_MAY_BE_LEAKED);
  return gst_dmabuf_allocator_alloc(allocator, fd, size);
}

namespace {

void write_at(int fd, gsize at, const void *data, gsize size) {
  ASSERT_EQ(::pwrite(fd, data, size, off_t(at)), gssize(size));
}

}  // namespace

GstBuffer *in_memfds(GstBuffer *buffer, const Objects &objects) {
  GstBuffer *made = gst_buffer_copy(buffer);  // with its metas
  gst_buffer_remove_all_memory(made);
  const guint count = gst_buffer_n_memory(buffer);
  gsize all = 0;
  for (guint i = 0; i < count; ++i)
    all += objects.before + gst_memory_get_sizes(gst_buffer_peek_memory(buffer, i), nullptr, nullptr) +
           objects.behind;
  gsize at = 0;
  int fd = -1;
  for (guint i = 0; i < count; ++i) {
    GstMapInfo map;
    GstMemory *memory = gst_buffer_peek_memory(buffer, i);
    gst_memory_map(memory, &map, GST_MAP_READ);
    const gsize bytes = objects.one ? all : objects.before + map.size + objects.behind;
    if (!objects.one || i == 0) {
      fd = memfd(bytes);
      at = 0;
      const std::vector<guint8> noise(bytes, 0xa5);
      write_at(fd, 0, noise.data(), bytes);
    } else {
      fd = ::dup(fd);
    }
    at += objects.before;
    write_at(fd, at, map.data, map.size);
    GstMemory *wrapped = dmabuf_memory(fd, bytes);
    gst_memory_resize(wrapped, gssize(at), map.size);
    gst_buffer_append_memory(made, wrapped);
    at += map.size + objects.behind;
    gst_memory_unmap(memory, &map);
  }
  gst_buffer_unref(buffer);
  return made;
}

int open_descriptors() {
  using Files = std::filesystem::directory_iterator;
  return int(std::distance(Files("/proc/self/fd"), Files()));
}

// ---- pool --------------------------------------------------------------------------------------

namespace {

struct MemfdPool {
  GstBufferPool parent;
  guint count;
};
struct MemfdPoolClass {
  GstBufferPoolClass parent_class;
};
G_DEFINE_TYPE(MemfdPool, memfd_pool, GST_TYPE_BUFFER_POOL)

// Whatever a consumer asks for, as with cameras.
gboolean set_config(GstBufferPool *pool, GstStructure *config) {
  GstCaps *caps;
  guint size;
  const guint count = reinterpret_cast<MemfdPool *>(pool)->count;
  gst_buffer_pool_config_get_params(config, &caps, &size, nullptr, nullptr);
  gst_buffer_pool_config_set_params(config, caps, size, count, count);
  return GST_BUFFER_POOL_CLASS(memfd_pool_parent_class)->set_config(pool, config);
}

GstFlowReturn alloc_buffer(GstBufferPool *pool, GstBuffer **buffer, GstBufferPoolAcquireParams *) {
  guint size;
  GstStructure *config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_get_params(config, nullptr, &size, nullptr, nullptr);
  gst_structure_free(config);
  *buffer = gst_buffer_new();
  gst_buffer_append_memory(*buffer, dmabuf_memory(memfd(size), size));
  return GST_FLOW_OK;
}

void memfd_pool_class_init(MemfdPoolClass *klass) {
  GST_BUFFER_POOL_CLASS(klass)->set_config = set_config;
  GST_BUFFER_POOL_CLASS(klass)->alloc_buffer = alloc_buffer;
}
void memfd_pool_init(MemfdPool *) {}

}  // namespace

GstBufferPool *memfd_pool(const GstVideoInfo &info, guint count) {
  auto *pool = static_cast<GstBufferPool *>(g_object_new(memfd_pool_get_type(), nullptr));
  gst_object_ref_sink(pool);
  reinterpret_cast<MemfdPool *>(pool)->count = count;
  GstStructure *config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, nullptr, guint(GST_VIDEO_INFO_SIZE(&info)), count, count);
  EXPECT_TRUE(gst_buffer_pool_set_config(pool, config));
  EXPECT_TRUE(gst_buffer_pool_set_active(pool, TRUE));
  return pool;
}

GstBuffer *from_pool(GstBufferPool *pool, GstBuffer *from) {
  GstBuffer *buffer = nullptr;
  if (gst_buffer_pool_acquire_buffer(pool, &buffer, nullptr) == GST_FLOW_OK) {
    GstMapInfo map;
    EXPECT_TRUE(gst_buffer_map(buffer, &map, GST_MAP_WRITE));
    gst_buffer_extract(from, 0, map.data, map.size);
    gst_buffer_unmap(buffer, &map);
    gst_buffer_copy_into(buffer, from, GST_BUFFER_COPY_TIMESTAMPS, 0, gsize(-1));
  }
  gst_buffer_unref(from);
  return buffer;
}

}  // namespace vmafhip::test
