#include "tests/dmabufs.h"

#include <fcntl.h>
#include <gst/allocators/gstdmabuf.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <stdexcept>

namespace vmafhip::test {

int memfd(gsize bytes) {
  const int fd = ::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0 || ::ftruncate(fd, off_t(bytes)) != 0) throw std::runtime_error("no memfd");
  return fd;
}

GstMemory *dmabuf_memory(int fd, gsize size) {
  static GstAllocator *allocator = gst_dmabuf_allocator_new();
  GST_OBJECT_FLAG_SET(allocator, GST_OBJECT_FLAG_MAY_BE_LEAKED);
  return gst_dmabuf_allocator_alloc(allocator, fd, size);
}

namespace {

// A new object for so many bytes, mapped.
class Object {
 public:
  Object(gsize bytes, MakeObject make) : fd(make(bytes)), bytes_(bytes) {
    void *at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) throw std::runtime_error("an object cannot be mapped");
    data = static_cast<guint8 *>(at);
    std::fill_n(data, bytes, guint8{0xa5});
  }
  ~Object() {
    ::munmap(data, bytes_);
    ::close(fd);
  }
  Object(const Object &) = delete;

  int fd;
  guint8 *data;

 private:
  gsize bytes_;
};

}  // namespace

GstBuffer *in_objects(GstBuffer *buffer, const Objects &objects, MakeObject make) {
  GstBuffer *made = gst_buffer_copy(buffer);  // with its metas
  gst_buffer_remove_all_memory(made);
  const guint count = gst_buffer_n_memory(buffer);
  gsize all = 0;
  for (guint i = 0; i < count; ++i)
    all += objects.before + gst_memory_get_sizes(gst_buffer_peek_memory(buffer, i), nullptr, nullptr) +
           objects.behind;
  gsize at = 0;
  std::optional<Object> object;
  for (guint i = 0; i < count; ++i) {
    GstMapInfo map;
    GstMemory *memory = gst_buffer_peek_memory(buffer, i);
    gst_memory_map(memory, &map, GST_MAP_READ);
    const gsize bytes = objects.one ? all : objects.before + map.size + objects.behind;
    if (!objects.one || i == 0) {
      object.emplace(bytes, make);
      at = 0;
    }
    at += objects.before;
    std::copy_n(map.data, map.size, object->data + at);
    GstMemory *wrapped = dmabuf_memory(::fcntl(object->fd, F_DUPFD_CLOEXEC, 0), bytes);
    gst_memory_resize(wrapped, gssize(at), map.size);
    gst_buffer_append_memory(made, wrapped);
    at += map.size + objects.behind;
    gst_memory_unmap(memory, &map);
  }
  gst_buffer_unref(buffer);
  object.reset();  // what is mapped for writing cannot be sealed against it
  for (guint i = 0; objects.sealed && i < count; ++i) {
    const int fd = gst_dmabuf_memory_get_fd(gst_buffer_peek_memory(made, i));
    EXPECT_EQ(::fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), 0);
  }
  return made;
}

int open_descriptors() {
  using Files = std::filesystem::directory_iterator;
  return int(std::distance(Files("/proc/self/fd"), Files()));
}

// ---- pool --------------------------------------------------------------------------------------

namespace {

struct ObjectPool {
  GstBufferPool parent;
  guint count;
  MakeObject make;
};
struct ObjectPoolClass {
  GstBufferPoolClass parent_class;
};
G_DEFINE_TYPE(ObjectPool, object_pool, GST_TYPE_BUFFER_POOL)

// Whatever a consumer asks for, as with cameras.
gboolean set_config(GstBufferPool *pool, GstStructure *config) {
  GstCaps *caps;
  guint size;
  const guint count = reinterpret_cast<ObjectPool *>(pool)->count;
  gst_buffer_pool_config_get_params(config, &caps, &size, nullptr, nullptr);
  gst_buffer_pool_config_set_params(config, caps, size, count, count);
  return GST_BUFFER_POOL_CLASS(object_pool_parent_class)->set_config(pool, config);
}

GstFlowReturn alloc_buffer(GstBufferPool *pool, GstBuffer **buffer, GstBufferPoolAcquireParams *) {
  guint size;
  GstStructure *config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_get_params(config, nullptr, &size, nullptr, nullptr);
  gst_structure_free(config);
  *buffer = gst_buffer_new();
  gst_buffer_append_memory(*buffer, dmabuf_memory(reinterpret_cast<ObjectPool *>(pool)->make(size), size));
  return GST_FLOW_OK;
}

void object_pool_class_init(ObjectPoolClass *klass) {
  GST_BUFFER_POOL_CLASS(klass)->set_config = set_config;
  GST_BUFFER_POOL_CLASS(klass)->alloc_buffer = alloc_buffer;
}
void object_pool_init(ObjectPool *) {}

}  // namespace

GstBufferPool *object_pool(const GstVideoInfo &info, guint count, MakeObject make) {
  auto *pool = static_cast<GstBufferPool *>(g_object_new(object_pool_get_type(), nullptr));
  gst_object_ref_sink(pool);
  reinterpret_cast<ObjectPool *>(pool)->count = count;
  reinterpret_cast<ObjectPool *>(pool)->make = make;
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
