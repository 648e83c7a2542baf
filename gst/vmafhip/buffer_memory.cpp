#include "gst/vmafhip/buffer_memory.h"

#include <gst/allocators/allocators.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>

#include "engine/dmabuf.h"

namespace vmafhip {
namespace {

// Bytes behind the descriptor; none if it does not tell.
std::optional<gsize> bytes_behind(int fd) {
  struct stat status;
  if (::fstat(fd, &status) != 0) return {};
  // Not by lseek() of files, which moves the position that others write at.
  if (S_ISREG(status.st_mode)) return gsize(status.st_size);
  const off_t end = ::lseek(fd, 0, SEEK_END);
  return end > 0 ? std::optional(gsize(end)) : std::nullopt;
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

Status check_descriptors(GstBuffer *buffer) {
  for (guint i = 0; i < gst_buffer_n_memory(buffer); ++i) {
    GstMemory *memory = gst_buffer_peek_memory(buffer, i);
    if (!gst_is_fd_memory(memory)) continue;
    gsize begin;
    const gsize size = gst_memory_get_sizes(memory, &begin, nullptr);
    const auto there = bytes_behind(gst_fd_memory_get_fd(memory));
    if (there && (begin > *there || size > *there - begin))
      return {Code::io, "a buffer says that it has " + std::to_string(begin + size) +
                            " bytes, but the memory behind its file descriptor has " +
                            std::to_string(*there)};
  }
  return {};
}

GstBuffer *copy_to_system_memory(GstBuffer *buffer) {
  bool all_tell = true;
  for_each_dmabuf(buffer, [&](GstMemory *memory) {
    all_tell = all_tell && bytes_behind(gst_dmabuf_memory_get_fd(memory));
  });
  // Maps each memory, between DMA_BUF_IOCTL_SYNCs if it is a dma-buf.
  return all_tell && check_descriptors(buffer).ok() ? gst_buffer_copy_deep(buffer) : nullptr;
}

}  // namespace vmafhip
