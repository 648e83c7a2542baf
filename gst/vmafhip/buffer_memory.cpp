#include "gst/vmafhip/buffer_memory.h"

#include <gst/allocators/gstdmabuf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "engine/dmabuf.h"

namespace vmafhip {
namespace {

// Whether the memory behind the descriptor is as large as the buffer's says. Reading beyond its end is fatal.
bool is_there(GstMemory *memory) {
  struct stat status;
  const int fd = gst_dmabuf_memory_get_fd(memory);
  if (::fstat(fd, &status) != 0) return false;
  gsize begin;
  const gsize size = gst_memory_get_sizes(memory, &begin, nullptr);
  // Not by lseek() of files, which moves the position that others write at.
  const off_t end = S_ISREG(status.st_mode) ? status.st_size : ::lseek(fd, 0, SEEK_END);
  return end >= 0 && begin + size <= gsize(end);
}

template <class Use>
void for_each_dmabuf(GstBuffer *buffer, Use &&use) {
  for (guint i = 0; i < gst_buffer_n_memory(buffer); ++i)
    if (GstMemory *memory = gst_buffer_peek_memory(buffer, i); gst_is_dmabuf_memory(memory)) use(memory);
}

}  // namespace

bool is_dmabuf(GstBuffer *buffer) {
  guint count = 0;
  for_each_dmabuf(buffer, [&](GstMemory *) { ++count; });
  return count > 0 && count == gst_buffer_n_memory(buffer);
}

std::vector<int> dmabuf_descriptors(GstBuffer *buffer) {
  std::vector<int> fds;
  for_each_dmabuf(buffer, [&](GstMemory *memory) { fds.push_back(gst_dmabuf_memory_get_fd(memory)); });
  return fds;
}

bool is_written(GstBuffer *buffer, int wait_ms) {
  const std::vector<int> fds = dmabuf_descriptors(buffer);
  return std::all_of(fds.begin(), fds.end(), [&](int fd) { return is_written(fd, wait_ms); });
}

GstBuffer *copy_to_system_memory(GstBuffer *buffer) {
  bool all_there = true;
  for_each_dmabuf(buffer, [&](GstMemory *memory) { all_there = all_there && is_there(memory); });
  // Maps each memory, between DMA_BUF_IOCTL_SYNCs if it is a dma-buf.
  return all_there ? gst_buffer_copy_deep(buffer) : nullptr;
}

}  // namespace vmafhip
